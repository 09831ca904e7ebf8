/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shield/name_filter.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/diff.h"
#include "zone/zone_walk.h"
#include "zone/zone.h"

#define N_STATES  2
#define LINE_BITS (8 * VOLLEY_NAMES_LINE_BYTES)

/* A rebuild adds all names again: not worth it for fewer names that are gone, or fewer mistakes. */
#define GONE_MIN  1000u
#define FALSE_MAX 0.01

/* --- States ----------------------------------------------------------------------------------- */

static void set_id(struct names *names, uint32_t id)
{
	for (unsigned int i = 0; i < N_STATES && names->states[i]; i++)
		__atomic_store_n(&names->states[i]->id, id, __ATOMIC_RELEASE);
}

static void set_intervals_id(struct names *names, uint32_t id)
{
	for (unsigned int i = 0; i < N_STATES && names->states[i]; i++)
		__atomic_store_n(&names->states[i]->intervals_id, id, __ATOMIC_RELEASE);
}

static void set_labels(struct names *names, uint32_t labels)
{
	for (unsigned int i = 0; i < N_STATES && names->states[i]; i++)
		__atomic_store_n(&names->states[i]->labels, labels, __ATOMIC_RELEASE);
}

void names_init(struct names *names, struct volley_names_line *lines, uint32_t n_lines,
		struct volley_names_state *state)
{
	assert(n_lines);
	*names = (struct names){ .lines = lines, .n_lines = n_lines, .states = { state } };
}

void names_init_intervals(struct names *names, uint32_t n_lines)
{
	intervals_init(&names->intervals, names->lines, names->n_lines, n_lines);
}

void names_fini(struct names *names)
{
	intervals_fini(&names->intervals);
}

bool names_adopt(const struct names *names)
{
	return names_id(names) && names->states[0]->n_lines == names->n_lines;
}

void names_end(struct names *names)
{
	set_id(names, 0);
	set_intervals_id(names, 0);
}

/* Makes an id that is neither 0 nor the one before. */
static int make_names_id(uint32_t *id, uint32_t before)
{
	do {
		if (getrandom(id, sizeof(*id), 0) != (ssize_t)sizeof(*id))
			return -errno;
		*id &= VOLLEY_NAMES_ID_MAX;
	} while (!*id || *id == before);
	return 0;
}

/* No program reads the intervals now. */
static int clear_intervals(struct names *names)
{
	uint32_t id;
	int err = names->intervals.n_lines ? make_names_id(&id, 0) : 0;

	if (err || !names->intervals.n_lines)
		return err;
	intervals_begin(&names->intervals, id);
	set_intervals_id(names, id);
	return 0;
}

int names_begin_intervals(struct names *names, cache_grace_fn *grace, void *user)
{
	int err;

	if (!names->intervals.n_lines && !names->states[0]->intervals_id)
		return 0;
	set_intervals_id(names, 0);
	err = grace(user);
	return err ? err : clear_intervals(names);
}

int names_begin(struct names *names, cache_grace_fn *grace, void *user)
{
	struct volley_names_state *first = names->states[0];
	uint64_t keys[VOLLEY_NAME_BYTES];
	uint32_t id, before = names_id(names);
	int err;

	names_end(names);
	err = grace(user);
	if (!err)
		err = clear_intervals(names);
	if (!err)
		err = make_names_id(&id, before);
	if (!err && getrandom(keys, sizeof(keys), 0) != (ssize_t)sizeof(keys))
		err = -errno;
	if (err)
		return err;
	memset(names->lines, 0, (size_t)names->n_lines * sizeof(*names->lines));
	names->n_added = names->n_gone = 0;
	for (unsigned int i = 0; i < N_STATES && names->states[i]; i++) {
		memcpy(names->states[i]->keys, keys, sizeof(first->keys));
		names->states[i]->n_lines = names->n_lines;
		names->states[i]->labels = DNS_LABELS_MAX;
	}
	set_id(names, id);
	return 0;
}

static bool has_state(const struct names *names, const struct volley_names_state *state)
{
	return names->states[0] == state || names->states[1] == state;
}

static void copy_state(struct volley_names_state *to, const struct volley_names_state *from)
{
	__atomic_store_n(&to->id, 0, __ATOMIC_RELEASE);
	memcpy(to->keys, from->keys, sizeof(to->keys));
	to->n_lines = from->n_lines;
	to->labels = from->labels;
	__atomic_store_n(&to->intervals_id, from->intervals_id, __ATOMIC_RELEASE);
	__atomic_store_n(&to->id, from->id, __ATOMIC_RELEASE);
}

void names_set_states(struct names *names, struct volley_names_state *first,
		      struct volley_names_state *second)
{
	if (!has_state(names, first))
		copy_state(first, names->states[0]);
	if (second && !has_state(names, second))
		copy_state(second, names->states[0]);
	names->states[0] = first;
	names->states[1] = second;
}

/* --- Bits ------------------------------------------------------------------------------------- */

