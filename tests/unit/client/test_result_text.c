/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact text of results: units, labels, and the shape of each command's result. */
#include "client/result_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct unit_row {
	const char *key;
	const char *json;
	const char *text;
};

static const struct unit_row unit_rows[] = {
	{ "used_bytes", "0", "0 B" },
	{ "used_bytes", "1023", "1023 B" },
	{ "used_bytes", "1024", "1.0 KiB" },
	{ "used_bytes", "268435456", "256.0 MiB" },
	{ "used_bytes", "1649267441664", "1.5 TiB" },
	{ "used_bytes", "9223372036854775807", "8388608.0 TiB" },
	{ "lookup_ns", "999", "999 ns" },
	{ "lookup_ns", "1500", "1.5 us" },
	{ "lookup_ns", "7000000000", "7.0 s" },
	{ "load_ms", "12", "12 ms" },
	{ "load_ms", "61000", "61.0 s" },
	{ "uptime_s", "59", "59 s" },
	{ "uptime_s", "60", "1 min 0 s" },
	{ "uptime_s", "3600", "1 h 0 min" },
	{ "uptime_s", "86399", "23 h 59 min" },
	{ "uptime_s", "90061", "1 d 1 h" },
	{ "loaded_at", "0", "-" },
	{ "loaded_at", "1767225600", "2026-01-01 00:00:00" },
	{ "loaded_at", "\"2026-01-01T00:00:00Z\"", "2026-01-01T00:00:00Z" },
	{ "entries", "999", "999" },
	{ "entries", "1000", "1,000" },
	{ "entries", "1234567890", "1,234,567,890" },
	{ "entries", "-1000", "-1000" },
	{ "serial", "2026010100", "2026010100" },
	{ "pid", "12345", "12345" },
	{ "ratio", "0.5", "0.5" },
	{ "ready", "true", "yes" },
	{ "ready", "false", "no" },
	{ "note", "null", "-" },
	{ "note", "\"\"", "-" },
	{ "note", "\"a\\u001b[2Jb\\n\"", "a?[2Jb?" },
	{ "cores", "[1, 2000]", "1, 2000" },
	{ "cores", "[]", "none" },
	{ "rings", "{\"rx_bytes\": 2048, \"tx\": 1}", "rx_bytes=2.0 KiB tx=1" },
	/* A unit alone is a name, and the end of a key may look like a unit. */
	{ "_s", "1000", "1,000" },
	{ "pass", "1000", "1,000" },
};

static void test_units(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unit_rows) / sizeof(unit_rows[0]); i++) {
		json_t *value = json_loads(unit_rows[i].json, JSON_DECODE_ANY, NULL);
		char *text;

		assert_non_null(value);
		text = units_put(unit_rows[i].key, value);
		assert_non_null(text);
		if (strcmp(text, unit_rows[i].text))
			fail_msg("%s %s: %s", unit_rows[i].key, unit_rows[i].json, text);
		free(text);
		json_decref(value);
	}
}

static void test_labels(void **state)
{
	char label[8];

	(void)state;
	units_put_label("used_bytes", label, sizeof(label));
	assert_string_equal(label, "used");
	units_put_label("tx_ok", label, sizeof(label));
	assert_string_equal(label, "tx ok");
	units_put_label("grace_periods", label, sizeof(label));
	assert_string_equal(label, "grace p");
	units_put_label("a_at", label, sizeof(label));
	assert_string_equal(label, "a at");
	assert_int_equal(units_width("z\xc3\xbcrich"), 6);
}

struct result_row {
	const char *name;
	const char *command;
	const char *json;
	const char *text;
};

