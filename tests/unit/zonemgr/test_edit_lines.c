/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a zone as people write them: what they do, and which line is told where one cannot
 * be. */
#include "zonemgr/zonemgr.h"

#include "tests/unit/zone/zone_text.h"
#include "zone/changeset.h"

static struct zone *zone;
static struct zone_error why;
static bool is_signed; /* here */

static int begin(void **state)
{
	(void)state;
	zone = zone_of("z.test", ZONE_HEAD "w 60 A 192.0.2.2\nw 60 A 192.0.2.3\nw TXT a\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	zone_unref(zone);
	return 0;
}

/* Runs lines that are divided by line ends. The zone is what they make of it; its code is
 * returned. */
static int run(const char *text, struct changeset *net)
{
	char copy[1024], *rest = copy, *line;
	const char *lines[16];
	struct zone_edit *edit;
	struct zone *next;
	size_t n = 0;
	int err;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((line = strsep(&rest, "\n")))
		lines[n++] = line;
	why = (struct zone_error){ 0 };
	assert_int_equal(zone_edit_begin(&edit, zone), 0);
	err = edit_lines(edit, lines, n, is_signed, &why);
	if (err) {
		zone_edit_cancel(edit);
		return err;
	}
	err = zone_edit_finish(edit, &next, net, &why);
	if (err)
		return err;
	zone_unref(zone);
	zone = next;
	return 0;
}

static const struct zone_rrset *rrset(const char *owner, uint16_t type)
{
	uint8_t name[256];
	const struct zone_node *node;

	wire_of(name, owner);
	node = zone_node_of(zone, name);
	return node ? zone_node_rrset(zone, node, type) : NULL;
}

static unsigned n_of(const char *owner, uint16_t type)
{
	const struct zone_rrset *r = rrset(owner, type);

	return r ? r->n : 0;
}

static void records_come(void **state)
{
	(void)state;
	assert_int_equal(run("add W A 192.0.2.4\nadd new AAAA 2001:db8::1\nadd x.z.test. 77 IN TXT "
			     "\"a b\"\nadd @ MX 5 w",
			     NULL),
			 0);
	assert_int_equal(n_of("w.z.test", DNS_TYPE_A), 3);
	assert_int_equal(rrset("w.z.test", DNS_TYPE_A)->ttl, 60); /* that of the RRset */
	assert_int_equal(rrset("new.z.test", DNS_TYPE_AAAA)->ttl, EDIT_TTL_S);
	assert_int_equal(rrset("x.z.test", DNS_TYPE_TXT)->ttl, 77);
	assert_int_equal(n_of("z.test", DNS_TYPE_MX), 1);
	assert_int_equal(zone_serial(zone), 8); /* once for all lines */
}

static void the_ttl_is_that_of_all(void **state)
{
	(void)state;
	assert_int_equal(run("add w 61 A 192.0.2.2", NULL), 0);
	assert_int_equal(n_of("w.z.test", DNS_TYPE_A), 2);
	assert_int_equal(rrset("w.z.test", DNS_TYPE_A)->ttl, 61);
	assert_int_equal(zone_serial(zone), 8);
}

static void records_go(void **state)
{
	(void)state;
	assert_int_equal(run("remove w A 192.0.2.2", NULL), 0);
	assert_int_equal(n_of("w.z.test", DNS_TYPE_A), 1);
	assert_int_equal(run("remove w A", NULL), 0);
	assert_int_equal(n_of("w.z.test", DNS_TYPE_A), 0);
	assert_int_equal(n_of("w.z.test", DNS_TYPE_TXT), 1);
	assert_int_equal(run("add w A 192.0.2.9\nremove w", NULL), 0);
	assert_null(rrset("w.z.test", DNS_TYPE_TXT));
	assert_null(rrset("w.z.test", DNS_TYPE_A));
	assert_int_equal(zone_serial(zone), 10);
}

static void nothing_changes(void **state)
{
	struct changeset net = { 0 };

	(void)state;
	assert_int_equal(run("add w A 192.0.2.2\n\n  ", &net), 0);
	assert_int_equal(net.n_bytes, 0);
	assert_int_equal(zone_serial(zone), 7);
	changeset_fini(&net);
}

/* Who says the serial number means it; who repeats that there is leaves it to us. */
static void the_serial_number(void **state)
{
	(void)state;
	assert_int_equal(run("add @ 300 SOA ns host 100 2 3 4 60\nadd a A 192.0.2.1", NULL), 0);
	assert_int_equal(zone_serial(zone), 100);
	assert_int_equal(n_of("z.test", DNS_TYPE_SOA), 1);
	assert_int_equal(run("add @ 300 SOA ns host 100 2 3 4 61\nadd b A 192.0.2.1", NULL), 0);
	assert_int_equal(zone_serial(zone), 101);
	assert_int_equal(run("add @ 300 SOA ns host 4294967295 2 3 4 60", NULL), 0);
	assert_int_equal(run("add c A 192.0.2.1", NULL), 0);
	assert_int_equal(zone_serial(zone), 0);
	assert_int_equal(run("remove @ SOA", NULL), ERR_ZONE);
}

static void assert_fault(const char *lines, const char *sentence)
{
	assert_true(run(lines, NULL) < 0);
	if (!strstr(why.sentence, sentence))
		fail_msg("'%s' is told of '%s'", why.sentence, lines);
	assert_int_equal(zone_serial(zone), 7);
}

static void faults(void **state)
{
	char long_owner[300];

	(void)state;
	assert_fault("replace w A 192.0.2.1", "line 1: a line begins with add or remove");
	assert_fault("add w TXT b\nadd", "line 2: there is no owner");
	assert_fault("add w", "line 1");
	assert_fault("add w 300", "line 1: there is no type");
	assert_fault("add w 300 IN", "line 1: there is no type");
	assert_fault("add w NOTYPE x", "line 1");
	assert_fault("add w A 192.0.2.256", "line 1");
	assert_fault("add w A", "line 1");
	assert_fault("add a..b A 192.0.2.1", "line 1: the owner is no domain name");
	assert_fault("add w.other. A 192.0.2.1", "line 1: the zone cannot have this record");
	assert_fault("remove nobody", "line 1: there is no such record");
	assert_fault("remove w A 192.0.2.9", "line 1: there is no such record");
	snprintf(long_owner, sizeof(long_owner), "add %063d.%063d.%063d.%058d A 192.0.2.1", 1, 1, 1,
		 1);
	assert_fault(long_owner, "line 1: the owner is too long");
}

static void what_is_a_signers(void **state)
{
	static const char *const types[] = { "RRSIG",  "NSEC", "NSEC3",  "NSEC3PARAM",
					     "DNSKEY", "CDS",  "CDNSKEY" };
	char line[64];

	(void)state;
	is_signed = true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(line, sizeof(line), "add w %s \\# 0", types[i]);
		assert_fault(line, "line 1: the zone is signed here");
		snprintf(line, sizeof(line), "add a A 192.0.2.1\nremove w %s", types[i]);
		assert_fault(line, "line 2: the zone is signed here");
	}
	assert_int_equal(run("remove w", NULL), 0);
	is_signed = false;
	assert_int_equal(run("add w CDS 1 13 2 00", NULL), 0);
}

/* The dot is one of the label, so the name is relative. */
static void an_escaped_dot_at_the_end(void **state)
{
	(void)state;
	assert_int_equal(run("add a\\. A 192.0.2.1", NULL), 0);
	assert_int_equal(n_of("a\\..z.test", DNS_TYPE_A), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_come, begin, end),
		cmocka_unit_test_setup_teardown(the_ttl_is_that_of_all, begin, end),
		cmocka_unit_test_setup_teardown(records_go, begin, end),
		cmocka_unit_test_setup_teardown(nothing_changes, begin, end),
		cmocka_unit_test_setup_teardown(the_serial_number, begin, end),
		cmocka_unit_test_setup_teardown(faults, begin, end),
		cmocka_unit_test_setup_teardown(what_is_a_signers, begin, end),
		cmocka_unit_test_setup_teardown(an_escaped_dot_at_the_end, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
