/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two years of a signed zone, from event to event. For each served version the test notes what a
 * validator reads: the keys in the DNSKEY RRset, the keys that sign it, and the keys that sign the
 * data. At the end, any two versions that caches may have held together must validate.
 */
#include "tests/lib/draw.h"
#include "tests/unit/sign/sign_lab.h"

#include "base/wire.h"
#include "sign/rollover.h"

#define DAY      86400u
#define YEARS    (2 * 365 * DAY)
#define N_SNAPS  8000
#define N_MASKS  16
#define JUDGED   40 /* one of this many versions is given to the verifiers */
#define N_JUDGES 4  /* at a time */
#define ZONE_TTL 7200

/* Keys are bits: their places among all keys seen so far. */
struct snap {
	uint64_t from_s;
	uint64_t keys, signs_keys;
	uint64_t masks[N_MASKS]; /* for each RRset, the keys that sign it; equal ones once */
	unsigned int n_masks;
	uint64_t ends_s; /* when the first of its signatures expires */
};

struct parent_snap {
	uint64_t from_s, keys;
};

struct sim {
	struct sign_keys keys;
	struct sign_options options;
	struct rollover_policy policy, truth;
	struct zone *z;
	uint64_t now_s, next_s, ds_at_s, seen_at_s, edit_s, end_s;
	size_t n_made;
	char folder[32];
	uint32_t seen[64]; /* algorithm and tag: a key that is gone may have had the same tag */
	unsigned int n_seen;
	uint64_t of_algorithm[16]; /* keys */
	uint64_t change_s;         /* then the policy asks for another kind of keys; 0: never */
	unsigned int n_changes;
	struct snap *snaps;
	unsigned int n_snaps;
	struct parent_snap parent[64];
	unsigned int n_parent;
	struct lab_judgement judgements[N_JUDGES];
	unsigned int n_judged;
};

static uint64_t bit_of(struct sim *s, uint16_t tag, unsigned int algorithm)
{
	uint32_t key = algorithm << 16 | tag;
	unsigned int i = 0;

	assert_true(algorithm < 16);
	while (i < s->n_seen && s->seen[i] != key)
		i++;
	assert_true(i < 64);
	if (i == s->n_seen)
		s->seen[s->n_seen++] = key;
	s->of_algorithm[algorithm] |= UINT64_C(1) << i;
	return UINT64_C(1) << i;
}

static uint64_t bit_of_key(struct sim *s, const struct sign_key *key)
{
	return bit_of(s, key->tag, key->algorithm);
}

/* --- What is served --------------------------------------------------------------------------- */

static void add_mask(struct snap *snap, uint64_t mask)
{
	for (unsigned int i = 0; i < snap->n_masks; i++)
		if (snap->masks[i] == mask)
			return;
	assert_true(snap->n_masks < N_MASKS);
	snap->masks[snap->n_masks++] = mask;
}

static void read_rrset(struct sim *s, const struct zone_node *node, uint16_t type,
		       struct snap *snap)
{
	struct zone_rrsigs it = zone_rrsigs(s->z, node, type);
	struct zone_rdata rd;
	uint64_t mask = 0;

	while (zone_rrsigs_next(&it, &rd)) {
		uint64_t ends_s = wire_load_be32(rd.bytes + 8);

		mask |= bit_of(s, wire_load_be16(rd.bytes + 16), rd.bytes[2]);
		if (ends_s < snap->ends_s)
			snap->ends_s = ends_s;
	}
	if (type == DNS_TYPE_DNSKEY)
		snap->signs_keys = mask;
	else if (type != DNS_TYPE_RRSIG)
		add_mask(snap, mask);
}

/* Other keys are published, or other keys sign. Versions on the way there do not count. */
static bool is_another_state(const struct sim *s)
{
	const struct snap *now = &s->snaps[s->n_snaps - 1], *before = now - 1;

	return now > s->snaps && (now->keys != before->keys || now->masks[0] != before->masks[0]);
}

/* The verifiers run beside the test, because this test takes longer than any other unit test. */
static void judge(struct sim *s)
{
	struct lab_judgement *j = &s->judgements[s->n_judged++ % N_JUDGES];

	lab_end_judgement(j);
	lab_begin_judgement(j, s->z, s->now_s);
}

static void take_snap(struct sim *s)
{
	struct snap *snap = &s->snaps[s->n_snaps++];
	const struct zone_node *node;
	struct zone_walk walk;
	unsigned int n;

	assert_true(s->n_snaps < N_SNAPS);
	*snap = (struct snap){ .from_s = s->now_s, .ends_s = UINT64_MAX };
	for (size_t i = 0; i < s->keys.n; i++)
		if (sign_key_is_published(&s->keys.keys[i], s->now_s))
			snap->keys |= bit_of_key(s, &s->keys.keys[i]);
	zone_walk_init(&walk, s->z);
	while ((node = zone_walk_next(&walk))) {
		const struct zone_rrset *rrsets = zone_node_rrsets(s->z, node, &n);

		for (unsigned int i = 0; i < n; i++)
			read_rrset(s, node, rrsets[i].type, snap);
	}
	if (s->n_snaps % JUDGED == 0 || (s->change_s && is_another_state(s)))
		judge(s);
}