/* True if one of the bits was not set. Only one thread writes, so no locked instruction is needed;
 * readers see whole words. */
static bool set_name_filter(struct names *names, uint64_t hash, enum volley_name_mark mark)
{
	struct volley_names_line *line = &names->lines[volley_names_line(hash, names->n_lines)];
	uint64_t bits = volley_names_bits(hash, mark);
	bool is_new = false;

	for (unsigned int i = 0; i < VOLLEY_NAMES_N_BITS; i++) {
		uint32_t at = VOLLEY_NAMES_BIT(bits, i);
		uint64_t bit = 1ull << (at & 63);
		uint64_t word = __atomic_load_n(&line->words[at >> 6], __ATOMIC_RELAXED);

		if (word & bit)
			continue;
		__atomic_store_n(&line->words[at >> 6], word | bit, __ATOMIC_RELAXED);
		is_new = true;
	}
	return is_new;
}

static void set_marked(struct names *names, uint64_t hash, enum volley_name_mark mark)
{
	set_name_filter(names, hash, VOLLEY_NAME_MARKED);
	set_name_filter(names, hash, mark);
}

static uint64_t hash_of_names(const struct names *names, const uint8_t *name, unsigned int n)
{
	return names_hash_of(names->states[0]->keys, name, n);
}

/* True if the name was not known. */
static bool add_exists(struct names *names, uint64_t hash)
{
	bool is_new = set_name_filter(names, hash, VOLLEY_NAME_EXISTS);

	names->n_added += is_new;
	return is_new;
}

void names_read_use(const struct names *names, struct names_use *out)
{
	const size_t n_words = sizeof(names->lines->words) / sizeof(names->lines->words[0]);
	double sum = 0, known = 0;

	for (uint32_t i = 0; i < names->n_lines; i++) {
		unsigned int n = 0;
		double share;

		for (size_t k = 0; k < n_words; k++)
			n += (unsigned int)__builtin_popcountll(names->lines[i].words[k]);
		share = n / (double)LINE_BITS;
		sum += share;
		known += share * share * share * share * share * share * share;
	}
	_Static_assert(VOLLEY_NAMES_N_BITS == 7, "the power above");
	*out = (struct names_use){ sum / names->n_lines, known / names->n_lines };
}

/* How many names and marks have set the bits. */
static double n_held(const struct names *names, const struct names_use *use)
{
	double free = use->fill < 1 ? 1 - use->fill : 1e-9;

	return -log(free) * LINE_BITS * names->n_lines / VOLLEY_NAMES_N_BITS;
}

bool names_is_worn(const struct names *names, const struct names_use *use, uint64_t n_live)
{
	if (names->n_gone > GONE_MIN && names->n_gone > (n_live + names->n_gone) / 4)
		return true;
	if (intervals_are_worn(&names->intervals))
		return true;
	return use->false_positives > FALSE_MAX && (double)n_live < n_held(names, use) / 4 * 3;
}

void names_note_gone(struct names *names, uint64_t n)
{
	names->n_gone += n;
}

/* --- The driver's walk ------------------------------------------------------------------------ */

struct walking {
	const struct volley_names_line *lines;
	uint32_t n_lines;
	bool has_apex;
	bool has_wild;     /* the walk passed a wildcard's parent of the zone */
	unsigned int wild; /* where the last such parent begins */
	struct names_walk *walk;
};

static bool has(const struct walking *w, uint64_t hash, enum volley_name_mark mark)
{
	return volley_names_has(&w->lines[volley_names_line(hash, w->n_lines)],
				volley_names_bits(hash, mark));
}

/* Looks at the suffix that begins at `at`. False: it is unknown. */
static bool step_names(struct walking *w, uint64_t hash, unsigned int at)
{
	struct names_walk *walk = w->walk;

	if (!has(w, hash, VOLLEY_NAME_EXISTS))
		return false;
	walk->encloser = at;
	if (!has(w, hash, VOLLEY_NAME_MARKED))
		return true;
	if (has(w, hash, VOLLEY_NAME_APEX)) {
		walk->apex = at;
		walk->apex_hash = hash;
		walk->is_stopped = false;
		w->has_apex = true;
		w->has_wild = false;
	}
	walk->is_stopped |= has(w, hash, VOLLEY_NAME_STOP);
	if (has(w, hash, VOLLEY_NAME_WILD)) {
		w->has_wild = true;
		w->wild = at;
	}
	return true;
}

/* The verdict for an unknown name in a zone, if the walk was not stopped. */
static enum names_verdict verdict_of(const struct walking *w)
{
	if (!w->has_wild)
		return NAMES_DENIED;
	if (w->wild == w->walk->encloser)
		return NAMES_EXPANDED;
	w->walk->is_stopped = true;
	return NAMES_MAYBE;
}

