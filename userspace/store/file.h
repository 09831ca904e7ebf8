/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a zone's file while the daemon runs: under its name there is always the whole old file or
 * the whole new one, also after a crash. */
#ifndef VOLLEY_STORE_FILE_H
#define VOLLEY_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "zone/zone.h"

#define STORE_FILE_TMP ".volley-tmp" /* after the name, while it is written */

/*
 * Writes @z as a master file (zone/dump.h) beside @path, syncs it, and renames it to @path. Keeps
 * the mode of the old file and, if allowed, its owner; a new file gets 0644. If @path is a link,
 * the file that it leads to is replaced (base/replace.h). Overwrites the remains of a killed
 * process. Only reads @z. Any thread, one for a path; a second thread or process gets -EBUSY. Ends
 * early with -ECANCELED if @cancel, unless NULL, becomes true.
 *
 * 0, or -ENOSPC, -EROFS, -EACCES, -ENOMEM ... with a message in @why: then the old file is in
 * place, and nothing is left beside it.
 */
int store_write_zone_file(const struct zone *z, const char *path, const bool *cancel, char *why,
			  size_t why_cap) __attribute__((warn_unused_result));

#endif
