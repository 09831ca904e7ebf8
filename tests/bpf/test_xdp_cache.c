/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The XDP program uses only valid entries with exactly the query's key, in every place that an
 * entry may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/lib/xdpworld.h"
#include "xdp/key.h"

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;
static uint8_t name[PKT_NAME_MAX];

static size_t build(const char *text, uint16_t qtype)
{
	uint8_t asked[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = asked, .qtype = qtype };

	pkt_name(asked, text);
	return pkt_build(frame, &pkt_ipv4, dns, pkt_ask(dns, &ask));
}

static void expect_hit(struct xdp_world *w, const char *what)
{
	size_t n = build("www.example", 1);

	xdp_expect_answer(w, what, frame, n, VOLLEY_HIT_FULL, &result, &answer);
}

static void expect_up(struct xdp_world *w, const char *what, int reason)
{
	size_t n = build("www.example", 1);

	xdp_expect_unchanged(w, what, frame, n, reason);
}

static struct entry entry_init(void)
{
	pkt_name(name, "www.example");
	return (struct entry){ .name = name, .full_bytes = 30, .short_bytes = 30 };
}

static void test_generation(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_zone *zones = w->maps.memory.zones;
	struct entry e = entry_init();
	struct volley_entry *entry = xdp_world_put(w, &e);

	expect_hit(w, "the zone's generation");
	zones[ENTRY_ZONE_SLOT].gen++;
	expect_up(w, "the next generation", VOLLEY_UP_STALE);
	zones[ENTRY_ZONE_SLOT].gen -= 2;
	expect_up(w, "an earlier generation", VOLLEY_UP_STALE);
	zones[ENTRY_ZONE_SLOT].gen = 0;
	entry->zone_gen = 0;
	expect_up(w, "no generation, though equal", VOLLEY_UP_STALE);
	zones[ENTRY_ZONE_SLOT].gen = entry->zone_gen = 9;
	expect_hit(w, "valid again");
	entry->zone_slot = 0;
	expect_up(w, "nobody's slot", VOLLEY_UP_STALE);
	entry->zone_slot = XDP_WORLD_ZONES;
	expect_up(w, "a slot beyond the map", VOLLEY_UP_STALE);
}

/* Waits for the coarse clock to begin a second, so that the rest of the test lies within it. */
static uint32_t next_second(void)
{
	uint32_t now_s = clock_coarse_s();

	while (clock_coarse_s() == now_s)
		;
	return now_s + 1;
}

static void test_expiry(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	struct volley_entry *entry = xdp_world_put(w, &e);
	uint32_t now_s = next_second();

	entry->expires_s = now_s + 1;
	expect_hit(w, "the last second");
	entry->expires_s = now_s;
	expect_up(w, "the second of its expiry", VOLLEY_UP_EXPIRED);
	entry->expires_s = now_s - 1;
	expect_up(w, "a second later", VOLLEY_UP_EXPIRED);
	entry->expires_s = 0;
	expect_up(w, "dead from the beginning", VOLLEY_UP_EXPIRED);
	entry->expires_s = VOLLEY_NEVER;
	expect_hit(w, "never");
	entry->expires_s = now_s + 1;
	next_second();
	expect_up(w, "by the clock", VOLLEY_UP_EXPIRED);
}

static void test_orphan(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	uint32_t now_s;

	xdp_world_put(w, &e);
	now_s = next_second();
	w->maps.memory.state->serve_until_s = now_s + 1;
	expect_hit(w, "the last second");
	w->maps.memory.state->serve_until_s = now_s;
	expect_up(w, "the second from which on nothing is answered", VOLLEY_UP_ORPHANED);
	w->maps.memory.state->serve_until_s = 0;
	expect_up(w, "never served", VOLLEY_UP_ORPHANED);
}

