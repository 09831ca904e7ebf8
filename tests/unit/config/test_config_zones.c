/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of a zone's life: keys, remotes, signing, templates, zones, catalogs. */
#include "config/config.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "config/member.h"
#include "config/words.h"
#include "tests/unit/config/configtext.h"

#define STORED  "server: {listen: [192.0.2.53], storage: /var/lib/volley}\n"
#define KEY     "keys: [{name: xfr.example, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]\n"
#define REMOTE  "remotes: [{name: hidden, address: [192.0.2.1]}]\n"
#define ZONE(x) STORED KEY REMOTE "zones:\n  - {name: a, file: b, " x "}\n"
#define PIN     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

static const struct refusal refusals[] = {
	/* keys */
	{ "key without a name", LISTEN "keys: [{secret: aaaa}]\n",
	  "3: keys[0].name: is missing, give a domain name" },
	{ "key with a bad name", LISTEN "keys: [{name: a..b, secret: aaaa}]\n",
	  "3: keys[0].name: \"a..b\" is not accepted, give a domain name" },
	{ "key twice",
	  LISTEN "keys:\n  - {name: A.b, secret: MDEyMzQ1Njc4OWFiY2RlZg==}\n"
		 "  - {name: a.b., secret: MDEyMzQ1Njc4OWFiY2RlZg==}\n",
	  "5: keys[1].name: \"a.b.\" is given twice, first in line 4" },
	{ "key without a secret", LISTEN "keys: [{name: a}]\n",
	  "3: keys[0].secret: is missing, give 16 to 1024 octets in base64" },
	{ "key with two secrets",
	  LISTEN "keys:\n  - name: a\n    secret-file: f\n    secret: MDEyMzQ1Njc4OWFiY2RlZg==\n",
	  "6: keys[0].secret: is given beside secret-file: keep one of them" },
	{ "algorithm", LISTEN "keys:\n  - name: a\n    algorithm: hmac-md4\n",
	  "5: keys[0].algorithm: \"hmac-md4\" is not accepted, give hmac-sha256, hmac-sha384, "
	  "hmac-sha512, hmac-sha224, hmac-sha1 or hmac-md5" },
	{ "secret that is no base64",
	  LISTEN "keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZg!=}]\n",
	  "3: keys[0].secret: \"(hidden)\" is not accepted, give 16 to 1024 octets in base64" },
	{ "secret without its padding",
	  LISTEN "keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZg}]\n",
	  "3: keys[0].secret: \"(hidden)\" is not accepted" },
	{ "secret with bits left over",
	  LISTEN "keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZh==}]\n",
	  "3: keys[0].secret: \"(hidden)\" is not accepted" },
	{ "secret too short", LISTEN "keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2Rl}]\n",
	  "3: keys[0].secret: has 15 octets, give 16 to 1024: the output of openssl rand" },
	{ "secret-file that is not there", LISTEN "keys: [{name: a, secret-file: /nowhere/f}]\n",
	  "3: keys[0].secret-file: /nowhere/f cannot be read: No such file or directory" },
	{ "secret-file that is a folder", LISTEN "keys: [{name: a, secret-file: /root}]\n",
	  "3: keys[0].secret-file: /root cannot be read: Is a directory" },

	/* remotes */
	{ "remote without a name", LISTEN "remotes: [{address: [192.0.2.1]}]\n",
	  "3: remotes[0].name: is missing, give a name of 1 to 63 letters, digits, dots, hyphens "
	  "and" },
	{ "remote with a space", LISTEN "remotes: [{name: a b, address: [192.0.2.1]}]\n",
	  "3: remotes[0].name: \"a b\" is not accepted, give a name of 1 to 63 letters" },
	{ "remote twice",
	  LISTEN
	  "remotes:\n  - {name: a, address: [192.0.2.1]}\n  - {name: a, address: [192.0.2.2]}\n",
	  "5: remotes[1].name: \"a\" is given twice, first in line 4" },
	{ "remote without an address", LISTEN "remotes:\n  - name: a\n",
	  "4: remotes[0].address: is missing, give a list of IPv4 or IPv6 addresses" },
	{ "remote with a name for an address",
	  LISTEN "remotes: [{name: a, address: [ns.example]}]\n",
	  "3: remotes[0].address[0]: \"ns.example\" is not accepted, give a list of IPv4" },
	{ "remote at the wildcard", LISTEN "remotes: [{name: a, address: [\"::\"]}]\n",
	  "3: remotes[0].address[0]: \"::\" is not accepted" },
	{ "remote address twice",
	  LISTEN "remotes: [{name: a, tls: opportunistic, address: [192.0.2.1, 192.0.2.1@853]}]\n",
	  "3: remotes[0].address[1]: \"192.0.2.1@853\" is given twice" },
	{ "two sources of a family",
	  LISTEN "remotes: [{name: a, address: [192.0.2.1], source: [192.0.2.2, 192.0.2.3]}]\n",
	  "3: remotes[0].source: has two addresses of one family" },
	{ "three sources",
	  LISTEN
	  "remotes: [{name: a, address: [192.0.2.1], source: [192.0.2.2, \"::1\", 192.0.2.3]}]\n",
	  "3: remotes[0].source: has two addresses of one family" },
	{ "unknown key", LISTEN KEY "remotes: [{name: a, address: [192.0.2.1], key: b}]\n",
	  "4: remotes[0].key: b. is none of keys" },
	{ "tls", LISTEN "remotes: [{name: a, address: [192.0.2.1], tls: on}]\n",
	  "3: remotes[0].tls: \"on\" is not accepted, give off, opportunistic or strict" },
	{ "strict without a name or a pin",
	  LISTEN "remotes: [{name: a, address: [192.0.2.1], tls: strict, tls-bundle: ca.pem}]\n",
	  "3: remotes[0].tls: strict needs tls-name or tls-pin" },
	{ "name of a certificate without TLS",
	  LISTEN "remotes: [{name: a, address: [192.0.2.1], tls-name: ns1.example}]\n",
	  "3: remotes[0].tls-name: is for TLS: say tls: strict, too" },
	{ "name of a certificate of the root",
	  LISTEN "remotes: [{name: a, address: [192.0.2.1], tls: strict, tls-name: .}]\n",
	  "3: remotes[0].tls-name: \".\" is not accepted, give a domain name" },
	{ "pin of another length",
	  LISTEN "remotes: [{name: a, address: [192.0.2.1], tls: strict, tls-pin: AAAA}]\n",
	  "3: remotes[0].tls-pin: \"AAAA\" is not accepted, give 32 octets in base64" },

	/* templates */
	{ "template without a name", LISTEN "templates: [{notify: []}]\n",
	  "3: templates[0].name: is missing, give a name of 1 to 63" },
	{ "template twice", LISTEN "templates:\n  - name: a\n  - name: a\n",
	  "5: templates[1].name: \"a\" is given twice, first in line 4" },
	{ "template of a template", LISTEN "templates:\n  - name: a\n    template: b\n",
	  "5: templates[0].template: unknown key, did you mean \"zones[].template\"? Accepted here: name, file, verify, "
	  "verify-timeout, "
	  "primaries, " },
	{ "unknown key in a template's list",
	  LISTEN "templates: [{name: a, groups: [{grup: b}]}]\n",
	  "3: templates[0].groups[0].grup: unknown key, did you mean \"group\"? Accepted here: group, template" },
	{ "one file for many zones", LISTEN "templates: [{name: a, file: zones/all}]\n",
	  "3: templates[0].file: has no %s, and all zones of the template would share one file" },
	{ "file with another %", LISTEN "templates: [{name: a, file: \"%s-%d\"}]\n",
	  "3: templates[0].file: has a % that is neither %s, the name of the zone, nor %%" },
	{ "file that ends in %", LISTEN "templates: [{name: a, file: \"%s%\"}]\n",
	  "3: templates[0].file: has a % that is neither" },
	{ "a template's own fault",
	  LISTEN "templates: [{name: a, journal-size: many}]\nzones: []\n",
	  "3: templates[0].journal-size: \"many\" is not accepted, give a size from 0 to 1T" },
	{ "template with both roles",
	  LISTEN KEY REMOTE
	  "templates: [{name: a, primaries: [hidden], allow-update: [\"192.0.2.1\"]}]\n",
	  "5: templates[0].allow-update: is not for a zone with primaries" },

	/* zones */
	{ "unknown template", LISTEN "zones: [{name: a, file: b, template: c}]\n",
	  "3: zones[0].template: c is none of templates" },
	{ "no file where none is made",
	  STORED "templates: [{name: default, notify: []}]\nzones: [{name: a}]\n",
	  "3: zones[0].file: is missing, give the path of a file" },
	{ "unknown primary", ZONE("primaries: [hidden, b]"),
	  "5: zones[0].primaries[1]: b is none of remotes" },
	{ "primary twice", ZONE("primaries: [hidden, hidden]"),
	  "5: zones[0].primaries[1]: \"hidden\" is given twice, first in line 5" },
	{ "primaries are no list", ZONE("primaries: hidden"),
	  "5: zones[0].primaries: has the wrong shape, give a list of names of remotes, each only once" },
	{ "unknown remote to notify", ZONE("notify: [b]"),
	  "5: zones[0].notify[0]: b is none of remotes" },
	{ "rule of nothing", ZONE("allow-transfer: [any, '']"),
	  "5: zones[0].allow-transfer[1]: \"\" is not accepted, give a list of rules, each any or "
	  "a "
	  "prefix, then key and its name, then tls, or some of these: \"192.0.2.0/24 key "
	  "a.example.\"" },
	{ "rule with a word", ZONE("allow-transfer: [all]"),
	  "5: zones[0].allow-transfer[0]: \"all\" is not accepted" },
	{ "rule with bits behind a prefix", ZONE("allow-transfer: [192.0.2.1/24]"),
	  "5: zones[0].allow-transfer[0]: \"192.0.2.1/24\" is not accepted" },
	{ "rule with a key without a name", ZONE("allow-transfer: [any key]"),
	  "5: zones[0].allow-transfer[0]: \"any key\" is not accepted" },
	{ "rule with words the other way round", ZONE("allow-transfer: [tls key xfr.example]"),
	  "5: zones[0].allow-transfer[0]: \"tls key xfr.example\" is not accepted" },
	{ "rule with a word too many", ZONE("allow-transfer: [any tls tls]"),
	  "5: zones[0].allow-transfer[0]: \"any tls tls\" is not accepted" },
	{ "rule with a key that is not there", ZONE("allow-notify: [any, key b.example]"),
	  "5: zones[0].allow-notify[1]: b.example. is none of keys" },
	{ "updates by everyone", ZONE("allow-update: [any]"),
	  "5: zones[0].allow-update[0]: \"any\" would let everyone change the zone" },
	{ "updates by everyone with TLS", ZONE("allow-update: [tls]"),
	  "5: zones[0].allow-update[0]: \"tls\" would let everyone change the zone" },
	{ "updates of a secondary", ZONE("primaries: [hidden], allow-update: [key xfr.example]"),
	  "5: zones[0].allow-update: is not for a zone with primaries: updates go to a primary" },
	{ "notify of a primary", ZONE("allow-notify: [any]"),
	  "5: zones[0].allow-notify: is for a zone with primaries, and it has none" },
	{ "names small", LISTEN "cache:\n  names: 65535\n",
	  "4: cache.names: 65535 is too small for a filter: give at least 64K, or 0 for none" },
	{ "names big", LISTEN "cache:\n  names: 5G\n",
	  "4: cache.names: \"5G\" is not accepted, give a size from 0 to 4G" },
	{ "intervals small", LISTEN "cache:\n  names: 64K\n  intervals: 65535\n",
	  "5: cache.intervals: 65535 is too small: give at least 64K, or 0 for none" },
	{ "intervals big", LISTEN "cache:\n  names: 64K\n  intervals: 5G\n",
	  "5: cache.intervals: \"5G\" is not accepted, give a size from 0 to 4G" },
	{ "intervals alone", LISTEN "cache:\n  names: 0\n  intervals: 1M\n",
	  "5: cache.intervals: is of no use without a filter of names: give cache.names, too" },
	{ "driver-denials", ZONE("driver-denials: on"),
	  "5: zones[0].driver-denials: \"on\" is not accepted, give auto or off" },
	{ "ixfr", ZONE("ixfr: yes"),
	  "5: zones[0].ixfr: \"yes\" is not accepted, give true or false" },
	{ "max-transfer-time", ZONE("max-transfer-time: 0"),
	  "5: zones[0].max-transfer-time: \"0\" is not accepted, give a time from 1s to 7d" },
	{ "refresh the wrong way round", ZONE("refresh-min: 2h, refresh-max: 1h"),
	  "5: zones[0].refresh-min: refresh-min is 7200 s and refresh-max 3600 s: no time is "
	  "between "
	  "them" },
	{ "retry below the default", ZONE("retry-min: 15d"),
	  "5: zones[0].retry-min: retry-min is" },
	{ "expire above the default", ZONE("expire-max: 2s"),
	  "5: zones[0].expire-min: expire-min is 3" },
	{ "zonefile-sync", ZONE("zonefile-sync: -1"),
	  "5: zones[0].zonefile-sync: \"-1\" is not accepted, give a time from 0" },
	{ "zonefile-sync without storage",
	  LISTEN "templates: [{name: default, zonefile-sync: 1h}]\n"
		 "zones:\n  - {name: a, file: b, zonefile-sync: 0}\n  - {name: c, file: d}\n",
	  "6: zones[1].zonefile-sync: needs server.storage" },
	{ "primaries without storage",
	  LISTEN REMOTE "zones: [{name: a, file: b, primaries: [hidden]}]\n",
	  "4: zones[0].primaries: needs server.storage, the folder for what is kept of zones" },
	{ "updates without storage",
	  LISTEN "zones: [{name: a, file: b, allow-update: [192.0.2.1]}]\n",
	  "3: zones[0].allow-update: needs server.storage" },
	{ "signing with primaries",
	  STORED REMOTE
	  "signing: [{name: s}]\nzones: [{name: a, primaries: [hidden], signing: s}]\n",
	  "4: zones[0].signing: is not for a zone with primaries" },
	{ "signing without storage",
	  LISTEN "signing: [{name: s}]\nzones: [{name: a, file: b, signing: s}]\n",
	  "4: zones[0].signing: needs server.storage" },
	{ "storage for what a template says",
	  LISTEN REMOTE
	  "templates: [{name: t, primaries: [hidden]}]\nzones:\n  - name: a\n    template: t\n",
	  "6: zones[0].primaries: needs server.storage" },
	{ "two writers of a file",
	  STORED REMOTE
	  "zones:\n  - {name: a, file: f}\n  - {name: b, file: f, primaries: [hidden]}\n",
	  "5: zones[1].file: \"/" }, /* a path of the test's folder */

	{ "a file that is written after a change, and read by another",
	  STORED "zones:\n  - {name: a, file: f}\n  - {name: b, file: f, zonefile-sync: 1h}\n",
	  "4: zones[1].file: \"/" },

	/* catalogs */
	{ "catalog", ZONE("catalog: yes"),
	  "5: zones[0].catalog: \"yes\" is not accepted, give none, consume or produce" },
	{ "catalog without storage", LISTEN "zones: [{name: a, file: b, catalog: produce}]\n",
	  "3: zones[0].catalog: needs server.storage" },
	{ "catalog that is made and comes", ZONE("catalog: produce, primaries: [hidden]"),
	  "5: zones[0].primaries: is not for catalog: produce, which is made here" },
	{ "catalog that is made and changed",
	  ZONE("catalog: produce, allow-update: [key xfr.example]"),
	  "5: zones[0].allow-update: is not for catalog: produce: members say member-of" },
	{ "catalog that is signed",
	  STORED "signing: [{name: s}]\nzones: [{name: a, catalog: produce, signing: s}]\n",
	  "3: zones[0].signing: is not for a catalog" },
	{ "catalog without templates", ZONE("catalog: consume"),
	  "5: zones[0].groups: is missing: catalog: consume needs templates for members" },
	{ "groups without a catalog",
	  STORED "templates: [{name: t}]\n"
		 "zones: [{name: a, file: b, groups: [{template: t}]}]\n",
	  "3: zones[0].groups: is for catalog: consume" },
	{ "group without a template", ZONE("catalog: consume, groups: [{group: X}]"),
	  "5: zones[0].groups[0].template: is missing, give a name of 1 to 63" },
	{ "group with an unknown template",
	  ZONE("catalog: consume, groups: [{group: X, template: t}]"),
	  "5: zones[0].groups[0].template: t is none of templates" },
	{ "group twice",
	  STORED "templates: [{name: t}]\n"
		 "zones: [{name: a, catalog: consume, groups: [{group: X, template: t}, {group: X, "
		 "template: t}]}]\n",
	  "3: zones[0].groups[1].group: has a template already" },
	{ "the others twice",
	  STORED "templates: [{name: t}]\n"
		 "zones: [{name: a, catalog: consume, groups: [{template: t}, {template: t}]}]\n",
	  "3: zones[0].groups[1].group: has a template already" },
	{ "a template that makes catalogs",
	  STORED "templates: [{name: t, catalog: produce}]\n"
		 "zones: [{name: a, catalog: consume, groups: [{template: t}]}]\n",
	  "3: zones[0].groups: the template t would make catalogs of members" },
	{ "group empty", ZONE("group: ''"),
	  "5: zones[0].group: \"\" is not accepted, give a text of 1 to 255 bytes" },
	{ "group of no catalog", ZONE("group: X"),
	  "5: zones[0].group: is for members: say member-of, too" },
	{ "member of nothing", ZONE("member-of: b"),
	  "5: zones[0].member-of: b. is no zone with catalog: produce" },
	{ "member of no catalog", ZONE("member-of: a"),
	  "5: zones[0].member-of: a. is no zone with catalog: produce" },
	{ "member of itself", ZONE("catalog: produce, member-of: a"),
	  "5: zones[0].member-of: is the zone itself" },

	/* signing */
	{ "policy without a name", LISTEN "signing: [{cds: true}]\n",
	  "3: signing[0].name: is missing, give a name of 1 to 63" },
	{ "policy by the name none", LISTEN "signing: [{name: none}]\n",
	  "3: signing[0].name: none is the word for a zone without a policy: give another name" },
	{ "policy twice", LISTEN "signing:\n  - name: a\n  - name: a\n",
	  "5: signing[1].name: \"a\" is given twice, first in line 4" },
	{ "unknown policy", ZONE("signing: s"), "5: zones[0].signing: s is none of signing" },
	{ "signing algorithm", LISTEN "signing: [{name: a, algorithm: rsasha1}]\n",
	  "3: signing[0].algorithm: \"rsasha1\" is not accepted, give ecdsap256sha256, " },
	{ "three keys", LISTEN "signing: [{name: a, keys: zsk}]\n",
	  "3: signing[0].keys: \"zsk\" is not accepted, give ksk-zsk or csk" },
	{ "too many iterations",
	  LISTEN "signing: [{name: a, denial: nsec3, nsec3-iterations: 51}]\n",
	  "3: signing[0].nsec3-iterations: \"51\" is not accepted, give a whole number from 0 to 50" },
	{ "iterations of nothing", LISTEN "signing: [{name: a, nsec3-iterations: 1}]\n",
	  "3: signing[0].nsec3-iterations: is for denial: nsec3, and denial is nsec" },
	{ "opt-out of nothing", LISTEN "signing: [{name: a, nsec3-opt-out: true}]\n",
	  "3: signing[0].nsec3-opt-out: is for denial: nsec3" },
	{ "refresh that is all", LISTEN "signing: [{name: a, refresh: 14d}]\n",
	  "3: signing[0].refresh: refresh 1209600 s and jitter 43200 s do not fit into" },
	{ "lifetime that is short", LISTEN "signing:\n  - name: a\n    signature-lifetime: 7d\n",
	  "5: signing[0].signature-lifetime: refresh 604800 s and jitter" },
	{ "ZSK's lifetime for one key", LISTEN "signing: [{name: a, zsk-lifetime: 1d}]\n",
	  "3: signing[0].zsk-lifetime: is for keys: ksk-zsk" },
	{ "ZSK that rolls too fast",
	  LISTEN "signing: [{name: a, keys: ksk-zsk, zsk-lifetime: 3h}]\n",
	  "3: signing[0].zsk-lifetime: is 10800 s, and a rollover takes 10800 s" },
	{ "CSK that rolls too fast", LISTEN "signing: [{name: a, ksk-lifetime: 1d}]\n",
	  "3: signing[0].ksk-lifetime: is 86400 s, and a rollover takes 100800 s" },
};

