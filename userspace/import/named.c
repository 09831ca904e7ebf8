/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* named.conf(5): options, keys, policies, views. See also named_zones.c and named_lists.c. */
#include "import/named.h"

#include <string.h>

#include "import/addresses.h"
#include "import/import_servers.h"
#include "import/peers.h"

/* --- Lists of clients ------------------------------------------------------------------------- */

static void add_client(struct import *import, struct import_node *list, void *user,
		       const char *prefix, const char *key)
{
	if (key)
		import_lost(import, list, "clients are known by their addresses, not by the key %s",
			    key);
	else
		import_allow(import, list, user, prefix);
}

static void carry_clients(struct import *import, struct import_node *node, const char *key)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", key);
	import_named_list(import, node, add_client, text);
}

static void carry_exempt(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	carry_clients(import, node, "rrl.exempt");
}

static void carry_private(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	carry_clients(import, node, "recursion.private-address");
}

/* "any" means all clients, so no list is needed. */
static bool is_any(const struct import_node *list)
{
	return list->child && !list->child->next && !strcmp(list->child->name, "any");
}

static void collect(struct import *import, struct import_node *list, void *prefixes,
		    const char *prefix, const char *key)
{
	bool is_all = !strcmp(prefix, "any");

	if (key) {
		import_lost(import, list, "clients are known by their addresses, not by the key %s",
			    key);
		return;
	}
	json_array_append_new(prefixes, json_string(is_all ? "0.0.0.0/0" : prefix));
	if (is_all)
		json_array_append_new(prefixes, json_string("::/0"));
}

/* The prefixes of a list of clients. For NULL, the prefixes of all clients. A new reference. */
static json_t *clients_of(struct import *import, struct import_node *list)
{
	json_t *prefixes = list ? json_array() : json_pack("[s, s]", "0.0.0.0/0", "::/0");

	if (list)
		import_named_list(import, list, collect, prefixes);
	import->has_no_memory |= !prefixes;
	return prefixes;
}

/* Sets KEY to the clients that are in both lists. False if there are none. */
static bool put_common(struct import *import, const struct import_node *node, const char *key,
		       const json_t *some, const json_t *others)
{
	json_t *a, *b;
	bool has = false;
	size_t i, k;

	json_array_foreach(some, i, a)
		json_array_foreach(others, k, b) {
			const char *common =
				import_prefix_common(json_string_value(a), json_string_value(b));

			if (common)
				import_set(import, node, NULL, key, common);
			has |= common != NULL;
		}
	return has;
}

/* The clients of the view that are also in allow-query. Without a list all clients may ask. */
static void carry_query(struct import *import, struct import_node *options, const json_t *clients)
{
	struct import_node *query = import_node_find(options, "allow-query"),
			   *match = import_node_find(options, "match-clients");
	json_t *allowed;

	if ((!query || is_any(query)) && (!match || is_any(match)))
		return;
	query = query && is_any(query) ? NULL : query;
	allowed = clients_of(import, query);
	if (!put_common(import, query ? query : match, "server.allow", allowed, clients))
		import_allow_nobody(import, query ? query : match);
	json_decref(allowed);
}

/* Clients that may recurse: allow-recursion, or else allow-query-cache, or else allow-query, or
 * else this host and its networks. */
static void carry_recursion(struct import *import, struct import_node *options,
			    const json_t *clients)
{
	static const char *const names[] = { "allow-recursion", "allow-query-cache",
					     "allow-query" };
	const char *recursion = import_node_text(options, "recursion");
	struct import_node *list = NULL;
	json_t *allowed;

	if (recursion && !import_is_yes(recursion))
		return;
	for (size_t i = 0; i < 3 && !list; i++)
		list = import_node_find(options, names[i]);
	allowed = list ? clients_of(import, list) : json_pack("[s, s]", "127.0.0.0/8", "::1");
	(void)put_common(import, list ? list : options, "recursion.allow", allowed, clients);
	json_decref(allowed);
	if (!list)
		import_note(import, options,
			    "named lets the networks of the host recurse: add their prefixes to "
			    "recursion.allow");
}

static void carry_access(struct import *import, struct import_node *options)
{
	json_t *clients = clients_of(import, import_node_find(options, "match-clients"));

	carry_query(import, options, clients);
	carry_recursion(import, options, clients);
	json_decref(clients);
}

