/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maintenance of changed zones: it tells the store which versions are served, writes files
 * anew, and turns versions with many changes into one image again.
 *
 *      of the operator   `zone flush` writes the file, and zonefile-sync from time to time
 *      of a primary      the file is ours: written when a whole zone has come, and some time after
 *                        a change
 *      both              the journal has the changes that the file does not have
 *
 * Only zones with something to be done are visited (zones_tend()): zones that have changed and are
 * not written yet, that are signed here, or that have a warning. A million quiet zones cost
 * nothing.
 * Only the write of a file has a due time of its own, which changes with the room in the journal.
 * All other work depends on state of other modules, so a table of due times for each zone would
 * only copy that state.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ZONEMGR_MAINTENANCE_H
#define VOLLEY_ZONEMGR_MAINTENANCE_H

#include "base/background.h"
#include "store/store.h"
#include "zonemgr/zonemgr.h"

struct maintenance;

/* NULL: no memory. @store NULL: nothing is stored. @store and @background have to outlive it. */
struct maintenance *maintenance_new(struct store *store, struct background *background);
/* To be called after background_free(). NULL is allowed. */
void maintenance_free(struct maintenance *maintenance);
/* Sets the zones to work on. */
void maintenance_set_zones(struct maintenance *maintenance, struct zones *zones);

/* For zones_env.served, served_together, gone and gone_together. */
void maintenance_served(struct maintenance *maintenance, struct zones_entry *entry,
			const struct load *fresh);
void maintenance_served_together(struct maintenance *maintenance);
void maintenance_gone(struct maintenance *maintenance, struct zones_entry *entry);
/* 0, or the error of the store, which is logged: then it still has the zones. */
int maintenance_gone_together(struct maintenance *maintenance);

/* Stores what is known of the zones now, instead of soon. 0 or a negative code. Needs a store. */
int maintenance_store(struct maintenance *maintenance) __attribute__((warn_unused_result));

/* A primary has answered for the zone. Seconds since 1970. */
void maintenance_checked(struct zones_entry *entry, uint64_t checked_wall_s,
			 uint64_t expires_wall_s);

/* Writes the zone's file soon. 0, or a negative code with a sentence in err. */
int maintenance_write(struct maintenance *maintenance, struct zones_entry *entry, char *err,
		      size_t err_cap) __attribute__((warn_unused_result));

/* The end of a write: 0, or a negative code. The sentence, if there is one, is the zone's
 * storage_error. @entry NULL: the zone has gone, or the daemon stops. */
typedef void maintenance_done_fn(void *user, const struct zones_entry *entry, int code);

/* After maintenance_write(): done() is called once, when that write has ended. 0 or -ENOMEM. */
int maintenance_await(struct maintenance *maintenance, struct zones_entry *entry,
		      maintenance_done_fn *done, void *user) __attribute__((warn_unused_result));

/* To be called after each publish: tells the store about new zones. */
void maintenance_poll(struct maintenance *maintenance);
/* To be called once a second: does the work that is due at zones_time(). */
void maintenance_tick(struct maintenance *maintenance);

#endif