static void test_refusals(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

/* --- What is taken ---------------------------------------------------------------------------- */

static void write_secret(const char *text, mode_t mode)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/secret", tmpfolder);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void remove_secret(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/secret", tmpfolder);
	assert_int_equal(unlink(path), 0);
}

static void test_secret_file(void **state)
{
	static const char text[] = LISTEN "keys:\n  - {name: a, secret-file: secret}\n";
	struct config *config;
	char err[512];

	(void)state;
	write_secret("MDEyMzQ1Njc4OWFiY2RlZg==\n", 0640);
	config = load_good(text);
	assert_int_equal(config->keys[0].n_secret, 16);
	assert_memory_equal(config->keys[0].secret, "0123456789abcdef", 16);
	config_free(config);
	write_secret("MDEyMzQ1Njc4OWFiY2RlZg==\n", 0644);
	assert_int_equal(load(&config, text, err, sizeof(err)), ERR_CONFIG);
	assert_non_null(strstr(err, ":4: keys[0].secret-file: everyone can read or write /"));
	write_secret("key:MDEyMzQ1Njc4OWFiY2RlZg==", 0600);
	assert_int_equal(load(&config, text, err, sizeof(err)), ERR_CONFIG);
	assert_non_null(strstr(err, "secret does not hold base64: 16 to 1024 octets, the output of "
				    "openssl rand -base64 32, for example"));
	assert_null(strstr(err, "MDEy"));
	write_secret("\n", 0600);
	assert_int_equal(load(&config, text, err, sizeof(err)), ERR_CONFIG);
	assert_non_null(strstr(err, ":4: keys[0].secret-file: has 0 octets"));
	remove_secret();
}

