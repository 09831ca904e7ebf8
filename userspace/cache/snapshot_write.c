/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A walk over the index in parts. Blocks that are full are written between two parts. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "cache/snapshot.h"
#include "cache/snapshot_format.h"
#include "cache/entry_walk.h"
#include "cache/generations.h"

struct out {
	const struct snapshot *snapshot;
	int fd;
	uint32_t now_s;
	uint8_t *buf; /* content of the next block */
	size_t n, cap;
	uint64_t sum; /* of all blocks before it */
	struct snapshot_written *told;
	int err; /* once it is set, nothing more is written */
};

static void write_bytes(struct out *out, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n && !out->err) {
		ssize_t done = write(out->fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			out->err = done ? -errno : -EIO;
			return;
		}
		at += done;
		n -= (size_t)done;
		out->told->n_bytes += (uint64_t)done;
	}
}

static void write_header(struct out *out, const struct snapshot_times *times)
{
	struct snapshot_header header = {
		.magic = SNAPSHOT_MAGIC,
		.version = SNAPSHOT_VERSION,
		.abi = VOLLEY_ABI,
		.wall_s = times->wall_s,
		.now_s = times->now_s,
	};

	memcpy(header.boot_id, times->boot_id, sizeof(header.boot_id));
	header.sum = out->sum = snapshot_header_sum(&header);
	write_bytes(out, &header, sizeof(header));
}

static void write_block(struct out *out, enum snapshot_kind kind)
{
	struct snapshot_block block = { .kind = kind, .n_bytes = (uint32_t)out->n };

	block.sum = out->sum = snapshot_sum(out->sum, &block, out->buf);
	write_bytes(out, &block, sizeof(block));
	write_bytes(out, out->buf, out->n);
	out->n = 0;
}

/* Room for `n` more octets in the block, or NULL. */
static void *take_written_snapshot_room(struct out *out, size_t n)
{
	size_t cap = out->cap ? out->cap : SNAPSHOT_BLOCK_BYTES;
	uint8_t *buf;

	while (cap < out->n + n)
		cap *= 2;
	if (cap != out->cap) {
		buf = realloc(out->buf, cap);
		if (!buf) {
			out->err = -ENOMEM;
			return NULL;
		}
		out->buf = buf;
		out->cap = cap;
	}
	out->n += n;
	return out->buf + out->n - n;
}

static void put_entry(const struct out *out, struct volley_entry *to, const struct volley_entry *e)
{
	entry_copy(to, e);
	to->freq = entry_freq(e);
	to->hash = 0;
	if (e->expires_s != VOLLEY_NEVER)
		to->expires_s = e->expires_s - out->now_s;
	to->born_s = e->born_s < out->now_s ? out->now_s - e->born_s : 0;
	to->memory = (cache_entry_is_main(out->snapshot->cache, e) ? SNAPSHOT_WAS_MAIN : 0) |
		     (e->memory ? SNAPSHOT_MEMORY : 0);
}

static enum walk_step visit_written_snapshot(void *user, const struct volley_entry *e)
{
	struct out *out = user;
	const struct snapshot *snapshot = out->snapshot;
	const struct volley_zone *zone;
	struct volley_entry *to;

	/* A shared answer depends on the filter of names, which does not outlive the program. */
	if (e->zone_slot >= snapshot->n_zones || VOLLEY_IS_SHARED(e->key))
		return WALK_ON;
	zone = &snapshot->zones[e->zone_slot];
	if (zone->gen != e->zone_gen || !snapshot_zone_stands(zone) || out->now_s >= e->expires_s ||
	    cache_zone_has_changed(snapshot->cache, e->zone_slot))
		return WALK_ON;
	to = take_written_snapshot_room(out, e->bytes);
	if (!to)
		return WALK_STOP;
	put_entry(out, to, e);
	out->told->n_entries++;
	return WALK_ON;
}

static void write_entries(struct out *out, const bool *cancel)
{
	struct cache *cache = out->snapshot->cache;
	size_t at = 0, end = cache_walk_end(cache);

	while (at < end && !out->err) {
		rcu_thread_online();
		cache_walk_part(cache, &at, SNAPSHOT_PART_WORDS, visit_written_snapshot, out);
		rcu_thread_offline();
		if (out->n >= SNAPSHOT_BLOCK_BYTES || (at == end && out->n))
			write_block(out, SNAPSHOT_ENTRIES);
		if (__atomic_load_n(cancel, __ATOMIC_RELAXED))
			out->err = -ECANCELED;
		sched_yield();
	}
}

static void write_zones(struct out *out)
{
	const struct snapshot *snapshot = out->snapshot;
	struct snapshot_zone *to;
	uint32_t i;

	for (i = 1; i < snapshot->n_zones && !out->err; i++) {
		const struct volley_zone *zone = &snapshot->zones[i];

		if (!snapshot_zone_stands(zone))
			continue;
		if (cache_zone_has_changed(snapshot->cache, i)) {
			out->told->n_changed++;
			continue;
		}
		to = take_written_snapshot_room(out, sizeof(*to));
		if (!to)
			return;
		*to = (struct snapshot_zone){ .slot = i,
					      .gen = zone->gen,
					      .name_id = { zone->name_id[0], zone->name_id[1] },
					      .digest = { zone->digest[0], zone->digest[1] } };
		out->told->n_zones++;
	}
	if (!out->err)
		write_block(out, SNAPSHOT_ZONES);
}

int snapshot_write(struct snapshot *snapshot, int fd, const struct snapshot_times *times,
		   const bool *cancel, struct snapshot_written *told)
{
	struct out out = { .snapshot = snapshot, .fd = fd, .now_s = times->now_s, .told = told };

	*told = (struct snapshot_written){ 0 };
	write_header(&out, times);
	write_entries(&out, cancel);
	write_zones(&out);
	free(out.buf);
	return out.err;
}
