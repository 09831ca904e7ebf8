/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unbound.conf(5): the section server. Zones are in unbound_zones.c. */
#include "import/unbound.h"

#include <string.h>

#include "import/addresses.h"
#include "import/import_servers.h"
#include "import/peers.h"

/* --- Clients ---------------------------------------------------------------------------------- */

/* The longest prefix decides, so a prefix with a refused part is not carried over. */
static void take_refused(struct import *import, struct import_node *node, const char *prefix)
{
	json_t *allow = json_object_get(json_object_get(import->out, "recursion"), "allow");
	char reduced[IMPORT_TEXT_CAP];
	const char *item, *common;

	if (!import_prefix(prefix, reduced))
		return;
	for (size_t i = json_array_size(allow); i > 0; i--) {
		item = json_string_value(json_array_get(allow, i - 1));
		common = import_prefix_common(item, reduced);
		if (!common || (common == item && strcmp(item, reduced) != 0))
			continue;
		import_lost(import, node,
			    "recursion.allow cannot exclude %s from %s, which is not carried over: "
			    "give it the prefixes of the clients that may, or add the refused "
			    "prefix to policy.block",
			    prefix, item);
		json_array_remove(allow, i - 1);
	}
}

static void carry_access(struct import *import, struct import_node *node, bool is_allow)
{
	const char *prefix = import_node_word(node, 0), *action = import_node_word(node, 1);
	bool is_allowed = action && !strncmp(action, "allow", 5);

	if (!prefix || !action) {
		if (is_allow)
			import_lost(import, node, "a prefix and an action are expected");
	} else if (is_allow && is_allowed) {
		import_allow(import, node, "recursion.allow", prefix);
	} else if (!is_allow && !is_allowed && !strstr(action, "non_local")) {
		take_refused(import, node, prefix);
	} else if (!is_allow && !is_allowed) {
		import_lost(import, node,
			    "%s: add the clients that may ask only for zones to server.allow",
			    action);
	}
}

static void carry_clients(struct import *import)
{
	struct import_node scratch = { .name = "access-control", .file = "-" };

	import_allow(import, &scratch, "recursion.allow", "127.0.0.0/8");
	import_allow(import, &scratch, "recursion.allow", "::1");
	for (int pass = 0; pass < 2; pass++)
		for (struct import_node *section = import->tree.top.child; section;
		     section = section->next)
			for (struct import_node *node = section->child; node; node = node->next)
				if (!strcmp(section->name, "server") &&
				    !strcmp(node->name, "access-control"))
					carry_access(import, node, !pass);
}

/* --- Caches, times ---------------------------------------------------------------------------- */

static void add_size(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (!strcmp(node->name, "rrset-cache-size"))
		import_set(import, node, NULL, "cache.size", import_node_word(node, 0));
}

static void carry_tcp_timeout(struct import *import, struct import_node *node, json_t *at)
{
	long long ms = import_node_word(node, 0) ? import_seconds(import_node_word(node, 0)) : -1;
	char text[32];

	(void)at;
	snprintf(text, sizeof(text), "%lld", ms < 0 ? 0 : (ms + 999) / 1000);
	import_set(import, node, NULL, "server.tcp.idle-timeout", text);
}

static void carry_stale(struct import *import, struct import_node *node, json_t *at)
{
	const char *ttl = import_node_text(node->parent, "serve-expired-ttl");

	(void)at;
	if (import_is_yes(import_node_word(node, 0)))
		import_set(import, node, NULL, "recursion.serve-stale",
			   ttl && strcmp(ttl, "0") ? ttl : "1d");
}

static void carry_any(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "server.any",
		   import_is_yes(import_node_word(node, 0)) ? "minimal" : "full");
}

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

