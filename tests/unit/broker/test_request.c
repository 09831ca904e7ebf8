/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which requests the broker's table allows: each operation as it is sent, and each field of it as
 * no daemon sends it. */
#include "broker/request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "xdp/key.h"

static const struct cache_sizes sizes = {
	.bytes = 16u << 20, .n_segments = 64, .n_buckets = 4 * VOLLEY_PAGE_BUCKETS, .n_zones = 16
};

static const struct xsk_socket_wish xsk = {
	.n_frames = 1u << 20, .frame_bytes = 4096, .busy_poll_us = 1000, .busy_poll_budget = 4096
};

#define SEGMENTS_MAX ((1ull << 32) / VOLLEY_SEGMENT_UNITS)

enum {
	NAME = 1,
	PROGRAM = 2,
	SIZES = 4,
	SHARED = 8,
	XSKS = 16,
	NUMBER = 32,
	DPDK = 64,
	MAP = 128,
	SOCKET = 256,
	ADDRESS = 512,
	HOST = 1024,
	XSK = 2048,
	MEMORY = 4096,
	TEXT = 8192,
};

static const struct row {
	enum broker_operation operation;
	unsigned int has;
	uint32_t flags; /* all that are allowed */
	uint32_t n_max;
} rows[] = {
	{ BROKER_OPEN, NAME | SIZES, 15, 0 },
	{ BROKER_FIND, NAME, 0, 0 },
	{ BROKER_IS_THERE, NAME, 0, 0 },
	{ BROKER_IS_WELCOME, NAME, 0, 0 },
	{ BROKER_CLEAN_UP, NAME, 0, 0 },
	{ BROKER_WAKE_VETH, NAME, 0, 0 },
	{ BROKER_IS_ATTACHED, NAME | PROGRAM, 0, 0 },
	{ BROKER_TAKE_PLACE, NAME | PROGRAM, 0, 0 },
	{ BROKER_CLOSE, NAME | PROGRAM, BROKER_KEEP, 0 },
	{ BROKER_DETACH, NAME | PROGRAM, 0, 0 },
	{ BROKER_PREPARE, NAME | PROGRAM | SHARED, 0, 0 },
	{ BROKER_RENEW, NAME | PROGRAM | SHARED, 0, 0 },
	{ BROKER_SWITCH, NAME | PROGRAM | SHARED, 0, 0 },
	{ BROKER_UNPREPARE, NAME | PROGRAM, 0, 0 },
	{ BROKER_LEND, NAME | PROGRAM | DPDK, 0, 0 },
	{ BROKER_TAKE_BACK, NAME | PROGRAM | SHARED | DPDK, BROKER_BORROWED, 0 },
	{ BROKER_USE_SOCKETS, NAME | PROGRAM | SHARED | XSKS | DPDK, 0, 0 },
	{ BROKER_XSK_SOCKET, MEMORY | XSK, 0, 0 },
	{ BROKER_USE_NEIGHBOUR, NAME | HOST, 0, 0 },
	{ BROKER_VETH_PEER, NAME, 0, 0 },
	{ BROKER_BUFFER, SOCKET | NUMBER, 0, SOCKET_RCVBUF_BYTES },
	{ BROKER_BIND, SOCKET | ADDRESS, 0, 0 },
	{ BROKER_READ_TEXT, TEXT, 0, 0 },
	{ BROKER_CLOCK, 0, 0, 0 },
	{ BROKER_MAKE_SHARED, SIZES | MAP, 0, 0 },
	{ BROKER_MAKE_BESIDE, SIZES | SHARED | MAP, 0, 0 },
	{ BROKER_MAKE_BLOCKS, NUMBER | MAP, 0, BROKER_BLOCK_CHUNKS },
	{ BROKER_MAKE_RINGS, NUMBER | MAP, 0, VOLLEY_TAP_RINGS },
	{ BROKER_MAKE_GRACE, MAP, 0, 0 },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static enum broker_channel channel_of_row(const struct row *row)
{
	return row->has & MAP ? BROKER_CHANNEL_MAP : BROKER_CHANNEL_HOOK;
}

/* The request as the daemon sends it. */
static struct broker_request make_request(const struct row *row)
{
	struct broker_request r = { .operation = row->operation,
				    .number = 7,
				    .log_level = LOG_LEVEL_INFO,
				    .flags = row->flags };

	if (row->has & NAME)
		snprintf(r.ifname, sizeof(r.ifname), "eth0");
	if (row->has & PROGRAM)
		r.program_id = 12;
	if (row->has & SIZES)
		r.sizes = sizes;
	if (row->has & SHARED)
		r.fds_mask |= BROKER_SHARED_MASK;
	if (row->has & XSKS)
		r.fds_mask |= BROKER_BIT(BROKER_FD_xsks);
	if (row->has & SOCKET)
		r.fds_mask |= BROKER_BIT(BROKER_FD_SOCKET);
	if (row->has & TEXT)
		r.fds_mask |= BROKER_BIT(BROKER_FD_TEXT);
	if (row->has & MEMORY)
		r.fds_mask |= BROKER_BIT(BROKER_FD_MEMORY);
	if (row->has & HOST)
		r.address = (struct broker_address){ .family = AF_INET, .bytes = { 192, 0, 2, 1 } };
	if (row->has & XSK)
		r.xsk = xsk;
	if (row->has & ADDRESS)
		r.address = (struct broker_address){ .family = AF_INET6,
						     .net_port = htons(53),
						     .scope_id = 3,
						     .bytes = { 0xfe, 0x80, [15] = 1 } };
	if (row->has & NUMBER)
		r.n = row->n_max;
	return r;
}

/* NULL: it is allowed; else which field is not. */
static const char *fault_of(const struct broker_request *r, const struct row *row, bool has_dpdk)
{
	const char *why = NULL;
	int code = broker_check(r, channel_of_row(row), has_dpdk, &why);

	assert_int_equal(code, why ? -EINVAL : 0);
	return why;
}

static void refuse(const struct broker_request *r, const struct row *row, const char *want)
{
	const char *why = fault_of(r, row, true);

	if (!why || strcmp(why, want) != 0)
		fail_msg("%s: %s in place of %s", broker_operation_text(row->operation),
			 why ? why : "allowed", want);
}

static void test_all_operations(void **state)
{
	(void)state;
	assert_int_equal(N_ROWS, BROKER_N_OPERATIONS);
	for (size_t i = 0; i < N_ROWS; i++) {
		struct broker_request r = make_request(&rows[i]);
		const char *why = NULL;

		assert_int_equal(rows[i].operation, i);
		assert_null(fault_of(&r, &rows[i], true));
		assert_int_equal(broker_channel_of(rows[i].operation), channel_of_row(&rows[i]));
		/* the process of a broker does nothing for DPDK */
		why = fault_of(&r, &rows[i], false);
		assert_int_equal(why != NULL, (rows[i].has & DPDK) != 0);
	}
}

static void test_heads(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];
		const enum broker_channel other = BROKER_CHANNEL_MAP - channel_of_row(row);
		struct broker_request r = make_request(row);
		const char *why = NULL;

		assert_int_equal(broker_check(&r, other, true, &why), -EINVAL);
		assert_string_equal(why, "operation");
		r.number = 0;
		refuse(&r, row, "head");
		r = make_request(row);
		r.log_level = LOG_LEVEL_DEBUG + 1;
		refuse(&r, row, "head");
		r.log_level = LOG_LEVEL_ERROR - 1;
		refuse(&r, row, "head");
		r = make_request(row);
		r.log_format = 2;
		refuse(&r, row, "head");
		r = make_request(row);
		r.zero[sizeof(r.zero) - 1] = 1;
		refuse(&r, row, "head");
		r = make_request(row);
		r.operation = BROKER_N_OPERATIONS;
		refuse(&r, row, "operation");
		r.operation = UINT32_MAX;
		refuse(&r, row, "operation");
	}
}

