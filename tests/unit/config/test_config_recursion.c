/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may ask, and how upstreams are asked: as test_config.c. */
#include "config/config.h"

#include <arpa/inet.h>

#include "config/words.h"
#include "tests/unit/config/configtext.h"

#define RECURSION LISTEN "recursion:\n"
#define ROOT_ZONE "zones:\n  - name: .\n    file: root.zone\n"

static const struct refusal refusals[] = {
	/* who may ask */
	{ "allow, nobody", "server:\n  listen: [192.0.2.1]\n  allow: []\n",
	  "3: server.allow: has no prefix, so nobody could ask: leave it out to allow everyone" },
	{ "allow, not an address", "server:\n  listen: [192.0.2.1]\n  allow: [any]\n",
	  "3: server.allow[0]: \"any\" is not accepted, give a list of prefixes with zeros behind "
	  "them, "
	  "such as 192.0.2.0/24 or \"2001:db8::/32\"" },
	{ "allow, bits behind the prefix", RECURSION "  allow: [192.0.2.1/24]\n",
	  "4: recursion.allow[0]: \"192.0.2.1/24\" is not accepted" },
	{ "allow, a bit behind the prefix", RECURSION "  allow: [\"2001:db8::/28\"]\n",
	  "4: recursion.allow[0]: " },
	{ "allow, longer than an address", RECURSION "  allow: [192.0.2.0/33]\n",
	  "4: recursion.allow[0]: " },
	{ "allow, longer than an IPv6 address", RECURSION "  allow: [\"2001:db8::/129\"]\n",
	  "4: recursion.allow[0]: " },
	{ "allow, no length", RECURSION "  allow: [192.0.2.0/]\n", "4: recursion.allow[0]: " },
	{ "allow, IPv4-mapped", RECURSION "  allow: [\"::ffff:0:0/96\"]\n",
	  "4: recursion.allow[0]: " },
	{ "allow twice", RECURSION "  allow: [192.0.2.1, 10.0.0.0/8, 192.0.2.1/32]\n",
	  "4: recursion.allow[2]: \"192.0.2.1/32\" is given twice, first in line 4" },

	/* recursion */
	{ "unknown below recursion", RECURSION "  forwards: []\n",
	  "4: recursion.forwards: unknown key, did you mean \"forward\"? Accepted here: allow, forward, forward-first, "
	  "transport, "
	  "tls-bundle, stubs, forward-zones, " },
	{ "forward, no address", RECURSION "  forward: [dns.example]\n",
	  "4: recursion.forward[0]: \"dns.example\" is not accepted, give a list of IPv4 or IPv6 "
	  "addresses, each with @ and a port behind it if not 53; for TLS each with # and its name" },
	{ "forward, port too big", RECURSION "  forward: [192.0.2.1@65536]\n",
	  "4: recursion.forward[0]: " },
	{ "forward, a name without TLS", RECURSION "  forward: [\"192.0.2.1@853#dns.example\"]\n",
	  "4: recursion.forward[0]: has the name of a certificate, but transport is not tls" },
	{ "forward, TLS without a name",
	  RECURSION "  transport: tls\n  tls-bundle: b\n  forward: [192.0.2.1@853]\n",
	  "6: recursion.forward[0]: transport is tls: give ADDRESS@853#NAME" },
	{ "forward, TLS without a port",
	  RECURSION "  transport: tls\n  tls-bundle: b\n  forward: [\"192.0.2.1#a\"]\n",
	  "6: recursion.forward[0]: transport is tls: give ADDRESS@853#NAME" },
	{ "forward, a name that is none",
	  RECURSION "  transport: tls\n  tls-bundle: b\n  forward: [\"192.0.2.1@853#a..b\"]\n",
	  "6: recursion.forward[0]: \"192.0.2.1@853#a..b\" is not accepted" },
	{ "TLS without forwarders", RECURSION "  transport: tls\n  tls-bundle: b\n",
	  "4: recursion.transport: tls is for forwarders, and recursion.forward has none" },
	{ "TLS without certificates",
	  RECURSION "  transport: tls\n  forward: [\"192.0.2.1@853#a\"]\n",
	  "4: recursion.transport: tls needs recursion.tls-bundle: the certificates that are "
	  "trusted" },
	{ "transport", RECURSION "  transport: quic\n",
	  "4: recursion.transport: \"quic\" is not accepted, give udp, tcp or tls" },
	{ "forward, to ourselves", RECURSION "  forward: [192.0.2.9, 192.0.2.53]\n",
	  "4: recursion.forward[1]: volleyd itself listens at 192.0.2.53 (server.listen), so each "
	  "question would come back to it: give the address of another server" },
	{ "forward, to our port",
	  "server:\n  listen: [127.0.0.1@5300]\nrecursion:\n"
	  "  forward: [127.0.0.1@5300]\n",
	  "4: recursion.forward[0]: volleyd itself listens at " },
	{ "forward, to a wildcard of ours",
	  "server:\n  listen: [0.0.0.0]\nrecursion:\n  forward: [127.0.0.53]\n",
	  "4: recursion.forward[0]: volleyd itself listens at " },
	{ "forward, to an IPv6 wildcard of ours",
	  "server:\n  listen: [\"::\"]\nrecursion:\n  forward: [\"::1\"]\n",
	  "4: recursion.forward[0]: volleyd itself listens at " },
	{ "forward, to the wildcard",
	  "server:\n  listen: [127.0.0.1]\nrecursion:\n  forward: [0.0.0.0]\n",
	  "4: recursion.forward[0]: volleyd itself listens at " },
	{ "forward, to our TLS",
	  "server:\n  listen: [192.0.2.1]\n  tls: {listen: [127.0.0.1], certificate: c, key: k}\n"
	  "recursion:\n  transport: tls\n  tls-bundle: b\n  forward: [\"127.0.0.1@853#a\"]\n",
	  "7: recursion.forward[0]: volleyd itself listens at 127.0.0.1@853#a (server.tls.listen), " },
	{ "stub without a zone", RECURSION "  stubs: [{address: 192.0.2.1}]\n",
	  "4: recursion.stubs[0].zone: is missing, give a domain name" },
	{ "stub without an address", RECURSION "  stubs: [{zone: a}]\n",
	  "4: recursion.stubs[0].address: is missing, give an IPv4 or IPv6 address, with @ and a "
	  "port" },
	{ "stub with a certificate", RECURSION "  stubs: [{zone: a, address: \"192.0.2.1@1#a\"}]\n",
	  "4: recursion.stubs[0].address: \"192.0.2.1@1#a\" is not accepted" },
	{ "root-hints empty", RECURSION "  root-hints: ''\n",
	  "4: recursion.root-hints: \"\" is not accepted, give the path of a file" },
	{ "qname-minimisation", RECURSION "  qname-minimisation: strict\n",
	  "4: recursion.qname-minimisation: \"strict\" is not accepted, give true or false" },
	{ "threads", RECURSION "  threads: 17\n",
	  "4: recursion.threads: \"17\" is not accepted, give a whole number from 1 to 16" },
	{ "memory-max", RECURSION "  memory-max: 63M\n",
	  "4: recursion.memory-max: \"63M\" is not accepted" },
	{ "max-outstanding", RECURSION "  max-outstanding: 15\n",
	  "4: recursion.max-outstanding: \"15\" is not accepted, give a whole number from 16 to" },
	{ "upstream-timeout short", RECURSION "  upstream-timeout: 99ms\n",
	  "4: recursion.upstream-timeout: \"99ms\" is not accepted, give a time from 100ms to 1m: "
	  "seconds, or a number with ms, s, m, h or d behind it" },
	{ "query-timeout long", RECURSION "  query-timeout: 60001ms\n",
	  "4: recursion.query-timeout: \"60001ms\" is not accepted" },
	{ "query-timeout in micro seconds", RECURSION "  query-timeout: 100000us\n",
	  "4: recursion.query-timeout: \"100000us\" is not accepted" },
	{ "max-ttl", RECURSION "  max-ttl: 0\n",
	  "4: recursion.max-ttl: \"0\" is not accepted, give a time from 1s to 7d" },
	{ "max-ttl in milliseconds", RECURSION "  max-ttl: 5000ms\n", "4: recursion.max-ttl: " },
	{ "min-ttl over max-ttl", RECURSION "  max-ttl: 9\n  min-ttl: 10\n",
	  "5: recursion.min-ttl: min-ttl is 10 s and max-ttl 9 s: no time is between them" },
	{ "serve-stale", RECURSION "  serve-stale: 8d\n",
	  "4: recursion.serve-stale: \"8d\" is not accepted, give a time from 0 to 7d" },
	{ "local-data, no list", RECURSION "  local-data: a. A 192.0.2.1\n",
	  "4: recursion.local-data: has the wrong shape, give a list of records as in a master file" },
	{ "stale-reply-ttl", RECURSION "  stale-reply-ttl: 0\n",
	  "4: recursion.stale-reply-ttl: \"0\" is not accepted, give a time from 1s to 1h" },
	{ "domain-insecure, no name", RECURSION "  domain-insecure: [lan, a..b]\n",
	  "4: recursion.domain-insecure[1]: \"a..b\" is not accepted, give a list of domain names" },
	{ "special-names", RECURSION "  special-names: some\n",
	  "4: recursion.special-names: \"some\" is not accepted, give true or false" },
	{ "special-names-off, not special", RECURSION "  special-names-off: [test, corp.example]\n",
	  "4: recursion.special-names-off[1]: \"corp.example\" is no special name and has none "
	  "below" },
	{ "special-names-off, below one", RECURSION "  special-names-off: [corp.test]\n",
	  "4: recursion.special-names-off[0]: \"corp.test\" is no special name" },
	{ "local-data, a bad record",
	  RECURSION "  local-data:\n    - a. A 192.0.2.1\n    - b. A 192.0.2\n",
	  "6: recursion.local-data[1]: the data of this A record cannot be read: " },
	{ "local-data, behind a record of several lines",
	  RECURSION
	  "  local-data:\n    - |\n      a. A 192.0.2.1\n      b. A 192.0.2.2\n    - c. AA 1\n",
	  "8: recursion.local-data[1]: 'AA' is not a record type" },
	{ "local-data, records that do not go together",
	  RECURSION "  local-data: [a. A 192.0.2.1, a. CNAME b.]\n",
	  "4: recursion.local-data[1]: " },
	{ "local-data, a second SOA", RECURSION "  local-data: [. SOA a. b. 1 2 3 4 5]\n",
	  "4: recursion.local-data" },
	{ "rpz without a file", RECURSION "  rpz: [{name: a}]\n",
	  "4: recursion.rpz[0].file: is missing, give the path of a file" },
	{ "rpz of a zone and a file", RECURSION "  rpz: [{zone: a, file: b}]\n",
	  "4: recursion.rpz[0].zone: a zone that is served here has no name and no file beside it" },
	{ "rpz of a zone and a file, twice",
	  RECURSION "  rpz:\n    - {zone: a}\n    - {name: A., file: b}\n",
	  "6: recursion.rpz[1].name: \"a.\" is given twice, first in line 5" },
	{ "rpz of another kind", RECURSION "  rpz: [{zone: a, ede: stale}]\n",
	  "4: recursion.rpz[0].ede: " },
	{ "rpz twice", RECURSION "  rpz:\n    - {name: a, file: a}\n    - {name: A., file: b}\n",
	  "6: recursion.rpz[1].name: \"a.\" is given twice, first in line 5" },
};