static void check_defaults_remote(const struct config_remote *remote)
{
	assert_int_equal(remote->tls, CONFIG_TLS_OFF);
	assert_int_equal(ntohs(remote->addresses[0].net_port), 53);
	assert_int_equal(remote->n_source, 0);
	assert_null(remote->key);
	assert_null(remote->tls_name);
	assert_null(remote->tls_bundle);
	assert_null(remote->tls_pin);
}

static void check_defaults_signing(const struct config_signing *signing)
{
	assert_int_equal(signing->algorithm, CONFIG_SIGN_ECDSAP256SHA256);
	assert_true(signing->single_key);
	assert_int_equal(signing->denial, CONFIG_DENIAL_NSEC);
	assert_int_equal(signing->nsec3_iterations, 0);
	assert_int_equal(signing->nsec3_salt_bytes, 0);
	assert_false(signing->nsec3_opt_out);
	assert_true(signing->cds);
	assert_null(signing->key_folder);
	assert_int_equal(signing->signature_s, 14 * 86400);
	assert_int_equal(signing->refresh_s, 7 * 86400);
	assert_int_equal(signing->jitter_s, 43200);
	assert_int_equal(signing->dnskey_ttl_s, 3600);
	assert_int_equal(signing->zsk_lifetime_s, 30 * 86400);
	assert_int_equal(signing->ksk_lifetime_s, 0);
	assert_int_equal(signing->propagation_s, 3600);
	assert_int_equal(signing->parent_ttl_s, 86400);
	assert_int_equal(signing->parent_propagation_s, 3600);
}

