/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer cache: rendered answers in memory that the XDP program and every worker read.
 *
 * The layout is xdp/abi.h. The memory is given by the caller: mappings of the BPF maps, or
 * anonymous pages (memory.h). Answers are appended to segments and found through the index.
 *
 *   publish ─► open segment of a writer ─► sealed, in the probation queue
 *                                               │ oldest: hit since written?
 *                       no: withdrawn ◄─────────┴────────► yes: copied to the main queue
 *                       (remembered in the ghost table,     oldest: hit since? copied again
 *                        asked again: straight to main)     (freq - 1), else withdrawn
 *
 * That is S3-FIFO (Yang et al., SOSP 2023) over segments. What is asked once passes through a
 * tenth of the memory and is gone; what is asked again stays. Names that do not exist have a
 * probation queue of their own, a 32nd of the memory, since there is no end of them. A segment
 * whose entries are all copied or withdrawn is retired, and free after a grace period.
 *
 * Threads: any number of readers; one cache_writer for each publishing thread; one keeper, which
 * alone evicts (keeper.h). Readers in userspace are liburcu QSBR threads: an entry that
 * cache_lookup returned may be read until the thread's next quiescent state.
 */
#ifndef VOLLEY_CACHE_CACHE_H
#define VOLLEY_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"
#include "xdp/key.h"

struct cache;

/* How `bytes` of budget are laid out; every map is counted in `total_bytes`, never over `bytes`. */
struct cache_sizes {
	uint64_t bytes;       /* the budget */
	uint64_t total_bytes; /* of all parts, rounded up to pages as the kernel does */
	uint32_t n_segments;
	uint32_t n_buckets;
	uint32_t n_zones; /* slots, with slot 0 */
	/* Of the filter of names (xdp/names.h) and the intervals behind it, beside the budget; 0:
	 * the fewest. */
	uint32_t n_names_lines;
};

#define CACHE_BYTES_MIN (4ull << 20)

/*
 * n_zones: that should have a slot (at least VOLLEY_DEFAULT_ZONES are made). -ERANGE: too small;
 * -E2BIG: more than locations can name (64 GiB).
 */
int cache_sizes_plan(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_zones);

/* The same beside a cache whose zones it shares: it has n_slots slots, with slot 0. */
int cache_sizes_plan_beside(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_slots);

/* For maps that somebody else made: n_segments, n_buckets and n_zones are set, the rest follows. */
void cache_sizes_measure(struct cache_sizes *sizes);

/* The four parts that all interfaces share, at least as long as `sizes` says, 64-byte aligned. */
struct cache_memory {
	struct volley_state *state;
	uint64_t *index;
	uint8_t *store;
	struct volley_zone *zones;
	struct cache_sizes sizes;
};

/*
 * A key as the cache wants it: the key word and the folded name behind it, padded with zeros, and
 * their hash. `words[0]` is the struct volley_key.
 */
struct cache_key {
	uint64_t hash;
	uint64_t words[1 + VOLLEY_NAME_WORDS];
	uint32_t n_words; /* with the first */
};

/*
 * An answer: what is to be published, or what an entry holds. Lengths and counts as in struct
 * volley_entry; body stays the caller's. It may have 65535 octets, as much as any message: the
 * driver answers what has room in VOLLEY_UDP_MAX, of a longer one with the short form, or TC=1
 * where that is as long (or empty); over TCP all of it is sent.
 */
struct cache_answer {
	const uint8_t *body; /* what follows the question, without OPT: full_bytes */
	uint16_t full_bytes;
	uint16_t short_bytes; /* a prefix: without optional additional records */
	uint16_t ancount;     /* host order, all four */
	uint16_t nscount;
	uint16_t arcount_full;
	uint16_t arcount_short;
	bool partial;   /* something optional was left out that has room over TCP */
	uint8_t ede;    /* cache_ede() of what goes with it in OPT; 0: nothing */
	uint16_t flags; /* host order: QR, AA, RCODE, ...; without RD, CD, TC */
	uint32_t zone_slot;
	uint32_t zone_gen;
	uint32_t expires_s; /* clock_coarse_s() from which it is dead; VOLLEY_NEVER */
	/* TTLs that age, ascending offsets of 4 octets each in body: n_ttls of them, the
	 * caller's. */
	const uint16_t *ttls;
	uint16_t n_ttls;
	/* asked for with no more seconds left than these: fetch it anew; 0: never */
	uint16_t refresh_s;
	uint8_t memory; /* of the resolver: where it was fetched; 0 or 1 */
	/* What a reader makes of these TTLs; not published. */
	uint32_t age_s;       /* since it was published: taken off each */
	uint32_t stale_ttl_s; /* not 0: each is this (an expired answer: RFC 8767 section 4) */
};

