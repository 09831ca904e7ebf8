/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nsd.conf(5): server, keys, and zones with their patterns. */
#include <string.h>

#include "import/addresses.h"
#include "import/import_servers.h"
#include "import/peers.h"

#define PATTERNS_MAX 16 /* number of patterns that include each other */
#define ZONES_FOLDER "/etc/nsd"

/* --- server ----------------------------------------------------------------------------------- */

static void carry_nsid(struct import *import, struct import_node *node, json_t *at)
{
	const char *text = import_node_word(node, 0);
	char hex[300];

	(void)at;
	if (!text)
		return;
	if (!strncmp(text, "ascii_", 6))
		snprintf(hex, sizeof(hex), "%s", text + 6);
	else
		snprintf(hex, sizeof(hex), "0x%s", text);
	import_set(import, node, NULL, "server.nsid", hex);
}

static void carry_refuse_any(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "server.any",
		   import_is_yes(import_node_word(node, 0)) ? "minimal" : "full");
}

static void carry_limit(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "rrl.answers", import_node_word(node, 0));
	import_note(import, node,
		    "rrl.answers counts all answers to one address, for all names and types");
}

static const struct import_rule server_rules[] = {
	{ "ip-address interface port tls-port tls-service-key tls-service-pem hide-version "
	  "hide-identity",
	  IMPORT_READ, NULL, NULL },
	{ "version", IMPORT_SET, "server.version", NULL },
	{ "identity", IMPORT_SET, "server.identity", NULL },
	{ "nsid", IMPORT_CALL, NULL, carry_nsid },
	{ "tcp-count", IMPORT_SET, "server.tcp.max-connections", NULL },
	{ "tcp-query-count", IMPORT_SET, "server.tcp.max-queries", NULL },
	{ "tcp-timeout", IMPORT_SET, "server.tcp.idle-timeout", NULL },
	{ "ipv4-edns-size ipv6-edns-size", IMPORT_SET, "server.max-udp-size", NULL },
	{ "minimal-responses", IMPORT_SET, "server.minimal-responses", NULL },
	{ "refuse-any", IMPORT_CALL, NULL, carry_refuse_any },
	{ "rrl-ratelimit", IMPORT_CALL, NULL, carry_limit },
	{ "rrl-slip", IMPORT_SET, "rrl.slip", NULL },
	{ "rrl-whitelist-ratelimit rrl-size rrl-ipv4-prefix-length rrl-ipv6-prefix-length",
	  IMPORT_IDLE, "rrl has limits for addresses and the prefixes around them", NULL },
	{ "cookie-secret", IMPORT_SET, "server.cookies.secret", NULL },
	{ "cookie-secret-file", IMPORT_SET, "server.cookies.secret-files", NULL },
	{ "answer-cookie", IMPORT_UNLESS_YES, "cookies cannot be switched off", NULL },
	{ "zonesdir", IMPORT_READ, NULL, NULL },
	{ "server-count cpu-affinity server-1-cpu-affinity server-2-cpu-affinity xfrd-cpu-affinity "
	  "reuseport",
	  IMPORT_IDLE, "volleyd has a worker for each processor: see server.workers", NULL },
	{ "ip-transparent ip-freebind send-buffer-size receive-buffer-size do-ip4 do-ip6 "
	  "debug-mode tcp-mss outgoing-tcp-mss",
	  IMPORT_IDLE, "volleyd makes its sockets for server.listen", NULL },
	{ "logfile log-only-syslog log-time-ascii verbosity statistics", IMPORT_IDLE,
	  "volleyd logs to standard error, and counts by itself", NULL },
	{ "database zonelistfile xfrdfile xfrdir zonefiles-write zonefiles-check pidfile username "
	  "chroot",
	  IMPORT_IDLE, "server.storage, server.pid-file and systemd have this", NULL },
	{ "xfrd-reload-timeout xfrd-tcp-max xfrd-tcp-pipeline tcp-reject-overflow round-robin",
	  IMPORT_IDLE, "see server.transfers-in and server.tcp", NULL },
	{ "confine-to-zone", IMPORT_IDLE,
	  "an answer has records of one zone, unless the client may recurse", NULL },
	{ "drop-updates", IMPORT_IDLE, "volleyd refuses UPDATE unless the zone allows it", NULL },
	{ "tls-service-ocsp", IMPORT_LOST, "Volley has no OCSP stapling", NULL },
	{ "tls-cert-bundle", IMPORT_LOST, "give remotes[].tls-bundle", NULL },
	{ 0 },
};

/* --- keys, TLS -------------------------------------------------------------------------------- */

static void carry_keys(struct import *import)
{
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		if (!strcmp(node->name, "key"))
			import_key(import, node, import_node_text(node, "name"),
				   import_node_text(node, "algorithm"),
				   import_node_text(node, "secret"));
}

