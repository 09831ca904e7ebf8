/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of the cache (cache/snapshot.h) as files.
 *
 *      FILE.tmp, locked, 0600 ─► written ─► fsync ─► rename to FILE ─► fsync of the folder
 *
 * So FILE is at every moment the old snapshot or the new one, whole. A daemon that dies leaves
 * FILE.tmp, which the next one overwrites. The file's name comes from a command, so the daemon
 * replaces no file but a snapshot.
 */
#ifndef VOLLEY_DAEMON_SNAPSHOT_FILE_H
#define VOLLEY_DAEMON_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/snapshot.h"

/* The clocks now, and which boot this is. */
void snapshot_file_times(struct snapshot_times *times);

/*
 * Both as snapshot_write() and snapshot_read(), with a sentence in `why` after every error but
 * -ECANCELED. -EEXIST: there is something else under that name; -EBUSY: another volleyd writes to
 * it; -EPERM: another user may have written the file. `source` comes without fd
 * and times.
 */
int snapshot_file_write(const char *path, struct snapshot *snapshot, const bool *cancel,
			struct snapshot_written *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));
int snapshot_file_read(const char *path, struct snapshot *snapshot, struct snapshot_source *source,
		       struct snapshot_read *told, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

#endif