static const struct result_row result_rows[] = {
	{ "nothing to say", "cache flush", "{}", "done\n" },
	{ "numbers to the right", "cache stats",
	  "{'size_bytes':268435456,'entries':12,'evicted':0}",
	  "size:    256.0 MiB\n"
	  "entries:        12\n"
	  "evicted:         0\n" },
	{ "no number, then to the left", "cache stats", "{'entries':12,'budget_ok':true}",
	  "entries:   12\n"
	  "budget ok: yes\n" },
	{ "a table alone has no title", "zone list",
	  "{'zones':["
	  "{'name':'example.com.','state':'serving','serial':2026010100,'records':1000,'names':400,"
	  "'memory_bytes':4096,'load_ms':2,'loaded_at':1767225600,'file':'/z/a','error':null},"
	  "{'name':'b.','state':'failed','serial':null,'records':null,'names':null,"
	  "'memory_bytes':0,'load_ms':0,'loaded_at':null,'file':'/z/b','error':'/z/b:3: no SOA'}]}",
	  "NAME          STATE        SERIAL  RECORDS   MEMORY  ERROR\n"
	  "example.com.  serving  2026010100    1,000  4.0 KiB  -\n"
	  "b.            failed            -        -      0 B  /z/b:3: no SOA\n" },
	{ "a column of nothing is left out, one that is new is shown", "zone list",
	  "{'zones':[{'dnssec':'signed','error':null,'state':'serving','name':'a.'}]}",
	  "NAME  STATE    DNSSEC\n"
	  "a.    serving  signed\n" },
	{ "a list is not as wide as a status", "zone list",
	  "{'zones':[{'name':'a.','state':'awaited','role':'secondary','is_file_behind':false,"
	  "'is_transferring':true,'checked_at':0,'refresh_at':5,'expires_at':0,'changed_names':1,"
	  "'changed_bytes':2,'transfer_error':'r: no answer'}]}",
	  "NAME  STATE    ROLE       TRANSFER ERROR\n"
	  "a.    awaited  secondary  r: no answer\n" },
	{ "the same as lists", "zone status",
	  "{'zones':[{'name':'a.','records':1000,'error':null},{'name':'b.','records':7}]}",
	  "name:    a.\n"
	  "records: 1,000\n"
	  "error:   -\n"
	  "\n"
	  "name:    b.\n"
	  "records: 7\n" },
	{ "no zones", "zone list", "{'zones':[]}", "zones: none\n" },
	{ "shares of a sum", "stats",
	  "{'answered':{'driver':900,'worker':100,'kernel_socket':0,'tcp':0},"
	  "'driver':{'received':1000,'hit':900,'reasons':{'not_udp':5,'no_room':1500}},"
	  "'ports':[{'name':'xsk eth0 queue 0','kind':'xsk','interface':'eth0','queue':0,'core':2,"
	  "'rx':1500,'tx':100,'wakeups':3,'rx_bytes':2048,'tx_bytes':1024}]}",
	  "answered:\n"
	  "  driver:        900   90.0 %\n"
	  "  worker:        100   10.0 %\n"
	  "  kernel socket:   0    0.0 %\n"
	  "  tcp:             0    0.0 %\n"
	  "\n"
	  "driver:\n"
	  "  received: 1,000\n"
	  "  hit:        900\n"
	  "  reasons:\n"
	  "    not udp:     5\n"
	  "    no room: 1,500\n"
	  "\n"
	  "ports:\n"
	  "  NAME              CORE     RX  RX BYTES   TX  TX BYTES  WAKEUPS\n"
	  "  xsk eth0 queue 0     2  1,500   2.0 KiB  100   1.0 KiB        3\n" },
	{ "no share of nothing", "stats", "{'answered':{'driver':0,'worker':0}}",
	  "answered:\n"
	  "  driver: 0\n"
	  "  worker: 0\n" },
	{ "sentences", "status",
	  "{'degraded':['eth0: no native XDP','zone b. failed'],'pid':4242,'ready':true}",
	  "pid:   4242\n"
	  "ready: yes\n"
	  "\n"
	  "degraded:\n"
	  "  - eth0: no native XDP\n"
	  "  - zone b. failed\n" },
	{ "no sentences", "status", "{'degraded':[],'zones':{'loaded':2,'failed':0},'more':{}}",
	  "degraded: none\n"
	  "\n"
	  "zones:\n"
	  "  loaded: 2\n"
	  "  failed: 0\n" },
	{ "interfaces", "status",
	  "{'interfaces':[{'note':'copy: no zero-copy','name':'eth0','ifindex':1234,'xdp':'native',"
	  "'origin':'adopted','program_id':5678,'port':'xsk','zero_copy':false,'queues':1,"
	  "'driver_answers':true,'state':'up'}]}",
	  "NAME  STATE  XDP     ORIGIN   PORT  ZERO COPY  QUEUES  DRIVER ANSWERS  IFINDEX  "
	  "PROGRAM ID  NOTE\n"
	  "eth0  up     native  adopted  xsk   no              1  yes                1234  "
	  "      5678  copy: no zero-copy\n" },
	{ "a lookup", "cache lookup",
	  "{'found':true,'entries':[{'type':'A','do':false,'used':3,'age_s':1,'full_bytes':100,"
	  "'answer_records':['a. 300 IN A 192.0.2.1','a. 300 IN A 192.0.2.2'],"
	  "'authority_records':[]}]}",
	  "found: yes\n"
	  "\n"
	  "entries:\n"
	  "  type:              A\n"
	  "  do:                no\n"
	  "  used:              3\n"
	  "  age:               1 s\n"
	  "  full:              100 B\n"
	  "  authority records: none\n"
	  "  answer records:\n"
	  "    - a. 300 IN A 192.0.2.1\n"
	  "    - a. 300 IN A 192.0.2.2\n" },
	{ "why a name fails", "resolver lookup",
	  "{'name':'a.','answered_by':'upstream','before_upstream':[],"
	  "'failures':[{'reason':'signature expired','ede':'DNSSEC Bogus','ede_code':6,'times':2,"
	  "'first_ago_s':9,'ago_s':3,'type':'A'}],"
	  "'cache':[{'answer_records':['a. 300 IN A 192.0.2.1'],'state':'valid','expires_s':59,"
	  "'rcode':'SERVFAIL','view':'recursive','cd':false,'do':true,'type':'A'}]}",
	  "name:            a.\n"
	  "answered by:     upstream\n"
	  "before upstream: none\n"
	  "\n"
	  "failures:\n"
	  "  TYPE  AGO  TIMES  EDE           REASON\n"
	  "  A     3 s      2  DNSSEC Bogus  signature expired\n"
	  "\n"
	  "cache:\n"
	  "  TYPE  DO   CD  VIEW       RCODE     EXPIRES  STATE\n"
	  "  A     yes  no  recursive  SERVFAIL     59 s  valid\n" },
	{ "what the cache holds", "cache stats",
	  "{'entries':3,'by_type':[{'share_percent':66.7,'size_bytes':2048,'entries':2,'type':'A'},"
	  "{'type':'other','entries':1,'size_bytes':1024,'share_percent':33.3}]}",
	  "entries: 3\n"
	  "\n"
	  "by type:\n"
	  "  TYPE   ENTRIES     SIZE  SHARE PERCENT\n"
	  "  A            2  2.0 KiB           66.7\n"
	  "  other        1  1.0 KiB           33.3\n" },
	{ "a reload is told as the list is", "zone reload",
	  "{'zones':[{'state':'serving','name':'a.','names':3,'file':'/z/a','records':7}]}",
	  "NAME  STATE    RECORDS\n"
	  "a.    serving        7\n" },
	{ "records to paste", "zone ds", "{'ds':['a. IN DS 1 13 2 ab','a. IN DS 2 13 2 cd']}",
	  "a. IN DS 1 13 2 ab\na. IN DS 2 13 2 cd\n" },
	{ "wide characters", "zone list",
	  "{'zones':[{'name':'z\xc3\xbcrich.','state':'serving'},{'name':'b.','state':'failed'}]}",
	  "NAME     STATE\n"
	  "z\xc3\xbcrich.  serving\n"
	  "b.       failed\n" },
	{ "no terminal is moved", "zone list", "{'zones':[{'name':'a\\u001b[1m.','x\\u0007':1}]}",
	  "NAME    X?\n"
	  "a?[1m.   1\n" },
};

static void render(const char *command, const char *json, char *buf, size_t cap)
{
	char *quoted = strdup(json);
	json_t *result;
	FILE *out;

	assert_non_null(quoted);
	for (char *c = quoted; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	result = json_loads(quoted, 0, NULL);
	out = fmemopen(buf, cap, "w");
	assert_non_null(result);
	assert_non_null(out);
	assert_int_equal(result_text(out, command, result), 0);
	assert_int_equal(fclose(out), 0);
	json_decref(result);
	free(quoted);
}

static void test_results(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(result_rows) / sizeof(result_rows[0]); i++) {
		char buf[4096];

		render(result_rows[i].command, result_rows[i].json, buf, sizeof(buf));
		if (!strcmp(buf, result_rows[i].text))
			continue;
		print_error("%s:\n%s", result_rows[i].name, buf);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

static int set_time_zone(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, set_time_zone, NULL);
}