/* --- What the daemon does --------------------------------------------------------------------- */

static void put(struct sim *s, struct zone_edit *e)
{
	struct zone_error err;
	struct zone *z;

	if (zone_edit_finish(e, &z, NULL, &err))
		fail_msg("%s", err.sentence);
	zone_unref(s->z);
	s->z = z;
	take_snap(s);
	s->now_s += 1 + draw(60);
}

/* Renews until a pass finds nothing. */
static void renew(struct sim *s)
{
	struct zone_error err;
	struct zone_edit *e;
	size_t at = 0, from, n;

	do {
		from = at;
		assert_int_equal(zone_edit_begin(&e, s->z), 0);
		assert_int_equal(
			sign_renew(e, s->z, &s->keys, &s->options, s->now_s, &at, 4, &n, &err), 0);
		if (n)
			put(s, e);
		else
			zone_edit_cancel(e);
	} while (from || at || n);
	s->policy.renewed_s = s->now_s;
}

static void store(struct sim *s, const struct rollover_actions *actions)
{
	assert_int_equal(rollover_store(&s->keys, actions, s->folder), 0);
}

/* Restarts like a daemon: it knows only what the files say. */
static void restart(struct sim *s, unsigned int down_s)
{
	uint8_t apex[256];
	char err[512];

	memcpy(apex, s->keys.apex, sizeof(apex));
	sign_keys_fini(&s->keys);
	assert_int_equal(sign_keys_read(&s->keys, apex, s->folder, err, sizeof(err)), 0);
	s->policy.renewed_s = 0;
	s->now_s += down_s;
}

/* One step after each renewal, until no renewal follows. */
static uint64_t due(const struct sim *s)
{
	struct sign_span span = sign_span(s->z, s->now_s);

	return sign_due(&span, &s->options);
}

static void step(struct sim *s)
{
	struct rollover_actions actions;
	unsigned int n_snaps;
	uint64_t renewed_s;

	do {
		size_t n = s->keys.n;

		n_snaps = s->n_snaps;
		renewed_s = s->policy.renewed_s;
		assert_int_equal(
			rollover_step(&s->keys, &s->policy, s->now_s, &actions, &s->next_s), 0);
		s->n_made += s->keys.n - n;
		store(s, &actions);
		if (actions.write && !draw(4)) /* killed before the zone had any of it */
			restart(s, draw(2 * DAY));
		if (actions.renew || s->now_s >= due(s))
			renew(s);
	} while (actions.write || actions.erase || s->n_snaps != n_snaps || !renewed_s ||
		 s->next_s <= s->now_s);
}

static void edit(struct sim *s)
{
	static const char *const names[] = { "a.z", "b.a.z", "d.z", "e.f.z" };
	uint8_t owner[256], rdata[4] = { 192, 0, 2, (uint8_t)draw(3) };
	struct zone_error err;
	struct zone_edit *e;
	int rc;

	wire_of(owner, names[draw(4)]);
	assert_int_equal(zone_edit_begin(&e, s->z), 0);
	rc = draw(2) ? zone_edit_add(e, owner, DNS_TYPE_A, 300, rdata, 4) :
		       zone_edit_remove_rrset(e, owner, DNS_TYPE_A);
	assert_true(rc >= 0 || rc == ERR_NOT_FOUND);
	assert_int_equal(sign_edit(e, s->z, &s->keys, &s->options, s->now_s, &err), 0);
	put(s, e);
}

/* --- What the parent does, and its operator --------------------------------------------------- */

static bool waits_for_ds(const struct sim *s, uint64_t *keys, struct sim *out)
{
	bool waits = false;

	*keys = 0;
	for (size_t i = 0; i < s->keys.n; i++)
		if (sign_key_is_in_cds(&s->keys.keys[i], s->now_s)) {
			*keys |= bit_of_key(out, &s->keys.keys[i]);
			waits = true;
		}
	return waits;
}

