/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of zones whose file is ours to write: of primaries, and catalogs that are made here. Such a
 * file is believed only if it is what was written (zonemgr/replay.h): a file that was cut in half
 * is a master file, too, but the names of its other half would not exist. What is lost is made or
 * fetched anew. Zones that are signed here have the same in zonemgr/load_signed.h.
 */
#ifndef VOLLEY_ZONEMGR_LOAD_OWN_H
#define VOLLEY_ZONEMGR_LOAD_OWN_H

#include "zonemgr/load.h"

/*
 * By the loader's threads: @err came of reading the file of such a zone into load->zone. 0 with the
 * zone; 0 without one: there is no file yet, and a primary will give it; 0 with a catalog without
 * members, which takes the place of a file that is not there or is not whole (a warning tells).
 * Else an error with a sentence: nothing is served until a primary has given the zone.
 */
int load_make_own(struct load *load, int err) __attribute__((warn_unused_result));

/*
 * The store is told of what is about to be written to the zone's file, which is ours: so the file
 * is believed at the next start even if nobody comes to note that it was written. 0, or as
 * store_commit().
 */
int load_announce_own(const struct load *load) __attribute__((warn_unused_result));

/* A warning of the load, in the place of others that it may have. */
__attribute__((format(printf, 2, 3))) void load_warn(struct load *load, const char *format, ...);

#endif
