/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections forward-zone, stub-zone, auth-zone and rpz of unbound.conf(5). */
#include <string.h>

#include "import/peers.h"
#include "import/unbound.h"

/* --- Forwarders and stubs --------------------------------------------------------------------- */

struct upstream {
	const char *zone, *transport, *first;
	bool is_root, is_stub;
};

/* Writes an address such as "192.0.2.1@853#name". The name counts only for TLS, which has another
 * default port. False, with a line of notes, if the address cannot be used. */
static bool write_address(struct import *import, struct import_node *node,
			  const struct upstream *to, char *out, size_t cap)
{
	const char *text = import_node_word(node, 0), *name = text ? strchr(text, '#') : NULL;
	bool is_tls = to->transport && !strcmp(to->transport, "tls");
	int n = text ? (int)(name ? name - text : (ptrdiff_t)strlen(text)) : 0;

	if (!n || (is_tls && !name)) {
		import_lost(import, node, "an address%s is needed",
			    is_tls ? " with # and the name of the certificate" : "");
		return false;
	}
	if (is_tls)
		snprintf(out, cap, "%.*s%s%s", n, text, memchr(text, '@', (size_t)n) ? "" : "@853",
			 name);
	else
		snprintf(out, cap, "%.*s", n, text);
	return true;
}

static void carry_address(struct import *import, struct import_node *node,
			  const struct upstream *to)
{
	char address[IMPORT_TEXT_CAP];
	json_t *recursion = import_object(import, import->out, "recursion"), *item;

	if (!write_address(import, node, to, address, sizeof(address)))
		return;
	if (to->is_root && !to->is_stub) {
		import_set(import, node, NULL, "recursion.forward", address);
		return;
	}
	item = import_item(import, recursion, to->is_stub ? "stubs" : "forward-zones");
	import_put(import, item, "zone", to->zone);
	import_set(import, node, item,
		   to->is_stub ? "recursion.stubs[].address" : "recursion.forward-zones[].address",
		   address);
	if (to->first)
		import_put(import, item, "first", "true");
	if (to->transport)
		import_put(import, item, "transport", to->transport);
}

static const struct import_rule upstream_rules[] = {
	{ "name forward-addr stub-addr forward-first stub-first forward-tls-upstream "
	  "forward-ssl-upstream forward-tcp-upstream stub-tcp-upstream",
	  IMPORT_READ, NULL, NULL },
	{ "forward-host stub-host", IMPORT_LOST, "give the addresses of this server", NULL },
	{ "stub-prime", IMPORT_IDLE,
	  "volleyd asks the servers of a stub as the configuration gives them", NULL },
	{ "forward-no-cache stub-no-cache", IMPORT_UNLESS_NO,
	  "volleyd keeps all answers, for at most recursion.max-ttl", NULL },
	{ "stub-tls-upstream stub-ssl-upstream", IMPORT_UNLESS_NO,
	  "volleyd asks stubs over UDP and TCP only", NULL },
	{ 0 },
};

static void carry_upstreams(struct import *import, struct import_node *section, bool is_stub)
{
	const char *prefix = is_stub ? "stub-" : "forward-";
	struct upstream to = { .zone = import_node_text(section, "name"), .is_stub = is_stub };
	char tcp[32], first[32], addr[32];

	snprintf(tcp, sizeof(tcp), "%stcp-upstream", prefix);
	snprintf(first, sizeof(first), "%sfirst", prefix);
	snprintf(addr, sizeof(addr), "%saddr", prefix);
	if (!to.zone) {
		import_lost(import, section, "the section has no name");
		return;
	}
	to.is_root = !strcmp(to.zone, ".");
	if (!is_stub && (import_is_yes(import_node_text(section, "forward-tls-upstream")) ||
			 import_is_yes(import_node_text(section, "forward-ssl-upstream"))))
		to.transport = "tls";
	else if (import_is_yes(import_node_text(section, tcp)))
		to.transport = "tcp";
	if (import_is_yes(import_node_text(section, first)))
		to.first = "true";
	if (to.is_root && !is_stub && to.transport)
		import_set(import, section, NULL, "recursion.transport", to.transport);
	if (to.is_root && !is_stub && to.first)
		import_set(import, section, NULL, "recursion.forward-first", "true");
	for (struct import_node *node = section->child; node; node = node->next)
		if (!strcmp(node->name, addr))
			carry_address(import, node, &to);
	import_carry(import, section, upstream_rules, NULL);
}

