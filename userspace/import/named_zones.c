/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of named.conf(5). */
#include <string.h>

#include "import/named.h"
#include "import/peers.h"

struct rule {
	json_t *zone;
	const char *key;
};

static void add_rule(struct import *import, struct import_node *list, void *user,
		     const char *prefix, const char *key)
{
	const struct rule *rule = user;

	import_rule(import, list, rule->zone, rule->key, prefix, key);
}

static void carry_rules(struct import *import, struct import_node *node, json_t *zone)
{
	struct rule rule = { zone, node->name };

	import_named_list(import, node, add_rule, &rule);
}

/* Adds each server of a list: "ADDRESS [port N] [key K] [tls T];" or the name of another list. KEY
 * is "primaries" or "notify". */
static void add_servers(struct import *import, struct import_node *list, json_t *zone,
			const char *key, const char *port, unsigned int depth)
{
	for (struct import_node *node = list->child; node; node = node->next) {
		struct import_node *more = import_named_block(import, "primaries", node->name);
		const char *own = import_named_after(node, "port"), *name;
		struct import_remote remote = { .key = import_named_after(node, "key") };
		const struct import_node *server = import_named_block(import, "server", node->name);
		char address[128];

		if (!more)
			more = import_named_block(import, "masters", node->name);
		if (more && depth < 8) {
			add_servers(import, more, zone, key, port, depth + 1);
			continue;
		}
		if (import_named_after(node, "tls")) {
			import_lost(import, node, "give remotes[].tls, tls-name and tls-bundle");
			continue;
		}
		if (!remote.key)
			remote.key = import_node_text(server, "keys");
		own = own ? own : port;
		snprintf(address, sizeof(address), "%s%s%s", node->name, own ? "@" : "",
			 own ? own : "");
		remote.address = address;
		name = import_remote(import, node, &remote);
		if (name)
			import_append(import, zone, key, name);
	}
}

static void carry_primaries(struct import *import, struct import_node *node, json_t *zone)
{
	add_servers(import, node, zone, "primaries", import_named_after(node, "port"), 0);
}

static void carry_notify(struct import *import, struct import_node *node, json_t *zone)
{
	add_servers(import, node, zone, "notify", import_named_after(node, "port"), 0);
}

static void carry_policy(struct import *import, struct import_node *node, json_t *zone)
{
	const char *name = import_node_word(node, 0);

	if (!name || !strcmp(name, "none") || !strcmp(name, "insecure"))
		return;
	if (!strcmp(name, "default") && !import_named_block(import, "dnssec-policy", name)) {
		json_t *list = import_list(import, import->out, "signing"), *item;
		size_t i;

		json_array_foreach(list, i, item)
			if (!strcmp(json_string_value(json_object_get(item, "name")), name))
				name = NULL;
		if (name)
			import_put(import, import_item(import, import->out, "signing"), "name",
				   "default");
		import_put(import, zone, "signing", "default");
	} else if (import_named_block(import, "dnssec-policy", name)) {
		import_put(import, zone, "signing", name);
	} else {
		import_lost(import, node, "the file has no dnssec-policy %s", name);
	}
}

static const struct import_rule zone_rules[] = {
	{ "type file", IMPORT_READ, NULL, NULL },
	{ "primaries masters", IMPORT_CALL, NULL, carry_primaries },
	{ "also-notify", IMPORT_CALL, NULL, carry_notify },
	{ "allow-transfer allow-notify allow-update", IMPORT_CALL, NULL, carry_rules },
	{ "dnssec-policy", IMPORT_CALL, NULL, carry_policy },
	{ "max-journal-size", IMPORT_SET, "zones[].journal-size", NULL },
	{ "max-refresh-time", IMPORT_SET, "zones[].refresh-max", NULL },
	{ "min-refresh-time", IMPORT_SET, "zones[].refresh-min", NULL },
	{ "max-retry-time", IMPORT_SET, "zones[].retry-max", NULL },
	{ "min-retry-time", IMPORT_SET, "zones[].retry-min", NULL },
	{ "provide-ixfr request-ixfr", IMPORT_SET, "zones[].ixfr", NULL },
	{ "notify notify-to-soa", IMPORT_IDLE,
	  "volleyd notifies the servers in also-notify: add the others to zones[].notify", NULL },
	{ "allow-query allow-query-on", IMPORT_LOST, "server.allow has the clients, for all zones",
	  NULL },
	{ "update-policy", IMPORT_LOST, "write rules with keys for zones[].allow-update", NULL },
	{ "allow-update-forwarding", IMPORT_LOST, "Volley does not forward updates", NULL },
	{ "masterfile-format", IMPORT_LOST,
	  "Volley reads zone files in text form only: convert it with named-compilezone", NULL },
	{ "auto-dnssec", IMPORT_LOST, "give signing and zones[].signing", NULL },
	{ "dlz database in-view", IMPORT_LOST, "Volley has nothing like it", NULL },
	{ "key-directory", IMPORT_LOST, "give signing[].key-folder", NULL },
	{ "forward forwarders", IMPORT_READ, NULL, NULL },
	{ "transfer-source transfer-source-v6 notify-source notify-source-v6", IMPORT_LOST,
	  "give remotes[].source", NULL },
	{ "inline-signing serial-update-method ixfr-from-differences zone-statistics check-names "
	  "check-mx check-integrity check-wildcard masterfile-style max-transfer-idle-in "
	  "max-transfer-idle-out max-transfer-time-in max-transfer-time-out multi-master journal "
	  "update-check-ksk dnssec-loadkeys-interval notify-delay",
	  IMPORT_IDLE, "volleyd decides this by itself", NULL },
	{ 0 },
};