static void carry_modules(struct import *import, struct import_node *node, json_t *at)
{
	static const char *const known[] = { "validator", "iterator", "dns64", "respip" };
	char words[512], *rest = words, *word;

	(void)at;
	snprintf(words, sizeof(words), "%s",
		 import_node_word(node, 0) ? import_node_word(node, 0) : "");
	while ((word = strsep(&rest, " \t"))) {
		size_t i = 0;

		while (i < 4 && strcmp(word, known[i]))
			i++;
		if (!strcmp(word, "dns64"))
			import_set(import, node, NULL, "recursion.dns64", "true");
		else if (i == 4 && *word)
			import_lost(import, node, "Volley has no module %s", word);
	}
}

static void carry_private(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (import_node_word(node, 0))
		import_allow(import, node, "recursion.private-address", import_node_word(node, 0));
}

static void carry_hints(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (import_node_word(node, 0) && *node->words[0])
		import_set(import, node, NULL, "recursion.root-hints", node->words[0]);
}

static void carry_anchor(struct import *import, struct import_node *node, json_t *at)
{
	const char *key = strcmp(node->name, "auto-trust-anchor-file") ?
				  "recursion.trust-anchor" :
				  "recursion.auto-trust-anchor";
	json_t *recursion = json_object_get(import->out, "recursion");

	(void)at;
	if (json_object_get(recursion, strrchr(key, '.') + 1))
		import_lost(import, node, "Volley has one file of trust anchors: join the files");
	else
		import_set(import, node, NULL, key,
			   import_node_word(node, 0) ? node->words[0] : "");
}

static void carry_tcp(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (import_is_yes(import_node_word(node, 0)))
		import_set(import, node, NULL, "recursion.transport", "tcp");
}

#define SAME(name)                                        \
	{                                                 \
		name, IMPORT_SET, "recursion." name, NULL \
	}

