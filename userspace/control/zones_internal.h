/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What zones.c (who asks for what), zones_entry.c (one zone, and its load) and zones_publish.c (what
 * is served) share.
 */
#ifndef VOLLEY_CONTROL_ZONES_INTERNAL_H
#define VOLLEY_CONTROL_ZONES_INTERNAL_H

#include "control/zones.h"

/* Somebody who waits for a reload. */
struct zones_waiter {
	struct zones_waiter *next;
	struct zones_entry *entry; /* of a single zone */
	uint64_t number;           /* the load of it that ends the wait */
	int code;
	zones_done_fn *done;
	void *user;
};

/* The zones that a configuration names. */
struct zones_list {
	struct config_zone *zones;
	uint32_t n;
	bool is_there;
};

struct zones {
	struct zones_env env;
	struct zones_entry **entries;
	struct zones_entry **by_apex; /* the same, sorted by zones_compare() */
	size_t n;

	struct zones_waiter *singles; /* for one zone each */
	struct zones_waiter *running; /* for the configuration that is being loaded */
	struct zones_waiter *later;   /* for the next one, which begins behind it */
	struct zones_list next;       /* what it says */
	bool is_configuring;
	size_t n_awaited; /* entries whose load the configuration still waits for */
};

/* Of pointers to entries, for qsort(): the order of zones.by_apex. */
int zones_compare(const void *a, const void *b);

/* By presentation form, any case, with or without the last dot. NULL: none. */
struct zones_entry *zones_get(const struct zones *zones, const char *name);

/* One for the zone of that name, which is not kept, in no table. NULL: no memory. */
struct zones_entry *zones_entry_new(struct zones *zones, const char *name);
/* With its zones. Not while it is loaded: zones_forget_load(). */
void zones_entry_free(struct zones_entry *entry);

/*
 * Sees to a load of what is there from now on. Returns the number of that load: it is over when
 * n_ended has come so far, which may be at once, when memory is short.
 */
uint64_t zones_ask(struct zones_entry *entry);
/* Cancels the load; nobody hears of its end. The zone that it compares with goes with it. */
void zones_forget_load(struct zones_entry *entry);

/*
 * Serves what the entries say: those with in_set, with fresh in place of zone where it is due. When
 * it returns 0 no reader has the zones before, which are freed. On an error of memory nothing has
 * changed; on one of the grace period the new zones serve and the old ones are leaked, not torn.
 */
int zones_publish(struct zones *zones) __attribute__((warn_unused_result));

/* Withdraws what the cache holds of zones that are not served (any more). 0 or -ENOMEM. */
int zones_drop_others(struct zones *zones) __attribute__((warn_unused_result));

#endif
