/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether zone files have changed since they were read, for a few hundred zones at a time: the work
 * of one load (LOAD_CHECKS), because a load for each of a million unchanged files costs more than
 * the look at the file.
 *
 *	control: file_checks_add() ... ─► loader's thread: file_checks_run() ─► control: .is_changed
 */
#ifndef VOLLEY_ZONEMGR_FILE_CHECKS_H
#define VOLLEY_ZONEMGR_FILE_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zonemgr/zonefile.h"

#define FILE_CHECKS_MAX 512u

struct zones_entry;

struct file_checks {
	struct file_checks *next; /* control's: in its list of those that run */
	uint32_t n;
	char *paths; /* each ends in a zero octet */
	size_t n_bytes, cap;
	struct file_check {
		struct zones_entry *entry; /* control's; NULL: the zone has gone meanwhile */
		struct zonefile_mark mark;
		size_t path; /* its place in .paths */
		bool is_changed;
	} list[FILE_CHECKS_MAX];
};

/* NULL: no memory. */
struct file_checks *file_checks_new(void);
void file_checks_free(struct file_checks *checks);

/* Adds a file with the mark that it had. PATH is copied. False: there is no room, or no memory. */
bool file_checks_add(struct file_checks *checks, struct zones_entry *entry, const char *path,
		     const struct zonefile_mark *mark);

/* Looks at each file, until *cancel. A file that cannot be opened counts as changed. */
void file_checks_run(struct file_checks *checks, const bool *cancel);

#endif
