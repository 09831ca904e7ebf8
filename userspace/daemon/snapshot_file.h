/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of the cache (cache/snapshot.h) as files: by name for the configuration
 * (cache/snapshot.h), by a descriptor for a command, whose client has opened the file.
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
