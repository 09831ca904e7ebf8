/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of zones, written: those that are ours (of primaries, of what we sign, of catalogs that we make), and the
 * operator's, which may have been changed by somebody else meanwhile.
 */
#ifndef VOLLEY_ZONEMGR_OWN_FILE_H
#define VOLLEY_ZONEMGR_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "zone/zone.h"

/* As store_write_zone_file(); makes the folder, if its parent is there. Background threads. */
int own_file_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap) __attribute__((warn_unused_result));

/* By which a file that somebody has replaced or written to is told from the one that was looked at. */
struct own_file_mark {
	uint64_t device, number, n_bytes; /* number 0: there was none */
	struct timespec changed;
};

/* To be taken before the file is read, or when it has been written. */
void own_file_look(const char *path, struct own_file_mark *mark);
/* One that is not there is nobody's. */
bool own_file_is_other(const char *path, const struct own_file_mark *mark);

#endif