static void test_switches(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();

	xdp_world_put(w, &e);
	w->maps.link->driver_answers = 0;
	expect_up(w, "driver answers off", VOLLEY_UP_SWITCHED_OFF);
	w->maps.link->driver_answers = 1;
	expect_hit(w, "driver answers on");
	w->maps.memory.state->magic = 0;
	expect_up(w, "not set up", VOLLEY_PASS_UNCONFIGURED);
}

static void test_mac(void **state)
{
	static const uint8_t other[6] = { 2, 0, 0, 0, 0, 0x54 };
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	uint8_t *mac = w->maps.link->mac;

	xdp_world_put(w, &e);
	memcpy(mac, pkt_ipv4.to_mac, 6);
	expect_hit(w, "our MAC");
	for (size_t i = 0; i < 6; i++) {
		mac[i] ^= 0x80;
		expect_up(w, "MAC differs in one octet", VOLLEY_PASS_OTHER_HOST);
		mac[i] ^= 0x80;
	}
	memcpy(mac, other, 6);
	expect_up(w, "another host's MAC", VOLLEY_PASS_OTHER_HOST);
	memset(mac, 0, 6);
	expect_hit(w, "MAC not known");
}

/* A key that differs in one field is another key. */
static void test_key(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	size_t n;

	e.qtype = 28;
	xdp_world_put(w, &e);
	expect_up(w, "another type", VOLLEY_UP_MISS);
	e.qtype = 1;
	e.qclass = 3;
	xdp_world_put(w, &e);
	expect_up(w, "another class", VOLLEY_UP_MISS);
	e.qclass = 1;
	e.key_flags = VOLLEY_KEY_DO;
	xdp_world_put(w, &e);
	expect_up(w, "without DO", VOLLEY_UP_MISS);
	e.key_flags = VOLLEY_KEY_CD;
	xdp_world_put(w, &e);
	expect_up(w, "without CD", VOLLEY_UP_MISS);
	e.key_flags = 0;
	xdp_world_put(w, &e);
	expect_hit(w, "the key");
	n = build("www.examplf", 1);
	xdp_expect_unchanged(w, "the last letter", frame, n, VOLLEY_UP_MISS);
	n = build("xww.example", 1);
	xdp_expect_unchanged(w, "the first letter", frame, n, VOLLEY_UP_MISS);
	n = build("ww.wexample", 1);
	xdp_expect_unchanged(w, "the labels", frame, n, VOLLEY_UP_MISS);
	n = build("www.example", 2);
	xdp_expect_unchanged(w, "the type", frame, n, VOLLEY_UP_MISS);
}

/* The whole key is compared: entries with the right word, and a key that differs in one octet. */
static void test_collision(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	struct volley_entry *entry = xdp_world_put(w, &e);
	uint8_t *key = (uint8_t *)&entry->key;

	expect_hit(w, "the key");
	for (size_t i = 0; i < sizeof(entry->key) + 16; i++) {
		const size_t view_at = offsetof(struct volley_key, view); /* the same question */

		key[i] ^= 1;
		expect_up(w, "an octet of the key or of the padded name",
			  i == view_at ? VOLLEY_UP_VIEW : VOLLEY_UP_MISS);
		key[i] ^= 1;
	}
	entry->hash ^= 1;
	expect_up(w, "an octet of the hash", VOLLEY_UP_MISS);
	entry->hash ^= 1;
	expect_hit(w, "the key again");
}

/* An entry with the same word and a wrong key comes first, the right entry after it. */
static void test_behind_collision(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	const struct cache_memory *memory = &w->maps.memory;
	struct entry e = entry_init();
	uint64_t hash = entry_hash(memory, &e);
	uint64_t *slot = entry_slot(memory, hash, false, 0);
	uint8_t other[PKT_NAME_MAX];
	struct entry wrong = e;

	pkt_name(other, "another.example");
	wrong.name = other;
	*slot = hash >> 32 << 32 | (uint32_t)entry_write(memory, &wrong, w->next, &w->next);
	expect_up(w, "a wrong key alone", VOLLEY_UP_MISS);
	xdp_world_put(w, &e);
	expect_hit(w, "behind a wrong key");
	*slot = *slot >> 32 << 32;
	expect_hit(w, "behind a word without location");
	*slot |= 0xffffffff;
	expect_hit(w, "behind a location beyond the store");
	*slot = *slot >> 32 << 32 | (VOLLEY_SEGMENT_UNITS - 1);
	expect_hit(w, "behind a location that no entry has");
}

