/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer cache: rendered answers in memory that the XDP program and every worker read.
 *
 * xdp/abi.h describes the layout. The caller gives the memory: mappings of the BPF maps, or
 * anonymous pages (memory.h). Answers are appended to segments and found through the index.
 *
 *   publish ─► open segment of a writer ─► sealed, in the probation queue
 *                                               │ oldest: hit since written?
 *                       no: withdrawn ◄─────────┴────────► yes: copied to the main queue
 *                       (remembered in the ghost table,     oldest: hit since? copied again
 *                        asked again: straight to main)     (freq - 1), else withdrawn
 *
 * That is S3-FIFO (Yang et al., SOSP 2023) over segments. An answer that is asked for once passes
 * through a tenth of the memory and is gone; an answer that is asked for again stays. Names that do
 * not exist have a probation queue of their own, a 32nd of the memory, since their number has no
 * limit. A segment whose entries are all copied or withdrawn is retired, and free after a grace
 * period.
 *
 * Threads: any number of readers; one cache_writer for each publishing thread; one keeper, which
 * evicts segments (keeper.h). A writer evicts one entry if both buckets of its key are full.
 * Readers in userspace are liburcu QSBR threads: an entry that cache_lookup returned may be read
 * until the thread's next quiescent state.
 *
 * The key has everything that the octets depend on: name (folded), type, class, DO, CD, view.
 * Letter case, ID, RD, EDNS and the client's size are the reader's: it writes the header, keeps the
 * question, appends OPT, and takes the whole body, or the prefix without optional records, or none
 * with TC=1. The body is made for UDP: if it lacks optional records that have room over TCP, the
 * entry says so, and a client over TCP gets an answer that is rendered for it alone.
 *
 * The view says which clients may read an entry: all; those that may recurse; those that may ask
 * for our zones, if not all may. It is part of the key but not of its hash, so all views of a
 * question lie in the same two buckets, and a reader that finds a public entry never looks at the
 * client.
 *
 * Answers from upstream age. The offsets of their TTLs lie behind the body; the sums take these
 * TTLs as 0, and a reader writes the remaining time of each into its reply, so the entry does not
 * change. When no more than refresh_s seconds are left, the first reader says so, once, and the
 * answer is fetched anew while the old one is still given. An expired entry stays until its place
 * is needed: cache_lookup() gives it to a caller that may answer with stale records.
 *
 * An answer that looked into a second zone is not cached, because an entry can follow only one
 * generation.
 */
#ifndef VOLLEY_CACHE_CACHE_H
#define VOLLEY_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"
#include "xdp/key.h"

struct cache;

/* How a budget of `bytes` is divided. `total_bytes` counts every map and never exceeds `bytes`. */
struct cache_sizes {
	uint64_t bytes;       /* the budget */
	uint64_t total_bytes; /* of all parts, rounded up to pages as the kernel does */
	uint32_t n_segments;
	uint32_t n_buckets;
	uint32_t n_zones; /* the number of slots; slot 0 counts */
	/* of the filter of names and its intervals (xdp/names.h); not in the budget; 0: fewest */
	uint32_t n_names_lines;
};

#define CACHE_BYTES_MIN (4ull << 20)

/*
 * n_zones: the number of zones that need a slot (at least VOLLEY_DEFAULT_ZONES slots are made).
 * -ERANGE: the budget is too small. -E2BIG: it is more than locations can name (64 GiB).
 */
int cache_sizes_plan(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_zones);

/* The same for a cache that shares another one's zones: n_slots slots, slot 0 included. */
int cache_sizes_plan_beside(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_slots);

/* For existing maps: the caller sets n_segments, n_buckets and n_zones; this sets the rest. */
void cache_sizes_measure(struct cache_sizes *sizes);

/* The four parts that all interfaces share: at least as long as `sizes` says, 64-byte aligned. */
struct cache_memory {
	struct volley_state *state;
	uint64_t *index;
	uint8_t *store;
	struct volley_zone *zones;
	struct cache_sizes sizes;
};

/*
 * A key in the form that the cache compares: the key word, the folded name behind it, padded with
 * zeros, and the hash of both.
 */
