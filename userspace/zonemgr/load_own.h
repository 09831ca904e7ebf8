/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of zones whose file volleyd itself writes: zones from primaries, and produced catalogs.
 * Such a file is used only if it is unchanged since it was written (zonemgr/replay.h): half of a
 * file may also be a valid master file, but the names of its other half would not exist. A lost
 * zone is made or fetched anew. zonemgr/load_signed.h does the same for zones that are signed here.
 */
#ifndef VOLLEY_ZONEMGR_LOAD_OWN_H
#define VOLLEY_ZONEMGR_LOAD_OWN_H

#include "zonemgr/load.h"

/*
 * Called by the loader's threads after reading the file of such a zone into load->zone has ended
 * with @err. 0 with the zone; 0 without a zone: there is no file yet, and a primary will give it; 0
 * with a catalog without members, in place of a file that is missing or not complete (with a
 * warning). Else an error with a sentence: the zone is not served until a primary has given it.
 */
int load_make_own(struct load *load, int err) __attribute__((warn_unused_result));

/* Tells the store the digest of the zone that is about to be written to our file. So the next start
 * accepts the file even if volleyd ends before it notes the write. 0, or as store_commit(). */
int load_announce_own(const struct load *load) __attribute__((warn_unused_result));

/* Adds a warning to those of the load. */
__attribute__((format(printf, 2, 3))) void load_warn(struct load *load, const char *format, ...);

#endif
