/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers over UDP that no limit bounds: those over the rate limit, and those of blocks. How much
 * longer than its query may one be? Each form of query is asked, and the largest factor is the one
 * that docs/abuse.md names ("Answers that nothing limits").
 *
 *      opcode: QUERY, NOTIFY
 *      question: none, the root, a usual name, 255 octets
 *      OPT: none; or with each subset of the options that change an answer
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "limits/block_table.h"
#include "limits/block_lookup.h"
#include "limits/limiter.h"
#include "tests/unit/engine/world.h"

#define NSID_BYTES 128
#define NEVER      VOLLEY_NEVER
#define NOTIFY     (DNS_OPCODE_NOTIFY << DNS_OPCODE_SHIFT)

static struct world world;
static struct limiter limiter;
static struct block_table table;
static struct blocks_met met;
static struct blocks blocks = { .kinds = VOLLEY_BLOCKS_PREFIXES, .met = &met };
static struct cookie_secrets secrets = { .n = 1, .keys = { "0123456789abcde" } };
static struct engine_identity identity = { .nsid_bytes = NSID_BYTES };

/* Each client is over its limit, and every such answer is sent. */
static void open_limits(void)
{
	const struct limiter_config config = { .answers = 1, .slip = 1, .n_readers = 1 };

	limiter.rrl = calloc(1, sizeof(*limiter.rrl));
	limiter.loads = calloc(VOLLEY_RRL_LINES, sizeof(*limiter.loads));
	MUST(limiter.rrl && limiter.loads);
	MUST(!limiter_configure(limiter.rrl, &config));
	limiter.rrl->near_cost = 0;
	memset(limiter.rrl->decay, 0xff, sizeof(limiter.rrl->decay));
}

static void open_blocks(void)
{
	struct volley_block_head head;
	void *memory = world_pages((uint64_t)block_table_chunks(BLOCK_TABLE_MIN) *
				   VOLLEY_BLOCK_CHUNK_BYTES);

	MUST(!block_table_secrets(&head));
	MUST(!block_table_init(&table, memory, BLOCK_TABLE_MIN, &head));
	blocks.table = memory;
}

static int open_world(void **state)
{
	struct engine_config config = ENGINE_CONFIG_INIT;

	world_begin(&world, state);
	world_load_zone(&world, "example.com", "zones/example.com.zone");
	memset(identity.nsid, 'n', NSID_BYTES);
	world.zones.identity = &identity;
	world.zones.cookies = &secrets;
	world_open(&world, &config);
	open_limits();
	open_blocks();
	return 0;
}

static int close_world(void **state)
{
	block_table_fini(&table);
	free(limiter.rrl);
	free(limiter.loads);
	return world_end(state);
}

/* ---- Queries --------------------------------------------------------------------------------- */

struct form {
	uint16_t flags;
	const char *name; /* NULL: no question */
	bool has_opt;
	unsigned int with; /* a bit for each of options[] */
};