static void parent(struct sim *s)
{
	struct rollover_actions actions;
	uint64_t keys;

	if (s->seen_at_s && s->seen_at_s <= s->now_s) {
		assert_int_equal(rollover_ds_seen(&s->keys, -1, s->now_s, &actions), 0);
		store(s, &actions);
		s->ds_at_s = s->seen_at_s = 0;
		step(s);
	}
	if (!waits_for_ds(s, &keys, s))
		return;
	if (!s->ds_at_s)
		s->ds_at_s = s->now_s + 1 + draw(3 * DAY);
	if (s->ds_at_s <= s->now_s && !s->seen_at_s) {
		s->parent[s->n_parent++] = (struct parent_snap){ s->now_s, keys };
		s->seen_at_s = s->now_s + s->truth.parent_propagation_s;
	}
}

/* --- Two years -------------------------------------------------------------------------------- */

static void sooner(uint64_t *at, uint64_t other)
{
	if (other && other < *at)
		*at = other;
}

/* Asks for another kind, sometimes before the last change has ended. */
static void ask_for_other_keys(struct sim *s)
{
	static const enum sign_algorithm algorithms[] = { SIGN_ED25519, SIGN_ECDSAP256SHA256,
							  SIGN_ECDSAP384SHA384 };
	unsigned int way = draw(3);

	if (way != 1)
		s->policy.algorithm = algorithms[s->n_changes % 3];
	if (way != 0)
		s->policy.single_key = !s->policy.single_key;
	s->n_changes++;
	s->change_s = s->now_s + 1 + draw(120 * DAY);
}

static void live(struct sim *s)
{
	while (s->now_s < s->end_s) {
		uint64_t at = s->edit_s;

		sooner(&at, s->change_s);
		sooner(&at, s->next_s);
		sooner(&at, due(s));
		sooner(&at, s->seen_at_s ? s->seen_at_s : s->ds_at_s);
		s->now_s = at > s->now_s ? at : s->now_s + 1;
		if (!draw(10))
			restart(s, 0);
		if (s->now_s >= s->edit_s) {
			edit(s);
			s->edit_s = s->now_s + 1 + draw(10 * DAY);
		}
		if (s->change_s && s->now_s >= s->change_s)
			ask_for_other_keys(s);
		step(s);
		parent(s);
	}
}

static void begin(struct sim *s, bool single, enum lab_denial denial)
{
	struct zone *from = zone_of("z",
				    "$TTL 300\nz. SOA a h 1 2 3 4 60\nz. NS a.o.\na A 192.0.2.1\n"
				    "b.n 7200 A 192.0.2.2\nx.aa TXT b\nc NS b.o.\n");
	struct rollover_actions actions;

	*s = (struct sim){ .now_s = lab_now(), .options = lab_options(denial) };
	s->options.cds = true;
	s->end_s = s->now_s + YEARS;
	s->edit_s = s->now_s + DAY;
	s->truth = (struct rollover_policy){ .single_key = single,
					     .algorithm = SIGN_ECDSAP256SHA256,
					     .zsk_lifetime_s = 45 * DAY,
					     .ksk_lifetime_s = 200 * DAY,
					     .dnskey_ttl_s = s->options.dnskey_ttl_s,
					     .zone_ttl_s = sign_ttl_max(from),
					     .propagation_s = 900,
					     .parent_ttl_s = DAY,
					     .parent_propagation_s = 3600 };
	assert_int_equal(s->truth.zone_ttl_s, ZONE_TTL);
	s->policy = s->truth;
	strcpy(s->folder, "/tmp/keys.XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	wire_of(s->keys.apex, "z");
	s->snaps = calloc(N_SNAPS, sizeof(*s->snaps));
	assert_int_equal(rollover_step(&s->keys, &s->policy, s->now_s, &actions, &s->next_s), 0);
	store(s, &actions);
	s->z = lab_sign(from, NULL, &s->keys, &s->options, s->now_s);
	zone_free(from);
	take_snap(s);
	step(s);
}

static void fini(struct sim *s)
{
	for (unsigned int i = 0; i < N_JUDGES; i++)
		lab_end_judgement(&s->judgements[i]);
	while (s->keys.n) {
		assert_int_equal(sign_key_erase(&s->keys, &s->keys.keys[0], s->folder), 0);
		sign_keys_forget(&s->keys, &s->keys.keys[0]);
	}
	assert_int_equal(rmdir(s->folder), 0);
	zone_unref(s->z);
	free(s->snaps);
}

/* --- What validators make of it --------------------------------------------------------------- */

static uint64_t snap_end(const struct sim *s, unsigned int i)
{
	return i + 1 < s->n_snaps ? s->snaps[i + 1].from_s : s->end_s;
}

/*
 * True if the data is signed by a key of each algorithm in the DNSKEY RRset (RFC 4035 section 2.2).
 */
static bool is_signed_by_all(const struct sim *s, uint64_t keys, uint64_t mask)
{
	for (unsigned int i = 0; i < 16; i++)
		if (keys & s->of_algorithm[i] && !(mask & keys & s->of_algorithm[i]))
			return false;
	return true;
}

static bool data_validates(const struct sim *s, const struct snap *keys, const struct snap *data)
{
	for (unsigned int i = 0; i < data->n_masks; i++)
		if (data->masks[i] && !is_signed_by_all(s, keys->keys, data->masks[i]))
			return false;
	return true;
}

/*
 * Counts the pairs of DNSKEY RRset and data that caches may hold together and that do not validate.
 */
static unsigned int count_bad_data(const struct sim *s)
{
	uint64_t keys_s = s->truth.dnskey_ttl_s + s->truth.propagation_s;
	uint64_t data_s = s->truth.zone_ttl_s + s->truth.propagation_s;
	unsigned int n = 0;

	for (unsigned int k = 0; k < s->n_snaps; k++)
		for (unsigned int d = 0; d < s->n_snaps; d++)
			if (s->snaps[d].from_s < snap_end(s, k) + keys_s &&
			    s->snaps[k].from_s < snap_end(s, d) + data_s)
				n += !data_validates(s, &s->snaps[k], &s->snaps[d]);
	return n;
}

/* Counts the same for DS and DNSKEY RRset. */
static unsigned int count_bad_keys(const struct sim *s)
{
	uint64_t keys_s = s->truth.dnskey_ttl_s + s->truth.propagation_s;
	uint64_t ds_s = s->truth.parent_ttl_s + s->truth.parent_propagation_s;
	unsigned int n = 0;

	for (unsigned int k = 0; k < s->n_snaps; k++)
		n += !is_signed_by_all(s, s->snaps[k].keys, s->snaps[k].signs_keys);
	for (unsigned int p = 0; p < s->n_parent; p++) {
		const struct parent_snap *ds = &s->parent[p];
		uint64_t end_s = p + 1 < s->n_parent ? s->parent[p + 1].from_s : s->end_s;

		for (unsigned int k = 0; k < s->n_snaps; k++)
			if (ds->from_s < snap_end(s, k) + keys_s &&
			    s->snaps[k].from_s < end_s + ds_s)
				n += !(ds->keys & s->snaps[k].keys & s->snaps[k].signs_keys);
	}
	return n;
}

static unsigned int count_ended(const struct sim *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n_snaps; i++)
		n += s->snaps[i].ends_s <
		     snap_end(s, i) + s->truth.zone_ttl_s + s->truth.propagation_s;
	return n;
}