/*
 * An extended error's code (RFC 8914; -1: none) as an entry holds it, and back. An answer with one
 * is in no public view. A code above CACHE_EDE_MAX has no room, and is lost; the registry has none
 * so far.
 */
#define CACHE_EDE_MAX 126

static inline uint8_t cache_ede(int code)
{
	return code >= 0 && code <= CACHE_EDE_MAX ? (uint8_t)(code + 1) : 0;
}

static inline int cache_ede_code(uint8_t ede)
{
	return (int)ede - 1;
}

enum cache_verdict { CACHE_HIT, CACHE_MISS, CACHE_STALE, CACHE_EXPIRED };

/*
 * Adopts what the memory holds if it is of this ABI and was set up, else sets it up anew (hash keys
 * from getrandom). *adopted says which. The memory must outlive the cache. Nothing that contradicts
 * itself is taken over; readers in the driver may go on meanwhile. Errors: -ENOMEM; -EPROTO: its
 * sizes contradict `memory->sizes`.
 */
int cache_new(struct cache **out, const struct cache_memory *memory, bool *adopted);
void cache_free(struct cache *cache);

struct volley_state *cache_state(struct cache *cache);

/*
 * Fills `key` from its parts; `folded` is lower-case wire form of name_bytes octets. view:
 * VOLLEY_VIEW_*; the hash does not depend on it. Entries of one question in several views lie side
 * by side.
 */
void cache_key_init(struct cache_key *key, const struct cache *cache, const uint8_t *folded,
		    uint32_t name_bytes, uint16_t qtype, uint16_t qclass, uint8_t key_flags,
		    uint8_t view);

/* The same from the key's first word, and the name that it speaks of. */
void cache_key_from(struct cache_key *key, const struct cache *cache,
		    const struct volley_key *first, const uint8_t *folded);

/*
 * Any QSBR thread. On CACHE_HIT, and on CACHE_EXPIRED, *entry may be read until the thread's next
 * quiescent state, else it is NULL. An expired one is of its zone's present generation; it is there
 * until its place is wanted, so nobody may count on it. Counts a hit in the entry's freq when
 * `count`.
 */
enum cache_verdict cache_lookup(struct cache *cache, const struct cache_key *key, uint32_t now_s,
				bool count, const struct volley_entry **entry);

/*
 * For who is about to look up many keys: has the key's bucket loaded, and then, when that is there,
 * the entry that the lookup will most likely find. Changes nothing. Any QSBR thread.
 */
void cache_prefetch(const struct cache *cache, const struct cache_key *key);
void cache_prefetch_entry(const struct cache *cache, const struct cache_key *key);

/* Shapes of an entry: the offsets of its n_ttls TTLs in the body, and the body. */
static inline const uint16_t *cache_entry_ttls(const struct volley_entry *entry)
{
	return (const uint16_t *)((const uint8_t *)entry + volley_ttls_offset(entry));
}

static inline const uint8_t *cache_entry_body(const struct volley_entry *entry)
{
	return (const uint8_t *)entry + entry->body_offset;
}

/*
 * Whether an entry that lies in so many octets of room agrees with itself: lengths, offsets of
 * TTLs, and the sums of its body that the driver sends. Pure; O(octets).
 */
bool cache_entry_is_sound(const struct volley_entry *entry, size_t room_bytes);

/* What an entry holds at now_s; all pointers lead into it. An entry that cache_lookup() gave. */
void cache_answer_of(struct cache_answer *answer, const struct volley_entry *entry, uint32_t now_s);

