/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker compares what the driver would give with what it has rendered: one octet is changed in
 * each part of a shared answer, entries and points are lost or stand in each other's place, a zone
 * is about to change. tests/bpf/test_truth_denials.c shows that nothing is found where nothing is
 * wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "cache/cache_state.h"
#include "tests/unit/engine/sharing.h"

#define NAMES 200u /* that are tried for one that shares an answer with n1 */

static struct sharing s;

/* Names that share an answer are n<number>.<below>. */
static const struct row {
	const char *what, *below;
	uint16_t type;
	bool dnssec_ok;
	uint32_t kind;
	bool has_soa, has_proofs;
	size_t zone;
} rows[] = {
	{ "a denial", "z.test", 1, false, VOLLEY_KEY_DENIAL, true, false, 0 },
	{ "a denial with DO", "z.test", 1, true, VOLLEY_KEY_DENIAL, true, false, 0 },
	{ "a wildcard", "w.z.test", 1, false, VOLLEY_KEY_WILDCARD, false, false, 0 },
	{ "names in data", "w.z.test", 15, false, VOLLEY_KEY_WILDCARD, false, false, 0 },
	{ "a wildcard with DO", "w.z.test", 1, true, VOLLEY_KEY_WILDCARD, false, false, 0 },
	{ "no data of a wildcard", "w.z.test", 28, false, VOLLEY_KEY_WILDCARD, true, false, 0 },
	{ "a signed zone, no DO", "z", 1, false, VOLLEY_KEY_DENIAL, true, false, 1 },
	{ "a proof", "z", 1, true, VOLLEY_KEY_INTERVAL, true, true, 1 },
	{ "a proof below a name", "c.z", 1, true, VOLLEY_KEY_INTERVAL, true, true, 1 },
	{ "a wildcard with proofs", "w.z", 1, true, VOLLEY_KEY_INTERVAL, false, true, 1 },
	{ "no data, with proofs", "w.z", 28, true, VOLLEY_KEY_INTERVAL, true, true, 1 },
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* What one more query has added to the counters. */
struct told {
	uint64_t compared, undecided, wrong;
};

static uint32_t now_s = WORLD_NOW_S;

static struct told ask_in(const struct ask *ask, uint32_t second)
{
	struct engine_counters before, after;
	static uint8_t out[DNS_MESSAGE_MAX];
	uint8_t msg[512];
	const struct engine_request rq = { .msg = msg,
					   .len = ask_bytes(ask, msg),
					   .stream = ask->stream,
					   .family = AF_INET,
					   .client = world_client,
					   .now_s = second,
					   .wall_s = WORLD_WALL_S };

	sharing_forget(&s, ask);
	engine_counters_read(s.w.engine, &before);
	assert_true(engine_answer(s.w.engine, &rq, out, sizeof(out)));
	rcu_quiescent_state();
	engine_counters_read(s.w.engine, &after);
	return (struct told){ after.shared_compared - before.shared_compared,
			      after.shared_undecided - before.shared_undecided,
			      after.shared_wrong - before.shared_wrong };
}

/* Each in a second of its own, so that there are comparisons left. */
static struct told ask(const struct ask *a)
{
	return ask_in(a, ++now_s);
}

static struct ask ask_of(const struct row *row, char name[64], unsigned int number)
{
	snprintf(name, 64, "n%u.%s", number, row->below);
	return (struct ask){ .name = name,
			     .type = row->type,
			     .udp_size = row->dnssec_ok ? 1232 : NO_EDNS,
			     .dnssec_ok = row->dnssec_ok };
}

/* A world in which n1 has published the answer, which is *entry; the question is for another,
 * longer name that shares it. */
static struct ask begin(const struct row *row, char name[64], struct volley_entry **entry)
{
	struct ask a;
	struct told told;

	for (unsigned int i = 10; i < NAMES; i++) {
		sharing_forget_all(&s);
		a = ask_of(row, name, 1);
		told = ask(&a);
		assert_int_equal(told.compared + told.undecided, 0);
		*entry = sharing_entry(&s, row->kind, 0);
		assert_non_null(*entry);
		a = ask_of(row, name, i);
		told = ask(&a);
		if (told.undecided || told.wrong)
			fail_msg("%s: a fault where there is none", row->what);
		if (told.compared)
			return a;
	}
	fail_msg("%s: no name shares it", row->what);
	return a;
}

typedef void row_fn(const struct row *row, const struct ask *a, struct volley_entry *entry);

static void each_row(void **state, row_fn *fn)
{
	static const enum zone_chain chains[] = { ZONE_CHAIN_NSEC, ZONE_CHAIN_NSEC3 };
	struct volley_entry *entry;
	char name[64];
	struct ask a;

	(void)state;
	for (size_t i = 0; i < 2 * N_ROWS; i++) {
		if (i >= N_ROWS && !rows[i % N_ROWS].has_proofs)
			continue;
		memset(&s, 0, sizeof(s));
		sharing_open(&s, chains[i / N_ROWS]);
		a = begin(&rows[i % N_ROWS], name, &entry);
		fn(&rows[i % N_ROWS], &a, entry);
		sharing_close(&s);
	}
}

/* What control is told is this question, and nothing else. */
static void check_noted(const struct row *row, const struct ask *a)
{
	const struct zone_member *m = &s.w.members[row->zone];
	uint8_t wire[NAME_FOLDED_BYTES];
	int n = name_from_text(wire, DNS_NAME_MAX, a->name, strlen(a->name));
	struct shield_found found;

	assert_true(shield_take(&s.shield, &found));
	assert_int_equal(found.fault, SHIELD_OCTETS);
	assert_int_equal(found.qtype, row->type);
	assert_int_equal(found.bytes, n);
	assert_memory_equal(found.name, wire, found.bytes);
	assert_memory_equal(found.name + found.apex, m->apex, m->apex_len);
	assert_false(shield_take(&s.shield, &found));
}

static uint8_t *body_of(struct volley_entry *e)
{
	return (uint8_t *)e + e->body_offset;
}

/* Its sums are those of what it says. */
static void seal(struct volley_entry *e)
{
	uint32_t at = entry_body_at(&e->key);

	e->full_sum = entry_body_sum(body_of(e), e->full_bytes, at, NULL, 0);
	e->short_sum = entry_body_sum(body_of(e), e->short_bytes, at, NULL, 0);
}

/* --- What is found ---------------------------------------------------------------------------- */

/* Each octet counts, but for the serial number of SOA and, as to a verdict, for what signatures
 * over it say of times and keys. */
static void change_octets(const struct row *row, const struct ask *a, struct volley_entry *e)
{
	unsigned int n_same = 0, n_unsure = 0;

	for (uint32_t i = 0; i < e->short_bytes; i++) {
		struct told told;

		body_of(e)[i] ^= 1;
		seal(e);
		told = ask(a);
		body_of(e)[i] ^= 1;
		assert_int_equal(told.compared + told.undecided, 1);
		n_same += told.compared && !told.wrong;
		n_unsure += !!told.undecided;
		if (told.wrong)
			check_noted(row, a);
	}
	if (n_same != (row->has_soa ? 4 : 0) ||
	    n_unsure != (row->has_soa && row->has_proofs ? 16 : 0))
		fail_msg("%s: %u octets may differ, %u are uncertain", row->what, n_same, n_unsure);
}

static void test_each_octet(void **state)
{
	each_row(state, change_octets);
}

static void check_change(const struct row *row, const struct ask *a, const char *what)
{
	struct told told = ask(a);

	if (!told.wrong)
		fail_msg("%s: %s is not found", row->what, what);
	check_noted(row, a);
}

static void change_heads(const struct row *row, const struct ask *a, struct volley_entry *e)
{
	const struct volley_entry whole = *e;

#define CHANGE(field, by)                     \
	do {                                  \
		e->field ^= by;               \
		check_change(row, a, #field); \
		e->field = whole.field;       \
	} while (0)
	CHANGE(flags, htons(DNS_FLAG_AA));
	CHANGE(flags, htons(DNS_RCODE_NXDOMAIN));
	CHANGE(ancount, htons(1));
	CHANGE(nscount, htons(1));
	CHANGE(arcount_short, htons(1));
	CHANGE(n_ttls, 1);
	CHANGE(short_sum, 1);
	CHANGE(full_sum, 1);
	body_of(e)[0] ^= 1;
	check_change(row, a, "an octet beside the sums of before");
	body_of(e)[0] ^= 1;
#undef CHANGE
	assert_int_equal(ask(a).wrong, 0);
}

static void test_heads(void **state)
{
	each_row(state, change_heads);
}

/* A pointer that is not moved is found; an answer that is not for this length is none for this
 * name. */
static void change_tails(const struct row *row, const struct ask *a, struct volley_entry *e)
{
	struct volley_shared tail = sharing_tail(e);
	struct told told;

	if (tail.n_pointers) {
		tail.n_pointers--;
		memcpy(body_of(e) + e->short_bytes, &tail, sizeof(tail));
		seal(e);
		check_change(row, a, "a pointer");
		tail.n_pointers++;
	}
	tail.name_min = 200;
	memcpy(body_of(e) + e->short_bytes, &tail, sizeof(tail));
	seal(e);
	told = ask(a);
	assert_int_equal(told.compared + told.undecided, 0);
}

static void test_tails(void **state)
{
	each_row(state, change_tails);
}

/* A point of NSEC that is lost leads the driver to the interval before. */
static void test_another_interval(void **state)
{
	const uint64_t m = (uint64_t)'m' << 56;
	const struct ask before = { .name = "d.z", .type = 1, .udp_size = 1232, .dnssec_ok = true },
			 behind = { .name = "n.z", .type = 1, .udp_size = 1232, .dnssec_ok = true };
	struct shield_found found;

	(void)state;
	memset(&s, 0, sizeof(s));
	sharing_open(&s, ZONE_CHAIN_NSEC);
	(void)ask(&before);
	(void)ask(&behind);
	assert_int_equal(ask(&behind).compared, 1);
	for (size_t i = 0; i < 8 * sizeof(s.lines) / sizeof(s.lines[0]); i++)
		if (s.lines[i / 8].words[i % 8] == m)
			s.lines[i / 8].words[i % 8] = 0;
	assert_int_equal(ask(&before).wrong, 0);
	assert_int_equal(ask(&behind).wrong, 1);
	assert_true(shield_take(&s.shield, &found));
	assert_int_equal(found.fault, SHIELD_OCTETS);
	sharing_close(&s);
}

/* --- What is not judged ----------------------------------------------------------------------- */

static void withdraw(const struct row *row, const struct ask *a, struct volley_entry *e)
{
	struct cache_key key;
	struct told told;

	(void)row;
	body_of(e)[0] ^= 1;
	sharing_key(&s, &key, e);
	assert_int_equal(cache_withdraw(s.w.cache, &key), 0);
	told = ask(a);
	assert_int_equal(told.compared + told.undecided, 0);
}

static void test_withdrawn(void **state)
{
	each_row(state, withdraw);
}

static void change_editions(const struct row *row, const struct ask *a, struct volley_entry *e)
{
	struct shield_found found;
	struct told told;

	body_of(e)[0] ^= 1;
	shield_begin_edition(&s.shield);
	shield_begin_edition(&s.shield); /* that of before did not end well */
	told = ask(a);
	assert_true(told.undecided && !told.wrong && !told.compared);
	assert_false(shield_take(&s.shield, &found));
	shield_end_edition(&s.shield);
	check_change(row, a, "an octet behind an edition");
}

static void test_editions(void **state)
{
	each_row(state, change_editions);
}

/* Over TCP, of a zone without denials, and of another generation. */
static void leave_alone(const struct row *row, const struct ask *a, struct volley_entry *e)
{
	struct zone_member *m = world_member(&s.w, row->zone);
	struct ask tcp = *a;
	struct told told;

	body_of(e)[0] ^= 1;
	tcp.stream = true;
	told = ask(&tcp);
	assert_int_equal(told.compared + told.undecided, 0);
	m->names_id = 0;
	told = ask(a);
	assert_int_equal(told.compared + told.undecided, 0);
	m->names_id = names_id(&s.names);
	sharing_forget_all(&s);
	told = ask(a);
	assert_int_equal(told.compared + told.undecided, 0);
}

static void test_left_alone(void **state)
{
	each_row(state, leave_alone);
}

/* So many in a second, and again in the next one. */
static void test_seconds(void **state)
{
	struct volley_entry *entry;
	unsigned int n = 0;
	char name[64];
	struct ask a;

	(void)state;
	memset(&s, 0, sizeof(s));
	sharing_open(&s, ZONE_CHAIN_NSEC);
	a = begin(&rows[0], name, &entry);
	now_s++;
	for (unsigned int i = 0; i < SHIELD_CHECKS + 10; i++)
		n += (unsigned int)ask_in(&a, now_s).compared;
	assert_int_equal(n, SHIELD_CHECKS);
	assert_int_equal(ask(&a).compared, 1);
	sharing_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_octet), cmocka_unit_test(test_heads),
		cmocka_unit_test(test_tails),      cmocka_unit_test(test_another_interval),
		cmocka_unit_test(test_withdrawn),  cmocka_unit_test(test_editions),
		cmocka_unit_test(test_left_alone), cmocka_unit_test(test_seconds),
	};

	return cmocka_run_group_tests(tests, sharing_begin, sharing_end);
}
