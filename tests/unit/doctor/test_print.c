/* SPDX-License-Identifier: GPL-2.0-only */
/* What doctor prints, letter by letter, and the netlink messages that it reads, whole and broken. */
#include "doctor/print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doctor/netlink.h"

static void print(const char *json, char *buf, size_t cap)
{
	json_t *result = json_loads(json, 0, NULL);
	FILE *out = fmemopen(buf, cap, "w");

	assert_non_null(result);
	assert_non_null(out);
	doctor_print(out, result, 50);
	assert_int_equal(fclose(out), 0);
	json_decref(result);
}

static void test_print(void **state)
{
	char buf[1024];

	(void)state;
	print("{\"checks\": ["
	      "{\"where\": \"host\", \"check\": \"kernel\", \"state\": \"ok\", \"text\": \"Linux 6\"},"
	      "{\"where\": \"eth0\", \"check\": \"mtu\", \"state\": \"fail\","
	      " \"text\": \"one two three four five six\", \"do\": \"ip link set dev eth0 mtu 1500\"}],"
	      "\"ok\": 1, \"warnings\": 0, \"failures\": 1, \"unknown\": 0}",
	      buf, sizeof(buf));
	assert_string_equal(buf, "host\n"
				 "  ok      kernel          Linux 6\n"
				 "\n"
				 "eth0\n"
				 "  fail    mtu             one two three four five\n"
				 "                          six\n"
				 "                          -> ip link set dev eth0 mtu 1500\n"
				 "\n"
				 "1 ok, 0 warnings, 1 failures, 0 not looked at\n");
}

/* The name of a program or a process is somebody else's: it may not command the terminal. */
static void test_print_controls(void **state)
{
	char buf[1024];

	(void)state;
	print("{\"checks\": [{\"where\": \"e\\u001bth\", \"check\": \"x\", \"state\": \"warn\","
	      "\"text\": \"a\\u001b[2Jb\", \"do\": \"c\\nd\"}]}",
	      buf, sizeof(buf));
	assert_null(strchr(buf, '\033'));
	assert_non_null(strstr(buf, "e?th\n"));
	assert_non_null(strstr(buf, "a?[2Jb\n"));
	assert_non_null(strstr(buf, "c?d\n"));
}

/* --- Netlink ------------------------------------------------------------------------------------- */

static void start(struct doctor_question *q)
{
	const uint32_t head = 0x11223344;

	doctor_question_start(q, 16, NLM_F_DUMP, &head, sizeof(head));
}

static void test_attributes(void **state)
{
	const uint8_t byte = 7;
	const uint16_t half = 300;
	const uint32_t word = 70000;
	const uint64_t wide = 1ull << 40;
	struct doctor_question q;
	char text[8];

	(void)state;
	start(&q);
	doctor_question_add(&q, 1, &byte, sizeof(byte));
	doctor_question_add(&q, 2, &half, sizeof(half));
	doctor_question_add(&q, 3, &word, sizeof(word));
	doctor_question_add(&q, 4, &wide, sizeof(wide));
	doctor_question_add(&q, 5, "veth", 5);
	assert_int_equal(doctor_attr_number(doctor_attr(&q.head, 4, 1)), 7);
	assert_int_equal(doctor_attr_number(doctor_attr(&q.head, 4, 2)), 300);
	assert_int_equal(doctor_attr_number(doctor_attr(&q.head, 4, 3)), 70000);
	assert_int_equal(doctor_attr_number(doctor_attr(&q.head, 4, 4)), 1ull << 40);
	doctor_attr_text(doctor_attr(&q.head, 4, 5), text, sizeof(text));
	assert_string_equal(text, "veth");
	doctor_attr_text(doctor_attr(&q.head, 4, 5), text, 3);
	assert_string_equal(text, "ve");
	assert_null(doctor_attr(&q.head, 4, 6));
	assert_int_equal(doctor_attr_number(NULL), 0);
	assert_null(doctor_attr_within(NULL, 1));
	doctor_attr_text(NULL, text, sizeof(text));
	assert_string_equal(text, "");
}

static void test_nested(void **state)
{
	struct {
		struct nlattr head;
		char text[8];
	} inner = { .head = { .nla_len = sizeof(inner), .nla_type = 1 }, .text = "bond" };
	struct doctor_question q;
	char text[16];

	(void)state;
	start(&q);
	doctor_question_add(&q, 18 | NLA_F_NESTED, &inner, sizeof(inner));
	doctor_attr_text(doctor_attr_within(doctor_attr(&q.head, 4, 18), 1), text, sizeof(text));
	assert_string_equal(text, "bond");
}

/* Lengths that lead nowhere end the search; each message is of its own size, so ASan sees a step outside. */
static void test_broken(void **state)
{
	static const uint16_t lengths[] = { 0, 1, 3, 9, 0xffff };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const size_t bytes = NLMSG_HDRLEN + 4 + 8;
		struct nlmsghdr *m = calloc(1, bytes);
		struct nlattr attr = { .nla_len = lengths[i], .nla_type = 1 };

		assert_non_null(m);
		m->nlmsg_len = (uint32_t)bytes;
		memcpy((char *)m + NLMSG_HDRLEN + 4, &attr, sizeof(attr));
		assert_null(doctor_attr(m, 4, 1));
		assert_null(doctor_attr(m, 4, 2));
		m->nlmsg_len = NLMSG_HDRLEN;
		assert_null(doctor_attr(m, 4, 1));
		free(m);
	}
}

/* What has no room is left out; the message stays whole. */
static void test_full(void **state)
{
	static const uint8_t large[DOCTOR_NETLINK_BYTES];
	struct doctor_question q;

	(void)state;
	start(&q);
	doctor_question_add(&q, 1, large, sizeof(large));
	assert_int_equal(q.head.nlmsg_len, NLMSG_HDRLEN + 4);
	assert_null(doctor_attr(&q.head, 4, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),      cmocka_unit_test(test_print_controls),
		cmocka_unit_test(test_attributes), cmocka_unit_test(test_nested),
		cmocka_unit_test(test_broken),     cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
