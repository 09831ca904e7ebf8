/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps changed zones fit for the next start, and in good shape: the store knows what is served,
 * files are written anew, versions with many changes become one image again.
 *
 *      of the operator   the file is his: it is written by `zone flush` only, unless he gives
 *                        zonefile-sync; the journal has the rest
 *      of a primary      the file is ours: written when a whole zone has come, and some time after a
 *                        change; the journal has what it has not
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ZONEMGR_UPKEEP_H
#define VOLLEY_ZONEMGR_UPKEEP_H

#include "base/background.h"
#include "zonemgr/zones.h"
#include "store/store.h"

struct upkeep;

/* NULL: no memory. @store may be NULL: then nothing is kept. Both outlive it, and so does @background. */
struct upkeep *upkeep_new(struct store *store, struct background *background);
/* After background_free(). NULL is allowed. */
void upkeep_free(struct upkeep *upkeep);
/* From now on the zones are these. */
void upkeep_set_zones(struct upkeep *upkeep, struct zones *zones);

/* As zones_env.served, gone and gone_together. */
void upkeep_served(struct upkeep *upkeep, struct zones_entry *entry, const struct load *fresh);
void upkeep_gone(struct upkeep *upkeep, struct zones_entry *entry);
void upkeep_gone_together(struct upkeep *upkeep);

/* The zone's primaries have been heard. Seconds since 1970. */
void upkeep_checked(struct zones_entry *entry, uint64_t checked_wall_s, uint64_t expires_wall_s);

/* Writes the zone's file soon. A sentence in err where that cannot be. */
int upkeep_write(struct upkeep *upkeep, struct zones_entry *entry, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * How a file was written: 0, or a negative code; where the zone has a sentence, that is its
 * storage_error. Without an entry the zone has gone meanwhile, or the daemon stops.
 */
typedef void upkeep_done_fn(void *user, const struct zones_entry *entry, int code);

/* After upkeep_write(): done() is called once, when the file was written that it asked for. -ENOMEM. */
int upkeep_await(struct upkeep *upkeep, struct zones_entry *entry, upkeep_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/* Behind each publish: the store knows of the zones that are new to it. */
void upkeep_poll(struct upkeep *upkeep);
/* Once a second: what is due by zones_time(). */
void upkeep_tick(struct upkeep *upkeep);

#endif
