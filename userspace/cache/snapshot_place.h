/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a snapshot is written:
 *
 *      FILE.tmp, locked, 0600 ─► written ─► fsync ─► rename to FILE ─► fsync of the folder
 *
 * So FILE is always one whole snapshot, the old or the new one. A process that dies leaves
 * FILE.tmp, which the next one overwrites. Only a file that is a snapshot, or empty, is replaced.
 * If FILE is a link, the file that it leads to is replaced (base/replace.h).
 * volleyd does this for cache.snapshot, and volleyctl for `cache dump`.
 */
#ifndef VOLLEY_CACHE_SNAPSHOT_PLACE_H
#define VOLLEY_CACHE_SNAPSHOT_PLACE_H

#include <limits.h>
#include <stddef.h>

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
