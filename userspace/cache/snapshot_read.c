/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a file three times: to check it, for the answers that were in use, and for the others. Each
 * time every block is checked before its content is used.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "cache/snapshot.h"
#include "cache/snapshot_format.h"
#include "dns/name.h"

#define SECTION_ENTRIES 128u /* published in one read section */
#define WAITS_MAX       200u /* waits of 1 ms for the keeper; then there is no room */

/* A zone of the file, and the zone with the same content that is served here. */
struct match {
	uint32_t file_slot, file_gen;
	uint32_t slot, gen; /* slot 0: no such zone is served */
	uint64_t digest[2];
};

enum pass { PASS_CHECK, PASS_USED, PASS_REST };

struct in {
	const struct snapshot *snapshot;
	const struct snapshot_source *source;
	uint64_t elapsed_s; /* since it was written; UINT64_MAX: not known */
	off_t at, end;
	uint64_t sum;
	struct snapshot_block block;
	uint8_t *buf; /* content of the block */
	size_t cap;
	struct match *matches; /* in the order of file_slot */
	size_t n_matches;
	bool is_full;
	struct snapshot_read *told;
	char *why;
	size_t why_cap;
};

/* --- Blocks ----------------------------------------------------------------------------------- */

static int refuse_snapshot(const struct in *in, const char *words)
{
	snprintf(in->why, in->why_cap, "%s, at octet %lld", words, (long long)in->at);
	return ERR_SNAPSHOT;
}

static int read_bytes(struct in *in, void *to, size_t n)
{
	uint8_t *at = to;

	while (n) {
		ssize_t done = pread(in->source->fd, at, n, in->at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			return refuse_snapshot(in, "is cut short");
		at += done;
		n -= (size_t)done;
		in->at += done;
	}
	return 0;
}

/* How long the entries have been in the file; UINT64_MAX: not known. */
static uint64_t elapsed_since(const struct snapshot_header *header,
			      const struct snapshot_times *times)
{
	if (!memcmp(header->boot_id, times->boot_id, sizeof(header->boot_id)) &&
	    times->now_s >= header->now_s)
		return times->now_s - header->now_s;
	return times->wall_s >= header->wall_s ? times->wall_s - header->wall_s : UINT64_MAX;
}

static int read_snapshot_header(struct in *in)
{
	struct snapshot_header header;
	int err;

	in->at = 0;
	if (in->end < (off_t)sizeof(header))
		return refuse_snapshot(in, "is no snapshot, or cut short");
	err = read_bytes(in, &header, sizeof(header));
	if (err)
		return err;
	if (header.magic != SNAPSHOT_MAGIC)
		return refuse_snapshot(in, "is no snapshot");
	if (header.version != SNAPSHOT_VERSION || header.abi != VOLLEY_ABI)
		return refuse_snapshot(in, "was written by another version of volleyd");
	if (header.sum != snapshot_header_sum(&header))
		return refuse_snapshot(in, "has been altered");
	in->sum = header.sum;
	in->elapsed_s = elapsed_since(&header, &in->source->times);
	return 0;
}

static int grow_snapshot(struct in *in, size_t n)
{
	uint8_t *buf;

	if (n <= in->cap)
		return 0;
	buf = realloc(in->buf, n);
	if (!buf)
		return -ENOMEM;
	in->buf = buf;
	in->cap = n;
	return 0;
}

/* Reads the next block into in->block and in->buf. */
static int read_block(struct in *in)
{
	off_t begin = in->at;
	int err = read_bytes(in, &in->block, sizeof(in->block));

	if (err)
		return err;
	if (in->block.n_bytes > SNAPSHOT_BLOCK_MAX || in->block.n_bytes > in->end - in->at) {
		in->at = begin;
		return refuse_snapshot(in, "is cut short or has been altered");
	}
	err = grow_snapshot(in, in->block.n_bytes);
	if (!err)
		err = read_bytes(in, in->buf, in->block.n_bytes);
	if (err)
		return err;
	in->sum = snapshot_sum(in->sum, &in->block, in->buf);
	if (in->sum == in->block.sum)
		return 0;
	in->at = begin;
	return refuse_snapshot(in, "has been altered");
}

/* --- Zones ------------------------------------------------------------------------------------ */

static void find_match(const struct snapshot *snapshot, const struct snapshot_zone *zone,
		       struct match *match)
{
	uint32_t slot = zone_find_slot(snapshot->zones, snapshot->n_zones, zone->name_id);
	const struct volley_zone *here = &snapshot->zones[slot];

	*match = (struct match){ .file_slot = zone->slot,
				 .file_gen = zone->gen,
				 .digest = { zone->digest[0], zone->digest[1] } };
	if (!snapshot_zone_stands(here) ||
	    memcmp(here->name_id, zone->name_id, sizeof(zone->name_id)) ||
	    memcmp(here->digest, zone->digest, sizeof(zone->digest)))
		return;
	match->slot = slot;
	match->gen = here->gen;
}

static int take_zones(struct in *in)
{
	const struct snapshot_zone *zones = (const struct snapshot_zone *)in->buf;
	size_t n = in->block.n_bytes / sizeof(*zones), i;

	if (in->block.n_bytes % sizeof(*zones))
		return refuse_snapshot(in, "has an incomplete table of zones");
	in->matches = calloc(n + 1, sizeof(*in->matches));
	if (!in->matches)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (i && zones[i].slot <= zones[i - 1].slot)
			return refuse_snapshot(in, "has a table of zones in the wrong order");
		find_match(in->snapshot, &zones[i], &in->matches[i]);
	}
	in->n_matches = n;
	return 0;
}