/* --- Addresses to listen on ------------------------------------------------------------------- */

struct listen {
	const char *port;
	bool is_tls, is_ip6;
};

static void add_listen(struct import *import, struct import_node *list, void *user,
		       const char *prefix, const char *key)
{
	const struct listen *listen = user;

	if (key || strchr(prefix, '/'))
		import_lost(import, list, "server.listen accepts addresses, not %s",
			    key ? key : prefix);
	else
		import_listen(import, list,
			      strcmp(prefix, "any") ? prefix :
			      listen->is_ip6        ? "::" :
						      "0.0.0.0",
			      listen->port, listen->is_tls);
}

static void carry_listen(struct import *import, struct import_node *node, json_t *at)
{
	const char *tls = import_named_after(node, "tls"), *port = import_named_after(node, "port");
	const struct import_node *block = tls ? import_named_block(import, "tls", tls) : NULL;
	struct listen listen = { port ? port : import_node_text(node->parent, "port"), tls != NULL,
				 !strcmp(node->name, "listen-on-v6") };

	(void)at;
	if (import_named_after(node, "http")) {
		import_lost(import, node, "Volley has no DNS over HTTPS");
		return;
	}
	if (tls && !block) {
		import_lost(import, node,
			    "tls %s names no files with a certificate and a key: give server.tls",
			    tls);
		return;
	}
	if (tls && !port)
		listen.port = import_node_text(node->parent, "tls-port");
	import_named_list(import, node, add_listen, &listen);
	if (!block)
		return;
	import_set(import, node, NULL, "server.tls.certificate",
		   import_node_text(block, "cert-file") ? import_node_text(block, "cert-file") :
							  "");
	import_set(import, node, NULL, "server.tls.key",
		   import_node_text(block, "key-file") ? import_node_text(block, "key-file") : "");
}

/* --- options ---------------------------------------------------------------------------------- */

static const char *word_of(const struct import_node *node)
{
	return import_node_word(node, 0) ? node->words[0] : "";
}

static void carry_name(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (!strcmp(word_of(node), "none"))
		return;
	if (!strcmp(node->name, "version")) {
		import_set(import, node, NULL, "server.version", word_of(node));
		return;
	}
	if (!strcmp(word_of(node), "hostname")) {
		import_note(import, node,
			    "set server.identity and server.nsid to the name of the host");
		return;
	}
	import_set(import, node, NULL, "server.identity", word_of(node));
	if (!strcmp(node->name, "server-id"))
		import_set(import, node, NULL, "server.nsid", word_of(node));
}

static void carry_forwarders(struct import *import, struct import_node *node, json_t *at)
{
	const char *how = import_node_text(node->parent, "forward");

	(void)at;
	for (struct import_node *one = node->child; one; one = one->next) {
		const char *port = import_named_of_server(node, one, "port");
		char text[128];

		snprintf(text, sizeof(text), "%s%s%s", one->name, port ? "@" : "",
			 port ? port : "");
		if (import_named_of_server(node, one, "tls"))
			import_lost(import, one,
				    "give recursion.transport: tls, with @853# and the name of the "
				    "certificate");
		else
			import_set(import, one, NULL, "recursion.forward", text);
	}
	if (node->child && (!how || strcmp(how, "only")))
		import_set(import, node, NULL, "recursion.forward-first", "true");
}

static void carry_tenths(struct import *import, struct import_node *node, json_t *at)
{
	char text[32];

	(void)at;
	snprintf(text, sizeof(text), "%lld", (import_seconds(word_of(node)) + 9) / 10);
	import_set(import, node, NULL, "server.tcp.idle-timeout", text);
}

static void carry_cookie(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (json_object_get(json_object_get(json_object_get(import->out, "server"), "cookies"),
			    "secret"))
		import_lost(import, node, "more than one secret: give server.cookies.secret-files");
	else
		import_set(import, node, NULL, "server.cookies.secret", word_of(node));
}

