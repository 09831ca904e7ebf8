/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maintenance of changed zones: the store knows which versions are served, files are written
 * anew, and versions with many changes become one image again.
 *
 *      of the operator   `zone flush` writes the file, and zonefile-sync from time to time; the
 *                        journal has the changes that the file has not
 *      of a primary      the file is ours: written when a whole zone has come, and some time after
 *                        a change; the journal likewise
 *
 * Only the writing of a file is due at a time of its own, and that time changes with the room in
 * the journal. What else is due follows from state that other modules keep, so a table of due times
 * for each zone would only copy it.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ZONEMGR_MAINTENANCE_H
#define VOLLEY_ZONEMGR_MAINTENANCE_H

#include "base/background.h"
#include "store/store.h"
#include "zonemgr/zonemgr.h"

struct maintenance;

/*
 * NULL: no memory. @store may be NULL: then nothing is kept. Both outlive it, and so does
 * @background.
 */
struct maintenance *maintenance_new(struct store *store, struct background *background);
/* After background_free(). NULL is allowed. */
void maintenance_free(struct maintenance *maintenance);
/* From now on the zones are these. */
void maintenance_set_zones(struct maintenance *maintenance, struct zones *zones);

/* As zones_env.served, gone and gone_together. */
void maintenance_served(struct maintenance *maintenance, struct zones_entry *entry,
			const struct load *fresh);
void maintenance_gone(struct maintenance *maintenance, struct zones_entry *entry);
void maintenance_gone_together(struct maintenance *maintenance);

/* The zone's primaries have been heard. Seconds since 1970. */
void maintenance_checked(struct zones_entry *entry, uint64_t checked_wall_s,
			 uint64_t expires_wall_s);

/* Writes the zone's file soon. A sentence in err where that cannot be. */
int maintenance_write(struct maintenance *maintenance, struct zones_entry *entry, char *err,
		      size_t err_cap) __attribute__((warn_unused_result));

/*
 * How a file was written: 0, or a negative code; where the zone has a sentence, that is its
 * storage_error. Without an entry the zone has gone meanwhile, or the daemon stops.
 */
typedef void maintenance_done_fn(void *user, const struct zones_entry *entry, int code);

/*
 * After maintenance_write(): done() is called once, when the file was written that it asked for.
 * -ENOMEM.
 */
int maintenance_await(struct maintenance *maintenance, struct zones_entry *entry,
		      maintenance_done_fn *done, void *user) __attribute__((warn_unused_result));

/* Behind each publish: the store knows of the zones that are new to it. */
void maintenance_poll(struct maintenance *maintenance);
/* Once a second: what is due by zones_time(). */
void maintenance_tick(struct maintenance *maintenance);

#endif
