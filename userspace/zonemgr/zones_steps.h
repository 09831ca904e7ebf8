/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps that zones_poll() and zones_flush() are made of; tests take them one by one. Control's thread. */
#ifndef VOLLEY_ZONEMGR_ZONES_STEPS_H
#define VOLLEY_ZONEMGR_ZONES_STEPS_H

#include "zonemgr/entry.h"

/*
 * Sees to a load of what is there from now on. Returns the number of that load: it is over when
 * n_ended has come so far, which may be at once, when memory is short.
 */
uint64_t zones_ask(struct zones_entry *entry);
/* Cancels what is loaded; nobody hears of its end. */
void zones_forget_load(struct zones_entry *entry);

/* Writes what was made into the journal, once; who cannot have that is told at the next flush. */
void zones_flush_journal(struct zones *zones);
/* Nobody is told of what was made for an entry that goes: done() with ERR_NOT_FOUND at the next flush. */
void zones_forget_made(struct zones *zones, struct zones_entry *entry);

/*
 * Serves what the entries say: those that are answered for, with fresh in place of zone where it is due. When
 * it returns 0 no reader has the zones before, which are freed. On an error of memory nothing has
 * changed; on one of the grace period the new zones serve and the old ones are leaked, not torn.
 */
int zones_publish(struct zones *zones) __attribute__((warn_unused_result));

/*
 * The same for those of the list zones.changed only, which is empty afterwards: their pointers are
 * swapped where they stand. O(changed zones), but where one needs another generation: then all.
 */
int zones_publish_changed(struct zones *zones) __attribute__((warn_unused_result));
/* What the next publish is to serve for it is another version. */
void zones_mark_changed(struct zones *zones, struct zones_entry *entry);
/* Withdraws what the cache holds of zones that are not served (any more). 0 or -ENOMEM. */
int zones_drop_others(struct zones *zones) __attribute__((warn_unused_result));

#endif
