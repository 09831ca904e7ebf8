/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file with the answers of a cache, so that they outlive a reboot.
 *
 *      header │ block of entries │ ... │ block of entries │ block of zones
 *               sum ──────────────────► sum ─────────────► sum, of the whole
 *
 * An entry lies in the file as in the store (xdp/abi.h), but with relative times. The checksum of
 * each block includes the one before, so the last covers the whole file. It is no signature: a user
 * that may write the file may put any answer in it.
 *
 * A zone is identified by the hash of its apex and the digest of its generation (generations.h),
 * which stands for content, settings and the rules of rendering. Answers are loaded only for a zone
 * that has the same digest again, and only if they are still right beside the other zones. The
 * zones come last, since a zone that changes while the file is written is left out.
 *
 * Answers expire by a clock that starts at boot. Within one boot this clock tells how much time has
 * passed, else the wall clock does. If the wall clock has gone backwards, the time is unknown, and
 * answers that expire are not loaded.
 */
#ifndef VOLLEY_CACHE_SNAPSHOT_H
#define VOLLEY_CACHE_SNAPSHOT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"

/* The time of writing or reading, by all clocks. */
struct snapshot_times {
	uint32_t now_s; /* clock_coarse_s() */
	uint64_t wall_s;
	uint8_t boot_id[16]; /* of this run of the kernel */
};

/* The counts of a snapshot that was written. */
struct snapshot_written {
	uint64_t n_entries;
	uint64_t n_bytes; /* of the file */
	uint32_t n_zones;
	uint32_t n_changed; /* zones left out, since they changed meanwhile */
};

/* The entries of a file, by their fate. */
struct snapshot_read {
	uint64_t n_entries;
	uint64_t n_loaded;
	uint64_t n_present; /* the key already had a valid answer */
	/* its zone is not served or has other content, or the answer does not hold */
	uint64_t n_foreign;
	uint64_t n_expired;
	uint64_t n_no_room;
};

/*
 * True if an answer of an unchanged zone is still right beside the other zones of now. Its
 * zone_slot is already this cache's. Called in the read section in which the answer is published.
 */
typedef bool snapshot_holds_fn(void *user, const struct volley_entry *entry);

/* The file of a snapshot, and its reader. */
struct snapshot_source {
	int fd; /* it can be read from any offset */
	struct snapshot_times times;
	struct cache_writer *writer; /* of the reading thread */
	snapshot_holds_fn *holds;
	void *holds_user;
	const bool *cancel;
};

/* The zones at snapshot_begin(), for another thread that writes or reads a snapshot. */
struct snapshot;

/*
 * Only the thread that calls cache/generations.h. One snapshot at a time (-EBUSY). -ENOMEM. The
 * same thread calls `end` when the other thread has finished; NULL is allowed.
 */
int snapshot_begin(struct snapshot **out, struct cache *cache) __attribute__((warn_unused_result));
void snapshot_end(struct snapshot *snapshot);

/*
 * Writes all valid answers to `fd`, from its position on. Any QSBR thread that is offline; its read
 * sections are short. 0, -errno, or -ECANCELED soon after *cancel became true: then the file holds
 * no snapshot.
 */
int snapshot_write(struct snapshot *snapshot, int fd, const struct snapshot_times *times,
		   const bool *cancel, struct snapshot_written *told)
	__attribute__((warn_unused_result));

/*
 * Reads a whole file and publishes its answers, the most used first. A valid answer in the cache
 * stays. Same thread as above. If there is no room, it waits a little for the keeper.
 *
 * The whole file is checked before the first answer is published. ERR_SNAPSHOT: the file is
 * foreign, cut or altered, and `why` has the reason ("is cut short ..."). Nothing was published; if
 * the file was written to meanwhile, nothing after that place. -errno. -ECANCELED as above:
 * published answers stay.
 */
int snapshot_read(struct snapshot *snapshot, const struct snapshot_source *source,
		  struct snapshot_read *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

/* True if a snapshot may replace `fd`: it begins like one, of any version, or is empty. */
bool snapshot_is_one(int fd);

/*
 * Where a snapshot is written:
 *
 *      FILE.tmp, locked, 0600 ─► written ─► fsync ─► rename to FILE ─► fsync of the folder
 *
 * So FILE is always one whole snapshot, the old or the new one. A process that dies leaves
 * FILE.tmp, which the next one overwrites. Only a file that is a snapshot, or empty, is replaced.
 * If FILE is a link, the file that it leads to is replaced (base/files.h).
 * volleyd does this for cache.snapshot, and volleyctl for `cache dump`.
 */

#define SNAPSHOT_PLACE_TMP ".tmp"

struct snapshot_place {
	char target[PATH_MAX]; /* FILE, or where this link leads to */
	char tmp[PATH_MAX + sizeof(SNAPSHOT_PLACE_TMP)];
};

/*
 * Opens FILE.tmp for PATH, empty. A descriptor; or a negative code with a sentence in `why`.
 * -EEXIST: PATH, or FILE.tmp, is no snapshot; -EBUSY: another process writes it.
 */
int snapshot_place_open(struct snapshot_place *place, const char *path, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

/* Syncs and renames the written file. 0, or a negative code with a sentence; then it is removed. */
int snapshot_place_finish(const struct snapshot_place *place, int fd, const char *path, char *why,
			  size_t why_cap) __attribute__((warn_unused_result));

/* Writes a sentence for ERR, and returns ERR. 0: nothing is written. */
int snapshot_place_say(int err, const char *path, char *why, size_t why_cap);

#endif