static bool is_one_of(const char *word, const char *words)
{
	const char *at = strstr(words, word);
	size_t len = strlen(word);

	return at && (at == words || at[-1] == ' ') && (!at[len] || at[len] == ' ');
}

/* Adds an upstream, or nothing if its address cannot be used. */
static void add_upstream(struct import *import, const struct import_node *node, const char *name,
			 const char *list, const struct import_node *addresses,
			 const struct import_node *at)
{
	const char *port = import_named_of_server(addresses, at, "port");
	const char *forward = import_node_text(node, "forward");
	json_t *item = json_object();
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", at->name, port ? "@" : "", port ? port : "");
	import_put(import, item, "zone", name);
	import_set(import, at, item, "recursion.stubs[].address", text);
	if (!strcmp(list, "forward-zones") && (!forward || strcmp(forward, "only") != 0))
		import_put(import, item, "first", "true");
	if (json_object_get(item, "address"))
		json_array_append(
			import_list(import, import_object(import, import->out, "recursion"), list),
			item);
	json_decref(item);
}

/* Carries over a zone that is forwarded or a stub: one entry of recursion.LIST for each address. */
static void add_upstreams(struct import *import, struct import_node *node, const char *name,
			  const char *list, const struct import_node *addresses)
{
	if (!addresses || !addresses->child)
		import_lost(import, node,
			    "%s has no servers: its names are resolved like all others", name);
	for (struct import_node *at = addresses ? addresses->child : NULL; at; at = at->next) {
		if (import_named_of_server(addresses, at, "tls"))
			import_lost(import, at,
				    "give it transport: tls, with @853# and the name of the "
				    "certificate");
		else
			add_upstream(import, node, name, list, addresses, at);
	}
}

static void carry_served(struct import *import, struct import_node *node,
			 const struct import_node *options, bool is_secondary)
{
	static const char *const inherited[] = { "also-notify", "allow-transfer", "allow-notify",
						 "dnssec-policy" };
	json_t *zone = import_zone(import, node, import_node_word(node, 0));
	const char *file = import_node_text(node, "file");

	if (!zone)
		return;
	if (file)
		import_set(import, import_node_find(node, "file"), zone, "zones[].file", file);
	import_carry(import, node, zone_rules, zone);
	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
		struct import_node *all = import_node_find(options, inherited[i]),
				   part = { .child = all }, *next;

		if (!all || import_node_find(node, inherited[i]))
			continue;
		next = all->next;
		all->next = NULL; /* only this option */
		import_carry(import, &part, zone_rules, zone);
		all->next = next;
	}
	if (is_secondary)
		json_object_del(zone, "signing");
	(void)import_zone_end(import, node, zone, is_secondary);
}

void import_named_zone(struct import *import, struct import_node *node,
		       const struct import_node *options)
{
	const char *type = import_node_text(node, "type"), *name = import_node_word(node, 0);

	if (!name || !type) {
		import_lost(import, node, "a zone needs a name and a type");
	} else if (is_one_of(type, "primary master")) {
		carry_served(import, node, options, false);
	} else if (is_one_of(type, "secondary slave mirror")) {
		carry_served(import, node, options, true);
	} else if (!strcmp(type, "hint")) {
		import_set(import, node, NULL, "recursion.root-hints",
			   import_node_text(node, "file") ? import_node_text(node, "file") : "");
	} else if (!strcmp(type, "forward")) {
		add_upstreams(import, node, name, "forward-zones",
			      import_node_find(node, "forwarders"));
	} else if (!strcmp(type, "static-stub")) {
		add_upstreams(import, node, name, "stubs",
			      import_node_find(node, "server-addresses"));
	} else if (!strcmp(type, "stub")) {
		add_upstreams(import, node, name, "stubs",
			      import_node_find(node, "primaries") ?
				      import_node_find(node, "primaries") :
				      import_node_find(node, "masters"));
	} else {
		import_lost(import, node, "Volley has no zones of type %s", type);
	}
}