static void check_defaults_zone(const struct config_zone *zone)
{
	assert_null(zone->template_name);
	assert_null(zone->verify.argv);
	assert_null(zone->primaries);
	assert_null(zone->notify);
	assert_int_equal(zone->allow_transfer.n + zone->allow_notify.n + zone->allow_update.n, 0);
	assert_true(zone->ixfr);
	assert_int_equal(zone->journal_bytes, 64u << 20);
	assert_int_equal(zone->zonefile_sync_s, 0);
	assert_int_equal(zone->transfer_bytes, 4ull << 30);
	assert_int_equal(zone->transfer_s, 7200);
	assert_int_equal(zone->refresh_min_s, 2);
	assert_int_equal(zone->refresh_max_s, 28 * 86400);
	assert_int_equal(zone->retry_min_s, 1);
	assert_int_equal(zone->retry_max_s, 14 * 86400);
	assert_int_equal(zone->expire_min_s, 3);
	assert_int_equal(zone->expire_max_s, 36500u * 86400);
	assert_null(zone->signing);
	assert_int_equal(zone->driver_denials, CONFIG_DENIALS_AUTO);
	assert_int_equal(zone->zonemd, CONFIG_ZONEMD_CHECK);
	assert_int_equal(zone->serial, CONFIG_SERIAL_FILE);
	assert_int_equal(zone->catalog, CONFIG_CATALOG_NONE);
	assert_null(zone->member_of);
	assert_null(zone->member_group);
	assert_int_equal(zone->n_groups, 0);
}

