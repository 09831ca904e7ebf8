/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is refused before a value is read: bad YAML, unknown keys, wrong shapes. */
#include "config/document.h"

#include "tests/unit/config/configtext.h"

static const struct refusal refusals[] = {
	/* The text itself */
	{ "empty file", "",
	  "1: server.listen: is missing, give a list of IPv4 or IPv6 addresses, " },
	{ "only a comment", "# nothing\n", "1: server.listen: is missing, " },
	{ "syntax, open bracket", LISTEN "zones: [\n", "4: this is not YAML: " },
	{ "syntax, behind an include", "include: []\n" LISTEN "zones: [\n",
	  "5: this is not YAML: " },
	{ "syntax, behind the fault that is its cause", LISTEN "cache: 8M\n  names: 1M\n",
	  "3: cache: has the wrong shape, give keys below it" },
	{ "syntax, behind a wrong shape", LISTEN "zones: example\ncache: [\n",
	  "3: zones: has the wrong shape, give a list whose items have keys below them" },
	{ "syntax, tab", "server:\n\tlisten: []\n",
	  "2: this is not YAML: found character that cannot start any token, while scanning for "
	  "the next "
	  "token: indent with spaces, no tabs; quote what begins with @ or %" },
	{ "syntax, bad indent", LISTEN "cache:\n  size: 64M\n size: 8M\n",
	  "5: this is not YAML: did not find expected key, while parsing a block mapping: look at "
	  "the "
	  "indentation of this line and the one before" },
	{ "not UTF-8", LISTEN "cache:\n  size: \xff\n", "4: this is not YAML: " },
	{ "a list at the top", "- server\n",
	  "1: has the wrong shape, give keys such as \"server:\" at its top" },
	{ "a word at the top", "server\n", "1: has the wrong shape, give keys such as" },
	{ "second document", LISTEN "---\ncache: {size: 8M}\n", "3: a second document" },
	{ "alias", "server: &a\n  listen: [192.0.2.1]\ncache: *a\n", "3: cache: is an alias" },
	{ "alias in a list", "server:\n  listen: [&a 192.0.2.1, *a]\n",
	  "2: server.listen[1]: is an alias (*): write the value out" },
	{ "key twice", LISTEN "cache:\n  size: 8M\n  size: 9M\n",
	  "5: cache.size: is given twice: keep one of them" },
	{ "map twice", LISTEN "cache:\n  size: 8M\ncache:\n  size: 9M\n",
	  "5: cache: is given twice" },
	{ "key that looks like a path", "server.listen: [192.0.2.1]\n",
	  "1: a key here is not a plain word" },
	{ "key that is a list", "[server]: 1\n", "1: a key here is not a plain word" },
	{ "zero byte in a value", LISTEN "control:\n  socket: \"/run/a\\0b\"\n",
	  "4: control.socket: has a zero byte in its value" },
	{ "nested too deep", "server: {listen: [[[[[[[[[[1]]]]]]]]]]}\n",
	  "1: server.listen[0]: has the wrong shape" },

	/* Unknown keys, each level */
	{ "unknown at the top", LISTEN "zone: []\n",
	  "3: zone: unknown key, did you mean \"zones\"? Accepted here: server, interfaces, cache, dpdk, control, metrics, "
	  "log, include, keys, "
	  "remotes, signing, templates, zones, recursion" },
	{ "unknown in a map", "server:\n  listen: [192.0.2.1]\n  worker: 2\n",
	  "3: server.worker: unknown key, did you mean \"workers\"? Accepted here: listen, allow, workers, control-cores, "
	  "max-udp-size, minimal-responses, any, nsid, version, identity, pid-file, tcp, cookies, "
	  "tls, "
	  "storage, storage-size, transfers-in, transfers-out" },
	{ "unknown in a map below", "server:\n  listen: [192.0.2.1]\n  tcp:\n    idle: 3\n",
	  "4: server.tcp.idle: unknown key, accepted here: max-connections, "
	  "max-connections-per-client, idle-timeout, max-queries, backlog" },
	{ "known at another place", LISTEN "workers: 2\n",
	  "3: workers: unknown key, did you mean \"server.workers\"? Accepted here: server, " },
	{ "unknown in a list", LISTEN "zones:\n  - name: a\n    file: b\n  - nam: c\n",
	  "6: zones[1].nam: unknown key, did you mean \"name\"? Accepted here: name, template, file, verify, "
	  "verify-timeout, primaries, notify, allow-transfer, " },
	{ "key with a line break", LISTEN "\"a\\nb\": 1\n", "3: a key here is not a plain word" },

	/* Shapes */
	{ "value for a map", "server: 53\n", "1: server: has the wrong shape, give keys below it" },
	{ "nothing for a map", LISTEN "cache:\n", "3: cache: is empty, give keys below it" },
	{ "nothing for a list", LISTEN "zones:\n", "3: zones: is empty, give a list whose items" },
	{ "map for a list", LISTEN "zones: {name: a, file: b}\n",
	  "3: zones: has the wrong shape, give a list whose items have keys below them" },
	{ "value for a list", "server:\n  listen: 192.0.2.1\n",
	  "2: server.listen: has the wrong shape, give a list of IPv4 or IPv6 addresses" },
	{ "list for a value", LISTEN "cache:\n  size: [8M]\n",
	  "4: cache.size: has the wrong shape, give a size from 8M to 69G" },
	{ "nothing for a value", LISTEN "cache:\n  size:\n",
	  "4: cache.size: \"\" is not accepted, give a size from 8M to 69G" },
	{ "map in a list of values", "server:\n  listen:\n    - {addr: 192.0.2.1}\n",
	  "3: server.listen[0]: has the wrong shape, " },
	{ "value in a list of maps", LISTEN "zones:\n  - example.com\n",
	  "4: zones[0]: has the wrong shape, " },
};

static void test_refusals(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

/* The number of keys of a map is bounded, so a text of any kind is read in little time. */
static void test_many_keys(void **state)
{
	static char text[8192];
	size_t used = (size_t)snprintf(text, sizeof(text), LISTEN);
	struct config *config;
	char err[512];

	(void)state;
	for (int i = 0; i < 300; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "key%d: 1\n", i);
	assert_int_equal(load(&config, text, err, sizeof(err)), ERR_CONFIG);
	assert_non_null(
		strstr(err, ":3: key0: unknown key, did you mean \"keys\"? Accepted here: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_many_keys),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
