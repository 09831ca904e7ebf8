/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer's side: the whole entry is written, then one word makes it visible. */
#include <errno.h>
#include <netinet/in.h>

#include "cache/cache_state.h"
#include "dns/proto.h"

#define RACES_MAX 4 /* after so many races lost to other writers the answer is not cached */

static uint32_t entry_bytes(const struct cache_key *key, const struct cache_answer *answer)
{
	uint32_t bytes = (uint32_t)sizeof(struct volley_entry) + (key->n_words - 1) * 8 +
			 (answer->full_bytes + 1u) / 2 * 2 + answer->n_ttls * 2u;

	return (bytes + VOLLEY_UNIT_BYTES - 1) / VOLLEY_UNIT_BYTES * VOLLEY_UNIT_BYTES;
}

/* The first state of an entry. */
struct birth {
	enum queue queue;
	uint32_t born_s;
	uint8_t freq;
	bool yields;     /* a valid entry of the same key stays */
	uint32_t aged_s; /* its age before the clock's start: subtracted from the TTLs at once */
};

static void write_ttls(struct volley_entry *e, const struct cache_answer *a, uint32_t aged_s)
{
	const struct cache_answer then = { .ttls = a->ttls, .n_ttls = a->n_ttls, .age_s = aged_s };

	memcpy((uint8_t *)e + volley_ttls_offset(e), a->ttls, a->n_ttls * sizeof(*a->ttls));
	cache_answer_age(&then, (uint8_t *)e + e->body_offset, e->full_bytes);
}

static void write_entry(struct volley_entry *e, uint32_t bytes, const struct cache_key *key,
			const struct cache_answer *a, const struct birth *birth)
{
	const struct volley_key *k = &key->first;
	uint32_t body_at = entry_body_at(k);
	uint32_t name_bytes = (key->n_words - 1) * 8;

	*e = (struct volley_entry){
		.hash = key->hash,
		.bytes = bytes,
		.expires_s = a->expires_s,
		.zone_slot = a->zone_slot,
		.zone_gen = a->zone_gen,
		.born_s = birth->born_s,
		.flags = htons(a->flags),
		.freq = birth->freq,
		.partial = a->partial,
		.ede = a->ede & 0x7fu,
		.ancount = htons(a->ancount),
		.nscount = htons(a->nscount),
		.arcount_full = htons(a->arcount_full),
		.arcount_short = htons(a->arcount_short),
		.full_bytes = a->full_bytes,
		.short_bytes = a->short_bytes,
		.full_sum = entry_body_sum(a->body, a->full_bytes, body_at, a->ttls, a->n_ttls),
		.short_sum = entry_body_sum(a->body, a->short_bytes, body_at, a->ttls, a->n_ttls),
		.body_offset = (uint16_t)(sizeof(*e) + name_bytes),
		.n_ttls = a->n_ttls,
		.refresh_s = a->refresh_s,
		.memory = a->memory,
		.key = *k,
	};
	memcpy(e->name, cache_key_name(key), name_bytes);
	memcpy(e->name + name_bytes, a->body, a->full_bytes);
	if (a->n_ttls)
		write_ttls(e, a, birth->aged_s);
}

/* A slot for a word, and the word that it has now. */
struct place {
	uint64_t *slot;
	uint64_t word;
	enum { PLACE_NONE, PLACE_VICTIM, PLACE_DEAD, PLACE_EMPTY, PLACE_SAME, PLACE_VALID } kind;
	uint8_t freq; /* of the victim's entry */
};

static bool is_better(const struct place *new, const struct place *old)
{
	if (new->kind != old->kind)
		return new->kind > old->kind;
	return new->kind == PLACE_VICTIM &&new->freq < old->freq;
}

static struct place judge_cached(const struct cache *cache, uint64_t *slot,
				 const struct cache_key *key, uint32_t now_s)
{
	struct place place = { .slot = slot, .word = load_word(slot), .kind = PLACE_EMPTY };
	const struct volley_entry *e;
	bool valid;

	if (!place.word)
		return place;
	e = word_entry(cache, place.word);
	valid = entry_verdict(cache, e, now_s) == CACHE_HIT;
	place.freq = entry_freq(e);
	if (place.word >> 32 == volley_tag(key->hash) && entry_is_of(e, key))
		place.kind = valid ? PLACE_VALID : PLACE_SAME;
	else
		place.kind = valid ? PLACE_VICTIM : PLACE_DEAD;
	return place;
}

/* True for an empty word, and for one with the key's tag, which other views of it also have. */
static bool is_empty_or_tagged(uint64_t word, const struct cache_key *key)
{
	return !word || word >> 32 == volley_tag(key->hash);
}

/*
 * The best slot of a bucket: this key's own, else an empty one, a dead one, the least used one.
 * Without `others` it looks at no entry with another tag, and only the first two are right.
 */
