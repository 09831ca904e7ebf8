/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries over local data and local zones of unbound. */
#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "config/local_data.h"
#include "import/unbound.h"

#define RECORD_CAP  4096
#define TTL_DEFAULT "3600" /* the default of unbound for local data */

/* Adds the record, if it can be read. */
static void add_record(struct import *import, struct import_node *node, char *text)
{
	char *const records[] = { text, NULL };
	struct local_data_error why;
	struct zone *zone;

	if (local_data_load(&zone, records, &why)) {
		import_lost(import, node, "%s", why.sentence);
		return;
	}
	zone_unref(zone);
	import_append(import, import_object(import, import->out, "recursion"), "local-data", text);
}

/* Adds the record "OWNER TTL REST", with the default TTL if REST has none. Names without a dot at
 * their end are absolute, too. */
static void put_record(struct import *import, struct import_node *node, const char *owner,
		       const char *rest)
{
	char text[RECORD_CAP];
	bool has_dot = *owner && owner[strlen(owner) - 1] == '.';
	size_t n_class = strncasecmp(rest, "IN ", 3) ? 0 : 3;

	if (isdigit((unsigned char)rest[n_class]) || isdigit((unsigned char)*rest))
		snprintf(text, sizeof(text), "%s%s %s", owner, has_dot ? "" : ".", rest);
	else
		snprintf(text, sizeof(text), "%s%s %s %s", owner, has_dot ? "" : ".", TTL_DEFAULT,
			 rest);
	add_record(import, node, text);
}

static const char *split(const char *text, char *owner, size_t cap)
{
	size_t n = strcspn(text, " \t");

	snprintf(owner, cap, "%.*s", (int)n, text);
	return text + n + strspn(text + n, " \t");
}

/* True if OWNER is a local zone of type redirect. Its data is for all names below it. */
static bool is_redirected(const struct import_node *section, const char *owner)
{
	size_t n = strlen(owner);

	n -= n && owner[n - 1] == '.';
	for (const struct import_node *node = section->child; node; node = node->next) {
		const char *zone = import_node_word(node, 0), *kind = import_node_word(node, 1);

		if (strcmp(node->name, "local-zone") || !zone || !kind || strcmp(kind, "redirect"))
			continue;
		if (!strncasecmp(zone, owner, n) && (!zone[n] || !strcmp(zone + n, ".")))
			return true;
	}
	return false;
}

void import_unbound_local_data(struct import *import, struct import_node *node, json_t *at)
{
	char owner[1100], below[1104];
	const char *text = import_node_word(node, 0), *rest;

	(void)at;
	if (!text)
		return;
	rest = split(text + strspn(text, " \t"), owner, sizeof(owner));
	put_record(import, node, owner, rest);
	if (!is_redirected(node->parent, owner))
		return;
	snprintf(below, sizeof(below), "*.%s", owner);
	put_record(import, node, below, rest);
}

static bool reverse(const char *address, char *out, size_t cap)
{
	uint8_t octets[16];
	int n = inet_pton(AF_INET, address, octets) == 1  ? 4 :
		inet_pton(AF_INET6, address, octets) == 1 ? 16 :
							    0;
	size_t len = 0;

	for (int i = n - 1; i >= 0; i--)
		len += (size_t)(n == 4 ? snprintf(out + len, cap - len, "%u.", octets[i]) :
					 snprintf(out + len, cap - len, "%x.%x.", octets[i] & 15,
						  octets[i] >> 4));
	snprintf(out + len, cap - len, "%s", n == 4 ? "in-addr.arpa." : "ip6.arpa.");
	return n != 0;
}

/* The option has "ADDRESS [TTL] NAME". */
void import_unbound_local_ptr(struct import *import, struct import_node *node, json_t *at)
{
	char owner[128], address[64], rest[RECORD_CAP - 256];
	const char *name, *text = import_node_word(node, 0);
	int n_ttl;

	(void)at;
	name = text ? split(text, address, sizeof(address)) : NULL;
	if (!name || !reverse(address, owner, sizeof(owner))) {
		import_lost(import, node, "an address and a name are expected");
		return;
	}
	n_ttl = (int)strspn(name, "0123456789");
	if (n_ttl && isblank(name[n_ttl]))
		snprintf(rest, sizeof(rest), "%.*s PTR %s", n_ttl, name, name + n_ttl + 1);
	else
		snprintf(rest, sizeof(rest), "PTR %s", name);
	put_record(import, node, owner, rest);
}

void import_unbound_local_zone(struct import *import, struct import_node *node, json_t *at)
{
	const char *zone = import_node_word(node, 0), *kind = import_node_word(node, 1);

	(void)at;
	if (!zone || !kind) {
		import_lost(import, node, "a name and a type are expected");
		return;
	}
	if (!strcmp(kind, "transparent") || !strcmp(kind, "redirect"))
		return; /* Volley's local data works like this, with import_unbound_local_data() */
	if (!strcmp(kind, "nodefault"))
		import_set(import, node, NULL, "recursion.special-names-off", zone);
	else if (!strcmp(kind, "typetransparent"))
		import_note(import, node,
			    "a name with local data has no records of other types from upstream");
	else if (!strcmp(kind, "static"))
		import_lost(
			import, node,
			"names below %s without local data would be asked upstream: serve it as a "
			"zone of zones, or deny it in a list of recursion.rpz",
			zone);
	else
		import_lost(
			import, node,
			"%s %s: write a list for recursion.rpz (\"%s CNAME .\") or policy.block",
			zone, kind, zone);
}

void import_unbound_unblock(struct import *import, struct import_node *node, json_t *at)
{
	static const char *const lans[] = { "10.in-addr.arpa", "172.in-addr.arpa",
					    "168.192.in-addr.arpa", "254.169.in-addr.arpa",
					    "d.f.ip6.arpa" };

	(void)at;
	for (size_t i = 0;
	     i < sizeof(lans) / sizeof(lans[0]) && import_is_yes(import_node_word(node, 0)); i++)
		import_set(import, node, NULL, "recursion.special-names-off", lans[i]);
}

void import_unbound_localhost(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "recursion.query-localhost",
		   import_is_yes(import_node_word(node, 0)) ? "no" : "yes");
}