static void test_flags(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++)
		for (int bit = 0; bit < 32; bit++) {
			struct broker_request r = make_request(&rows[i]);

			r.flags = 1u << bit;
			if (r.flags & rows[i].flags)
				assert_null(fault_of(&r, &rows[i], true));
			else
				refuse(&r, &rows[i], "flags");
		}
}

/* Each bit of the mask less, and each more. */
static void test_descriptors(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++)
		for (int bit = 0; bit < 64; bit++) {
			struct broker_request r = make_request(&rows[i]);

			r.fds_mask ^= 1ull << bit;
			if (rows[i].operation == BROKER_OPEN && bit < BROKER_FD_link)
				refuse(&r, &rows[i], "some of the shared maps");
			else
				refuse(&r, &rows[i], "descriptors");
		}
	for (int has = 0; has < 2; has++) { /* the first interface has none yet */
		struct broker_request r = make_request(&rows[BROKER_OPEN]);

		r.fds_mask = has ? BROKER_SHARED_MASK : 0;
		assert_null(fault_of(&r, &rows[BROKER_OPEN], true));
	}
}

static void test_names(void **state)
{
	static const char names[][IF_NAMESIZE + 1] = {
		"",
		".",
		"..",
		"a/b",
		"a:b",
		"a b",
		"a\tb",
		"a\nb",
		"a\0b",
		"\0a",
		"0123456789abcdef", /* whose end the request has no room for */
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct broker_request r = make_request(&rows[i]);

		for (size_t k = 0; rows[i].has & NAME && k < sizeof(names) / sizeof(names[0]);
		     k++) {
			memcpy(r.ifname, names[k], sizeof(r.ifname));
			refuse(&r, &rows[i], "name");
		}
		memset(r.ifname, 0, sizeof(r.ifname));
		memset(r.ifname, 0xc3, sizeof(r.ifname) - 1);
		if (rows[i].has & NAME) /* octets above 127 are allowed, as in the kernel */
			assert_null(fault_of(&r, &rows[i], true));
		else
			refuse(&r, &rows[i], "name");
	}
}