/*
 * Writes the TTLs as they are by age_s and stale_ttl_s into `body`, a copy of the first `n` octets
 * of the answer's: all of it, or its short form. Never below 0. Pure.
 */
void cache_answer_age(const struct cache_answer *answer, uint8_t *body, size_t n);

/*
 * Whether the entry is valid and has no more than refresh_s seconds left. True once for an entry,
 * be it for a thread or for the driver; who gets it fetches the answer anew.
 */
bool cache_refresh_is_due(const struct volley_entry *entry, uint32_t now_s);

/* The entry that the driver names, wherever it lies by now; NULL: it is gone. As cache_lookup(). */
const struct volley_entry *cache_refresh_entry(const struct cache *cache,
					       const struct volley_refresh *refresh);

/* A thread's place to publish from. */
struct cache_writer;
int cache_writer_new(struct cache_writer **out, struct cache *cache);
void cache_writer_free(struct cache_writer *writer);

/*
 * Makes an answer visible to every reader with one store; replaces what is there for this key.
 * Owner thread of the writer, in a QSBR read section: what it compares with must stay, too. Never
 * waits; each error is counted, and costs that the next query for this key is rendered again:
 * -ENOSPC  no segment is free just now; the keeper frees some soon
 * -EAGAIN  other writers were at all places to append, or at this key
 * -ESTALE  it is dead already (old generation, expired) and there is a valid one for this key
 * -EINVAL  zone_slot 0 or out of range, no such view, an extended error in the public one, short_bytes over full_bytes, or ttls that do not
 *          ascend by 4 and more, reach beyond the body, or over the end of the short form
 */
int cache_publish(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, uint32_t now_s);

/* What an earlier cache knew of an answer. */
struct cache_past {
	uint32_t age_s;
	uint8_t freq;  /* at most VOLLEY_FREQ_MAX */
	bool was_kept; /* it was in the main queue, and goes there again */
};

/*
 * As cache_publish, for an answer of an earlier cache: one that is there and valid stays, -EEXIST;
 * one that is published at the same time is the younger one, and stays too.
 */
int cache_restore(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, const struct cache_past *past, uint32_t now_s);

/* Withdraws one key's entries: no later lookup finds them. 0, or -ENOENT. Any QSBR thread. */
int cache_withdraw(struct cache *cache, const struct cache_key *key);

/* Counters of what happened, since the cache was made (or adopted). */
#define CACHE_COUNTERS(C)                                                 \
	C(published, "entries published")                                 \
	C(replaced, "of these, in the place of one for the same key")     \
	C(displaced, "pushed out of a full bucket")                       \
	C(no_room, "not published: no free segment")                      \
	C(raced, "not published: others were at it")                      \
	C(refused, "not published: of an old generation, or malformed")   \
	C(kept, "copied to the main queue, or in it")                     \
	C(evicted, "valid entries withdrawn to make room")                \
	C(expired, "dead entries found on the way")                       \
	C(readmitted, "remembered, so taken into the main queue at once") \
	C(segments_retired, "segments emptied")                           \
	C(grace_periods, "waits for all readers")

struct cache_counters {
#define CACHE_COUNTER_FIELD(name, words) uint64_t name;
	CACHE_COUNTERS(CACHE_COUNTER_FIELD)
#undef CACHE_COUNTER_FIELD
};

struct cache_stats {
	struct cache_sizes sizes;
	uint64_t used_bytes;  /* of entries that are indexed or not yet reclaimed */
	uint64_t n_entries;   /* index words in use (counted by walking the index: control only) */
	uint32_t n_free;      /* segments */
	uint32_t n_probation; /* with those of denials */
	uint32_t n_main;      /* the others are open, or wait for readers */
	struct cache_counters counters;
};
void cache_stats_read(struct cache *cache, struct cache_stats *stats);

/*
 * The same at a cost that does not grow with the index: where that is larger than 2 MiB, n_entries
 * is told from so much of it, some 0.5 % off.
 */
void cache_stats_estimate(struct cache *cache, struct cache_stats *stats);

#endif
