/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots that are cut, altered, foreign or lie: nothing of them is loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshots.h"

/* A small one, with several entries. */
static size_t make_small(uint8_t *bytes, size_t cap)
{
	int fd = make_file();
	struct world a;
	ssize_t n;

	world_open(&a, CACHE_BYTES_MIN);
	for (uint64_t i = 1; i <= 5; i++)
		put(&a, i);
	save(&a, fd);
	n = pread(fd, bytes, cap, 0);
	MUST(n > 0 && (size_t)n < cap);
	world_close(&a);
	close(fd);
	return (size_t)n;
}

static void must_refuse(struct world *w, const uint8_t *bytes, size_t n)
{
	struct snapshot_read told;
	int fd = make_file();

	MUST(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	assert_int_equal(load(w, fd, &told), ERR_SNAPSHOT);
	assert_true(*why);
	assert_int_equal(told.n_loaded, 0);
	assert_int_equal(count_words(&w->memory), 0);
	close(fd);
}

static void test_each_octet_altered(void **state)
{
	static uint8_t bytes[16384];
	size_t n = make_small(bytes, sizeof(bytes)), i;
	struct world b;

	(void)state;
	open_other(&b, CACHE_BYTES_MIN);
	for (i = 0; i < n; i++) {
		bytes[i] ^= 1;
		must_refuse(&b, bytes, n);
		bytes[i] ^= 0x81;
		must_refuse(&b, bytes, n);
		bytes[i] ^= 0x80;
	}
	world_close(&b);
}

static void test_each_cut(void **state)
{
	static uint8_t bytes[16384];
	size_t n = make_small(bytes, sizeof(bytes)), i;
	struct world b;

	(void)state;
	open_other(&b, CACHE_BYTES_MIN);
	for (i = 0; i < n; i++)
		must_refuse(&b, bytes, i);
	bytes[n] = 0;
	must_refuse(&b, bytes, n + 1);
	assert_non_null(strstr(why, "after its end"));
	world_close(&b);
}

/* The first block is of entries; makes all sums right again. */
static void sum_again(uint8_t *bytes, size_t n)
{
	struct snapshot_header *header = (struct snapshot_header *)bytes;
	size_t at = sizeof(*header);
	uint64_t sum = header->sum = snapshot_header_sum(header);

	while (at < n) {
		struct snapshot_block block;

		memcpy(&block, bytes + at, sizeof(block));
		sum = block.sum = snapshot_sum(sum, &block, bytes + at + sizeof(block));
		memcpy(bytes + at, &block, sizeof(block));
		at += sizeof(block) + block.n_bytes;
	}
}

/* Each block is whole: what is wrong is only where it stands. */
static void test_blocks_change_places(void **state)
{
	const size_t cap = 8u << 20, begin = sizeof(struct snapshot_header);
	uint8_t *bytes = malloc(cap), *other = malloc(cap);
	struct snapshot_block first, second;
	size_t n, n_first, n_second;
	struct pair p;

	(void)state;
	pair_open(&p, 4 * CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < 20000; i++)
		put(&p.a, i);
	save(&p.a, p.fd);
	n = (size_t)pread(p.fd, bytes, cap, 0);
	memcpy(&first, bytes + begin, sizeof(first));
	n_first = sizeof(first) + first.n_bytes;
	memcpy(&second, bytes + begin + n_first, sizeof(second));
	n_second = sizeof(second) + second.n_bytes;
	assert_true(second.kind == SNAPSHOT_ENTRIES && begin + n_first + n_second < n);
	memcpy(other, bytes, n);
	memcpy(other + begin, bytes + begin + n_first, n_second);
	memcpy(other + begin + n_second, bytes + begin, n_first);
	must_refuse(&p.b, other, n);
	memcpy(other + begin, bytes + begin + n_first, n - begin - n_first); /* one is missing */
	must_refuse(&p.b, other, n - n_first);
	free(bytes);
	free(other);
	pair_close(&p);
}

#define FIRST_BLOCK (sizeof(struct snapshot_header))
#define FIRST_ENTRY (FIRST_BLOCK + sizeof(struct snapshot_block))

static const struct lie {
	const char *name;
	size_t at;
	uint64_t value;
	size_t n; /* octets of it */
} lies[] = {
	{ "version", offsetof(struct snapshot_header, version), 2, 4 },
	{ "ABI", offsetof(struct snapshot_header, abi), VOLLEY_ABI + 1, 4 },
	{ "kind", FIRST_BLOCK, 3, 4 },
	{ "two tables of zones", FIRST_BLOCK, SNAPSHOT_ZONES, 4 },
	{ "entry of no length", FIRST_ENTRY + offsetof(struct volley_entry, bytes), 0, 4 },
	{ "entry shorter than a header", FIRST_ENTRY + offsetof(struct volley_entry, bytes), 48,
	  4 },
	{ "entry of odd length", FIRST_ENTRY + offsetof(struct volley_entry, bytes), 120, 4 },
	{ "entry longer than the block", FIRST_ENTRY + offsetof(struct volley_entry, bytes),
	  1u << 20, 4 },
	{ "body longer than the entry", FIRST_ENTRY + offsetof(struct volley_entry, full_bytes),
	  65535, 2 },
	{ "short form longer than full", FIRST_ENTRY + offsetof(struct volley_entry, short_bytes),
	  65535, 2 },
	{ "body elsewhere", FIRST_ENTRY + offsetof(struct volley_entry, body_offset), 65, 2 },
	{ "sum of the body", FIRST_ENTRY + offsetof(struct volley_entry, full_sum), 12345, 2 },
	{ "sum of the short form", FIRST_ENTRY + offsetof(struct volley_entry, short_sum), 12345,
	  2 },
	{ "list of TTLs longer than the entry", FIRST_ENTRY + offsetof(struct volley_entry, n_ttls),
	  65535, 2 },
	{ "TTL that the sums have not as 0", FIRST_ENTRY + offsetof(struct volley_entry, n_ttls), 1,
	  2 },
	{ "view that is none",
	  FIRST_ENTRY + offsetof(struct volley_entry, key) + offsetof(struct volley_key, view),
	  VOLLEY_N_VIEWS, 1 },
	{ "no name",
	  FIRST_ENTRY + offsetof(struct volley_entry, key) +
		  offsetof(struct volley_key, name_bytes),
	  0, 1 },
	{ "longer name",
	  FIRST_ENTRY + offsetof(struct volley_entry, key) +
		  offsetof(struct volley_key, name_bytes),
	  13, 1 },
	{ "label behind the name's end", FIRST_ENTRY + sizeof(struct volley_entry), 40, 1 },
	{ "label of more than 63", FIRST_ENTRY + sizeof(struct volley_entry), 64, 1 },
	{ "letter in upper case", FIRST_ENTRY + sizeof(struct volley_entry) + 1, 'N', 1 },
};

static void test_contradictions(void **state)
{
	static uint8_t bytes[16384], lying[16384];
	size_t n = make_small(bytes, sizeof(bytes)), i;
	struct world b;

	(void)state;
	open_other(&b, CACHE_BYTES_MIN);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		memcpy(lying, bytes, n);
		memcpy(lying + lies[i].at, &lies[i].value, lies[i].n);
		sum_again(lying, n);
		print_message("%s\n", lies[i].name);
		must_refuse(&b, lying, n);
		assert_null(strstr(why, "altered"));
	}
	world_close(&b);
}