static void test_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];
		struct broker_request r = make_request(row);

		r.program_id = r.program_id ? 0 : 1;
		refuse(&r, row, "program");
		r = make_request(row);
		r.n = row->has & NUMBER ? 0 : 1;
		refuse(&r, row, "number");
		r.n = row->n_max + 1;
		refuse(&r, row, "number");
		r = make_request(row);
		r.mac[5] = 1;
		if (row->operation == BROKER_WAKE_VETH)
			assert_null(fault_of(&r, row, true));
		else
			refuse(&r, row, "mac");
	}
}

/* The daemon names an interface only if the operator has named it, but for looks at others. */
static void test_operations_on_named_interfaces(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= BROKER_N_OPERATIONS; i++)
		assert_int_equal(broker_needs_named(i), i == BROKER_OPEN || i == BROKER_WAKE_VETH ||
								i == BROKER_USE_NEIGHBOUR ||
								i == BROKER_VETH_PEER);
}

static void test_sizes(void **state)
{
	const struct cache_sizes wrong[] = {
		{ .n_segments = 0, .n_buckets = VOLLEY_PAGE_BUCKETS, .n_zones = 16 },
		{ .n_segments = 1, .n_buckets = 0, .n_zones = 16 },
		{ .n_segments = 1, .n_buckets = VOLLEY_PAGE_BUCKETS + 1, .n_zones = 16 },
		{ .n_segments = 1, .n_buckets = VOLLEY_PAGE_BUCKETS, .n_zones = 1 },
		{ .n_segments = SEGMENTS_MAX + 1, .n_buckets = VOLLEY_PAGE_BUCKETS, .n_zones = 16 },
		{ .n_segments = UINT32_MAX, .n_buckets = VOLLEY_PAGE_BUCKETS, .n_zones = 16 },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct broker_request r = make_request(&rows[i]);

		if (rows[i].has & SIZES) {
			for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
				r.sizes = wrong[k];
				refuse(&r, &rows[i], "sizes");
			}
			r.sizes.n_segments = SEGMENTS_MAX;
			assert_null(fault_of(&r, &rows[i], true));
		} else {
			r.sizes.n_names_lines = 1;
			refuse(&r, &rows[i], "sizes");
		}
	}
}

static void test_addresses(void **state)
{
	static const struct {
		unsigned int right_for; /* 0: only for operations without an address */
		struct broker_address address;
	} cases[] = {
		{ 0, { .family = 0 } },
		{ ADDRESS, { .family = AF_INET, .net_port = 1 } },
		{ ADDRESS, { .family = AF_INET, .net_port = 0xffff, .bytes = { 1, 2, 3, 4 } } },
		{ ADDRESS, { .family = AF_INET6, .net_port = 1 } },
		{ ADDRESS, { .family = AF_INET6, .net_port = 1, .scope_id = 1 } },
		{ HOST, { .family = AF_INET } },
		{ HOST, { .family = AF_INET6, .bytes = { 0xfe, 0x80, [15] = 1 } } },
		{ 0, { .family = AF_INET6, .scope_id = 1 } },
		{ 0, { .family = AF_UNIX, .net_port = 1 } },
		{ 0, { .family = AF_UNIX } },
		{ 0, { .family = AF_INET | 0x100, .net_port = 1 } },
		{ 0, { .family = AF_INET | 0x100 } },
		{ 0, { .family = AF_INET, .net_port = 1, .scope_id = 1 } },
		{ 0, { .family = AF_INET, .net_port = 1, .bytes = { [4] = 1 } } },
		{ 0, { .family = AF_INET, .bytes = { [15] = 1 } } },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++)
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
			const unsigned int needs = rows[i].has & (ADDRESS | HOST);
			struct broker_request r = make_request(&rows[i]);

			r.address = cases[k].address;
			if (needs ? cases[k].right_for == needs : !k)
				assert_null(fault_of(&r, &rows[i], true));
			else
				refuse(&r, &rows[i], "address");
		}
}

static void test_frames(void **state)
{
	static const struct xsk_socket_wish wrong[] = {
		{ .n_frames = 0, .frame_bytes = 2048 },
		{ .n_frames = 100, .frame_bytes = 2048 },
		{ .n_frames = 1u << 21, .frame_bytes = 2048 },
		{ .n_frames = 64, .frame_bytes = 0 },
		{ .n_frames = 64, .frame_bytes = 2049 },
		{ .n_frames = 64, .frame_bytes = 8192 },
		{ .n_frames = 64, .frame_bytes = 2048, .busy_poll_us = 20 },
		{ .n_frames = 64, .frame_bytes = 2048, .busy_poll_budget = 64 },
		{ 64, 2048, .busy_poll_us = 1001, .busy_poll_budget = 64 },
		{ 64, 2048, .busy_poll_us = 20, .busy_poll_budget = 4097 },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct broker_request r = make_request(&rows[i]);

		for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
			r.xsk = wrong[k];
			refuse(&r, &rows[i], "frames");
		}
		r.xsk = (struct xsk_socket_wish){ .n_frames = 1, .frame_bytes = 2048 };
		if (rows[i].has & XSK)
			assert_null(fault_of(&r, &rows[i], true));
		else
			refuse(&r, &rows[i], "frames");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_operations),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_operations_on_named_interfaces),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
