/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPv4-mapped addresses in each key of addresses. No packet and no socket has one, so a rule with
 * one would match nothing: they are refused, and the sentence has the IPv4 address. Only
 * recursion.private-address takes them, since records may have them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/value.h"
#include "tests/unit/config/configtext.h"

#define M            "::ffff:192.0.2.1"
#define SERVER(x)    "server: {listen: [192.0.2.9], " x "}\n"
#define RECURSION(x) LISTEN "recursion: {allow: [192.0.2.0/24], " x "}\n"
#define ZONE(x)      LISTEN "zones: [{name: a., file: a, " x "}]\n"
#define SAYS(ipv4)   " is not accepted, give the IPv4 address that is mapped there, " ipv4

static const struct refusal refusals[] = {
	{ "server.listen", "server: {listen: ['" M "@5300']}\n",
	  "1: server.listen[0]: \"" M "@5300\"" SAYS("192.0.2.1@5300") },
	{ "server.allow", SERVER("allow: ['::ffff:192.0.2.0/120']"),
	  "1: server.allow[0]: \"::ffff:192.0.2.0/120\"" SAYS("192.0.2.0/24") },
	{ "server.allow, all of them", SERVER("allow: ['::ffff:0:0/96']"),
	  "1: server.allow[0]: \"::ffff:0:0/96\"" SAYS("0.0.0.0/0") },
	{ "server.allow, in hexadecimal digits", SERVER("allow: ['::FFFF:c000:201']"),
	  "1: server.allow[0]: \"::FFFF:c000:201\"" SAYS("192.0.2.1") },
	{ "server.tls.listen", SERVER("tls: {listen: ['" M "']}"),
	  "1: server.tls.listen[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "rrl.exempt", LISTEN "rrl: {exempt: ['" M "/128']}\n",
	  "3: rrl.exempt[0]: \"" M "/128\"" SAYS("192.0.2.1/32") },
	{ "recursion.allow", LISTEN "recursion: {allow: ['" M "']}\n",
	  "3: recursion.allow[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "recursion.forward", RECURSION("forward: ['" M "@853#a.example']"),
	  "3: recursion.forward[0]: \"" M "@853#a.example\"" SAYS("192.0.2.1@853#a.example") },
	{ "recursion.stubs", RECURSION("stubs: [{zone: a, address: '" M "'}]"),
	  "3: recursion.stubs[0].address: \"" M "\"" SAYS("192.0.2.1") },
	{ "recursion.forward-zones", RECURSION("forward-zones: [{zone: a, address: '" M "'}]"),
	  "3: recursion.forward-zones[0].address: \"" M "\"" SAYS("192.0.2.1") },
	{ "recursion.outgoing-interface", RECURSION("outgoing-interface: ['" M "']"),
	  "3: recursion.outgoing-interface[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "remotes", LISTEN "remotes: [{name: a, address: ['" M "']}]\n",
	  "3: remotes[0].address[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "remotes, source",
	  LISTEN "remotes: [{name: a, address: [192.0.2.1], source: ['" M "']}]\n",
	  "3: remotes[0].source[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "allow-transfer", ZONE("allow-transfer: ['" M "/128 key a']"),
	  "3: zones[0].allow-transfer[0]: \"" M "/128 key a\"" SAYS("192.0.2.1/32 key a") },
	{ "allow-notify", ZONE("allow-notify: ['" M "']"),
	  "3: zones[0].allow-notify[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "allow-update", ZONE("allow-update: ['" M "']"),
	  "3: zones[0].allow-update[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "metrics.listen", LISTEN "metrics: {listen: '" M "@9253'}\n",
	  "3: metrics.listen: \"" M "@9253\"" SAYS("192.0.2.1@9253") },
	{ "query-log.clients", LISTEN "query-log: {file: /a, clients: ['" M "']}\n",
	  "3: query-log.clients[0]: \"" M "\"" SAYS("192.0.2.1") },
	{ "tunnel-sources", LISTEN "interfaces: [{name: a, tunnel-sources: ['" M "']}]\n",
	  "3: interfaces[0].tunnel-sources[0]: \"" M "\"" SAYS("192.0.2.1") },
};

static void mapped_addresses_are_refused(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

/* These match packets, or records, as they are. */
static void other_addresses_with_ipv4_in_them_are_taken(void **state)
{
	static const char *const good[] = {
		SERVER("allow: ['::192.0.2.1', '64:ff9b::192.0.2.1', '2002:c000:201::/48']"),
		SERVER("allow: ['::/0', '::/80']"),
		RECURSION("private-address: ['::ffff:0:0/96', '::192.0.2.0/120', '" M "']"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		config_free(load_good(good[i]));
}

static void texts_without_a_mapped_address(void **state)
{
	static const char *const texts[] = { "",
					     "192.0.2.1",
					     "::192.0.2.1",
					     "::ffff:0:0/95",
					     "::fffe:0:0/96",
					     M "@\033[2J",
					     M "x",
					     "2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000" };
	char ipv4[VALUE_IPV4_CAP] = "unchanged";

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(value_ipv4_of(texts[i], ipv4));
	assert_string_equal(ipv4, "unchanged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped_addresses_are_refused),
		cmocka_unit_test(other_addresses_with_ipv4_in_them_are_taken),
		cmocka_unit_test(texts_without_a_mapped_address),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