static void carry_limits(struct import *import, struct import_node *node, json_t *at)
{
	static const struct import_rule rules[] = {
		{ "responses-per-second", IMPORT_SET, "rrl.answers", NULL },
		{ "slip", IMPORT_SET, "rrl.slip", NULL },
		{ "log-only", IMPORT_SET, "rrl.dry-run", NULL },
		{ "exempt-clients", IMPORT_CALL, NULL, carry_exempt },
		{ "window all-per-second errors-per-second nodata-per-second nxdomains-per-second "
		  "referrals-per-second ipv4-prefix-length ipv6-prefix-length max-table-size "
		  "min-table-size qps-scale",
		  IMPORT_IDLE, "rrl counts all answers to an address in the same way", NULL },
		{ 0 },
	};

	import_carry(import, node, rules, at);
}

static void carry_policies(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	for (struct import_node *one = node->child; one; one = one->next) {
		json_t *list;

		if (import_named_after(one, "policy") &&
		    strcmp(import_named_after(one, "policy"), "given"))
			import_lost(import, one,
				    "Volley cannot change the action of a list's rules");
		list = import_item(import, import_object(import, import->out, "recursion"), "rpz");
		import_put(import, list, "zone", word_of(one));
	}
}

static void carry_stale(struct import *import, struct import_node *node, json_t *at)
{
	const char *ttl = import_node_text(node->parent, "max-stale-ttl");

	(void)at;
	if (import_is_yes(word_of(node)))
		import_set(import, node, NULL, "recursion.serve-stale", ttl ? ttl : "1d");
}

static void carry_validation(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (!strcmp(word_of(node), "auto"))
		import_lost(import, node,
			    "named has no file with the key of the root: give "
			    "recursion.auto-trust-anchor one, such as a copy of "
			    "/usr/share/dns/root.key");
}

static void carry_minimal(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "server.minimal-responses",
		   import_is_yes(word_of(node)) ? "yes" : "no");
}

static void carry_dns64(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "recursion.dns64", "yes");
	import_set(import, node, NULL, "recursion.dns64-prefix", word_of(node));
	if (node->child)
		import_note(import, node,
			    "recursion.dns64 is for all clients, and for all addresses");
}

static void carry_insecure(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	for (struct import_node *one = node->child; one; one = one->next)
		import_set(import, one, NULL, "recursion.domain-insecure", one->name);
}