static int compare_match(const void *slot, const void *match)
{
	uint32_t a = *(const uint32_t *)slot, b = ((const struct match *)match)->file_slot;

	return (a > b) - (a < b);
}

static const struct match *match_of(const struct in *in, const struct volley_entry *e)
{
	const struct match *match =
		bsearch(&e->zone_slot, in->matches, in->n_matches, sizeof(*match), compare_match);

	return match && match->slot && match->file_gen == e->zone_gen ? match : NULL;
}

/*
 * Called in the read section in which the answer is published: a change of the zone first removes
 * the digest, then waits for all readers that may not have seen that (cache/generations.h).
 */
static bool is_still_same(const struct in *in, const struct match *match)
{
	const struct volley_zone *zone = &in->snapshot->cache->memory.zones[match->slot];

	return __atomic_load_n(&zone->gen, __ATOMIC_ACQUIRE) == match->gen &&
	       __atomic_load_n(&zone->digest[0], __ATOMIC_ACQUIRE) == match->digest[0] &&
	       __atomic_load_n(&zone->digest[1], __ATOMIC_ACQUIRE) == match->digest[1];
}

/* --- Entries ---------------------------------------------------------------------------------- */

/* True if the name is labels up to the root, of n octets in all, in lower case. */
static bool is_name_sound(const uint8_t *name, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			return false; /* a length is at most 63, and 'A' is 65 */
	return name_check(name, n) == (int)n;
}

static int check_entries(struct in *in)
{
	size_t at = 0, n = in->block.n_bytes;

	while (at < n) {
		const struct volley_entry *e = (const struct volley_entry *)(in->buf + at);

		if (!entry_is_sound(e, n - at) || VOLLEY_IS_SHARED(e->key) ||
		    !is_name_sound(e->name, e->key.name_bytes))
			return refuse_snapshot(in, "has an entry that contradicts itself");
		at += e->bytes;
		in->told->n_entries++;
	}
	return 0;
}

/* The coarse second from which the entry is dead; 0: it is dead already, or may be. */
static uint32_t expiry_of(const struct in *in, const struct volley_entry *e)
{
	uint64_t until_s;

	if (e->expires_s == VOLLEY_NEVER)
		return VOLLEY_NEVER;
	if (in->elapsed_s >= e->expires_s)
		return 0;
	until_s = in->source->times.now_s + (e->expires_s - in->elapsed_s);
	return until_s < VOLLEY_NEVER ? (uint32_t)until_s : VOLLEY_NEVER - 1;
}

static int publish_snapshot(struct in *in, const struct volley_entry *e, const struct match *match,
			    uint32_t expires_s)
{
	const uint64_t age_s = e->born_s + (in->elapsed_s == UINT64_MAX ? 0 : in->elapsed_s);
	const struct cache_past past = { .age_s = age_s < UINT32_MAX ? (uint32_t)age_s : UINT32_MAX,
					 .freq = e->freq,
					 .was_kept = e->memory & SNAPSHOT_WAS_MAIN };
	struct cache *cache = in->snapshot->cache;
	const struct volley_entry *present;
	struct cache_answer answer;
	struct cache_key key;

	cache_answer_of(&answer, e, 0);
	answer.zone_slot = match->slot;
	answer.zone_gen = match->gen;
	answer.expires_s = expires_s;
	answer.memory = e->memory & SNAPSHOT_MEMORY ? 1 : 0;
	cache_key_from(&key, cache, &e->key, e->name);
	if (cache_lookup(cache, &key, in->source->times.now_s, false, &present) == CACHE_HIT)
		return -EEXIST;
	return cache_restore(in->source->writer, &key, &answer, &past, in->source->times.now_s);
}

