/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a configuration names: regular_...() opens them, replace_...() replaces them as a
 * whole, writable_...() tells whether they could be written. And files in memory.
 *
 * Opens regular files for reading, and nothing else. Opening a FIFO waits for a writer and reading
 * a terminal waits for input: control's thread would stop, also for SIGTERM. Opening a device may
 * start an action. All files that a configuration names are opened by these functions, or checked
 * by regular_check() before a library opens them.
 */
#ifndef VOLLEY_BASE_FILES_H
#define VOLLEY_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* Opens @path for reading; *@st gets its fstat(), unless NULL. A descriptor, or ERR_NOT_REGULAR,
 * -EISDIR, -ENOENT, -EACCES ... Never waits. Any thread. */
int regular_open(const char *path, struct stat *st) __attribute__((warn_unused_result));

/* The same as a stream; close it by fclose(). 0, -ENOMEM or as above; then *@out is NULL. */
int regular_fopen(FILE **out, const char *path, struct stat *st)
	__attribute__((warn_unused_result));

/* 0 if @st is of a regular file, else -EISDIR or ERR_NOT_REGULAR. Pure. */
int regular_kind(const struct stat *st) __attribute__((warn_unused_result));

/* 0 if it could be opened now, else as above. */
int regular_check(const char *path) __attribute__((warn_unused_result));

/* stat() of a file that could be opened, also by the helper. 0 or -errno. */
int regular_stat(const char *path, struct stat *st) __attribute__((warn_unused_result));

/*
 * A process may have a helper with more rights: another process, which opens only what the
 * configuration names (config/runner.h). It is asked where the kernel says EACCES.
 */

/* Files that include each other; .outer is NULL in the first, which the configuration names. */
struct regular_chain {
	const char *path;
	const struct regular_chain *outer;
};

/* The last file of the chain includes @path. As regular_open(). */
int regular_open_included(const char *path, const struct regular_chain *from, struct stat *st)
	__attribute__((warn_unused_result));

/* Opens the folder @path, to read the names in it. A descriptor or -errno. Never waits. */
int regular_open_folder(const char *path) __attribute__((warn_unused_result));

/* Opens @path for reading, with O_CLOEXEC, or returns a negative code; -EACCES: it may not, either.
 * @from may be NULL. Any thread. */
typedef int regular_helper_fn(void *user, const char *path, const struct regular_chain *from,
			      bool is_folder);

/* From now on this helper is asked; NULL: none. While there is one thread. */
void regular_set_helper(regular_helper_fn *ask, void *user);

/*
 * Replaces files as a whole: under the name there is always the old file or the new one, also after
 * a crash. A rename would put a regular file in the place of a device, a FIFO, a socket or a link,
 * so these functions refuse the first three, and follow a link first.
 *
 *      replace_find() ─► PATH ─► replace_open() ─► locked ─► replace_clear() ─► written, fsync()
 *                                                     │                              │
 *                             replace_drop() ◄────────┴──────────────────────────────┤
 *                                                                replace_finish() ◄──┘
 *
 * All return 0 or -errno unless they say otherwise. Any thread, one for a path; others get -EBUSY.
 */

/*
 * @out gets the path of the file that is to be replaced: @path, or where the symbolic link @path
 * leads to, also if there is no file yet. Only links of root and of this user are followed: in a
 * folder that others may write to, another user could lead a privileged process to any file.
 * 0; ERR_LINK: a link of another user; ERR_NOT_REGULAR: a device, FIFO or socket; -EISDIR, -ELOOP,
 * -ENAMETOOLONG, -EACCES ...
 */
int replace_find(const char *path, char *out, size_t cap) __attribute__((warn_unused_result));

/*
 * Opens the temporary file for reading and writing: a new one with mode 0600, or the one that a
 * killed process of this user has left, unchanged. Never follows a link. Removes a regular file of
 * another user, or with a second name, instead of writing to it. Returns a descriptor, which holds
 * the lock until it is closed, or -errno; -EBUSY: another process or thread writes to it;
 * ERR_NOT_REGULAR: a device, FIFO or socket has this name.
 */
int replace_open(const char *tmp) __attribute__((warn_unused_result));
/* Empties it, and allows it to this user only. */
int replace_clear(int fd) __attribute__((warn_unused_result));

/* Renames the written and synced file to @path, which replace_find() gave, in the same folder.
 * -EISDIR or ERR_NOT_REGULAR, also for a link: by now something else than a file has this name. */
int replace_finish(const char *tmp, const char *path) __attribute__((warn_unused_result));
/* Removes the file if it is still there and ours. Call it after an error of any of these. */
void replace_drop(int fd, const char *tmp);

/*
 * Tells whether files could be written that a part will only open later: an output of the log kind,
 * which is appended to or truncated, and a file that replace_...() puts in place as a whole. No
 * file is made and no content is changed, so a check may run beside a daemon that has the file
 * open.
 *
 * All return 0, or the negative code with which the opening would end: -ENOENT (no such folder),
 * -EACCES, -EROFS, -EISDIR, -ENXIO (a Unix socket) ... Any thread.
 */

/*
 * 0 if this process could open @path for writing, or make it. A FIFO and a device are not opened:
 * for them 0 says that the permissions suffice.
 */
int writable_check(const char *path) __attribute__((warn_unused_result));

/* 0 if this process could replace @path, or make it: the same folder takes a temporary file. */
int writable_check_replaced(const char *path) __attribute__((warn_unused_result));

/*
 * Opens a new file in memory for reading and writing, with these flags of memfd_create() beside
 * close-on-exec. Nobody can execute it, where the kernel can say so (Linux 6.3): some hosts refuse
 * other files in memory (vm.memfd_noexec). A descriptor, or -errno. Any thread.
 */
int memory_file_open(const char *name, unsigned int flags) __attribute__((warn_unused_result));

/* Makes a file that was opened with MFD_ALLOW_SEALING final: nobody can change its octets or its
 * length any more, also not its owner. 0 or -errno. Any thread. */
int memory_file_seal(int fd) __attribute__((warn_unused_result));
/* True for a file in memory that is final; false for each other file. Any thread. */
bool memory_file_is_sealed(int fd);

/*
 * True for a final file in memory of root, or of the owner of the file at PATH: the operator's,
 * though another process has passed it. The owner alone is no proof: that process may write to a
 * file in memory that root has passed to it, and its /proc/self/cmdline, whose octets are in its
 * memory, belongs to root if it is not dumpable. Any thread.
 */
bool memory_file_is_of_owner(int fd, const char *path);

#endif
