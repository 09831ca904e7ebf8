/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program reports answers to refresh: those that are asked for and expire soon, each once. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <cmocka.h>

#include "base/clock.h"
#include "tests/lib/xdpworld.h"

#define REFRESH_S 30u

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX], name[PKT_NAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

/* The records that the ring gave since the last look. */
static struct volley_refresh last;
static unsigned int n_records;

static int take_record(void *ctx, void *data, size_t n)
{
	(void)ctx;
	assert_int_equal(n, sizeof(last));
	memcpy(&last, data, sizeof(last));
	n_records++;
	return 0;
}

static unsigned int look(const struct xdp_world *w)
{
	struct ring_buffer *ring = ring_buffer__new(bpfmaps_map_fd(&w->maps, "volley_refresh"),
						    take_record, NULL, NULL);

	assert_non_null(ring);
	n_records = 0;
	assert_true(ring_buffer__consume(ring) >= 0);
	ring_buffer__free(ring);
	return n_records;
}

static struct volley_entry *put(struct xdp_world *w, uint16_t refresh_s, uint8_t view)
{
	struct entry e = { .name = name,
			   .view = view,
			   .refresh_s = refresh_s,
			   .full_bytes = 30,
			   .short_bytes = 20,
			   .born_s = 77 };

	pkt_name(name, "www.example");
	(void)look(w);
	return xdp_world_put(w, &e);
}

static size_t build(void)
{
	struct pkt_ask ask = { .name = name };

	return pkt_build(frame, &pkt_ipv4, dns, pkt_ask(dns, &ask));
}

static void expect_hit(struct xdp_world *w, const char *what)
{
	xdp_expect_answer(w, what, frame, build(), VOLLEY_HIT_FULL, &result, &answer);
}

/* From refresh_s seconds before its end on, and not before. */
static void test_when(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, REFRESH_S, 0);

	for (uint32_t left_s = 3 * REFRESH_S; left_s > 1; left_s--) {
		unsigned int said;
		uint32_t now_s;

		do {
			(void)look(w);
			entry->refreshing = 0;
			now_s = xdp_coarse_s();
			entry->expires_s = now_s + left_s;
			expect_hit(w, "expires");
			said = look(w);
		} while (clock_coarse_s() != now_s);
		assert_int_equal(said, left_s <= REFRESH_S);
		assert_int_equal(entry->refreshing, said);
	}
	entry->refreshing = 0;
	entry->expires_s = VOLLEY_NEVER;
	expect_hit(w, "never expires");
	assert_int_equal(look(w), 0);
}

/* Once for each entry; the record names the entry. */
static void test_once(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, REFRESH_S, 0);
	size_t units = (size_t)((uint8_t *)entry - w->maps.memory.store) / VOLLEY_UNIT_BYTES;

	entry->expires_s = xdp_coarse_s() + REFRESH_S;
	for (unsigned int i = 0; i < 3; i++) {
		expect_hit(w, "asked for");
		assert_int_equal(look(w), i == 0);
	}
	assert_int_equal(last.hash, entry->hash);
	assert_int_equal(last.location, units);
	assert_int_equal(last.born_s, 77);
	assert_int_equal(entry->refreshing, 1);
}

/* The record names the second of two entries with one tag, not the first. */
static void test_location(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	const struct cache_memory *memory = &w->maps.memory;
	struct entry other = { .name = name, .full_bytes = 10, .short_bytes = 10 };
	struct volley_entry *entry;
	uint64_t word, hash;
	size_t units;

	pkt_name(name, "other.example");
	word = entry_write(memory, &other, 0, &w->next);
	pkt_name(name, "www.example");
	hash = entry_hash(memory, &other);
	*entry_slot(memory, hash, false, 0) = hash >> 32 << 32 | (uint32_t)word;
	entry = put(w, REFRESH_S, 0);
	entry->expires_s = xdp_coarse_s() + REFRESH_S;
	expect_hit(w, "behind another");
	assert_int_equal(look(w), 1);
	units = (size_t)((uint8_t *)entry - memory->store) / VOLLEY_UNIT_BYTES;
	assert_int_equal(last.location, units);
}

/* There is no record for an answer without refresh_s, or for a query that is not answered. */
static void test_not(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, 0, 0);

	entry->expires_s = xdp_coarse_s() + 5;
	expect_hit(w, "never fetched anew");
	entry->refresh_s = REFRESH_S;
	entry->key.view = VOLLEY_VIEW_RECURSIVE;
	xdp_expect_unchanged(w, "not for this client", frame, build(), VOLLEY_UP_VIEW);
	entry->key.view = 0;
	entry->n_ttls = VOLLEY_TTLS_MAX + 1;
	xdp_expect_unchanged(w, "not for the driver", frame, build(), VOLLEY_UP_MANY_TTLS);
	entry->n_ttls = 0;
	entry->expires_s = 1;
	xdp_expect_unchanged(w, "expired", frame, build(), VOLLEY_UP_EXPIRED);
	assert_int_equal(look(w), 0);
	assert_int_equal(entry->refreshing, 0);
}

/* Without a reader the ring fills up; answers are sent as before. */
static void test_full_ring(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, REFRESH_S, 0);
	const unsigned int most = VOLLEY_REFRESH_BYTES / (sizeof(last) + 8);

	entry->expires_s = xdp_coarse_s() + REFRESH_S;
	for (unsigned int i = 0; i < most + 100; i++) {
		entry->refreshing = 0;
		expect_hit(w, "nobody listens");
	}
	assert_in_range(look(w), most - 1, most);
	entry->refreshing = 0;
	expect_hit(w, "somebody listens");
	assert_int_equal(look(w), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when),      cmocka_unit_test(test_once),
		cmocka_unit_test(test_location),  cmocka_unit_test(test_not),
		cmocka_unit_test(test_full_ring),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