static struct place find_in_bucket(const struct cache *cache, const struct cache_key *key,
				   uint32_t bucket, bool others, uint32_t now_s,
				   unsigned int *n_empty)
{
	uint64_t *words = bucket_words(cache, bucket);
	struct place best = { .kind = PLACE_NONE };
	unsigned int i;

	*n_empty = 0;
	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t *slot = &words[volley_slot(key->hash) ^ i];
		struct place place;

		if (!others && !is_empty_or_tagged(load_word(slot), key))
			continue;
		place = judge_cached(cache, slot, key, now_s);
		*n_empty += place.kind == PLACE_EMPTY;
		if (is_better(&place, &best))
			best = place;
	}
	return best;
}

/*
 * Readers look at the first bucket first, so it gets the entry until it is nearly full; then the
 * emptier of the two does. With entries of 144 octets (63 % of the slots in use) 84 % lie in the
 * first bucket, and 0.1 % find both full. Without the second rule 0.8 % find both full; with the
 * second rule alone, 62 % lie in the first.
 */
#define SPARE_SLOTS 2

static struct place find_in_both(const struct cache *cache, const struct cache_key *key,
				 bool others, uint32_t now_s)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	unsigned int n_empty, n_empty2;
	struct place first =
		find_in_bucket(cache, key, volley_bucket(key->hash, n), others, now_s, &n_empty);
	struct place second =
		find_in_bucket(cache, key, volley_bucket2(key->hash, n), others, now_s, &n_empty2);

	if (first.kind == PLACE_EMPTY && second.kind == PLACE_EMPTY)
		return n_empty < SPARE_SLOTS && n_empty < n_empty2 ? second : first;
	return is_better(&second, &first) ? second : first;
}

/*
 * The entries of other keys matter only if no slot is empty, which is rare. Each lies in a line of
 * its own, for which the processor would wait.
 */
static struct place find_cached_place(const struct cache *cache, const struct cache_key *key,
				      uint32_t now_s)
{
	struct place place = find_in_both(cache, key, false, now_s);

	return place.kind >= PLACE_EMPTY ? place : find_in_both(cache, key, true, now_s);
}

/*
 * True if the entry of `word` stays, and not the one of `other` for the same key. The valid entry
 * stays; if both or none are valid, the younger one; at the same age, the one with the greater
 * word. Every thread decides alike, so of two entries published at once exactly one is left.
 */
static bool stays(const struct cache *cache, uint64_t word, uint64_t other, uint32_t now_s)
{
	const struct volley_entry *e = word_entry(cache, word);
	const struct volley_entry *o = word_entry(cache, other);
	bool e_valid = entry_verdict(cache, e, now_s) == CACHE_HIT;
	bool o_valid = entry_verdict(cache, o, now_s) == CACHE_HIT;

	if (e_valid != o_valid)
		return e_valid;
	if (e->born_s != o->born_s)
		return e->born_s > o->born_s;
	return word > other;
}