static void test_defaults(void **state)
{
	struct config *config = load_good(
		STORED KEY REMOTE "signing: [{name: s}]\n"
				  "zones: [{name: a, file: b}, {name: c, primaries: [hidden]},\n"
				  "  {name: d, catalog: produce}]\n");

	(void)state;
	assert_int_equal(config->keys[0].algorithm, TSIG_SHA256);
	check_defaults_remote(&config->remotes[0]);
	check_defaults_signing(&config->signing[0]);
	check_defaults_zone(&config->zones[0]);
	assert_int_equal(config->cache_names_lines, 65536);
	assert_int_equal(config->cache_intervals_lines, 65536);
	assert_below_folder(config->zones[0].file, "b");
	assert_string_equal(config->zones[1].file, "/var/lib/volley/zones/c.zone");
	assert_string_equal(config->zones[2].file, "/var/lib/volley/zones/d.zone");
	config_free(config);
}

/* Every key below these, none with its default. */
static const char everything[] =
	"server: {listen: [192.0.2.53], storage: state}\n"
	"cache: {names: 65599, intervals: 1M}\n"
	"keys:\n"
	"  - name: XFR.example\n"
	"    algorithm: hmac-sha384\n"
	"    secret: MDEyMzQ1Njc4OWFiY2RlZg==\n"
	"  - name: file.example.\n"
	"    algorithm: hmac-sha512\n"
	"    secret-file: secret\n"
	"remotes:\n"
	"  - name: hidden\n"
	"    address: [192.0.2.1, \"2001:db8::1@5353\"]\n"
	"    source: [192.0.2.9, \"2001:db8::9@1053\"]\n"
	"    key: Xfr.example.\n"
	"    tls: strict\n"
	"    tls-name: NS1.example\n"
	"    tls-bundle: ca.pem\n"
	"    tls-pin: " PIN "\n"
	"  - {name: ns_2.x-y, address: [192.0.2.2], tls: opportunistic}\n"
	"signing:\n"
	"  - name: slow\n"
	"    algorithm: ed25519\n"
	"    keys: ksk-zsk\n"
	"    denial: nsec3\n"
	"    nsec3-iterations: 1\n"
	"    nsec3-salt-length: 8\n"
	"    nsec3-opt-out: true\n"
	"    cds: false\n"
	"    key-folder: keys\n"
	"    signature-lifetime: 30d\n"
	"    refresh: 10d\n"
	"    jitter: 1d\n"
	"    dnskey-ttl: 2h\n"
	"    zsk-lifetime: 60d\n"
	"    ksk-lifetime: 365d\n"
	"    propagation-delay: 30m\n"
	"    parent-ds-ttl: 2d\n"
	"    parent-propagation-delay: 3h\n"
	"templates:\n"
	"  - name: secondary\n"
	"    file: \"secondary/%s.db\"\n"
	"    primaries: [hidden]\n"
	"    notify: [ns_2.x-y]\n"
	"    allow-transfer: [any]\n"
	"    expire-max: 21d\n"
	"    verify: [check]\n"
	"zones:\n"
	"  - name: example.com\n"
	"    template: secondary\n"
	"    verify-timeout: 7s\n"
	"    primaries: [ns_2.x-y, hidden]\n"
	"    allow-transfer: [192.0.2.0/24, key xfr.example, \"2001:db8::/32  key file.example. "
	"tls\",\n"
	"      tls, any tls]\n"
	"    allow-notify: [192.0.2.7]\n"
	"    ixfr: false\n"
	"    driver-denials: off\n"
	"    zonemd: require\n"
	"    serial: date\n"
	"    journal-size: 0\n"
	"    zonefile-sync: 90\n"
	"    max-transfer-size: 1M\n"
	"    max-transfer-time: 1m\n"
	"    refresh-min: 1m\n"
	"    refresh-max: 1h\n"
	"    retry-min: 2m\n"
	"    retry-max: 2h\n"
	"    expire-min: 3m\n"
	"    member-of: made.catalog\n"
	"    group: blue\n"
	"  - name: made.catalog.\n"
	"    catalog: produce\n"
	"    file: made.db\n"
	"  - name: read.catalog.\n"
	"    catalog: consume\n"
	"    primaries: [hidden]\n"
	"    groups: [{group: blue, template: secondary}, {template: secondary}]\n"
	"  - name: own.example\n"
	"    file: own.db\n"
	"    signing: slow\n"
	"    allow-update: [key xfr.example., 127.0.0.1]\n"
	"  - name: bare.example\n"
	"    template: secondary\n"
	"    notify: []\n"
	"    verify: []\n"
	"    allow-transfer: []\n"
	"    signing: none\n";