static const struct import_rule option_rules[] = {
	{ "directory port tls-port recursion allow-query allow-recursion allow-query-cache forward "
	  "max-stale-ttl also-notify allow-transfer allow-notify dnssec-policy match-clients zone",
	  IMPORT_READ, NULL, NULL },
	{ "listen-on listen-on-v6", IMPORT_CALL, NULL, carry_listen },
	{ "version hostname server-id", IMPORT_CALL, NULL, carry_name },
	{ "forwarders", IMPORT_CALL, NULL, carry_forwarders },
	{ "tcp-clients", IMPORT_SET, "server.tcp.max-connections", NULL },
	{ "tcp-idle-timeout", IMPORT_CALL, NULL, carry_tenths },
	{ "max-udp-size edns-udp-size", IMPORT_SET, "server.max-udp-size", NULL },
	{ "minimal-responses", IMPORT_CALL, NULL, carry_minimal },
	{ "cookie-secret", IMPORT_CALL, NULL, carry_cookie },
	{ "rate-limit", IMPORT_CALL, NULL, carry_limits },
	{ "response-policy", IMPORT_CALL, NULL, carry_policies },
	{ "max-cache-size", IMPORT_SET, "cache.size", NULL },
	{ "max-cache-ttl", IMPORT_SET, "recursion.max-ttl", NULL },
	{ "min-cache-ttl", IMPORT_SET, "recursion.min-ttl", NULL },
	{ "max-ncache-ttl", IMPORT_SET, "recursion.max-negative-ttl", NULL },
	{ "stale-answer-enable", IMPORT_CALL, NULL, carry_stale },
	{ "stale-answer-ttl", IMPORT_SET, "recursion.stale-reply-ttl", NULL },
	{ "recursive-clients", IMPORT_SET, "recursion.max-outstanding", NULL },
	{ "synth-from-dnssec", IMPORT_SET, "recursion.aggressive-nsec", NULL },
	{ "dnssec-validation", IMPORT_CALL, NULL, carry_validation },
	{ "validate-except", IMPORT_CALL, NULL, carry_insecure },
	{ "deny-answer-addresses", IMPORT_CALL, NULL, carry_private },
	{ "dns64", IMPORT_CALL, NULL, carry_dns64 },
	{ "empty-zones-enable", IMPORT_SET, "recursion.special-names", NULL },
	{ "disable-empty-zone", IMPORT_SET, "recursion.special-names-off", NULL },
	{ "transfers-in", IMPORT_SET, "server.transfers-in", NULL },
	{ "transfers-out", IMPORT_SET, "server.transfers-out", NULL },
	{ "answer-cookie", IMPORT_UNLESS_YES, "cookies cannot be switched off", NULL },
	{ "catalog-zones", IMPORT_LOST, "give zones[].catalog: consume, a template and groups",
	  NULL },
	{ "blackhole", IMPORT_LOST, "write the prefixes to a file, and give policy.block", NULL },
	{ "sortlist rrset-order", IMPORT_LOST, "Volley does not sort records", NULL },
	{ "query-source query-source-v6", IMPORT_LOST, "give recursion.outgoing-interface", NULL },
	{ "transfer-source transfer-source-v6 notify-source notify-source-v6", IMPORT_LOST,
	  "give remotes[].source", NULL },
	{ "dnstap dnstap-output", IMPORT_LOST, "see the keys of dnstap", NULL },
	{ "match-destinations match-recursive-only", IMPORT_LOST,
	  "all clients get the same answers", NULL },
	{ "prefetch qname-minimization stale-answer-client-timeout stale-refresh-time "
	  "stale-cache-enable notify pid-file session-keyfile dump-file statistics-file "
	  "memstatistics-file recursing-file secroots-file managed-keys-directory bindkeys-file "
	  "key-directory querylog clients-per-query max-clients-per-query tcp-listen-queue "
	  "tcp-keepalive-timeout tcp-initial-timeout tcp-advertised-timeout serial-query-rate "
	  "interface-interval auth-nxdomain zone-statistics check-names ixfr-from-differences "
	  "lame-ttl resolver-query-timeout fetches-per-server fetches-per-zone reuseport "
	  "send-cookie require-server-cookie cookie-algorithm minimal-any transfers-per-ns "
	  "transfer-format files stacksize datasize coresize flush-zones-on-shutdown "
	  "heartbeat-interval dnssec-accept-expired nta-lifetime nta-recheck servfail-ttl "
	  "use-v4-udp-ports use-v6-udp-ports avoid-v4-udp-ports avoid-v6-udp-ports",
	  IMPORT_IDLE, "volleyd decides this by itself, or systemd has it", NULL },
	{ 0 },
};

/* --- Keys, policies, views -------------------------------------------------------------------- */

static void carry_algorithm(struct import *import, struct import_node *node, json_t *at)
{
	for (struct import_node *key = node->child; key; key = key->next)
		if (import_named_after(key, "algorithm"))
			import_set(import, key, at, "signing[].algorithm",
				   import_named_after(key, "algorithm"));
	import_put(import, at, "keys",
		   !strcmp(node->child ? node->child->name : "csk", "csk") ? "csk" : "ksk-zsk");
}

static void carry_nsec3(struct import *import, struct import_node *node, json_t *at)
{
	import_put(import, at, "denial", "nsec3");
	if (import_named_after(node, "iterations"))
		import_set(import, node, at, "signing[].nsec3-iterations",
			   import_named_after(node, "iterations"));
	if (import_named_after(node, "optout"))
		import_set(import, node, at, "signing[].nsec3-opt-out",
			   import_named_after(node, "optout"));
}

static const struct import_rule policy_rules[] = {
	{ "keys", IMPORT_CALL, NULL, carry_algorithm },
	{ "nsec3param", IMPORT_CALL, NULL, carry_nsec3 },
	{ "dnskey-ttl", IMPORT_SET, "signing[].dnskey-ttl", NULL },
	{ "signatures-validity", IMPORT_SET, "signing[].signature-lifetime", NULL },
	{ "signatures-refresh", IMPORT_SET, "signing[].refresh", NULL },
	{ "parent-ds-ttl", IMPORT_SET, "signing[].parent-ds-ttl", NULL },
	{ "parent-propagation-delay", IMPORT_SET, "signing[].parent-propagation-delay", NULL },
	{ "zone-propagation-delay", IMPORT_SET, "signing[].propagation-delay", NULL },
	{ "max-zone-ttl publish-safety retire-safety purge-keys signatures-validity-dnskey cdnskey "
	  "cds-digest-types",
	  IMPORT_IDLE, "volleyd decides this by itself", NULL },
	{ 0 },
};

