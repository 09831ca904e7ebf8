/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of zones, written: those that are ours (of primaries, of what we sign, of catalogs that we
 * make), and the operator's, which may have been changed by somebody else meanwhile.
 */
#ifndef VOLLEY_ZONEMGR_ZONEFILE_H
#define VOLLEY_ZONEMGR_ZONEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "zone/zone.h"

/* As store_write_zone_file(); makes the folder, if its parent is there. Background threads. */
int zonefile_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap) __attribute__((warn_unused_result));

/*
 * Identifies the content of a file: another mark means that somebody has replaced it or written to
 * it.
 */
struct zonefile_mark {
	uint64_t device, number, n_bytes; /* number 0: there was none */
	struct timespec changed;
};

/* To be taken before the file is read, or when it has been written. */
void zonefile_mark_read(const char *path, struct zonefile_mark *mark);
/* Whether the file is there and has another mark. */
bool zonefile_is_other(const char *path, const struct zonefile_mark *mark);

#endif
