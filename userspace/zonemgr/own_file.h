/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of zones that are ours to write: of primaries, of what we sign, of catalogs that we make. */
#ifndef VOLLEY_ZONEMGR_OWN_FILE_H
#define VOLLEY_ZONEMGR_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "zone/zone.h"

/* As store_write_zone_file(); makes the folder, if its parent is there. Background threads. */
int own_file_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap) __attribute__((warn_unused_result));

#endif
