/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells whether files could be written that a part will only open later: an output of the log kind,
 * which is appended to or truncated, and a file that base/replace.h puts in place as a whole. No
 * file is made and no content is changed, so a check may run beside a daemon that has the file
 * open.
 *
 * All return 0, or the negative code with which the opening would end: -ENOENT (no such folder),
 * -EACCES, -EROFS, -EISDIR, -ENXIO (a Unix socket) ... Any thread.
 */
#ifndef VOLLEY_BASE_WRITABLE_H
#define VOLLEY_BASE_WRITABLE_H

/*
 * 0 if this process could open @path for writing, or make it. A FIFO and a device are not opened:
 * for them 0 says that the permissions suffice.
 */
int writable_check(const char *path) __attribute__((warn_unused_result));

/* 0 if this process could replace @path, or make it: the same folder takes a temporary file. */
int writable_check_replaced(const char *path) __attribute__((warn_unused_result));

#endif