struct cache_key {
	uint64_t hash;
	union {
		struct volley_key first; /* is words[0] */
		uint64_t words[1 + VOLLEY_NAME_WORDS];
	};
	uint32_t n_words; /* with the key word */
};

/* The folded name of the key, without the zeros behind it. */
static inline const uint8_t *cache_key_name(const struct cache_key *key)
{
	return (const uint8_t *)&key->words[1];
}

/*
 * An answer to be published, or the content of an entry. Lengths and counts are as in struct
 * volley_entry. The caller owns the body. It may have 65535 octets, like any message. The driver
 * sends a body that fits in VOLLEY_UDP_MAX. For a longer one it sends the short form, or TC=1 if
 * the short form is too long as well (or empty). Over TCP all of it is sent.
 */
struct cache_answer {
	const uint8_t *body; /* full_bytes octets: the message after the question, without OPT */
	uint16_t full_bytes;
	uint16_t short_bytes; /* a prefix: without optional additional records */
	uint16_t ancount;     /* host order, all four */
	uint16_t nscount;
	uint16_t arcount_full;
	uint16_t arcount_short;
	bool partial;   /* optional records were left out that have room over TCP */
	uint8_t ede;    /* cache_ede() of the extended error in OPT; 0: none */
	uint16_t flags; /* host order: QR, AA, RCODE, ...; without RD, CD, TC */
	uint32_t zone_slot;
	uint32_t zone_gen;
	uint32_t expires_s; /* it is dead from this clock_coarse_s() on; VOLLEY_NEVER */
	/* Offsets in body of the n_ttls TTLs that age: ascending, 4 octets each. The caller's. */
	const uint16_t *ttls;
	uint16_t n_ttls;
	/* if it is asked for with at most this many seconds left, it is fetched anew; 0: never */
	uint16_t refresh_s;
	uint8_t memory; /* the resolver's memory that it was fetched into; 0 or 1 */
	/* How a reader changes these TTLs; not published. */
	uint32_t age_s;       /* since it was published: subtracted from each */
	uint32_t stale_ttl_s; /* not 0: the value of each (an expired answer: RFC 8767 section 4) */
};

/*
 * Converts an extended error's code (RFC 8914; -1: none) to the form in an entry, and back. An
 * answer with an extended error is in no public view. A code above CACHE_EDE_MAX does not fit and
 * is lost; the registry has none so far.
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
 * Adopts the content of the memory if it is of this ABI and was set up (*adopted is true), else
 * sets it up anew, with hash keys from getrandom. The memory must outlive the cache. Entries that
 * contradict themselves are dropped. Readers in the driver may go on meanwhile. -ENOMEM; -EPROTO:
 * the sizes in the memory contradict `memory->sizes`.
 */
int cache_new(struct cache **out, const struct cache_memory *memory, bool *adopted);
void cache_free(struct cache *cache);

struct volley_state *cache_state(struct cache *cache);

/*
 * Fills `key` from its parts. `folded` is the name in lower-case wire form, of name_bytes octets.
 * view: VOLLEY_VIEW_*. The hash does not depend on the view, so the entries of one question in
 * several views have the same buckets.
 */
void cache_key_init(struct cache_key *key, const struct cache *cache, const uint8_t *folded,
		    uint32_t name_bytes, uint16_t qtype, uint16_t qclass, uint8_t key_flags,
		    uint8_t view);

/* The same from the key's first word and the folded name. */
void cache_key_from(struct cache_key *key, const struct cache *cache,
		    const struct volley_key *first, const uint8_t *folded);

/*
 * Any QSBR thread. On CACHE_HIT and CACHE_EXPIRED, *entry may be read until the thread's next
 * quiescent state; otherwise it is NULL. An expired entry is of its zone's present generation. It
 * may disappear at any time. If `count`, a hit is counted in the entry's freq.
 */
enum cache_verdict cache_lookup(struct cache *cache, const struct cache_key *key, uint32_t now_s,
				bool count, const struct volley_entry **entry);

/*
 * For a caller that is about to look up many keys. The first prefetches the key's bucket; the
 * second, when the bucket is in the CPU's cache, the entry that the lookup will most likely find.
 * They change nothing. Any QSBR thread.
 */