static void test_refusals(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

/* There are more keys than a sentence has room for: it ends with a whole word, and says where all
 * of them are. */
static void test_unknown_among_many(void **state)
{
	static const char end[] = "; volley.yaml(5) has all";
	struct config *config;
	char err[512], *last;

	(void)state;
	assert_int_equal(load(&config, RECURSION "  forwards: []\n", err, sizeof(err)), ERR_CONFIG);
	assert_true(strlen(err) > strlen(end));
	last = err + strlen(err) - strlen(end);
	assert_string_equal(last, end);
	*last = '\0';
	last = strrchr(err, ' ') + 1;
	for (unsigned int i = 0; i < words_recursion_keys.n; i++) {
		const char *dot = strrchr(words_recursion_keys.keys[i].path, '.');

		if (dot && !strcmp(dot + 1, last))
			return;
	}
	fail_msg("\"%s\" is no key", last);
}

static void test_too_many_prefixes(void **state)
{
	static char text[128 << 10];
	struct config *config;
	char err[512];

	(void)state;
	for (unsigned int n = CONFIG_PREFIXES_MAX; n <= CONFIG_PREFIXES_MAX + 1; n++) {
		size_t used = (size_t)snprintf(text, sizeof(text), RECURSION "  allow: [");

		for (unsigned int i = 0; i < n; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s10.0.%u.%u",
						 i ? ", " : "", i >> 8, i & 255);
		snprintf(text + used, sizeof(text) - used, "]\n");
		assert_int_equal(load(&config, text, err, sizeof(err)),
				 n > CONFIG_PREFIXES_MAX ? ERR_CONFIG : 0);
		config_free(config);
	}
	assert_non_null(strstr(err, "4: recursion.allow: has 4097 prefixes, and 4096 is the most"));
}

static void test_resolver_defaults(void **state)
{
	struct config *config = load_good(LISTEN);
	const struct config_recursion *recursion = &config->recursion;

	(void)state;
	assert_false(recursion->forward_first);
	assert_int_equal(recursion->n_forward_zones, 0);
	assert_true(recursion->do_ip4 && recursion->do_ip6);
	assert_null(recursion->outgoing_interface);
	assert_false(recursion->qname_minimisation_strict);
	assert_null(recursion->caps_exempt);
	assert_true(recursion->root_key_sentinel);
	assert_true(recursion->harden_glue);
	assert_false(recursion->harden_referral_path);
	assert_true(recursion->harden_below_nxdomain);
	assert_true(recursion->harden_dnssec_stripped);
	assert_false(recursion->harden_algo_downgrade);
	assert_false(recursion->harden_unverified_glue);
	assert_false(recursion->harden_unknown_additional);
	assert_null(recursion->private_address);
	assert_null(recursion->private_domain);
	assert_null(recursion->dns64_prefix);
	assert_false(recursion->dns64_synthall);
	assert_int_equal(recursion->max_query_restarts, 11);
	assert_int_equal(recursion->max_global_quota, 0);
	assert_int_equal(recursion->outbound_msg_retry, 0);
	assert_null(recursion->target_fetch_policy);
	assert_int_equal(recursion->stale_reply_ttl_s, 30);
	config_free(config);
	config = load_good(RECURSION "  dns64: true\n");
	assert_string_equal(config->recursion.dns64_prefix, "64:ff9b::/96");
	config_free(config);
}

static void test_recursion_defaults(void **state)
{
	struct config *config = load_good(LISTEN);
	const struct config_recursion *recursion = &config->recursion;

	(void)state;
	assert_null(config->allow);
	assert_int_equal(config->n_allow, 0);
	assert_int_equal(recursion->n_allow, 0);
	assert_null(recursion->forward);
	assert_int_equal(recursion->transport, RESOLVER_UDP);
	assert_null(recursion->tls_bundle);
	assert_int_equal(recursion->n_stubs, 0);
	assert_null(recursion->root_hints);
	assert_null(recursion->trust_anchor);
	assert_null(recursion->auto_trust_anchor);
	assert_true(recursion->qname_minimisation);
	assert_true(recursion->aggressive_nsec);
	assert_false(recursion->has_caps_for_id);
	assert_false(recursion->query_localhost);
	assert_false(recursion->root_copy);
	assert_true(recursion->prefetch);
	assert_int_equal(recursion->n_threads, 1);
	assert_int_equal(recursion->max_outstanding, 131072);
	assert_int_equal(recursion->max_per_client, 0);
	assert_int_equal(recursion->memory_max_bytes, 1 << 30);
	assert_int_equal(recursion->upstream_timeout_ms, 2000);
	assert_int_equal(recursion->query_timeout_ms, 5000);
	assert_int_equal(recursion->stale_client_timeout_ms, 1800);
	assert_int_equal(recursion->serve_stale_s, 0);
	assert_int_equal(recursion->max_ttl_s, 86400);
	assert_int_equal(recursion->min_ttl_s, 0);
	assert_int_equal(recursion->max_negative_ttl_s, 3600);
	assert_null(recursion->local_data);
	assert_null(recursion->domain_insecure);
	assert_true(recursion->special_names);
	assert_null(recursion->special_names_off);
	assert_int_equal(recursion->n_rpz, 0);
	config_free(config);
}

/* Those of config_resolver.c besides. */
static const struct refusal resolver_refusals[] = {
	{ "neither family", RECURSION "  do-ip4: false\n  do-ip6: false\n",
	  "4: recursion.do-ip4: is false, and do-ip6 too: no server could be asked" },
	{ "a forwarder of a family that is off",
	  RECURSION "  do-ip6: false\n  forward: [192.0.2.1, \"2001:db8::1\"]\n",
	  "5: recursion.forward[1]: 2001:db8::1 is an IPv6 address, and do-ip6 is false" },
	{ "a stub of a family that is off",
	  RECURSION "  do-ip4: false\n  stubs: [{zone: a, address: 192.0.2.1@54}]\n",
	  "5: recursion.stubs[0].address: 192.0.2.1@54 is an IPv4 address, and do-ip4 is false" },
	{ "a forward zone of a family that is off",
	  RECURSION "  do-ip4: false\n  forward-zones: [{zone: a, address: 192.0.2.1}]\n",
	  "5: recursion.forward-zones[0].address: 192.0.2.1 is an IPv4 address" },
	{ "an outgoing address of a family that is off",
	  RECURSION "  do-ip4: false\n  outgoing-interface: [192.0.2.1]\n",
	  "5: recursion.outgoing-interface[0]: 192.0.2.1 is an IPv4 address" },
	{ "outgoing-interface, a port", RECURSION "  outgoing-interface: [192.0.2.1@53]\n",
	  "4: recursion.outgoing-interface[0]: \"192.0.2.1@53\" is not accepted, give a list of "
	  "IPv4 or "
	  "IPv6 addresses" },
	{ "forward-first without forwarders", RECURSION "  forward-first: true\n",
	  "4: recursion.forward-first: is for recursion.forward, which has no address" },
	{ "a copy of the root without the zone", RECURSION "  root-copy: true\n",
	  "4: recursion.root-copy: needs the zone \".\" in zones, with the primaries that give it" },
	{ "a copy of the root beside forwarders",
	  RECURSION "  root-copy: true\n  forward: [192.0.2.1]\n" ROOT_ZONE,
	  "4: recursion.root-copy: is not for a resolver that forwards: leave recursion.forward out" },
	{ "a copy of the root beside a stub",
	  RECURSION "  root-copy: true\n  stubs: [{zone: ., address: 192.0.2.1}]\n" ROOT_ZONE,
	  "4: recursion.root-copy: the root is also recursion.stubs[0]" },
	{ "a copy of the root for secondaries",
	  RECURSION "  root-copy: true\n" ROOT_ZONE "    allow-transfer: [any]\n",
	  "8: zones[0].allow-transfer: is not for the zone of recursion.root-copy, which the "
	  "resolver alone "
	  "asks" },
	{ "forward zone without a zone", RECURSION "  forward-zones: [{address: 192.0.2.1}]\n",
	  "4: recursion.forward-zones[0].zone: is missing, give a domain name" },
	{ "forward zone without an address", RECURSION "  forward-zones: [{zone: a}]\n",
	  "4: recursion.forward-zones[0].address: is missing, give an IPv4 or IPv6 address, with @ "
	  "and a "
	  "port behind it if not 53; for TLS with # and its name" },
	{ "forward zone, the root", RECURSION "  forward-zones: [{zone: ., address: 192.0.2.1}]\n",
	  "4: recursion.forward-zones[0].zone: is the root: recursion.forward is for all names" },
	{ "forward zone, to ourselves",
	  RECURSION "  forward-zones: [{zone: a, address: 192.0.2.53}]\n",
	  "4: recursion.forward-zones[0].address: volleyd itself listens at 192.0.2.53" },
	{ "forward zone, a stub too",
	  RECURSION "  stubs: [{zone: a, address: 192.0.2.1}]\n"
		    "  forward-zones: [{zone: A., address: 192.0.2.1}]\n",
	  "5: recursion.forward-zones[0].zone: a. is also recursion.stubs[0]: it is asked in one "
	  "way or "
	  "the other" },
	{ "forward zone, a name that libunbound would cut",
	  RECURSION "  forward-zones: [{zone: 'a\"b', address: 192.0.2.1}]\n",
	  "4: recursion.forward-zones[0].zone: " },
	{ "forward zone, two words on it",
	  RECURSION
	  "  forward-zones: [{zone: a, address: 192.0.2.1}, {zone: b, address: 192.0.2.1},\n"
	  "    {zone: a, address: 192.0.2.2, first: true}]\n",
	  "5: recursion.forward-zones[2]: a. is also recursion.forward-zones[0], with another "
	  "first or "
	  "transport: say the same in both" },
	{ "stub, two words on it",
	  RECURSION "  stubs: [{zone: a, address: 192.0.2.1},\n"
		    "    {zone: a, address: 192.0.2.2, transport: tcp}]\n",
	  "5: recursion.stubs[1]: a. is also recursion.stubs[0], with another first or transport" },
	{ "stub, where all is asked by TLS",
	  RECURSION "  transport: tls\n  tls-bundle: b\n  forward: [\"192.0.2.1@853#a\"]\n"
		    "  stubs: [{zone: a, address: 192.0.2.1}]\n",
	  "7: recursion.stubs[0].transport: a stub zone is asked at authoritative servers, and not "
	  "by "
	  "tls: say udp or tcp" },
	{ "stub by TLS", RECURSION "  stubs: [{zone: a, address: 192.0.2.1, transport: tls}]\n",
	  "4: recursion.stubs[0].transport: \"tls\" is not accepted, give udp or tcp" },
	{ "forward zone by UDP, all by TCP",
	  RECURSION "  transport: tcp\n"
		    "  forward-zones: [{zone: a, address: 192.0.2.1, transport: udp}]\n",
	  "5: recursion.forward-zones[0].transport: recursion.transport is for all upstreams: "
	  "leave it "
	  "out there to say something else here" },
	{ "forward zone by TLS without a name",
	  RECURSION "  tls-bundle: b\n"
		    "  forward-zones: [{zone: a, address: 192.0.2.1@853, transport: tls}]\n",
	  "5: recursion.forward-zones[0].address: transport is tls: give ADDRESS@853#NAME" },
	{ "forward zone by TLS without certificates",
	  RECURSION "  forward-zones: [{zone: a, address: 192.0.2.1@853#b, transport: tls}]\n",
	  "4: recursion.forward-zones[0].zone: is asked by tls, which needs recursion.tls-bundle" },
	{ "forward zone, a name without TLS",
	  RECURSION "  forward-zones: [{zone: a, address: 192.0.2.1@853#b}]\n",
	  "4: recursion.forward-zones[0].address: has the name of a certificate, but transport is "
	  "not "
	  "tls" },
	{ "private-address, bits behind the prefix", RECURSION "  private-address: [10.0.0.1/8]\n",
	  "4: recursion.private-address[0]: \"10.0.0.1/8\" is not accepted, give a list of prefixes" },
	{ "private-domain without private-address", RECURSION "  private-domain: [lan]\n",
	  "4: recursion.private-domain: names exceptions to recursion.private-address, which is "
	  "not "
	  "given" },
	{ "caps-exempt, all are", RECURSION "  caps-for-id: false\n  caps-exempt: [lan]\n",
	  "5: recursion.caps-exempt: names exceptions to recursion.caps-for-id, which is off" },
	{ "qname-minimisation-strict without it",
	  RECURSION "  qname-minimisation: false\n  qname-minimisation-strict: true\n",
	  "5: recursion.qname-minimisation-strict: is for recursion.qname-minimisation, which is "
	  "off" },
	{ "dns64-prefix without dns64", RECURSION "  dns64-prefix: \"64:ff9b::/96\"\n",
	  "4: recursion.dns64-prefix: is for recursion.dns64, which is off" },
	{ "dns64-synthall without dns64", RECURSION "  dns64-synthall: true\n",
	  "4: recursion.dns64-synthall: is for recursion.dns64, which is off" },
	{ "dns64-prefix, IPv4", RECURSION "  dns64: true\n  dns64-prefix: 10.0.0.0/32\n",
	  "5: recursion.dns64-prefix: \"10.0.0.0/32\" is not accepted, give an IPv6 prefix of 32, "
	  "40, 48, "
	  "56, 64 or 96 bits" },
	{ "dns64-prefix, 72 bits", RECURSION "  dns64: true\n  dns64-prefix: \"64:ff9b::/72\"\n",
	  "5: recursion.dns64-prefix: " },
	{ "max-query-restarts", RECURSION "  max-query-restarts: 0\n",
	  "4: recursion.max-query-restarts: \"0\" is not accepted, give a whole number from 1 to "
	  "100" },
	{ "max-global-quota", RECURSION "  max-global-quota: 0\n",
	  "4: recursion.max-global-quota: \"0\" is not accepted" },
	{ "outbound-msg-retry", RECURSION "  outbound-msg-retry: 101\n",
	  "4: recursion.outbound-msg-retry: \"101\" is not accepted" },
	{ "target-fetch-policy", RECURSION "  target-fetch-policy: \"3, 2\"\n",
	  "4: recursion.target-fetch-policy: \"3, 2\" is not accepted" },
};

static void test_resolver_refusals(void **state)
{
	(void)state;
	assert_refused(resolver_refusals, sizeof(resolver_refusals) / sizeof(resolver_refusals[0]));
}

/* What other keys make possible is taken: no refusal reaches too far. */
static void test_root_copy(void **state)
{
	struct config *config = load_good(RECURSION "  root-copy: true\n" ROOT_ZONE
						    "  - {name: a, file: a.zone}\n");

	(void)state;
	assert_true(config->recursion.root_copy);
	assert_true(config->zones[0].is_root_copy);
	assert_false(config_zone_asks_ixfr(&config->zones[0]));
	assert_false(config->zones[1].is_root_copy);
	assert_true(config_zone_asks_ixfr(&config->zones[1]));
	config_free(config);
}

static void test_what_goes_together(void **state)
{
	static const char *const texts[] = {
		"do-ip4: false\n  forward: [\"2001:db8::1\"]\n",
		"caps-exempt: [lan]\n",
		"stubs: [{zone: a, address: 192.0.2.1, first: true}, {zone: a, address: 192.0.2.2, "
		"first: "
		"true}, {zone: b, address: 192.0.2.2}]\n",
		"transport: tcp\n  forward-zones: [{zone: a, address: 192.0.2.1, transport: tcp}]\n",
		"tls-bundle: b\n"
		"  forward-zones: [{zone: a, address: \"192.0.2.1@853#b\", transport: tls}]\n",
		"private-address: [10.0.0.0/8]\n  private-domain: [lan]\n",
		"target-fetch-policy: \"3 2 -1 0\"\n",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(text, sizeof(text), RECURSION "  %s", texts[i]);
		config_free(load_good(text));
	}
}

/* None with its default. */
static const char everything[] =
	"server:\n"
	"  listen: [192.0.2.53]\n"
	"  allow: [0.0.0.0/0, \"2001:db8:8000::/33\"]\n"
	"recursion:\n"
	"  allow: [192.0.2.0/25, 192.0.2.200, \"::/0\", \"2001:db8::1\"]\n"
	"  forward: [\"192.0.2.7@853#dns.example\", \"2001:db8::7@8853#b\"]\n"
	"  forward-first: true\n"
	"  transport: tls\n"
	"  tls-bundle: certs.pem\n"
	"  stubs: [{zone: LAN, address: 10.0.0.1@54, transport: tcp}, {zone: lan., address: "
	"10.0.0.2, transport: tcp},\n"
	"    {zone: b, address: 10.0.0.3, first: true, transport: tcp}]\n"
	"  forward-zones: [{zone: Corp, address: \"192.0.2.3@853#c\", first: true}]\n"
	"  do-ip4: true\n"
	"  do-ip6: true\n"
	"  outgoing-interface: [192.0.2.53, \"2001:db8::53\"]\n"
	"  root-hints: /etc/hints\n"
	"  trust-anchor: root.key\n"
	"  auto-trust-anchor: auto.key\n"
	"  domain-insecure: [LAN, a.example.]\n"
	"  root-key-sentinel: false\n"
	"  qname-minimisation: true\n"
	"  qname-minimisation-strict: true\n"
	"  aggressive-nsec: false\n"
	"  caps-for-id: true\n"
	"  caps-exempt: [Old.example]\n"
	"  harden-glue: false\n"
	"  harden-referral-path: true\n"
	"  harden-below-nxdomain: false\n"
	"  harden-dnssec-stripped: false\n"
	"  harden-algo-downgrade: true\n"
	"  harden-unverified-glue: true\n"
	"  harden-unknown-additional: true\n"
	"  private-address: [10.0.0.0/8, \"fd00::/8\"]\n"
	"  private-domain: [LAN]\n"
	"  dns64: true\n"
	"  dns64-prefix: \"2001:db8:64::/96\"\n"
	"  dns64-synthall: true\n"
	"  max-query-restarts: 5\n"
	"  max-global-quota: 50\n"
	"  outbound-msg-retry: 2\n"
	"  target-fetch-policy: \"1 0\"\n"
	"  query-localhost: true\n"
	"  root-copy: false\n" /* it is not for forwarders */
	"  threads: 3\n"
	"  max-outstanding: 1000\n"
	"  memory-max: 2G\n"
	"  max-per-client: 100\n"
	"  upstream-timeout: 300ms\n"
	"  query-timeout: 3\n"
	"  max-ttl: 2h\n"
	"  min-ttl: 5s\n"
	"  max-negative-ttl: 1m\n"
	"  serve-stale: 1d\n"
	"  stale-client-timeout: 1s\n"
	"  stale-reply-ttl: 1m\n"
	"  prefetch: false\n"
	"  local-data: [\"router.lan. A 10.0.0.1\", \"router.lan. TXT hello\"]\n"
	"  special-names: false\n"
	"  special-names-off: [172.in-addr.arpa, Home.arpa.]\n"
	"  rpz: [{name: Block.RPZ, file: block.zone}, {zone: Other.RPZ, ede: filtered}]\n";

static void assert_prefix(const struct config_prefix *prefix, const char *text, unsigned int bits)
{
	uint8_t addr[16] = { 0 };
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;

	assert_int_equal(inet_pton(family, text, addr), 1);
	assert_int_equal(prefix->family, family);
	assert_int_equal(prefix->bits, bits);
	assert_memory_equal(prefix->addr, addr, 16);
}

static void check_everything_upstream(const struct config_recursion *recursion)
{
	assert_string_equal(recursion->forward[0], "192.0.2.7@853#dns.example");
	assert_string_equal(recursion->forward[1], "2001:db8::7@8853#b");
	assert_null(recursion->forward[2]);
	assert_int_equal(recursion->transport, RESOLVER_TLS);
	assert_below_folder(recursion->tls_bundle, "certs.pem");
	assert_true(recursion->forward_first);
	assert_int_equal(recursion->n_stubs, 3);
	assert_false(recursion->stubs[0].first);
	assert_true(recursion->stubs[2].first);
	assert_int_equal(recursion->stubs[0].transport, RESOLVER_TCP);
	assert_int_equal(recursion->n_forward_zones, 1);
	assert_string_equal(recursion->forward_zones[0].zone, "corp.");
	assert_string_equal(recursion->forward_zones[0].address, "192.0.2.3@853#c");
	assert_true(recursion->forward_zones[0].first);
	assert_int_equal(recursion->forward_zones[0].transport, RESOLVER_TLS);
	assert_string_equal(recursion->stubs[0].zone, "lan.");
	assert_string_equal(recursion->stubs[0].address, "10.0.0.1@54");
	assert_string_equal(recursion->stubs[1].zone, "lan.");
	assert_string_equal(recursion->stubs[1].address, "10.0.0.2");
	assert_string_equal(recursion->root_hints, "/etc/hints");
	assert_string_equal(recursion->domain_insecure[0], "lan.");
	assert_string_equal(recursion->domain_insecure[1], "a.example.");
	assert_null(recursion->domain_insecure[2]);
	assert_false(recursion->special_names);
	assert_string_equal(recursion->special_names_off[0], "172.in-addr.arpa.");
	assert_string_equal(recursion->special_names_off[1], "home.arpa.");
	assert_null(recursion->special_names_off[2]);
	assert_below_folder(recursion->trust_anchor, "root.key");
	assert_below_folder(recursion->auto_trust_anchor, "auto.key");
	assert_true(recursion->qname_minimisation);
	assert_true(recursion->qname_minimisation_strict);
	assert_false(recursion->aggressive_nsec);
	assert_true(recursion->caps_for_id && recursion->has_caps_for_id);
	assert_true(recursion->query_localhost);
	assert_int_equal(recursion->n_threads, 3);
	assert_int_equal(recursion->max_outstanding, 1000);
	assert_int_equal(recursion->memory_max_bytes, 2ULL << 30);
	assert_int_equal(recursion->max_per_client, 100);
	assert_int_equal(recursion->upstream_timeout_ms, 300);
}

static void check_everything_resolver(const struct config_recursion *recursion)
{
	assert_string_equal(recursion->outgoing_interface[0], "192.0.2.53");
	assert_string_equal(recursion->outgoing_interface[1], "2001:db8::53");
	assert_null(recursion->outgoing_interface[2]);
	assert_string_equal(recursion->caps_exempt[0], "old.example.");
	assert_null(recursion->caps_exempt[1]);
	assert_false(recursion->root_key_sentinel);
	assert_false(recursion->harden_glue);
	assert_true(recursion->harden_referral_path);
	assert_false(recursion->harden_below_nxdomain);
	assert_false(recursion->harden_dnssec_stripped);
	assert_true(recursion->harden_algo_downgrade);
	assert_true(recursion->harden_unverified_glue);
	assert_true(recursion->harden_unknown_additional);
	assert_string_equal(recursion->private_address[0], "10.0.0.0/8");
	assert_string_equal(recursion->private_address[1], "fd00::/8");
	assert_null(recursion->private_address[2]);
	assert_string_equal(recursion->private_domain[0], "lan.");
	assert_null(recursion->private_domain[1]);
	assert_string_equal(recursion->dns64_prefix, "2001:db8:64::/96");
	assert_true(recursion->dns64_synthall);
	assert_int_equal(recursion->max_query_restarts, 5);
	assert_int_equal(recursion->max_global_quota, 50);
	assert_int_equal(recursion->outbound_msg_retry, 2);
	assert_string_equal(recursion->target_fetch_policy, "1 0");
	assert_int_equal(recursion->stale_reply_ttl_s, 60);
}

static void test_everything(void **state)
{
	struct config *config = load_good(everything);
	const struct config_recursion *recursion = &config->recursion;

	(void)state;
	assert_int_equal(config->n_allow, 2);
	assert_prefix(&config->allow[0], "0.0.0.0", 0);
	assert_prefix(&config->allow[1], "2001:db8:8000::", 33);
	assert_int_equal(recursion->n_allow, 4);
	assert_prefix(&recursion->allow[0], "192.0.2.0", 25);
	assert_prefix(&recursion->allow[1], "192.0.2.200", 32);
	assert_prefix(&recursion->allow[2], "::", 0);
	assert_prefix(&recursion->allow[3], "2001:db8::1", 128);
	check_everything_upstream(recursion);
	check_everything_resolver(recursion);
	assert_int_equal(recursion->query_timeout_ms, 3000);
	assert_int_equal(recursion->max_ttl_s, 7200);
	assert_int_equal(recursion->min_ttl_s, 5);
	assert_int_equal(recursion->max_negative_ttl_s, 60);
	assert_int_equal(recursion->serve_stale_s, 86400);
	assert_int_equal(recursion->stale_client_timeout_ms, 1000);
	assert_false(recursion->prefetch);
	assert_string_equal(recursion->local_data[0], "router.lan. A 10.0.0.1");
	assert_string_equal(recursion->local_data[1], "router.lan. TXT hello");
	assert_null(recursion->local_data[2]);
	assert_int_equal(recursion->n_rpz, 2);
	assert_string_equal(recursion->rpz[1].name, "other.rpz.");
	assert_null(recursion->rpz[1].file);
	assert_int_equal(recursion->rpz[0].ede_code, 15);
	assert_int_equal(recursion->rpz[1].ede_code, 17);
	assert_string_equal(recursion->rpz[0].name, "block.rpz.");
	assert_below_folder(recursion->rpz[0].file, "block.zone");
	config_free(config);
}

static void test_everything_is_everything(void **state)
{
	(void)state;
	assert_all_used(&words_recursion_keys, everything);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_unknown_among_many),
		cmocka_unit_test(test_too_many_prefixes),
		cmocka_unit_test(test_resolver_refusals),
		cmocka_unit_test(test_root_copy),
		cmocka_unit_test(test_what_goes_together),
		cmocka_unit_test(test_recursion_defaults),
		cmocka_unit_test(test_resolver_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_everything_is_everything),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