static void check_remotes(const struct config *config)
{
	const struct config_remote *remote = config_find_remote(config, "hidden");
	const struct config_tsig_key *key = config_find_key(config, "file.example.");
	static const uint8_t zeros[32];

	assert_int_equal(config->n_keys, 2);
	assert_string_equal(config->keys[0].name, "xfr.example.");
	assert_int_equal(config->keys[0].algorithm, TSIG_SHA384);
	assert_memory_equal(config->keys[0].secret, "0123456789abcdef", 16);
	assert_int_equal(key->algorithm, TSIG_SHA512);
	assert_int_equal(key->n_secret, 17);
	assert_memory_equal(key->secret, "0123456789abcdefg", 17);
	assert_null(config_find_key(config, "no.example."));
	assert_int_equal(config->n_remotes, 2);
	assert_int_equal(remote->n_addresses, 2);
	assert_int_equal(ntohs(remote->addresses[0].net_port), 853);
	assert_int_equal(remote->addresses[1].family, AF_INET6);
	assert_int_equal(ntohs(remote->addresses[1].net_port), 5353);
	assert_int_equal(remote->n_source, 2);
	assert_int_equal(remote->source[0].net_port, 0);
	assert_int_equal(ntohs(remote->source[1].net_port), 1053);
	assert_string_equal(remote->key, "xfr.example.");
	assert_int_equal(remote->tls, CONFIG_TLS_STRICT);
	assert_string_equal(remote->tls_name, "ns1.example");
	assert_below_folder(remote->tls_bundle, "ca.pem");
	assert_memory_equal(remote->tls_pin, zeros, 32);
	assert_int_equal(config->remotes[1].tls, CONFIG_TLS_OPPORTUNISTIC);
	assert_null(config_find_remote(config, "xfr.example."));
}

