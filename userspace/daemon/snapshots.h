/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When snapshots of the cache are written and read: by command, and by the configuration.
 *
 *      cache.snapshot   after the start, unless the maps were adopted ─► loaded in the background
 *                       each cache.snapshot-interval, and at a clean stop ─► written
 *
 * No snapshot is written by interval before the load is over: until then the file has more answers
 * than the cache. One job runs at a time, in a thread of its own (base/background.h); control's
 * thread calls all functions here.
 */
#ifndef VOLLEY_DAEMON_SNAPSHOTS_H
#define VOLLEY_DAEMON_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/snapshot.h"
#include "engine/engine.h"

enum snapshots_kind { SNAPSHOTS_DUMP, SNAPSHOTS_LOAD };

/* The result of a job. */
struct snapshots_result {
	enum snapshots_kind kind;
	const char *path;
	int code;
	const char *why; /* a sentence; "": the code says all */
	struct snapshot_written written;
	struct snapshot_read read;
	uint64_t took_ns;
};

typedef void snapshots_done_fn(void *user, const struct snapshots_result *result);

struct snapshots;

/* 0 or -errno. The cache and the zones that are served outlive it. */
int snapshots_new(struct snapshots **out, struct cache *cache, const struct engine_data *zones)
	__attribute__((warn_unused_result));

/* Gives up a job that runs: its done() gets -ECANCELED. NULL is allowed. */
void snapshots_free(struct snapshots *snapshots);

/* From now on snapshots are of this cache, with the same slots (cache/copy.h). No job runs. */
void snapshots_set_cache(struct snapshots *snapshots, struct cache *cache);

/*
 * While the cache is replaced: new jobs get -EBUSY, and snapshots by the configuration are made
 * later. -EBUSY: a job is running, and nothing has changed.
 */
int snapshots_hold(struct snapshots *snapshots) __attribute__((warn_unused_result));
void snapshots_release(struct snapshots *snapshots);

/* Readable when snapshots_poll() has work to do, which calls done(). */
int snapshots_fd(const struct snapshots *snapshots);
void snapshots_poll(struct snapshots *snapshots);

/*
 * Begins a job on FILE, an open file, which the job takes unless this fails; PATH is its name for
 * sentences. FILE -1: the job opens PATH. done() follows unless this fails: -EBUSY while another
 * one runs, -ENOMEM.
 */
int snapshots_start(struct snapshots *snapshots, enum snapshots_kind kind, const char *path,
		    int file, snapshots_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * Snapshots by the configuration; `path` is copied. interval_s 0: only at the end. `load`: loads
 * the file first. 0 or -errno.
 */
int snapshots_configure(struct snapshots *snapshots, const char *path, uint32_t interval_s,
			bool load, uint64_t now_ns) __attribute__((warn_unused_result));

/* To be called once a second. */
void snapshots_tick(struct snapshots *snapshots, uint64_t now_ns);

/*
 * At a clean stop, when no thread publishes any more: cancels a job that runs, and writes a
 * snapshot if one is configured.
 */
void snapshots_finish(struct snapshots *snapshots);

/* The fault of the last snapshot by the configuration; "": there was none. */
const char *snapshots_error(const struct snapshots *snapshots);

/*
 * Snapshots of the cache (cache/snapshot.h) as files: by name for the configuration
 * (cache/snapshot.h), by a descriptor for a command, whose client has opened the file.
 */

/* Reads the clocks, and the id of this boot. */
void snapshot_file_times(struct snapshot_times *times);

/*
 * As snapshot_write() and snapshot_read(), with a sentence in `why` after every error but
 * -ECANCELED. -EEXIST: the file is no snapshot; -EBUSY: another volleyd writes it; -EPERM: another
 * user may have written it. The caller sets neither fd nor times in `source`.
 */
int snapshot_file_write(const char *path, struct snapshot *snapshot, const bool *cancel,
			struct snapshot_written *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));
int snapshot_file_read(const char *path, struct snapshot *snapshot, struct snapshot_source *source,
		       struct snapshot_read *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

/*
 * The same for an open file, which stays open; `name` is for sentences. Writing: the file must be a
 * snapshot or empty, and the caller syncs and renames it.
 */
int snapshot_file_write_to(int fd, const char *name, struct snapshot *snapshot, const bool *cancel,
			   struct snapshot_written *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));
int snapshot_file_read_from(int fd, const char *name, struct snapshot *snapshot,
			    struct snapshot_source *source, struct snapshot_read *told, char *why,
			    size_t why_cap) __attribute__((warn_unused_result));

#endif
