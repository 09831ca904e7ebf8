/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of zones_poll() and zones_flush(), which tests call one by one. Control's thread. */
#ifndef VOLLEY_ZONEMGR_ZONES_STEPS_H
#define VOLLEY_ZONEMGR_ZONES_STEPS_H

#include "zonemgr/entry.h"

/* Makes sure that a load follows that begins after this call. Returns its number: it has ended when
 * n_ended has reached it. Without memory that may be at once. */
uint64_t zones_ask(struct zones_entry *entry);
/* Cancels the load; no call follows at its end. */
void zones_forget_load(struct zones_entry *entry);

/* Writes all pending changes to the journal that are not there yet. A change that cannot be written
 * fails at the next flush. */
void zones_flush_journal(struct zones *zones);
/* The zone is being removed: its pending changes end with done(ERR_NOT_FOUND) at the next flush. */
void zones_forget_made(struct zones *zones, struct zones_entry *entry);

/*
 * Publishes all entries that are answered for, with `fresh` in place of `zone` if it is due. When
 * it returns 0, no reader has the old zones, and they are freed. After -ENOMEM nothing has changed.
 * After an error of the grace period the new zones serve, and the old ones are leaked, because a
 * reader may still have them.
 */
int zones_publish(struct zones *zones) __attribute__((warn_unused_result));

/* The same only for the list zones.changed, which is empty afterwards: swaps their pointers in the
 * set. O(changed zones). If one needs another generation, all are published. */
int zones_publish_changed(struct zones *zones) __attribute__((warn_unused_result));
/* The zone has another version for the next publish. */
void zones_mark_changed(struct zones *zones, struct zones_entry *entry);
/* Withdraws cached answers of zones that are not served. 0 or -ENOMEM. */
int zones_drop_others(struct zones *zones) __attribute__((warn_unused_result));

#endif