/* Whole, but of a zone, or a generation of it, that the file's table has not. */
static void test_of_no_zone(void **state)
{
	static const size_t fields[] = { offsetof(struct volley_entry, zone_slot),
					 offsetof(struct volley_entry, zone_gen) };
	static uint8_t bytes[16384];

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t n = make_small(bytes, sizeof(bytes));
		struct snapshot_read told;
		int fd = make_file();
		struct world b;

		open_other(&b, CACHE_BYTES_MIN);
		bytes[FIRST_ENTRY + fields[i]] ^= 0x40;
		sum_again(bytes, n);
		MUST(pwrite(fd, bytes, n, 0) == (ssize_t)n);
		assert_int_equal(load(&b, fd, &told), 0);
		assert_int_equal(told.n_foreign, 1);
		assert_int_equal(told.n_loaded, told.n_entries - 1);
		world_close(&b);
		close(fd);
	}
}

static void test_foreign_file(void **state)
{
	static const char text[] =
		"a file of somebody else, which must not be lost, with more text";
	struct snapshot_read told;
	struct world b;
	int fd = make_file();

	(void)state;
	world_open(&b, CACHE_BYTES_MIN);
	MUST(write(fd, text, sizeof(text)) == sizeof(text));
	assert_false(snapshot_is_one(fd));
	assert_int_equal(load(&b, fd, &told), ERR_SNAPSHOT);
	assert_non_null(strstr(why, "is no snapshot"));
	world_close(&b);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_octet_altered),   cmocka_unit_test(test_each_cut),
		cmocka_unit_test(test_blocks_change_places), cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_of_no_zone),           cmocka_unit_test(test_foreign_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