static const struct import_node *find_named(const struct import *import, const char *section,
					    const char *name)
{
	for (struct import_node *node = import->tree.top.child; node; node = node->next) {
		const char *there = import_node_text(node, "name");

		if (!strcmp(node->name, section) && there && !strcmp(there, name))
			return node;
	}
	return NULL;
}

/* --- zones ------------------------------------------------------------------------------------ */

static const char *source_of(const struct import_node *zone)
{
	return import_node_text(zone, "outgoing-interface");
}

/* "request-xfr: [AXFR|UDP] ADDRESS KEY [TLS-AUTH]", "notify: ADDRESS KEY" */
static void carry_remote(struct import *import, struct import_node *node, json_t *zone,
			 const char *key)
{
	unsigned int at = 0;
	const char *word = import_node_word(node, 0), *name, *tls;
	struct import_remote remote = { 0 };

	if (word && (!strcmp(word, "AXFR") || !strcmp(word, "UDP")))
		at = 1;
	remote.address = import_node_word(node, at);
	remote.key = import_node_word(node, at + 1);
	tls = import_node_word(node, at + 2);
	if (!remote.address || !remote.key) {
		import_lost(import, node, "an address and a key or NOKEY are expected");
		return;
	}
	if (!strcmp(remote.key, "NOKEY"))
		remote.key = NULL;
	if (tls) {
		remote.tls_name =
			import_node_text(find_named(import, "tls-auth", tls), "auth-domain-name");
		if (!remote.tls_name) {
			import_lost(import, node,
				    "the file has no tls-auth %s with an auth-domain-name", tls);
			return;
		}
	}
	remote.source = source_of(node->parent);
	name = import_remote(import, node, &remote);
	if (name)
		import_append(import, zone, key, name);
}

static void carry_primary(struct import *import, struct import_node *node, json_t *zone)
{
	carry_remote(import, node, zone, "primaries");
}

static void carry_notify(struct import *import, struct import_node *node, json_t *zone)
{
	carry_remote(import, node, zone, "notify");
}

static void carry_rule(struct import *import, struct import_node *node, json_t *zone,
		       const char *list)
{
	const char *prefix = import_node_word(node, 0), *key = import_node_word(node, 1);

	if (!prefix || !key)
		import_lost(import, node, "an address and a key, NOKEY or BLOCKED are expected");
	else if (!strcmp(key, "BLOCKED"))
		import_lost(import, node,
			    "a rule of Volley cannot exclude %s: write rules for the clients that "
			    "may",
			    prefix);
	else if (strpbrk(prefix, "-@"))
		import_lost(import, node,
			    "\"%s\": Volley has no ranges and no ports in rules: write "
			    "ADDRESS/LENGTH",
			    prefix);
	else
		import_rule(import, node, zone, list, prefix, strcmp(key, "NOKEY") ? key : NULL);
}

static void carry_provide(struct import *import, struct import_node *node, json_t *zone)
{
	carry_rule(import, node, zone, "allow-transfer");
}

static void carry_allow_notify(struct import *import, struct import_node *node, json_t *zone)
{
	carry_rule(import, node, zone, "allow-notify");
}

static void put_file(struct import *import, struct import_node *node, json_t *zone)
{
	const char *name = json_string_value(json_object_get(zone, "name"));
	char path[1024];
	size_t n = 0;

	for (const char *c = import_node_word(node, 0); c && *c && n < sizeof(path) - 300; c++) {
		if (*c != '%') {
			path[n++] = *c;
			continue;
		}
		if (*++c != 's') {
			import_lost(import, node, "Volley knows only %%s: give the zone its file");
			return;
		}
		n += (size_t)snprintf(path + n, 300, "%.*s",
				      strcmp(name, ".") ? (int)strlen(name) - 1 : 1, name);
	}
	path[n] = 0;
	import_set(import, node, zone, "zones[].file", path);
}

static void carry_expire(struct import *import, struct import_node *node, json_t *zone)
{
	const char *text = import_node_word(node, 0);

	if (text && strcmp(text, "refresh+retry+1"))
		import_set(import, node, zone, "zones[].expire-min", text);
}

static void carry_pattern(struct import *import, struct import_node *node, json_t *zone);

