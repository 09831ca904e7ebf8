/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are replaced as a whole: under the name there is always the old one or the new one,
 * after a crash as well.
 *
 *      replace_open() ─► locked ─► replace_clear() ─► written, fsync() ─► replace_finish() ─► in its place
 *                           └──────────────────────────┴────────────────► replace_drop()
 *
 * All return 0 or -errno, but for what says otherwise. Any thread; one for a path, the others get
 * -EBUSY.
 */
#ifndef VOLLEY_BASE_REPLACE_H
#define VOLLEY_BASE_REPLACE_H

/*
 * Opens the file that stands for the new one until it is whole, to be read and written: made with
 * mode 0600, or what a process that was killed has left, as it is. Never through a link. A
 * descriptor, which has the lock until it is closed, or -errno; -EBUSY: another one writes to it.
 */
int replace_open(const char *tmp) __attribute__((warn_unused_result));
/* Empty from now on, and for this user alone. */
int replace_clear(int fd) __attribute__((warn_unused_result));

/* What is written, and on the disk already, takes the place of PATH, in the same folder. */
int replace_finish(const char *tmp, const char *path) __attribute__((warn_unused_result));
/* Removes it, if it is still there and ours: after an error of any of these. */
void replace_drop(int fd, const char *tmp);

#endif