static const struct import_rule server_rules[] = {
	{ "interface ip-address port tls-port tls-service-key tls-service-pem access-control "
	  "hide-version hide-identity serve-expired-ttl directory",
	  IMPORT_READ, NULL, NULL },
	{ "version", IMPORT_SET, "server.version", NULL },
	{ "identity", IMPORT_SET, "server.identity", NULL },
	{ "nsid", IMPORT_CALL, NULL, carry_nsid },
	{ "max-udp-size edns-buffer-size", IMPORT_SET, "server.max-udp-size", NULL },
	{ "minimal-responses", IMPORT_IDLE, "answers from upstream are minimal", NULL },
	{ "deny-any", IMPORT_CALL, NULL, carry_any },
	{ "incoming-num-tcp", IMPORT_SET, "server.tcp.max-connections", NULL },
	{ "tcp-idle-timeout", IMPORT_CALL, NULL, carry_tcp_timeout },
	{ "tls-session-ticket-keys", IMPORT_LOST,
	  "give server.tls.ticket-keys; its file has another form", NULL },
	{ "rrset-cache-size msg-cache-size", IMPORT_CALL, NULL, add_size },
	{ "key-cache-size neg-cache-size msg-cache-slabs rrset-cache-slabs infra-cache-slabs "
	  "key-cache-slabs infra-cache-numhosts infra-host-ttl infra-cache-min-rtt "
	  "infra-keep-probing",
	  IMPORT_IDLE, "cache.size is the size of the only cache", NULL },
	{ "infra-cache-max-rtt", IMPORT_SET, "recursion.upstream-timeout", NULL },
	{ "cache-max-ttl", IMPORT_SET, "recursion.max-ttl", NULL },
	{ "cache-min-ttl", IMPORT_SET, "recursion.min-ttl", NULL },
	{ "cache-max-negative-ttl", IMPORT_SET, "recursion.max-negative-ttl", NULL },
	{ "serve-expired", IMPORT_CALL, NULL, carry_stale },
	{ "serve-expired-client-timeout", IMPORT_SET, "recursion.stale-client-timeout", NULL },
	{ "serve-expired-reply-ttl", IMPORT_SET, "recursion.stale-reply-ttl", NULL },
	{ "serve-expired-ttl-reset ede ede-serve-expired", IMPORT_IDLE,
	  "volleyd always sends extended errors", NULL },
	{ "use-caps-for-id", IMPORT_SET, "recursion.caps-for-id", NULL },
	SAME("caps-exempt"),
	SAME("prefetch"),
	SAME("do-ip4"),
	SAME("do-ip6"),
	SAME("outgoing-interface"),
	SAME("domain-insecure"),
	SAME("root-key-sentinel"),
	SAME("qname-minimisation"),
	SAME("qname-minimisation-strict"),
	SAME("aggressive-nsec"),
	SAME("harden-glue"),
	SAME("harden-referral-path"),
	SAME("harden-below-nxdomain"),
	SAME("harden-dnssec-stripped"),
	SAME("harden-algo-downgrade"),
	SAME("private-domain"),
	SAME("dns64-prefix"),
	SAME("dns64-synthall"),
	SAME("max-query-restarts"),
	SAME("outbound-msg-retry"),
	SAME("target-fetch-policy"),
	{ "private-address", IMPORT_CALL, NULL, carry_private },
	{ "dns64-ignore-aaaa", IMPORT_LOST,
	  "Volley only has recursion.dns64-synthall, for all names", NULL },
	{ "do-not-query-localhost", IMPORT_CALL, NULL, import_unbound_localhost },
	{ "root-hints", IMPORT_CALL, NULL, carry_hints },
	{ "trust-anchor-file auto-trust-anchor-file", IMPORT_CALL, NULL, carry_anchor },
	{ "trust-anchor trusted-keys-file", IMPORT_LOST,
	  "write the records to a file, and give recursion.trust-anchor", NULL },
	{ "tls-cert-bundle", IMPORT_SET, "recursion.tls-bundle", NULL },
	{ "tls-upstream ssl-upstream", IMPORT_UNLESS_NO,
	  "give recursion.transport: tls, with addresses and names", NULL },
	{ "tcp-upstream", IMPORT_CALL, NULL, carry_tcp },
	{ "module-config", IMPORT_CALL, NULL, carry_modules },
	{ "num-queries-per-thread", IMPORT_SET, "recursion.max-outstanding", NULL },
	{ "local-zone", IMPORT_CALL, NULL, import_unbound_local_zone },
	{ "local-data", IMPORT_CALL, NULL, import_unbound_local_data },
	{ "local-data-ptr", IMPORT_CALL, NULL, import_unbound_local_ptr },
	{ "unblock-lan-zones", IMPORT_CALL, NULL, import_unbound_unblock },
	{ "insecure-lan-zones", IMPORT_UNLESS_NO, "give recursion.domain-insecure", NULL },
	{ "ip-ratelimit", IMPORT_SET, "rrl.answers", NULL },
	{ "ip-ratelimit-factor ip-ratelimit-size ip-ratelimit-slabs ip-ratelimit-backoff",
	  IMPORT_IDLE, "see rrl", NULL },
	{ "ratelimit ratelimit-for-domain ratelimit-below-domain", IMPORT_LOST,
	  "Volley does not limit queries to one zone: see recursion.max-per-client", NULL },
	{ "ratelimit-factor ratelimit-size ratelimit-slabs ratelimit-backoff", IMPORT_IDLE,
	  "see rrl", NULL },
	{ "define-tag access-control-tag access-control-tag-action access-control-tag-data "
	  "access-control-view local-zone-tag local-zone-override interface-tag interface-view "
	  "interface-action interface-tag-action interface-tag-data",
	  IMPORT_LOST, "Volley has no tags and views: all clients get the same answers", NULL },
	{ "do-not-query-address", IMPORT_LOST, "upstreams cannot be excluded", NULL },
	{ "val-permissive-mode ignore-cd-flag disable-dnssec-lame-check", IMPORT_UNLESS_NO,
	  "validation cannot be weakened: see recursion.domain-insecure", NULL },
	{ "do-udp do-tcp", IMPORT_UNLESS_YES, "volleyd answers over both", NULL },
	{ "https-port http-endpoint http-max-streams http-query-buffer-size "
	  "http-response-buffer-size http-nodelay http-notls-downstream",
	  IMPORT_LOST, "Volley has no DNS over HTTPS", NULL },
	{ "proxy-protocol-port tls-additional-port interface-automatic-ports dynlib-file "
	  "python-script",
	  IMPORT_LOST, "Volley has no such option", NULL },
	{ "interface-automatic ip-transparent ip-freebind ip-dscp so-rcvbuf so-sndbuf so-reuseport "
	  "tcp-mss outgoing-tcp-mss tcp-reuse-timeout max-reuse-tcp-queries tcp-auth-query-timeout "
	  "stream-wait-size edns-tcp-keepalive edns-tcp-keepalive-timeout tcp-connection-limit "
	  "udp-connect pad-responses pad-responses-block-size pad-queries pad-queries-block-size "
	  "use-systemd udp-upstream-without-downstream delay-close tls-ciphers tls-ciphersuites "
	  "tls-use-sni tls-system-cert tls-win-cert",
	  IMPORT_IDLE, "volleyd decides this by itself", NULL },
	{ "num-threads outgoing-range outgoing-num-tcp outgoing-port-permit outgoing-port-avoid "
	  "msg-buffer-size jostle-timeout discard-timeout wait-limit wait-limit-netblock "
	  "unknown-server-time-limit fast-server-num fast-server-permil max-sent-count prefer-ip4 "
	  "prefer-ip6 unwanted-reply-threshold shm-enable shm-key",
	  IMPORT_IDLE, "see server.workers, recursion.threads and recursion.max-per-client", NULL },
	{ "verbosity logfile use-syslog log-identity log-time-ascii log-queries log-replies "
	  "log-tag-queryreply log-local-actions log-servfail log-destaddr val-log-level "
	  "statistics-interval statistics-cumulative statistics-inhibit-zero extended-statistics",
	  IMPORT_IDLE, "volleyd logs to standard error, and counts by itself", NULL },
	{ "username chroot pidfile do-daemonize", IMPORT_IDLE,
	  "systemd and server.pid-file have this", NULL },
	{ "prefetch-key trust-anchor-signaling hide-trustanchor hide-http-user-agent "
	  "http-user-agent rrset-roundrobin harden-short-bufsize harden-large-queries "
	  "harden-unknown-additional harden-unverified-glue val-clean-additional val-bogus-ttl "
	  "val-sig-skew-min val-sig-skew-max val-max-restart val-nsec3-keysize-iterations "
	  "val-override-date add-holddown del-holddown keep-missing permit-small-holddown "
	  "zonemd-permissive-mode iter-scrub-promiscuous serve-original-ttl",
	  IMPORT_IDLE, "libunbound and volleyd use the default", NULL },
	{ 0 },
};

