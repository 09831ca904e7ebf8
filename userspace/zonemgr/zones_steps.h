/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps that zones_poll() and zones_flush() are made of; tests take them one by one. Control's
 * thread. */
#ifndef VOLLEY_ZONEMGR_ZONES_STEPS_H
#define VOLLEY_ZONEMGR_ZONES_STEPS_H

#include "zonemgr/entry.h"

/*
 * Sees to a load of what is there from now on. Returns the number of that load: it is over when
 * n_ended has come so far, which may be at once, when memory is short.
 */
uint64_t zones_ask(struct zones_entry *entry);
/* Cancels the load, without a call at its end. */
void zones_forget_load(struct zones_entry *entry);

/*
 * Writes all pending changes to the journal, once; a change that cannot be written fails at the
 * next flush.
 */
void zones_flush_journal(struct zones *zones);
/* The zone is being removed: its pending changes end with done(ERR_NOT_FOUND) at the next flush. */
void zones_forget_made(struct zones *zones, struct zones_entry *entry);

/*
 * Serves what the entries say: those that are answered for, with fresh in place of zone where it is
 * due. When it returns 0 no reader has the zones before, which are freed. On an error of memory
 * nothing has changed; on one of the grace period the new zones serve and the old ones are leaked,
 * not torn.
 */
int zones_publish(struct zones *zones) __attribute__((warn_unused_result));

/*
 * The same for those of the list zones.changed only, which is empty afterwards: their pointers are
 * swapped where they stand. O(changed zones), but where one needs another generation: then all.
 */
int zones_publish_changed(struct zones *zones) __attribute__((warn_unused_result));
/* The next publish serves another version of it. */
void zones_mark_changed(struct zones *zones, struct zones_entry *entry);
/* Withdraws cached answers of zones that are not served, or no longer. 0 or -ENOMEM. */
int zones_drop_others(struct zones *zones) __attribute__((warn_unused_result));

#endif
