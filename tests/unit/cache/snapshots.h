/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From one cache through a file to another one, which has other hash keys and other slots. */
#ifndef VOLLEY_TESTS_CACHE_SNAPSHOTS_H
#define VOLLEY_TESTS_CACHE_SNAPSHOTS_H

#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cache/snapshot.h"
#include "cache/snapshot_format.h"
#include "world.h"

static const struct snapshot_times the_times = { WORLD_NOW_S, 1000000, "this boot......" };
static const bool never;
static char why[128];

static inline int make_file(void)
{
	int fd = memfd_create("snapshot", MFD_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

static inline struct snapshot_written save_at(struct world *w, int fd,
					      const struct snapshot_times *times)
{
	struct snapshot_written told;
	struct snapshot *snapshot;

	MUST(!snapshot_begin(&snapshot, w->cache));
	MUST(!snapshot_write(snapshot, fd, times, &never, &told));
	snapshot_end(snapshot);
	return told;
}

static inline struct snapshot_written save(struct world *w, int fd)
{
	return save_at(w, fd, &the_times);
}

/* But for one number. */
static inline bool holds(void *user, const struct volley_entry *e)
{
	const struct world *w = user;

	MUST(e->zone_slot == w->slot);
	return ntohs(e->ancount) != 60099;
}

static inline int load_begun(struct world *w, struct snapshot *snapshot, int fd,
			     const struct snapshot_times *times, const bool *cancel,
			     struct snapshot_read *told)
{
	const struct snapshot_source source = { .fd = fd,
						.times = *times,
						.writer = w->writer,
						.holds = holds,
						.holds_user = w,
						.cancel = cancel };

	return snapshot_read(snapshot, &source, told, why, sizeof(why));
}

static inline int load_at(struct world *w, int fd, const struct snapshot_times *times,
			  struct snapshot_read *told)
{
	struct snapshot *snapshot;
	int err;

	MUST(!snapshot_begin(&snapshot, w->cache));
	err = load_begun(w, snapshot, fd, times, &never, told);
	snapshot_end(snapshot);
	return err;
}

static inline int load(struct world *w, int fd, struct snapshot_read *told)
{
	return load_at(w, fd, &the_times, told);
}

/* A cache whose zone has another slot and another generation than in that of world_open(). */
static inline void open_other(struct world *w, uint64_t bytes)
{
	struct cache_sizes sizes;

	*w = (struct world){ 0 };
	MUST(!cache_sizes_plan(&sizes, bytes, VOLLEY_DEFAULT_ZONES)); /* a larger table */
	MUST(!cache_memory_anonymous(&w->memory, &sizes));
	world_start(w);
	w->gen = cache_zone_flush(w->cache, w->slot);
}

/* Two caches, in which the zone has other numbers, and an empty file between them. */
struct pair {
	struct world a, b;
	int fd;
};

static inline void pair_open(struct pair *p, uint64_t a_bytes, uint64_t b_bytes)
{
	world_open(&p->a, a_bytes);
	open_other(&p->b, b_bytes);
	MUST(p->a.slot != p->b.slot && p->a.gen != p->b.gen);
	p->fd = make_file();
}

static inline void pair_close(struct pair *p)
{
	world_close(&p->a);
	world_close(&p->b);
	close(p->fd);
}

#endif