static void check_signing(const struct config *config)
{
	const struct config_signing *signing = config_find_signing(config, "slow");

	assert_null(config_find_signing(config, "none"));
	assert_int_equal(signing->algorithm, CONFIG_SIGN_ED25519);
	assert_false(signing->single_key);
	assert_int_equal(signing->denial, CONFIG_DENIAL_NSEC3);
	assert_int_equal(signing->nsec3_iterations, 1);
	assert_int_equal(signing->nsec3_salt_bytes, 8);
	assert_true(signing->nsec3_opt_out);
	assert_false(signing->cds);
	assert_below_folder(signing->key_folder, "keys");
	assert_int_equal(signing->signature_s, 30 * 86400);
	assert_int_equal(signing->refresh_s, 10 * 86400);
	assert_int_equal(signing->jitter_s, 86400);
	assert_int_equal(signing->dnskey_ttl_s, 7200);
	assert_int_equal(signing->zsk_lifetime_s, 60 * 86400);
	assert_int_equal(signing->ksk_lifetime_s, 365 * 86400);
	assert_int_equal(signing->propagation_s, 1800);
	assert_int_equal(signing->parent_ttl_s, 2 * 86400);
	assert_int_equal(signing->parent_propagation_s, 3 * 3600);
}

static void check_rules(const struct config_rules *rules)
{
	static const uint8_t v4[16] = { 192, 0, 2 };
	const struct config_rule *rule = rules->rules;

	assert_int_equal(rules->n, 5);
	assert_true(rule[0].has_prefix && !rule[0].has_tls && !rule[0].key);
	assert_int_equal(rule[0].prefix.bits, 24);
	assert_memory_equal(rule[0].prefix.addr, v4, 16);
	assert_true(!rule[1].has_prefix && !rule[1].has_tls);
	assert_string_equal(rule[1].key, "xfr.example.");
	assert_true(rule[2].has_prefix && rule[2].has_tls);
	assert_int_equal(rule[2].prefix.family, AF_INET6);
	assert_string_equal(rule[2].key, "file.example.");
	for (int i = 3; i < 5; i++)
		assert_true(!rule[i].has_prefix && rule[i].has_tls && !rule[i].key);
}