void cache_prefetch(const struct cache *cache, const struct cache_key *key);
void cache_prefetch_entry(const struct cache *cache, const struct cache_key *key);

/* The offsets of an entry's n_ttls TTLs in its body, and the body. */
static inline const uint16_t *cache_entry_ttls(const struct volley_entry *entry)
{
	return (const uint16_t *)((const uint8_t *)entry + volley_ttls_offset(entry));
}

static inline const uint8_t *cache_entry_body(const struct volley_entry *entry)
{
	return (const uint8_t *)entry + entry->body_offset;
}

/*
 * True if an entry in room_bytes octets is consistent: its lengths, the offsets of its TTLs, and
 * the sums of its body that the driver sends. Pure; O(octets).
 */
bool cache_entry_is_sound(const struct volley_entry *entry, size_t room_bytes);

/* The content of an entry from cache_lookup() at now_s. All pointers lead into the entry. */
void cache_answer_of(struct cache_answer *answer, const struct volley_entry *entry, uint32_t now_s);

/*
 * Writes the TTLs, changed by age_s and stale_ttl_s, into `body`: a copy of the first `n` octets of
 * the answer's body (all of it, or the short form). A TTL never falls below 0. Pure.
 */
void cache_answer_age(const struct cache_answer *answer, uint8_t *body, size_t n);

/*
 * True if the entry is valid and has at most refresh_s seconds left. It is true once for an entry:
 * for one thread or for the driver. The caller that gets true fetches the answer anew.
 */
bool cache_refresh_is_due(const struct volley_entry *entry, uint32_t now_s);

/* The entry that the driver names, even if it was moved; NULL: it is gone. As cache_lookup(). */
const struct volley_entry *cache_refresh_entry(const struct cache *cache,
					       const struct volley_refresh *refresh);

/* A thread publishes through a writer of its own. */
struct cache_writer;
int cache_writer_new(struct cache_writer **out, struct cache *cache);
void cache_writer_free(struct cache_writer *writer);

/*
 * Makes an answer visible to every reader with one store. It replaces the entry of this key. The
 * thread of the writer calls it in a QSBR read section, since it also reads other entries. Never
 * waits. Each error is counted; after an error the next query for this key is rendered again:
 * -ENOSPC  no segment is free now; the keeper frees some soon
 * -EAGAIN  other writers held all places to append, or were changing this key
 * -ESTALE  it is already dead (old generation, expired) and this key has a valid entry
 * -EINVAL  zone_slot 0 or out of range, no such view, an extended error in the public view,
 *          short_bytes over full_bytes, or ttls that do not ascend by 4 and more, reach beyond
 *          the body, or over the end of the short form
 */
int cache_publish(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, uint32_t now_s);

/* What an earlier cache knew about an answer. */
struct cache_past {
	uint32_t age_s;
	uint8_t freq;  /* at most VOLLEY_FREQ_MAX */
	bool was_kept; /* it was in the main queue and returns there */
};

/*
 * As cache_publish, for an answer of an earlier cache. A valid entry of the key stays: -EEXIST. An
 * answer that is published at the same time is younger, so it stays too.
 */
int cache_restore(struct cache_writer *writer, const struct cache_key *key,
		  const struct cache_answer *answer, const struct cache_past *past, uint32_t now_s);

/* Withdraws one key's entries: no later lookup finds them. 0, or -ENOENT. Any QSBR thread. */
int cache_withdraw(struct cache *cache, const struct cache_key *key);

/* Counters of events since the cache was made (or adopted). */
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
	uint64_t used_bytes; /* of entries that are in the index or not yet reclaimed */
	/* index words in use (counted by a walk over the index: control only) */
	uint64_t n_entries;
	uint32_t n_free;      /* free segments */
	uint32_t n_probation; /* with the segments of denials */
	uint32_t n_main;      /* the others are open, or wait for readers */
	struct cache_counters counters;
};
void cache_stats_read(struct cache *cache, struct cache_stats *stats);

/*
 * The same at a cost that does not grow with the index: if the index is larger than 2 MiB,
 * n_entries is estimated from 2 MiB of it, with an error of some 0.5 %.
 */
void cache_stats_estimate(struct cache *cache, struct cache_stats *stats);

#endif