enum names_verdict names_walk(struct names_walk *walk, const struct volley_names_line *lines,
			      const struct volley_names_state *state, const uint8_t *name,
			      unsigned int n)
{
	struct walking w = { .lines = lines, .n_lines = state->n_lines, .walk = walk };
	uint32_t from = __atomic_load_n(&state->labels, __ATOMIC_RELAXED);
	unsigned int labels = name_n_labels(name), end = n;
	bool is_known = true;
	uint64_t sum = 0;

	*walk = (struct names_walk){ 0 };
	if (from > labels || !w.n_lines || !__atomic_load_n(&state->id, __ATOMIC_ACQUIRE))
		return NAMES_NONE;
	for (unsigned int k = from; k <= labels && is_known; k++) {
		unsigned int at = (unsigned int)(name_skip_labels(name, labels - k) - name);

		while (end > at) {
			end--;
			sum += volley_names_part(state->keys, name[end], n - 1 - end);
		}
		walk->unknown = at;
		is_known = step_names(&w, volley_names_hash(sum), at);
	}
	if (!w.has_apex)
		return NAMES_NONE;
	return is_known || walk->is_stopped ? NAMES_MAYBE : verdict_of(&w);
}

/* --- Names ------------------------------------------------------------------------------------ */

void names_add_apex(struct names *names, const uint8_t *apex, unsigned int n)
{
	uint32_t labels = name_n_labels(apex);

	set_marked(names, hash_of_names(names, apex, n), VOLLEY_NAME_APEX);
	for (const uint8_t *at = apex; at; at = name_parent(at))
		add_exists(names, hash_of_names(names, at, n - (unsigned int)(at - apex)));
	if (labels < names->states[0]->labels)
		set_labels(names, labels);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

#define AHEAD 64u /* names whose lines are fetched before they are needed */

struct adding {
	struct names *names;
	const struct zone *zone;
	unsigned int apex_n;
	uint64_t ahead[AHEAD]; /* a ring of hashes */
	unsigned int n_ahead;  /* ever put into the ring */
};

/* A wildcard that is an empty non-terminal counts, too (RFC 4592 section 2.2.2). */
static void mark_parent(struct names *names, const uint8_t *owner, unsigned int n)
{
	if (owner[0] == 1 && owner[1] == '*')
		set_marked(names, hash_of_names(names, owner + 2, n - 2), VOLLEY_NAME_WILD);
}

static void mark_names_node(const struct adding *a, const struct zone_node *node,
			    const uint8_t *owner, unsigned int n)
{
	bool is_apex = n == a->apex_n;

	mark_parent(a->names, owner, n);
	if (zone_node_rrset(a->zone, node, DNS_TYPE_DNAME) ||
	    (!is_apex && zone_node_rrset(a->zone, node, DNS_TYPE_NS)))
		set_marked(a->names, hash_of_names(a->names, owner, n), VOLLEY_NAME_STOP);
}

/* Prefetches the line of a hash, and adds the older hash whose place in the ring it takes. */
static void add_ahead(struct adding *a, uint64_t hash)
{
	uint64_t *place = &a->ahead[a->n_ahead % AHEAD];

	__builtin_prefetch(&a->names->lines[volley_names_line(hash, a->names->n_lines)], 1);
	if (a->n_ahead++ >= AHEAD)
		add_exists(a->names, *place);
	*place = hash;
}

static void add_rest(struct adding *a)
{
	for (unsigned int i = 0; i < AHEAD && i < a->n_ahead; i++)
		add_exists(a->names, a->ahead[i]);
}

static void add_all_names(struct adding *a)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	const struct zone_node *node;
	struct zone_walk walk;

	zone_walk_init(&walk, a->zone);
	while ((node = zone_walk_next(&walk))) {
		unsigned int n = zone_node_owner(a->zone, node, owner);

		name_fold(owner, owner, n);
		mark_names_node(a, node, owner, n);
		add_ahead(a, hash_of_names(a->names, owner, n));
	}
	add_rest(a);
}

/* Adds the names above, too. So it does not matter if the diff reports empty non-terminals. */
static int add_names_change(void *context, const struct zone_change *change)
{
	const struct adding *a = context;
	const uint8_t *above = change->owner;
	unsigned int n = change->owner_bytes;

	if (!change->new_node) {
		names_note_gone(a->names, 1);
		return 0;
	}
	mark_names_node(a, change->new_node, change->owner, n);
	if (!add_exists(a->names, hash_of_names(a->names, change->owner, n)) && !change->old_node &&
	    a->names->n_gone)
		a->names->n_gone--; /* the name is back */
	while (n > a->apex_n) {
		n -= above[0] + 1u;
		above += above[0] + 1u;
		mark_parent(a->names, above, n);
		add_exists(a->names, hash_of_names(a->names, above, n));
	}
	return 0;
}

void names_add_zone(struct names *names, const struct zone *zone, const struct zone *old)
{
	struct adding a = { .names = names, .zone = zone };

	(void)zone_apex(zone, &a.apex_n);
	if (!old || zone_diff(old, zone, add_names_change, &a))
		add_all_names(&a);
	(void)!intervals_add_zone(&names->intervals, zone, old); /* it counts what it refuses */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