static void carry_statement(struct import *import, struct import_node *node)
{
	if (!strcmp(node->name, "key"))
		import_key(import, node, import_node_word(node, 0),
			   import_node_text(node, "algorithm"), import_node_text(node, "secret"));
	if (strcmp(node->name, "dnssec-policy") || !node->is_block)
		return;
	import_put(import, import_item(import, import->out, "signing"), "name", word_of(node));
	import_carry(import, node, policy_rules,
		     json_array_get(json_object_get(import->out, "signing"),
				    json_array_size(json_object_get(import->out, "signing")) - 1));
}

static void carry_zones(struct import *import, const struct import_node *place,
			const struct import_node *options)
{
	for (struct import_node *node = place->child; node; node = node->next)
		if (!strcmp(node->name, "zone"))
			import_named_zone(import, node, options);
}

/* Statements that are allowed both inside and outside of a view. */
static bool is_statement(const struct import_node *node)
{
	static const char *const names[] = {
		"zone", "key", "server", "trust-anchors", "trusted-keys", "managed-keys", "dlz"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(node->name, names[i]))
			return true;
	return false;
}

/* The options of the only view replace the options for all views. */
static void open_view(struct import *import, struct import_node *view, struct import_node *options)
{
	for (struct import_node *node = view->child; node; node = node->next)
		if (!is_statement(node))
			import_node_remove(options, node->name);
	while (view->child)
		import_node_move_first(view,
				       is_statement(view->child) ? &import->tree.top : options);
}

/* The statement options, which is made if the file has none. NULL: no memory. */
static struct import_node *find_options(struct import *import, const char *path)
{
	struct import_node *options = import_node_find(&import->tree.top, "options");

	if (!options)
		options = import_node_add(&import->tree, &import->tree.top, "options", 7,
					  import_tree_file(&import->tree, path), 1);
	import->has_no_memory |= !options;
	return options;
}

static void carry_views(struct import *import, struct import_node *options)
{
	struct import_node *view = import_node_find(&import->tree.top, "view");
	unsigned int n_views = 0;

	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		n_views += !strcmp(node->name, "view");
	if (n_views == 1)
		open_view(import, view, options);
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		if (n_views > 1 && !strcmp(node->name, "view"))
			import_lost(
				import, node,
				"Volley has no views: make a configuration and run a volleyd for "
				"each of the %u",
				n_views);
}

static void carry_rest(struct import *import, struct import_node *node)
{
	static const char read[] =
		" options acl key zone view primaries masters tls dnssec-policy server include ";
	char name[80];

	snprintf(name, sizeof(name), " %.70s ", node->name);
	if (strstr(read, name))
		return;
	if (!strcmp(node->name, "controls") || !strcmp(node->name, "logging") ||
	    !strcmp(node->name, "statistics-channels"))
		import_idle(import, node,
			    "volleyctl commands volleyd, which logs to standard error; "
			    "metrics.listen gives counters");
	else if (strstr(node->name, "keys") || !strcmp(node->name, "trust-anchors"))
		import_lost(import, node,
			    "write the records to a file, and give recursion.trust-anchor");
	else
		import_lost(import, node, "Volley has nothing like it");
}

void import_named(struct import *import, const char *path)
{
	struct import_node *options = find_options(import, path);

	if (!options)
		return;
	carry_views(import, options);
	import->folder = import_node_text(options, "directory");
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		carry_statement(import, node);
	carry_access(import, options);
	import_carry(import, options, option_rules, NULL);
	if (!import_node_find(options, "listen-on"))
		import_listen(import, options, "0.0.0.0", import_node_text(options, "port"), false);
	if (!import_node_find(options, "listen-on-v6"))
		import_listen(import, options, "::", import_node_text(options, "port"), false);
	carry_zones(import, &import->tree.top, options);
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		carry_rest(import, node);
}
