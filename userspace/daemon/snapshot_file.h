/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of the cache (cache/snapshot.h) as files.
 *
 *      FILE.tmp, locked, 0600 ─► written ─► fsync ─► rename to FILE ─► fsync of the folder
 *
 * So FILE is always one whole snapshot, the old or the new one. A daemon that dies leaves FILE.tmp,
 * which the next one overwrites. The file's name may come from a command, so the daemon replaces
 * only a file that is a snapshot. If FILE is a link, the file that it leads to is replaced
 * (base/replace.h).
 */
#ifndef VOLLEY_DAEMON_SNAPSHOT_FILE_H
#define VOLLEY_DAEMON_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/snapshot.h"

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

#endif
