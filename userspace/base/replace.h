/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces files as a whole: under the name there is always the old file or the new one, also after
 * a crash.
 *
 *      replace_open() ─► locked ─► replace_clear() ─► written, fsync() ─► replace_finish()
 *                           └──────────────────────────┴────────────────► replace_drop()
 *
 * All return 0 or -errno unless they say otherwise. Any thread, one for a path; others get -EBUSY.
 */
#ifndef VOLLEY_BASE_REPLACE_H
#define VOLLEY_BASE_REPLACE_H

/*
 * Opens the temporary file for reading and writing: a new one with mode 0600, or the one that a
 * killed process has left, unchanged. Never follows a link. Returns a descriptor, which holds the
 * lock until it is closed, or -errno; -EBUSY: another process or thread writes to it.
 */
int replace_open(const char *tmp) __attribute__((warn_unused_result));
/* Empties it, and allows it to this user only. */
int replace_clear(int fd) __attribute__((warn_unused_result));

/* Renames the written and synced file to PATH, which must be in the same folder. */
int replace_finish(const char *tmp, const char *path) __attribute__((warn_unused_result));
/* Removes the file if it is still there and ours. Call it after an error of any of these. */
void replace_drop(int fd, const char *tmp);

#endif