void import_unbound_forward(struct import *import, struct import_node *node)
{
	carry_upstreams(import, node, false);
}

void import_unbound_stub(struct import *import, struct import_node *node)
{
	carry_upstreams(import, node, true);
}

/* --- Zones that are served -------------------------------------------------------------------- */

static void carry_primary(struct import *import, struct import_node *node, json_t *zone)
{
	const struct import_remote remote = { .address = import_node_word(node, 0) ?
								 node->words[0] :
								 "" };
	const char *name = import_remote(import, node, &remote);

	if (name)
		import_append(import, zone, "primaries", name);
}

static void carry_allow_notify(struct import *import, struct import_node *node, json_t *zone)
{
	if (import_node_word(node, 0))
		import_rule(import, node, zone, "allow-notify", node->words[0], NULL);
}

static const struct import_rule zone_rules[] = {
	{ "name", IMPORT_READ, NULL, NULL },
	{ "zonefile", IMPORT_SET, "zones[].file", NULL },
	{ "primary master", IMPORT_CALL, NULL, carry_primary },
	{ "allow-notify", IMPORT_CALL, NULL, carry_allow_notify },
	{ "url", IMPORT_LOST, "volleyd transfers zones by AXFR and IXFR: give zones[].primaries",
	  NULL },
	{ "for-downstream for-upstream fallback-enabled zonemd-check zonemd-reject-absence",
	  IMPORT_IDLE, "volleyd answers from a zone for all clients of server.allow", NULL },
	{ "rpz-log rpz-log-name", IMPORT_IDLE, "volleyctl policy list counts", NULL },
	{ "rpz-signal-nxdomain-ra", IMPORT_UNLESS_NO, "RA is set for all clients that may recurse",
	  NULL },
	{ "rpz-action-override rpz-cname-override", IMPORT_LOST,
	  "Volley cannot change the action of a list's rules", NULL },
	{ "tags", IMPORT_LOST, "Volley has no tags: the list is for all clients", NULL },
	{ 0 },
};

static bool is_secondary(const struct import_node *section)
{
	return import_node_find(section, "primary") || import_node_find(section, "master") ||
	       import_node_find(section, "url");
}

void import_unbound_auth(struct import *import, struct import_node *node)
{
	json_t *zone = import_zone(import, node, import_node_text(node, "name"));

	if (!zone)
		return;
	import_carry(import, node, zone_rules, zone);
	(void)import_zone_end(import, node, zone, is_secondary(node));
}

/* A transferred list becomes an entry of zones; a list in a file is read from that file. */
void import_unbound_rpz(struct import *import, struct import_node *node)
{
	const char *name = import_node_text(node, "name");
	json_t *list, *zone;

	if (is_secondary(node)) {
		zone = import_zone(import, node, name);
		if (!zone)
			return;
		import_carry(import, node, zone_rules, zone);
		if (!import_zone_end(import, node, zone, true))
			return;
		list = import_item(import, import_object(import, import->out, "recursion"), "rpz");
		import_put(import, list, "zone", json_string_value(json_object_get(zone, "name")));
		return;
	}
	if (!name || !import_node_text(node, "zonefile")) {
		import_lost(import, node, "the list has no name or no zonefile");
		return;
	}
	list = import_item(import, import_object(import, import->out, "recursion"), "rpz");
	import_put(import, list, "name", name);
	import_carry(import, node, zone_rules, list);
}

/* Only clients that may recurse may ask for zones, like with auth-zones of unbound. */
void import_unbound_finish(struct import *import)
{
	json_t *recursion = json_object_get(import->out, "recursion");
	json_t *allow = json_object_get(recursion, "allow"),
	       *server = import_object(import, import->out, "server");

	if (!json_object_get(import->out, "zones"))
		return;
	if (!json_array_size(allow)) /* the section "server" has reported these prefixes */
		import_allow_nobody(import, import_node_find(&import->tree.top, "server"));
	else if (json_object_set(server, "allow", allow))
		import->has_no_memory = true;
}
