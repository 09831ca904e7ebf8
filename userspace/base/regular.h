/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens regular files for reading, and nothing else. Opening a FIFO waits for a writer and reading
 * a terminal waits for input: control's thread would stop, also for SIGTERM. Opening a device may
 * start an action. All files that a configuration names are opened by these functions, or checked
 * by regular_check() before a library opens them.
 */
#ifndef VOLLEY_BASE_REGULAR_H
#define VOLLEY_BASE_REGULAR_H

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

#endif
