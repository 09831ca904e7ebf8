/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are read: regular ones, and nothing else. To open a FIFO waits until somebody writes
 * to it, a terminal until somebody types, and with control's thread everything would wait, SIGTERM
 * included. To open a device may set it in motion. All files that a configuration names are opened
 * by these, or asked for by regular_check() before a library opens them.
 */
#ifndef VOLLEY_BASE_REGULAR_H
#define VOLLEY_BASE_REGULAR_H

#include <stdio.h>
#include <sys/stat.h>

/*
 * Opens @path for reading; what it is goes to *@st, unless NULL. A descriptor, or ERR_NOT_REGULAR,
 * -EISDIR, -ENOENT, -EACCES ... Never waits. Any thread.
 */
int regular_open(const char *path, struct stat *st) __attribute__((warn_unused_result));

/* The same as a stream, to be closed by fclose(). 0, -ENOMEM or as above; then *@out is NULL. */
int regular_fopen(FILE **out, const char *path, struct stat *st)
	__attribute__((warn_unused_result));

/* Could it be opened now? 0 or as above. */
int regular_check(const char *path) __attribute__((warn_unused_result));

#endif