/* True if the answer would be the same now: its zone is unchanged and no other one affects it. */
static bool holds_snapshot(const struct in *in, struct volley_entry *e, const struct match *match)
{
	const uint32_t file_slot = e->zone_slot;
	bool it_does;

	if (!match || !is_still_same(in, match))
		return false;
	e->zone_slot = match->slot;
	it_does = in->source->holds(in->source->holds_user, e);
	e->zone_slot = file_slot;
	return it_does;
}

/* -ENOSPC or -EAGAIN: nothing was done; a later try may succeed. */
static int take_snapshot_entry(struct in *in, struct volley_entry *e)
{
	const struct match *match = match_of(in, e);
	uint32_t expires_s = expiry_of(in, e);
	int err;

	if (!holds_snapshot(in, e, match)) {
		in->told->n_foreign++;
		return 0;
	}
	if (!expires_s) {
		in->told->n_expired++;
		return 0;
	}
	if (in->is_full) {
		in->told->n_no_room++;
		return 0;
	}
	err = publish_snapshot(in, e, match, expires_s);
	in->told->n_loaded += !err;
	in->told->n_present += err == -EEXIST;
	in->told->n_foreign += err == -ESTALE || err == -EINVAL;
	return err == -ENOSPC || err == -EAGAIN ? err : 0;
}

static bool is_of_pass(const struct volley_entry *e, enum pass pass)
{
	bool was_used = e->memory & SNAPSHOT_WAS_MAIN || e->freq;

	return was_used == (pass == PASS_USED);
}

static int take_entries(struct in *in, enum pass pass)
{
	size_t at = 0, n = in->block.n_bytes;
	unsigned int n_waits = 0;

	while (at < n) {
		unsigned int left = SECTION_ENTRIES;
		int err = 0;

		rcu_thread_online();
		for (; at < n && left && !err; left--) {
			struct volley_entry *e = (struct volley_entry *)(in->buf + at);

			if (is_of_pass(e, pass))
				err = take_snapshot_entry(in, e);
			if (err)
				break;
			at += e->bytes;
			n_waits = 0;
		}
		rcu_thread_offline();
		if (__atomic_load_n(in->source->cancel, __ATOMIC_RELAXED))
			return -ECANCELED;
		in->is_full |= err && ++n_waits == WAITS_MAX;
		if (err)
			usleep(1000);
		else
			sched_yield();
	}
	return 0;
}

/* --- The whole -------------------------------------------------------------------------------- */

static int take_block(struct in *in, enum pass pass)
{
	if (in->block.kind == SNAPSHOT_ENTRIES)
		return pass == PASS_CHECK ? check_entries(in) : take_entries(in, pass);
	if (in->block.kind != SNAPSHOT_ZONES)
		return refuse_snapshot(in, "has a block of an unknown kind");
	if (in->at != in->end)
		return refuse_snapshot(in, "has octets after its end");
	return pass == PASS_CHECK ? take_zones(in) : 0;
}

static int go_through(struct in *in, enum pass pass)
{
	int err = read_snapshot_header(in);

	do {
		if (!err)
			err = read_block(in);
		if (!err)
			err = take_block(in, pass);
		if (!err && __atomic_load_n(in->source->cancel, __ATOMIC_RELAXED))
			err = -ECANCELED;
	} while (!err && in->block.kind != SNAPSHOT_ZONES);
	return err;
}

int snapshot_read(struct snapshot *snapshot, const struct snapshot_source *source,
		  struct snapshot_read *told, char *why, size_t why_cap)
{
	struct in in = {
		.snapshot = snapshot, .source = source, .told = told, .why = why, .why_cap = why_cap
	};
	struct stat st;
	int err;

	*told = (struct snapshot_read){ 0 };
	why[0] = '\0';
	if (fstat(source->fd, &st))
		return -errno;
	in.end = st.st_size;
	err = go_through(&in, PASS_CHECK);
	if (!err)
		err = go_through(&in, PASS_USED);
	if (!err)
		err = go_through(&in, PASS_REST);
	free(in.matches);
	free(in.buf);
	return err;
}