/* A bad cookie is as long as a good one, and its client may be forged. */
static const uint8_t nsid[] = { 0, 3, 0, 0 };
static const uint8_t client_cookie[] = { 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint8_t bad_cookie[] = { 0, 10, 0, 24, 1, 2, 3, 4, 5, 6, 7, 8, 1, [27] = 9 };
static const uint8_t expire[] = { 0, 9, 0, 0 };
static const uint8_t keepalive[] = { 0, 11, 0, 0 };
static const uint8_t padding[] = { 0, 12, 0, 0 };
static const struct {
	const uint8_t *octets;
	size_t bytes;
} options[] = {
	{ nsid, sizeof(nsid) },       { client_cookie, sizeof(client_cookie) },
	{ expire, sizeof(expire) },   { keepalive, sizeof(keepalive) },
	{ padding, sizeof(padding) }, { bad_cookie, sizeof(bad_cookie) },
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

static size_t build(const struct form *form, uint8_t msg[512])
{
	const struct ask ask = { .flags = form->flags,
				 .name = form->name,
				 .type = DNS_TYPE_A,
				 .udp_size = form->has_opt ? 1232 : NO_EDNS };
	size_t len = ask_bytes(&ask, msg), first = len;

	for (size_t i = 0; i < N_OPTIONS; i++) {
		if (!(form->with >> i & 1))
			continue;
		memcpy(msg + len, options[i].octets, options[i].bytes);
		len += options[i].bytes;
	}
	if (form->has_opt)
		wire_store_be16(msg + first - 2, (uint16_t)(len - first));
	return len;
}

static char long_name[DNS_NAME_MAX + 1];
static const char *const names[] = { NULL, ".", "www.example.com", long_name };

/* Octets of the longest answer for each octet of its query, in hundredths, rounded up. */
static unsigned int largest_factor(uint16_t flags)
{
	unsigned int largest = 0;
	struct reply r;

	for (size_t i = 0; i < 251; i++)
		long_name[i] = i % 50 == 49 ? '.' : 'x';
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (unsigned int with = 0; with <= 1u << N_OPTIONS; with++) {
			struct form form = { flags, names[n], with > 0, with ? with - 1 : 0 };
			uint8_t msg[512];
			size_t len = build(&form, msg);

			send_bytes(world.engine, msg, len, false, &r);
			assert_true(r.len);
			if (r.len * 100 > largest * len)
				largest = (unsigned int)((r.len * 100 + len - 1) / len);
		}
	return largest;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* A BADCOOKIE is longest where the query has only a cookie, and no question: 51 octets for 35. */
static void test_over_the_limit(void **state)
{
	struct reply r;
	struct ask ask = { .name = "www.example.com", .type = DNS_TYPE_A, .udp_size = 1232 };

	(void)state;
	world.zones.limiter = &limiter;
	send_ask(world.engine, &ask, &r);
	assert_int_equal(largest_factor(0), 146);
	world.zones.cookies = NULL;
	assert_int_equal(largest_factor(0), 100);
	assert_int_equal(largest_factor(NOTIFY), 100);
	world.zones.cookies = &secrets;
	world.zones.limiter = NULL;
}

static void set_block(enum volley_block_action action)
{
	const struct volley_block_key key = block_key_prefix(false, world_client, 32);

	assert_int_equal(block_table_set(&table, &key,
					 volley_block_rule(NEVER, key.kind_bits, action, 0)),
			 0);
}

/* A REFUSED has the extended error, 6 octets, which a message of 23 octets without a question
 * gets, too. */
static void test_blocked(void **state)
{
	(void)state;
	world.zones.blocks = &blocks;
	set_block(VOLLEY_BLOCK_REFUSE);
	assert_int_equal(largest_factor(0), 127);
	set_block(VOLLEY_BLOCK_TRUNCATE);
	assert_int_equal(largest_factor(0), 100);
	world.zones.blocks = NULL;
}

/* Octets of the answer to a query with this cookie and NSID. */
static size_t ask_blocked(const uint8_t *cookie, bool is_stream)
{
	uint8_t msg[512];
	struct reply r;
	const struct ask ask = { .name = "www.example.com",
				 .type = DNS_TYPE_A,
				 .udp_size = 1232,
				 .cookie = cookie,
				 .cookie_bytes = COOKIE_BYTES };
	size_t len = ask_bytes(&ask, msg);

	memcpy(msg + len, nsid, sizeof(nsid));
	msg[len - COOKIE_BYTES - 5] = COOKIE_BYTES + 4 + sizeof(nsid);
	send_bytes(world.engine, msg, len + sizeof(nsid), is_stream, &r);
	assert_int_equal(reply_rcode(&r), DNS_RCODE_REFUSED);
	return r.len;
}

/* With a good cookie or over TCP the address is not forged: a block's answer has all options. */
static void test_shown_addresses(void **state)
{
	const size_t bare = 12 + 17 + 4 + 11 + 6, whole = bare + 28 + 4 + NSID_BYTES;
	uint8_t cookie[COOKIE_BYTES] = { 1, 2, 3 };

	(void)state;
	world.zones.blocks = &blocks;
	set_block(VOLLEY_BLOCK_REFUSE);
	assert_int_equal(ask_blocked(cookie, false), bare);
	assert_int_equal(ask_blocked(cookie, true), whole);
	cookie_make(cookie, cookie, world_client, 4, WORLD_WALL_S, secrets.keys[0]);
	assert_int_equal(ask_blocked(cookie, false), whole);
	world.zones.blocks = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_over_the_limit),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_shown_addresses),
	};

	return cmocka_run_group_tests(tests, open_world, close_world);
}
