/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of blocks beside a model that is a plain list: random adds, other rules, removals and
 * expiries, clients and names looked up in both after each. Readers in other threads see each block
 * whole, or not at all.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "dns/name.h"
#include "limits/block_table.h"
#include "limits/block_lookup.h"
#include "tests/lib/draw.h"
#include "tests/lib/must.h"

#define CAP   2048u
#define NEVER VOLLEY_NEVER
#define STEPS 60000

struct lab {
	struct block_table table;
	struct volley_block_head secrets;
	struct blocks_met met;
	struct blocks view;
	size_t bytes;
};

static void open_lab(struct lab *lab, uint32_t cap)
{
	void *memory;

	*lab = (struct lab){ .bytes = (size_t)block_table_chunks(cap) * VOLLEY_BLOCK_CHUNK_BYTES };
	memory = mmap(NULL, lab->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(memory != MAP_FAILED);
	MUST(!block_table_secrets(&lab->secrets));
	MUST(!block_table_init(&lab->table, memory, cap, &lab->secrets));
	lab->view = (struct blocks){ .table = memory, .kinds = 7, .met = &lab->met };
}

static void close_lab(struct lab *lab)
{
	void *memory = lab->table.memory;

	block_table_fini(&lab->table);
	munmap(memory, lab->bytes);
}

static void set(struct lab *lab, const struct volley_block_key *key, uint32_t action,
		uint32_t expires_s)
{
	assert_int_equal(block_table_set(&lab->table, key,
					 volley_block_rule(expires_s, key->kind_bits, action, 0)),
			 0);
}

static struct volley_block_key prefix(const char *address, unsigned int bits)
{
	bool is_ipv6 = strchr(address, ':');
	uint8_t octets[16];

	MUST(inet_pton(is_ipv6 ? AF_INET6 : AF_INET, address, octets) == 1);
	return block_key_prefix(is_ipv6, octets, bits);
}

static uint32_t client(struct lab *lab, const char *address, uint32_t now_s)
{
	uint8_t family = strchr(address, ':') ? AF_INET6 : AF_INET, octets[16];

	MUST(inet_pton(family, address, octets) == 1);
	return blocks_client(&lab->view, family, octets, now_s).action;
}

static struct volley_block_key name(struct lab *lab, const char *text)
{
	uint8_t wire[256], folded[NAME_FOLDED_BYTES];
	int n = name_from_text(wire, sizeof(wire), text, strlen(text));

	MUST(n > 0);
	name_fold(folded, wire, (unsigned int)n);
	return block_key_name(&lab->secrets, folded, (unsigned int)n);
}

static uint32_t question(struct lab *lab, const char *text, uint16_t type, uint32_t now_s)
{
	uint8_t wire[256], folded[NAME_FOLDED_BYTES];
	int n = name_from_text(wire, sizeof(wire), text, strlen(text));

	MUST(n > 0);
	name_fold(folded, wire, (unsigned int)n);
	return blocks_question(&lab->view, folded, (unsigned int)n, type, now_s).action;
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static const struct {
	const char *address;
	unsigned int bits;
	uint32_t action, expires_s;
} set_rows[] = {
	{ "192.0.2.0", 24, VOLLEY_BLOCK_DROP, NEVER },
	{ "192.0.2.128", 25, VOLLEY_BLOCK_REFUSE, 100 },
	{ "192.0.2.200", 32, VOLLEY_BLOCK_ALLOW, NEVER },
	{ "10.0.0.0", 8, VOLLEY_BLOCK_TRUNCATE, NEVER },
	{ "10.9.0.0", 17, VOLLEY_BLOCK_UP, NEVER },
	{ "2001:db8::", 32, VOLLEY_BLOCK_DROP, NEVER },
	{ "2001:db8:0:1::", 64, VOLLEY_BLOCK_REFUSE, NEVER },
	{ "2001:db8:0:1::7", 128, VOLLEY_BLOCK_ALLOW, NEVER },
	{ "fe00::", 7, VOLLEY_BLOCK_DROP, NEVER },
	{ "2001:db8:0:1::6", 127, VOLLEY_BLOCK_UP, NEVER },
};

static const struct {
	const char *address;
	uint32_t now_s, action;
} client_rows[] = {
	{ "192.0.2.1", 0, VOLLEY_BLOCK_DROP },
	{ "192.0.1.255", 0, VOLLEY_BLOCK_NONE },
	{ "192.0.2.129", 99, VOLLEY_BLOCK_REFUSE },
	{ "192.0.2.129", 100, VOLLEY_BLOCK_DROP }, /* the shorter one holds again */
	{ "192.0.2.200", 0, VOLLEY_BLOCK_ALLOW },
	{ "::ffff:192.0.2.1", 0, VOLLEY_BLOCK_DROP },
	{ "10.9.127.255", 0, VOLLEY_BLOCK_UP },
	{ "10.9.128.0", 0, VOLLEY_BLOCK_TRUNCATE },
	{ "11.0.0.0", 0, VOLLEY_BLOCK_NONE },
	{ "2001:db8:ffff::", 0, VOLLEY_BLOCK_DROP },
	{ "2001:db9::", 0, VOLLEY_BLOCK_NONE },
	{ "2001:db8:0:1:ffff::", 0, VOLLEY_BLOCK_REFUSE },
	{ "2001:db8:0:1::7", 0, VOLLEY_BLOCK_ALLOW },
	{ "2001:db8:0:1::6", 0, VOLLEY_BLOCK_UP },
	{ "ff00::1", 0, VOLLEY_BLOCK_DROP },
	{ "fd00::1", 0, VOLLEY_BLOCK_NONE },
	{ "c000:200::", 0, VOLLEY_BLOCK_NONE }, /* the octets of 192.0.2.0 */
};

static void test_longest_prefix(void **state)
{
	struct lab lab;

	(void)state;
	open_lab(&lab, CAP);
	for (size_t i = 0; i < sizeof(set_rows) / sizeof(set_rows[0]); i++) {
		struct volley_block_key key = prefix(set_rows[i].address, set_rows[i].bits);

		set(&lab, &key, set_rows[i].action, set_rows[i].expires_s);
	}
	for (size_t i = 0; i < sizeof(client_rows) / sizeof(client_rows[0]); i++) {
		uint32_t action = client(&lab, client_rows[i].address, client_rows[i].now_s);

		if (action != client_rows[i].action)
			fail_msg("%s at %u: %u", client_rows[i].address, client_rows[i].now_s,
				 action);
	}
	close_lab(&lab);
}

static void test_everyone(void **state)
{
	struct volley_block_key all4, all6;
	struct lab lab;

	(void)state;
	open_lab(&lab, CAP);
	all4 = prefix("0.0.0.0", 0);
	all6 = prefix("::", 0);
	set(&lab, &all4, VOLLEY_BLOCK_DROP, NEVER);
	assert_int_equal(client(&lab, "255.1.2.3", 0), VOLLEY_BLOCK_DROP);
	assert_int_equal(client(&lab, "ffff::", 0), VOLLEY_BLOCK_NONE);
	set(&lab, &all6, VOLLEY_BLOCK_REFUSE, NEVER);
	assert_int_equal(client(&lab, "ffff::", 0), VOLLEY_BLOCK_REFUSE);
	assert_true(block_table_remove(&lab.table, &all4));
	assert_int_equal(client(&lab, "255.1.2.3", 0), VOLLEY_BLOCK_NONE);
	close_lab(&lab);
}

static const struct {
	const char *name;
	uint16_t type;
	uint32_t action;
} question_rows[] = {
	{ "example.", 1, VOLLEY_BLOCK_REFUSE },
	{ "a.b.c.EXAMPLE.", 1, VOLLEY_BLOCK_REFUSE },
	{ "notexample.", 1, VOLLEY_BLOCK_NONE },
	{ "example.com.", 1, VOLLEY_BLOCK_NONE },
	{ "www.example.", 1, VOLLEY_BLOCK_ALLOW },
	{ "x.www.example.", 1, VOLLEY_BLOCK_ALLOW },
	{ "www.example.", 255, VOLLEY_BLOCK_TRUNCATE }, /* allowed by its name, not by its type */
	{ "other.", 255, VOLLEY_BLOCK_TRUNCATE },
	{ "example.", 255, VOLLEY_BLOCK_REFUSE },
	{ ".", 1, VOLLEY_BLOCK_NONE },
};

static void test_names_and_types(void **state)
{
	struct volley_block_key example, www, any;
	struct lab lab;

	(void)state;
	open_lab(&lab, CAP);
	example = name(&lab, "Example.");
	www = name(&lab, "www.example.");
	any = block_key_type(255);
	set(&lab, &example, VOLLEY_BLOCK_REFUSE, NEVER);
	set(&lab, &www, VOLLEY_BLOCK_ALLOW, NEVER);
	set(&lab, &any, VOLLEY_BLOCK_TRUNCATE, 50);
	for (size_t i = 0; i < sizeof(question_rows) / sizeof(question_rows[0]); i++) {
		uint32_t action = question(&lab, question_rows[i].name, question_rows[i].type, 49);

		if (action != question_rows[i].action)
			fail_msg("%s %u: %u", question_rows[i].name, question_rows[i].type, action);
	}
	assert_int_equal(question(&lab, "other.", 255, 50), VOLLEY_BLOCK_NONE);
	assert_int_equal(block_table_kinds(&lab.table), VOLLEY_BLOCKS_NAMES | VOLLEY_BLOCKS_TYPES);
	close_lab(&lab);
}

/* A name of 255 octets and 127 labels, each of whose suffixes is asked for once. */
static void test_longest_name(void **state)
{
	struct volley_block_key root, whole;
	char text[260];
	struct lab lab;

	(void)state;
	for (size_t i = 0; i < 254; i += 2)
		memcpy(text + i, "a.", 3);
	open_lab(&lab, CAP);
	root = name(&lab, ".");
	set(&lab, &root, VOLLEY_BLOCK_DROP, NEVER);
	assert_int_equal(question(&lab, text, 1, 0), VOLLEY_BLOCK_DROP);
	whole = name(&lab, text);
	set(&lab, &whole, VOLLEY_BLOCK_REFUSE, NEVER);
	assert_int_equal(question(&lab, text, 1, 0), VOLLEY_BLOCK_REFUSE);
	assert_int_equal(question(&lab, text + 2, 1, 0), VOLLEY_BLOCK_DROP);
	close_lab(&lab);
}

static void test_counts(void **state)
{
	struct volley_block_key one, listed;
	struct lab lab;

	(void)state;
	open_lab(&lab, CAP);
	one = prefix("192.0.2.1", 32);
	listed = prefix("192.0.2.0", 24);
	set(&lab, &one, VOLLEY_BLOCK_DROP, NEVER);
	assert_int_equal(
		block_table_set(&lab.table, &listed,
				volley_block_rule(NEVER, listed.kind_bits, VOLLEY_BLOCK_DROP, 9)),
		0);
	for (int i = 0; i < 3; i++)
		blocks_count(&lab.view, block_table_get(&lab.table, &one));
	blocks_count(&lab.view, block_table_get(&lab.table, &listed));
	assert_int_equal(block_table_get(&lab.table, &one)->met, 3);
	assert_int_equal(block_table_get(&lab.table, &listed)->met, 0);
	assert_int_equal(lab.met.of[9], 1);
	close_lab(&lab);
}

/* ---- Beside a model -------------------------------------------------------------------------- */

struct model {
	struct volley_block_key key;
	uint32_t action, expires_s;
	bool is_in;
};

#define N_MODEL 1500

static struct model model[N_MODEL];

/* Close to each other, so that they nest. */
static void draw_prefix(struct volley_block_key *key)
{
	uint8_t octets[16];
	bool is_ipv6 = draw(2);

	for (int i = 0; i < 16; i++)
		octets[i] = (uint8_t)draw(i % 3 ? 2 : 3);
	*key = block_key_prefix(is_ipv6, octets, draw(is_ipv6 ? 129 : 33));
}

static bool is_in(const struct volley_block_key *whole, const struct volley_block_key *key)
{
	uint32_t bits = key->kind_bits >> 8;

	return (whole->kind_bits & 0xff) == (key->kind_bits & 0xff) &&
	       volley_block_high(whole->high, bits) == key->high &&
	       volley_block_low(whole->low, bits) == key->low;
}

static uint32_t expected(const struct volley_block_key *whole, uint32_t now_s)
{
	const struct model *best = NULL;

	for (size_t i = 0; i < N_MODEL; i++)
		if (model[i].is_in && now_s < model[i].expires_s && is_in(whole, &model[i].key) &&
		    (!best || best->key.kind_bits < model[i].key.kind_bits))
			best = &model[i];
	return best ? best->action : VOLLEY_BLOCK_NONE;
}

static void look(struct lab *lab, uint32_t now_s)
{
	uint8_t octets[16];
	bool is_ipv6 = draw(2);
	struct volley_block_key whole;

	for (int i = 0; i < 16; i++)
		octets[i] = (uint8_t)draw(i % 3 ? 2 : 3);
	whole = block_key_prefix(is_ipv6, octets, is_ipv6 ? 128 : 32);
	assert_int_equal(
		blocks_client(&lab->view, is_ipv6 ? AF_INET6 : AF_INET, octets, now_s).action,
		expected(&whole, now_s));
}

/* No two of them have the same key. */
static void draw_model(void)
{
	for (size_t i = 0; i < N_MODEL; i++) {
		bool is_new;

		do {
			draw_prefix(&model[i].key);
			is_new = true;
			for (size_t j = 0; j < i; j++)
				is_new &= memcmp(&model[i].key, &model[j].key,
						 sizeof(model[i].key)) != 0;
		} while (!is_new);
		model[i].is_in = false;
	}
}

static void change(struct lab *lab, uint32_t now_s)
{
	struct model *m = &model[draw(N_MODEL)];

	if (m->is_in && draw(2)) {
		assert_true(block_table_remove(&lab->table, &m->key));
		assert_null(block_table_get(&lab->table, &m->key));
		m->is_in = false;
	} else {
		m->action = 1 + draw(VOLLEY_BLOCK_N_ACTIONS - 1);
		m->expires_s = now_s + draw(200);
		set(lab, &m->key, m->action, m->expires_s);
		m->is_in = true;
	}
	if (block_table_retire(&lab->table))
		block_table_reclaim(&lab->table);
}

static int count_one(void *user, const struct volley_block_key *key,
		     const struct volley_block *block)
{
	(void)key;
	(void)block;
	++*(uint32_t *)user;
	return 0;
}

static void test_model(void **state)
{
	uint32_t n_table = 0, n_model = 0;
	struct lab lab;

	(void)state;
	seed = 17;
	draw_model();
	open_lab(&lab, CAP);
	for (uint32_t i = 0; i < STEPS; i++) {
		change(&lab, i / 64);
		if (i % 4 == 0)
			look(&lab, i / 64);
	}
	block_table_each(&lab.table, count_one, &n_table);
	for (size_t i = 0; i < N_MODEL; i++)
		n_model += model[i].is_in;
	assert_int_equal(n_table, n_model);
	assert_int_equal(lab.table.n, n_model);
	for (size_t i = 0; i < N_MODEL; i++)
		if (model[i].is_in)
			assert_true(block_table_remove(&lab.table, &model[i].key));
	assert_int_equal(block_table_kinds(&lab.table), 0);
	assert_int_equal(lab.table.head->groups[0] | lab.table.head->groups[1], 0);
	close_lab(&lab);
}

/* A removed block's place is not used again before a grace period. */
static void test_places(void **state)
{
	struct volley_block_key key;
	struct lab lab;
	uint8_t octets[4] = { 10 };

	(void)state;
	open_lab(&lab, BLOCK_TABLE_MIN);
	for (uint32_t i = 0; i < BLOCK_TABLE_MIN; i++) {
		octets[1] = (uint8_t)(i >> 8);
		octets[2] = (uint8_t)i;
		key = block_key_prefix(false, octets, 24);
		set(&lab, &key, VOLLEY_BLOCK_DROP, NEVER);
	}
	octets[0] = 11;
	key = block_key_prefix(false, octets, 24);
	assert_int_equal(block_table_set(&lab.table, &key, 1), -ENOSPC);
	octets[0] = 10;
	key = block_key_prefix(false, octets, 24);
	assert_true(block_table_remove(&lab.table, &key));
	assert_false(block_table_remove(&lab.table, &key));
	assert_int_equal(block_table_set(&lab.table, &key, 1), -ENOSPC);
	assert_true(block_table_retire(&lab.table));
	assert_int_equal(block_table_set(&lab.table, &key, 1), -ENOSPC);
	block_table_reclaim(&lab.table);
	set(&lab, &key, VOLLEY_BLOCK_DROP, NEVER);
	close_lab(&lab);
}

/* ---- Beside readers -------------------------------------------------------------------------- */

#define READERS     2
#define READERS_CAP 32768u

static bool is_over;

/* Of two blocks: half of one, or another's place, would say something else. */
static void *read_on(void *arg)
{
	struct lab *lab = arg;
	const uint8_t octets[4] = { 192, 0, 2, 1 };
	uintptr_t n_wrong = 0;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		uint32_t action = blocks_client(&lab->view, AF_INET, octets, 0).action;

		n_wrong += action != VOLLEY_BLOCK_DROP && action != VOLLEY_BLOCK_REFUSE;
	}
	return (void *)n_wrong;
}

/* 192.0.2.0/24 is always there; a more specific one comes and goes, and others that take the
 * places. */
static void test_readers(void **state)
{
	struct volley_block_key wide, narrow, other;
	pthread_t threads[READERS];
	uint8_t octets[4] = { 10 };
	struct lab lab;

	(void)state;
	open_lab(&lab, READERS_CAP);
	wide = prefix("192.0.2.0", 24);
	narrow = prefix("192.0.2.1", 32);
	set(&lab, &wide, VOLLEY_BLOCK_DROP, NEVER);
	__atomic_store_n(&is_over, false, __ATOMIC_RELEASE);
	for (int i = 0; i < READERS; i++)
		MUST(!pthread_create(&threads[i], NULL, read_on, &lab));
	/* Without a grace period no place is used twice, so they end. */
	for (uint32_t i = 0; lab.table.n_ever < READERS_CAP - 2; i++) {
		set(&lab, &narrow, VOLLEY_BLOCK_REFUSE, NEVER);
		octets[2] = (uint8_t)i;
		other = block_key_prefix(false, octets, 24);
		set(&lab, &other, VOLLEY_BLOCK_UP, NEVER);
		assert_true(block_table_remove(&lab.table, &narrow));
		assert_true(block_table_remove(&lab.table, &other));
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < READERS; i++) {
		void *n_wrong;

		pthread_join(threads[i], &n_wrong);
		assert_null(n_wrong);
	}
	close_lab(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest_prefix),  cmocka_unit_test(test_everyone),
		cmocka_unit_test(test_names_and_types), cmocka_unit_test(test_longest_name),
		cmocka_unit_test(test_counts),          cmocka_unit_test(test_model),
		cmocka_unit_test(test_places),          cmocka_unit_test(test_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