static const struct import_rule zone_rules[] = {
	{ "name outgoing-interface catalog-member-pattern", IMPORT_READ, NULL, NULL },
	{ "zonefile", IMPORT_CALL, NULL, put_file },
	{ "include-pattern", IMPORT_CALL, NULL, carry_pattern },
	{ "request-xfr", IMPORT_CALL, NULL, carry_primary },
	{ "notify", IMPORT_CALL, NULL, carry_notify },
	{ "provide-xfr", IMPORT_CALL, NULL, carry_provide },
	{ "allow-notify", IMPORT_CALL, NULL, carry_allow_notify },
	{ "size-limit-xfr", IMPORT_SET, "zones[].max-transfer-size", NULL },
	{ "max-refresh-time", IMPORT_SET, "zones[].refresh-max", NULL },
	{ "min-refresh-time", IMPORT_SET, "zones[].refresh-min", NULL },
	{ "max-retry-time", IMPORT_SET, "zones[].retry-max", NULL },
	{ "min-retry-time", IMPORT_SET, "zones[].retry-min", NULL },
	{ "min-expire-time", IMPORT_CALL, NULL, carry_expire },
	{ "ixfr-size", IMPORT_SET, "zones[].journal-size", NULL },
	{ "store-ixfr ixfr-number create-ixfr allow-axfr-fallback multi-master-check "
	  "multi-primary-check notify-retry",
	  IMPORT_IDLE, "volleyd keeps changes of all zones, and asks each primary", NULL },
	{ "zonestats", IMPORT_IDLE, "volleyctl stats and metrics count", NULL },
	{ "allow-query", IMPORT_LOST, "server.allow has the clients, for all zones", NULL },
	{ "rrl-whitelist", IMPORT_LOST, "rate limits do not depend on names: see rrl.exempt",
	  NULL },
	{ "verify-zone verifier verifier-count verifier-feed-zone verifier-timeout", IMPORT_LOST,
	  "give zones[].verify", NULL },
	{ "catalog catalog-producer-zone", IMPORT_LOST,
	  "give zones[].catalog, a template and groups", NULL },
	{ 0 },
};

static void carry_pattern(struct import *import, struct import_node *node, json_t *zone)
{
	const char *name = import_node_word(node, 0);
	const struct import_node *pattern = name ? find_named(import, "pattern", name) : NULL;

	if (!pattern || import->depth >= PATTERNS_MAX) {
		import_lost(import, node, "the file has no pattern \"%s\"", name ? name : "");
		return;
	}
	import->depth++;
	import_carry(import, pattern, zone_rules, zone);
	import->depth--;
}

/* BLOCKED counts at any place: in the zone, or in one of its patterns. */
static void take_blocked(struct import *import, const struct import_node *zone, json_t *made,
			 unsigned int depth)
{
	for (struct import_node *node = zone->child; node && depth < PATTERNS_MAX;
	     node = node->next) {
		const char *word = import_node_word(node, 0), *key = import_node_word(node, 1);
		const struct import_node *pattern;

		if (word && !strcmp(node->name, "include-pattern")) {
			pattern = find_named(import, "pattern", word);
			if (pattern)
				take_blocked(import, pattern, made, depth + 1);
		}
		if (!key || strcmp(key, "BLOCKED") != 0)
			continue;
		if (!strcmp(node->name, "provide-xfr"))
			import_deny(import, node, made, "allow-transfer", word, 0);
		else if (!strcmp(node->name, "allow-notify"))
			import_deny(import, node, made, "allow-notify", word, 0);
	}
}

/* True if the zone or one of its patterns has request-xfr. */
static bool has_primary(struct import *import, const struct import_node *zone, unsigned int depth)
{
	if (import_node_find(zone, "request-xfr"))
		return true;
	for (struct import_node *node = zone->child; node && depth < PATTERNS_MAX;
	     node = node->next) {
		const char *name = import_node_word(node, 0);
		const struct import_node *pattern;

		if (strcmp(node->name, "include-pattern") || !name)
			continue;
		pattern = find_named(import, "pattern", name);
		if (pattern && has_primary(import, pattern, depth + 1))
			return true;
	}
	return false;
}

static void carry_zone(struct import *import, struct import_node *node)
{
	json_t *zone = import_zone(import, node, import_node_text(node, "name"));

	if (!zone)
		return;
	import_carry(import, node, zone_rules, zone);
	take_blocked(import, node, zone, 0);
	(void)import_zone_end(import, node, zone, has_primary(import, node, 0));
}

/* --- The whole file --------------------------------------------------------------------------- */

static void carry_section(struct import *import, struct import_node *node)
{
	if (!strcmp(node->name, "server"))
		import_carry(import, node, server_rules, NULL);
	else if (!strcmp(node->name, "zone"))
		carry_zone(import, node);
	else if (!strcmp(node->name, "remote-control"))
		import_idle(import, node, "volleyctl commands volleyd, see control.socket");
	else if (!strcmp(node->name, "dnstap"))
		import_lost(import, node, "give dnstap");
	else if (!strcmp(node->name, "verify"))
		import_lost(import, node, "give zones[].verify");
}

void import_nsd(struct import *import, const char *path)
{
	static const struct import_addresses addresses = {
		"ip-address interface", "port", "tls-port", "tls-service-pem",
		"tls-service-key",      NULL
	};
	const char *folder = NULL;

	(void)path;
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		if (!strcmp(node->name, "server") && import_node_text(node, "zonesdir"))
			folder = import_node_text(node, "zonesdir");
	import->folder = folder && *folder ? folder : ZONES_FOLDER;
	import_addresses(import, &addresses);
	carry_keys(import);
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		carry_section(import, node);
}