static void any_cache_validates(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * LAB_N_DENIALS; i++) {
		struct sim s;

		seed = i;
		begin(&s, i >= LAB_N_DENIALS, (enum lab_denial)(i % LAB_N_DENIALS));
		live(&s);
		assert_int_equal(count_bad_data(&s), 0);
		assert_int_equal(count_bad_keys(&s), 0);
		assert_int_equal(count_ended(&s), 0);
		assert_true(s.n_parent >= 4);
		assert_true(s.n_made >= (s.truth.single_key ? 3 : 17));
		fini(&s);
	}
}

static void any_cache_validates_through_other_kinds_of_keys(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * LAB_N_DENIALS; i++) {
		struct sim s;

		seed = 50 + i;
		begin(&s, i >= LAB_N_DENIALS, (enum lab_denial)(i % LAB_N_DENIALS));
		s.change_s = s.now_s + 1 + draw(60 * DAY);
		live(&s);
		assert_int_equal(count_bad_data(&s), 0);
		assert_int_equal(count_bad_keys(&s), 0);
		assert_int_equal(count_ended(&s), 0);
		assert_true(s.n_changes >= 8);
		assert_true(s.of_algorithm[SIGN_ED25519] && s.of_algorithm[SIGN_ECDSAP384SHA384]);
		assert_true(s.n_parent >= 6);
		fini(&s);
	}
}

/* A policy with too short waits must fail: this shows that each wait is needed, and that the test
 * sees it. */
static void too_short_a_wait_is_seen(void **state)
{
	static const size_t waits[] = { offsetof(struct rollover_policy, dnskey_ttl_s),
					offsetof(struct rollover_policy, zone_ttl_s),
					offsetof(struct rollover_policy, parent_ttl_s) };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct sim s;

		seed = 100 + i;
		begin(&s, false, LAB_NSEC);
		if (i >= 3) { /* only other kinds of keys */
			s.policy.zsk_lifetime_s = s.policy.ksk_lifetime_s = 0;
			s.change_s = s.now_s + DAY;
		}
		*(uint32_t *)((char *)&s.policy + waits[i % 3]) = 0;
		live(&s);
		if (!count_bad_data(&s) && !count_bad_keys(&s))
			fail_msg("wait %u", i);
		fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_cache_validates),
		cmocka_unit_test(any_cache_validates_through_other_kinds_of_keys),
		cmocka_unit_test(too_short_a_wait_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