static void check_zone(const struct config_zone *zone)
{
	assert_string_equal(zone->name, "example.com.");
	assert_string_equal(zone->template_name, "secondary");
	assert_below_folder(zone->file, "secondary/example.com.db");
	assert_string_equal(zone->verify.argv[0], "check");
	assert_int_equal(zone->verify.timeout_s, 7);
	assert_string_equal(zone->primaries[0], "ns_2.x-y");
	assert_string_equal(zone->primaries[1], "hidden");
	assert_null(zone->primaries[2]);
	assert_string_equal(zone->notify[0], "ns_2.x-y");
	check_rules(&zone->allow_transfer);
	assert_int_equal(zone->allow_notify.n, 1);
	assert_int_equal(zone->allow_notify.rules[0].prefix.bits, 32);
	assert_false(zone->ixfr);
	assert_int_equal(zone->driver_denials, CONFIG_DENIALS_OFF);
	assert_int_equal(zone->zonemd, CONFIG_ZONEMD_REQUIRE);
	assert_int_equal(zone->serial, CONFIG_SERIAL_DATE);
	assert_false(config_zone_asks_ixfr(zone));
	assert_int_equal(zone->journal_bytes, 0);
	assert_int_equal(zone->zonefile_sync_s, 90);
	assert_int_equal(zone->transfer_bytes, 1 << 20);
	assert_int_equal(zone->transfer_s, 60);
	assert_int_equal(zone->refresh_min_s, 60);
	assert_int_equal(zone->refresh_max_s, 3600);
	assert_int_equal(zone->retry_min_s, 120);
	assert_int_equal(zone->retry_max_s, 7200);
	assert_int_equal(zone->expire_min_s, 180);
	assert_int_equal(zone->expire_max_s, 21 * 86400);
	assert_string_equal(zone->member_of, "made.catalog.");
	assert_string_equal(zone->member_group, "blue");
}

static void check_others(const struct config *config)
{
	const struct config_zone *zones = config->zones;

	assert_int_equal(config->n_zones, 5);
	assert_int_equal(zones[1].catalog, CONFIG_CATALOG_PRODUCE);
	assert_below_folder(zones[1].file, "made.db");
	assert_int_equal(zones[2].catalog, CONFIG_CATALOG_CONSUME);
	assert_below_folder(zones[2].file, "state/zones/read.catalog.zone");
	assert_int_equal(zones[2].n_groups, 2);
	assert_string_equal(zones[2].groups[0].group, "blue");
	assert_string_equal(zones[2].groups[0].template_name, "secondary");
	assert_null(zones[2].groups[1].group);
	assert_int_equal(zones[3].allow_update.n, 2);
	assert_string_equal(zones[3].allow_update.rules[0].key, "xfr.example.");
	assert_true(zones[3].allow_update.rules[1].has_prefix);
	assert_string_equal(zones[3].signing, "slow");
	assert_string_equal(zones[4].primaries[0], "hidden");
	assert_null(zones[4].notify);
	assert_null(zones[4].verify.argv);
	assert_int_equal(zones[4].verify.timeout_s, 30);
	assert_int_equal(zones[4].allow_transfer.n, 0);
	assert_int_equal(zones[4].expire_max_s, 21 * 86400);
	assert_null(zones[4].signing);
}

static void test_everything(void **state)
{
	struct config *config;

	(void)state;
	write_secret("MDEyMzQ1Njc4OWFiY2RlZmc= \n\n", 0600);
	config = load_good(everything);
	check_remotes(config);
	check_signing(config);
	assert_int_equal(config->n_templates, 1);
	assert_int_equal(config->cache_names_lines, 1024); /* and 63 octets that are not used */
	assert_int_equal(config->cache_intervals_lines, 16384);
	check_zone(&config->zones[0]);
	check_others(config);
	config_free(config);
	remove_secret();
}

static void test_everything_is_everything(void **state)
{
	(void)state;
	assert_all_used(&words_zone_keys, everything);
}

/* A template by the name default is for those that name none, and not for those that do. */
static void test_default_template(void **state)
{
	struct config *config =
		load_good(STORED REMOTE "templates:\n"
					"  - {name: default, journal-size: 5M, notify: [hidden]}\n"
					"  - {name: other, refresh-max: 9h}\n"
					"zones:\n"
					"  - {name: a, file: a}\n"
					"  - {name: b, file: b, template: other}\n"
					"  - name: c\n    file: c\n    notify: []\n");

	(void)state;
	assert_string_equal(config->zones[0].template_name, "default");
	assert_int_equal(config->zones[0].journal_bytes, 5 << 20);
	assert_string_equal(config->zones[0].notify[0], "hidden");
	assert_int_equal(config->zones[1].journal_bytes, 64 << 20);
	assert_null(config->zones[1].notify);
	assert_int_equal(config->zones[1].refresh_max_s, 9 * 3600);
	assert_null(config->zones[2].notify);
	assert_int_equal(config->zones[2].journal_bytes, 5 << 20);
	config_free(config);
}

static void test_tebibytes(void **state)
{
	struct config *config = load_good(
		"server: {listen: [192.0.2.53], storage: /var/lib/volley, storage-size: 1T}\n");

	(void)state;
	assert_int_equal(config->storage_bytes, 1ull << 40);
	config_free(config);
}

/* Files that are only read may be shared. */
static void test_shared_file(void **state)
{
	struct config *config =
		load_good(LISTEN "zones: [{name: a, file: f}, {name: b, file: f}]\n");

	(void)state;
	assert_string_equal(config->zones[0].file, config->zones[1].file);
	config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_secret_file),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_everything_is_everything),
		cmocka_unit_test(test_default_template),
		cmocka_unit_test(test_tebibytes),
		cmocka_unit_test(test_shared_file),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
