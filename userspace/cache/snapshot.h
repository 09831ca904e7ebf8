/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers of a cache in a file, so that they outlive a reboot.
 *
 *      header │ block of entries │ ... │ block of entries │ block of zones
 *               sum ──────────────────► sum ─────────────► sum, of the whole
 *
 * An entry lies in the file as in the store (xdp/abi.h), with times that are made relative. The
 * blocks' checksums go on from one another, so the last stands for the whole file; it is no
 * signature: who may write the file may put any answer in it.
 *
 * A zone is told by the hash of its apex and the digest of its generation (generations.h), which
 * stands for content, settings and the rules of rendering. Answers are taken back only for a zone
 * that has the same digest again, and if they hold beside the other zones. The zones come last,
 * since one that changes while the file is written is left out.
 *
 * What expires does so by a clock that starts at boot. Within one boot this clock says how much
 * time has passed, else the wall clock; where that has gone backwards nobody knows, and what
 * expires is not taken back.
 */
#ifndef VOLLEY_CACHE_SNAPSHOT_H
#define VOLLEY_CACHE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"

/* The moment of writing or reading, by all clocks. */
struct snapshot_times {
	uint32_t now_s; /* clock_coarse_s() */
	uint64_t wall_s;
	uint8_t boot_id[16]; /* of this run of the kernel */
};

/* What was written. */
struct snapshot_written {
	uint64_t n_entries;
	uint64_t n_bytes; /* of the file */
	uint32_t n_zones;
	uint32_t n_changed; /* zones that are left out, since they changed meanwhile */
};

/* What became of each entry of a file. */
struct snapshot_read {
	uint64_t n_entries;
	uint64_t n_loaded;
	uint64_t n_present; /* there was a valid answer for the key */
	/* its zone is not served, or has another content; or it does not hold */
	uint64_t n_foreign;
	uint64_t n_expired;
	uint64_t n_no_room;
};

/*
 * Whether an answer of a zone whose content is the same still holds beside the other zones that
 * there are; zone_slot is this cache's. Called in the read section in which it is published.
 */
typedef bool snapshot_holds_fn(void *user, const struct volley_entry *entry);

/* From where a snapshot is read, and by whom. */
struct snapshot_source {
	int fd; /* can be read from any offset */
	struct snapshot_times times;
	struct cache_writer *writer; /* of the thread */
	snapshot_holds_fn *holds;
	void *holds_user;
	const bool *cancel;
};

/* The zones as they are now, for a snapshot that is written or read by another thread. */
struct snapshot;

/*
 * In the thread that calls cache/generations.h; one at a time (-EBUSY). -ENOMEM. `end` is called in
 * the same thread, when the other has done; NULL is allowed.
 */
int snapshot_begin(struct snapshot **out, struct cache *cache) __attribute__((warn_unused_result));
void snapshot_end(struct snapshot *snapshot);

/*
 * Writes all valid answers to `fd`, from its position on. Any QSBR thread that is offline; it stays
 * in no read section for long. 0, -errno, or -ECANCELED soon after *cancel became true: then what
 * is in the file is no snapshot.
 */
int snapshot_write(struct snapshot *snapshot, int fd, const struct snapshot_times *times,
		   const bool *cancel, struct snapshot_written *told)
	__attribute__((warn_unused_result));

/*
 * Reads a whole file and publishes its answers, those in use first; a valid answer that is there
 * stays. The thread is as above. Where there is no room it waits for the keeper, a little.
 *
 * The whole file is checked before the first answer is published. ERR_SNAPSHOT: it is foreign, cut
 * or altered, and nothing was published (or, if somebody wrote to it meanwhile, nothing behind that
 * place); `why` says so: "is cut short ...". -errno; -ECANCELED as above: what was published stays.
 */
int snapshot_read(struct snapshot *snapshot, const struct snapshot_source *source,
		  struct snapshot_read *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

/*
 * Whether `fd` begins as a snapshot of any version does, or is empty; so whether a snapshot may
 * take its place.
 */
bool snapshot_is_one(int fd);

#endif