/*
 * After a publish a key has one entry. If it has two for a moment, the first one decides: an
 * invalid one hides a valid one. Then a query goes up, and no answer is wrong.
 */
static void test_before_valid(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	struct volley_entry *dead = xdp_world_put(w, &e);

	dead->zone_gen++;
	expect_up(w, "stale alone", VOLLEY_UP_STALE);
	xdp_world_put(w, &e);
	expect_up(w, "before a valid one", VOLLEY_UP_STALE);
	dead->zone_gen--;
	expect_hit(w, "alive again");
	dead->expires_s = 1;
	expect_up(w, "expired before a valid one", VOLLEY_UP_EXPIRED);
}

/* Every slot of both buckets. */
static void test_slots(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	const struct cache_memory *memory = &w->maps.memory;
	struct entry e = entry_init();
	uint64_t hash = entry_hash(memory, &e);
	uint64_t word = entry_write(memory, &e, 0, &w->next);

	assert_ptr_not_equal(entry_slot(memory, hash, false, 0), entry_slot(memory, hash, true, 0));
	for (unsigned int i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t *slot =
			entry_slot(memory, hash, i / VOLLEY_BUCKET_SLOTS, i % VOLLEY_BUCKET_SLOTS);

		*slot = word;
		expect_hit(w, "a slot");
		*slot = 0;
		expect_up(w, "an empty index", VOLLEY_UP_MISS);
	}
	*entry_slot(memory, hash + (1ull << 32), false, 1) = word ^ 1ull << 32;
	expect_up(w, "another tag", VOLLEY_UP_MISS);
}

/* The last place in the last segment at which an entry is read, and the first at which none is. */
static void test_segment_end(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	const struct cache_memory *memory = &w->maps.memory;
	struct entry e = entry_init();
	uint64_t *slot = entry_slot(memory, entry_hash(memory, &e), false, 0);
	uint32_t location = (XDP_WORLD_SEGMENTS - 1) * VOLLEY_SEGMENT_UNITS +
			    VOLLEY_START_MAX / VOLLEY_UNIT_BYTES;

	e.full_bytes = e.short_bytes = 450;
	*slot = entry_write(memory, &e, location, &w->next);
	expect_hit(w, "the last place");
	assert_memory_equal(answer.body,
			    (const uint8_t *)memory->store +
				    memory->sizes.n_segments * (size_t)VOLLEY_SEGMENT_BYTES -
				    VOLLEY_READ_MAX + 64 + 16,
			    450);
	*slot = entry_write(memory, &e, location + 1, &w->next);
	expect_up(w, "behind the last place", VOLLEY_UP_MISS);
}

static void test_freq(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = entry_init();
	struct volley_entry *entry = xdp_world_put(w, &e);

	for (unsigned int i = 1; i < 3 * VOLLEY_FREQ_MAX; i++) {
		expect_hit(w, "a hit");
		assert_int_equal(entry->freq, i < VOLLEY_FREQ_MAX ? i : VOLLEY_FREQ_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generation),   cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_orphan),       cmocka_unit_test(test_switches),
		cmocka_unit_test(test_mac),          cmocka_unit_test(test_key),
		cmocka_unit_test(test_collision),    cmocka_unit_test(test_behind_collision),
		cmocka_unit_test(test_before_valid), cmocka_unit_test(test_slots),
		cmocka_unit_test(test_segment_end),  cmocka_unit_test(test_freq),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