static bool withdraw_word(uint64_t *slot, uint64_t word)
{
	return __atomic_compare_exchange_n(slot, &word, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* True for a dead entry of the same question in another view. */
static bool is_dead_sibling(const struct cache *cache, const struct volley_entry *e, uint64_t hash,
			    uint32_t now_s)
{
	return e->hash == hash && entry_verdict(cache, e, now_s) != CACHE_HIT;
}

/*
 * Two threads that publish for one key at once may take a slot each. An older entry would then hide
 * a younger one as long as it is valid, so a writer checks again after it has published. The XDP
 * program looks at only one entry of a question, in any view, so a dead one would hide this one.
 */
static void drop_doubles(const struct cache *cache, const struct cache_key *key, uint64_t *slot,
			 uint64_t word, uint32_t now_s)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	uint64_t *buckets[2] = { bucket_words(cache, volley_bucket(key->hash, n)),
				 bucket_words(cache, volley_bucket2(key->hash, n)) };
	unsigned int i;

	for (i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t *at = &buckets[i / VOLLEY_BUCKET_SLOTS][i % VOLLEY_BUCKET_SLOTS];
		uint64_t other = load_word(at);

		if (at == slot || !other || other >> 32 != volley_tag(key->hash))
			continue;
		if (!entry_is_of(word_entry(cache, other), key)) {
			if (is_dead_sibling(cache, word_entry(cache, other), key->hash, now_s))
				withdraw_word(at, other);
		} else if (stays(cache, word, other, now_s)) {
			withdraw_word(at, other);
		} else {
			withdraw_word(slot, word);
			return;
		}
	}
}

int publish_word(struct cache_writer *writer, const struct cache_key *key,
		 const struct volley_entry *e, bool yields, uint32_t now_s)
{
	const struct cache *cache = writer->cache;
	bool valid = entry_verdict(cache, e, now_s) == CACHE_HIT;
	uint64_t word = entry_word(cache, e);
	int races;

	for (races = 0; races < RACES_MAX; races++) {
		struct place place = find_cached_place(cache, key, now_s);

		if (place.kind == PLACE_VALID && !valid)
			return -ESTALE;
		if (place.kind == PLACE_VALID && yields)
			return -EEXIST;
		if (!__atomic_compare_exchange_n(place.slot, &place.word, word, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		drop_doubles(cache, key, place.slot, word, now_s);
		COUNT(writer, published, 1);
		COUNT(writer, replaced, place.kind >= PLACE_SAME);
		COUNT(writer, displaced, place.kind == PLACE_VICTIM);
		return 0;
	}
	return -EAGAIN;
}

/*
 * The number of names that do not exist has no limit. They have a queue of their own, so that they
 * do not displace other answers. A denial that many names share counts as any other answer.
 */
enum queue entry_queue(const struct volley_key *key, uint16_t flags)
{
	return (flags & DNS_RCODE_MASK) == DNS_RCODE_NXDOMAIN && !VOLLEY_IS_SHARED(*key) ?
		       QUEUE_DENIAL :
		       QUEUE_PROBATION;
}

static int publish_in(struct cache_writer *writer, struct appender *appender,
		      const struct cache_key *key, const struct cache_answer *answer,
		      const struct birth *birth, uint32_t now_s)
{
	uint32_t bytes = entry_bytes(key, answer);
	struct volley_entry *e = segment_reserve(writer->cache, appender, birth->queue, bytes);

	if (!e)
		return -ENOSPC;
	write_entry(e, bytes, key, answer, birth);
	segment_commit(appender, birth->queue, e);
	return publish_word(writer, key, e, birth->yields, now_s);
}

static int publish_new(struct cache_writer *writer, struct appender *appender,
		       const struct cache_key *key, const struct cache_answer *answer,
		       uint32_t now_s)
{
	struct ghost *ghost = &writer->cache->ghost;
	bool remembered = ghost_recall(ghost, key->hash);
	struct birth birth = { .queue = remembered ? QUEUE_MAIN :
						     entry_queue(&key->first, answer->flags),
			       .born_s = now_s };
	int err = publish_in(writer, appender, key, answer, &birth, now_s);

	if (remembered && err == -ENOSPC)
		ghost_remember(ghost, key->hash);
	else
		COUNT(writer, readmitted, remembered);
	return err;
}

static bool can_be_entry(const struct cache *cache, const struct cache_key *key,
			 const struct cache_answer *answer)
{
	const struct volley_key *k = &key->first;

	return k->view < VOLLEY_N_VIEWS && (k->view || !answer->ede) && answer->zone_slot &&
	       answer->zone_slot < cache->memory.sizes.n_zones &&
	       answer->short_bytes <= answer->full_bytes &&
	       entry_ttls_are_sound(answer->ttls, answer->n_ttls, answer->full_bytes,
				    answer->short_bytes);
}

/* `birth` is NULL for a new answer. */
static int publish_cached(struct cache_writer *writer, const struct cache_key *key,
			  const struct cache_answer *answer, const struct birth *birth,
			  uint32_t now_s)
{
	struct appender *appender;
	int err = -EAGAIN;

	if (!can_be_entry(writer->cache, key, answer)) {
		COUNT(writer, refused, 1);
		return -EINVAL;
	}
	appender = appender_take(writer);
	if (appender && birth)
		err = publish_in(writer, appender, key, answer, birth, now_s);
	else if (appender)
		err = publish_new(writer, appender, key, answer, now_s);
	if (appender)
		appender_release(appender);
	COUNT(writer, no_room, err == -ENOSPC);
	COUNT(writer, raced, err == -EAGAIN);
	COUNT(writer, refused, err == -ESTALE);
	return err;
}

int cache_publish(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, uint32_t now_s)
{
	return publish_cached(writer, key, answer, NULL, now_s);
}

int cache_restore(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, const struct cache_past *past, uint32_t now_s)
{
	const struct birth birth = {
		.queue = past->was_kept ? QUEUE_MAIN : entry_queue(&key->first, answer->flags),
		.born_s = past->age_s < now_s ? now_s - past->age_s : 0,
		.freq = past->freq < VOLLEY_FREQ_MAX ? past->freq : VOLLEY_FREQ_MAX,
		.yields = true,
		.aged_s = past->age_s < now_s ? 0 : past->age_s - now_s,
	};

	return publish_cached(writer, key, answer, &birth, now_s);
}

/* Tries again if the keeper has just moved the entry, which would otherwise stay. */
static bool withdraw_slot(const struct cache *cache, uint64_t *slot, const struct cache_key *key)
{
	uint64_t word;

	while ((word = load_word(slot))) {
		if (word >> 32 != volley_tag(key->hash) ||
		    !entry_is_of(word_entry(cache, word), key))
			return false;
		if (withdraw_word(slot, word))
			return true;
	}
	return false;
}

static bool withdraw_in(struct cache *cache, const struct cache_key *key, uint32_t bucket)
{
	uint64_t *words = bucket_words(cache, bucket);
	bool any = false;
	unsigned int i;

	for (i = 0; i < VOLLEY_BUCKET_SLOTS; i++)
		any |= withdraw_slot(cache, &words[i], key);
	return any;
}

int cache_withdraw(struct cache *cache, const struct cache_key *key)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	bool any = withdraw_in(cache, key, volley_bucket(key->hash, n));

	any |= withdraw_in(cache, key, volley_bucket2(key->hash, n));
	return any ? 0 : -ENOENT;
}