static void carry_section(struct import *import, struct import_node *node)
{
	if (!strcmp(node->name, "server"))
		import_carry(import, node, server_rules, NULL);
	else if (!strcmp(node->name, "forward-zone"))
		import_unbound_forward(import, node);
	else if (!strcmp(node->name, "stub-zone"))
		import_unbound_stub(import, node);
	else if (!strcmp(node->name, "auth-zone"))
		import_unbound_auth(import, node);
	else if (!strcmp(node->name, "rpz"))
		import_unbound_rpz(import, node);
	else if (!strcmp(node->name, "remote-control"))
		import_idle(import, node, "volleyctl commands volleyd, see control.socket");
	else
		import_lost(import, node, "Volley has nothing like this section");
}

void import_unbound(struct import *import, const char *path)
{
	static const char *const loopback[] = { "127.0.0.1", "::1", NULL };
	static const struct import_addresses addresses = {
		"interface ip-address", "port",  "tls-port", "tls-service-pem",
		"tls-service-key",      loopback
	};

	(void)path;
	import->folder = "/etc/unbound";
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		if (!strcmp(node->name, "server") && import_node_text(node, "directory"))
			import->folder = import_node_text(node, "directory");
	import_addresses(import, &addresses);
	carry_clients(import);
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		carry_section(import, node);
	import_unbound_finish(import);
}
