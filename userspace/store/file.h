/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone's file, written while the daemon runs: under its name there is always the old one or the
 * new one, as a whole, after a crash as well.
 */
#ifndef VOLLEY_STORE_FILE_H
#define VOLLEY_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "zone/zone.h"

#define STORE_FILE_TMP ".volley-tmp" /* behind the name, while it is written */

/*
 * Writes @z as a master file (zone/dump.h) beside @path, then to the disk, then in its place; mode
 * and, where that is allowed, owner of the file before stay, a new one gets 0644. Where @path is a
 * link, the file that it leads to is replaced. What a process that was killed has left is
 * overwritten. Reads @z only; any thread, one for a path (another one, or another process, gets
 * -EBUSY). Ends early with -ECANCELED when @cancel, unless NULL, becomes true.
 *
 * 0, or -ENOSPC, -EROFS, -EACCES, -ENOMEM ...: then the old file is in place, nothing is left
 * beside it, and a sentence goes to @why.
 */
int store_write_zone_file(const struct zone *z, const char *path, const bool *cancel, char *why,
			  size_t why_cap) __attribute__((warn_unused_result));

#endif
