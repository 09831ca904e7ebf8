/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing zone files: our own (of zones from primaries, signed zones and produced catalogs), and
 * the operator's, which somebody else may have changed meanwhile.
 */
#ifndef VOLLEY_ZONEMGR_ZONEFILE_H
#define VOLLEY_ZONEMGR_ZONEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "zone/zone.h"

/* As store_write_zone_file(), but makes the folder if its parent exists. Background threads. */
int zonefile_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap) __attribute__((warn_unused_result));

/* Identifies the content of a file: with another mark the file was replaced or written to. */
struct zonefile_mark {
	uint64_t device, number, n_bytes; /* number 0: there was no file */
	struct timespec changed;
};

/* Reads the mark: before the file is read, or after it was written. */
void zonefile_mark_read(const char *path, struct zonefile_mark *mark);
/* True if the file exists and has another mark. */
bool zonefile_is_other(const char *path, const struct zonefile_mark *mark);

#endif
