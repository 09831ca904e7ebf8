/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state behind zonemgr/zonemgr.h, for zonemgr.c (requests), zones_entry.c (one zone and its
 * load), zones_change.c (changes) and zones_publish.c (publishing).
 */
#ifndef VOLLEY_ZONEMGR_ZONES_STATE_H
#define VOLLEY_ZONEMGR_ZONES_STATE_H

#include "base/clock.h"
#include "config/zone_pool.h"
#include "zonemgr/entry.h"
#include "zonemgr/zones_env.h"

/* A call that waits for a reload. */
struct zones_waiter {
	struct zones_waiter *next;
	struct zones_entry *entry; /* for a reload of one zone; else NULL */
	uint64_t number;           /* the load of `entry` that ends the wait */
	int code;
	zones_done_fn *done;
	void *user;
};

/* The zones that a configuration names. */
struct zones_list {
	struct config_zone *zones;
	/* the settings of each, as a reference, once the configuration begins; NULL: not yet */
	const struct config_zone **settings;
	uint32_t n;
	bool is_there;
	bool is_same; /* as the one before, which the entries have */
};

/* Entries whose load begins when others have ended, in the order of asking, from .first to .n. An
 * entry that has gone left NULL behind. */
struct zones_queue {
	struct zones_entry **entries;
	size_t first, n, cap;
};

/* A change that is made but not served yet. */
struct zones_made {
	struct zones_made *next;
	struct zones_entry *entry; /* NULL: the zone has gone */
	struct zone *version;      /* with the change: a reference */
	struct changeset net;
	zones_done_fn *done;
	void *user;
	uint64_t unwritten_bytes; /* stored.unwritten_bytes with this change */
	bool is_journaled;        /* or needs no journal */
	int code;
};

/* The walk that begins a configuration's loads (zones_checks.c), for which it waits, too. */
struct zones_checks {
	size_t at, end;              /* of zones.entries */
	struct file_checks *running; /* a list */
	unsigned int n_running;
	bool is_walking;
	bool is_cancelled;
};

/* Its booleans are facts of their own: about flushes, and about the configuration. */
struct zones {
	struct zones_env env;
	struct clock_now now;   /* zones_set_time() */
	struct zone_pool *pool; /* the settings of all entries */
	struct zones_entry **entries;
	struct zones_entry **by_apex; /* the same, sorted by zones_compare() */
	size_t n, cap;
	size_t n_listed; /* the first entries: those that the last configuration names */

	struct zones_queue queue;
	size_t n_loads; /* entries with a load: at most ZONES_LOADS_MAX, unless memory is short */

	struct zones_waiter *singles;        /* each waits for one zone */
	struct zones_waiter *running;        /* wait for the configuration that is being loaded */
	struct zones_waiter *later;          /* wait for `next` */
	struct zones_list next;              /* the configuration that begins after it */
	uint64_t n_configurations;           /* begun so far: the number of the last one */
	struct zones_made *made, **made_end; /* in the order of the changes */
	struct zones_entry *changed;         /* entries with a new version to publish */
	/* entries with something that the store does not know, and entries that maintenance visits;
	 * in the order of coming */
	struct zones_entry *store_due, **store_due_end;
	struct zones_entry *tended, **tended_end;
	size_t n_tended;
	/* the last publish of all zones, and how long it took: zones_pause_end() */
	uint64_t all_began_ns, all_ended_ns, all_took_ns;
	bool was_all;         /* zones_set_time() has not noted its end yet */
	bool is_poll_due;     /* loads that have ended wait for the end of the pause after it */
	uint64_t flush_at_ns; /* UINT64_MAX: there is nothing to flush */
	uint64_t flushed_ns;  /* when the last flush ended */
	bool was_flushed;     /* zones_set_time() has not noted the end of the flush yet */
	/* until then a flush waits for the cache's filter; 0: it does not */
	uint64_t wait_until_ns;
	bool has_failed; /* the last configuration: the entries have an earlier one */
	bool is_due;     /* all zones have to be published: one has come or gone */
	/* the same at the end of the configuration that is being loaded: a zone has other settings
	 * on which answers depend */
	bool is_all_due;
	/* Memory has ended while a few zones were put into the set: until a publish of all, the set
	 * has some of them, and cached answers of other zones may have to go. */
	bool is_half_put;
	bool has_uncached; /* a zone has no place in the cache; until a publish of all */
	bool is_configuring;
	/* a configuration is loaded, and env.configured was not called yet */
	bool is_configured_due;
	size_t n_awaited; /* entries whose load the configuration still waits for */
	struct zones_checks checks;
};

/* A load has memory of its own, so of a million zones only a few have one at a time. More than the
 * loader's threads can end while control does something else. */
#define ZONES_LOADS_MAX 512u

/* Compares pointers to entries, for qsort(): the order of zones.by_apex, which is the canonical
 * order of names (RFC 4034 section 6.1). */
int zones_compare(const void *a, const void *b);

/* Makes an entry, in no table, for the zone of that name, which is not copied. NULL: no memory. */
struct zones_entry *zones_entry_new(struct zones *zones, const char *name);
/* Forgets what is said of it: errors and warnings. */
void zones_entry_hush(struct zones_entry *entry);
/* Frees it with its zones. Not during a load: zones_forget_load(). */
void zones_entry_free(struct zones_entry *entry);

/* True if the zone stays as it is when its file is unchanged. */
bool zones_may_stay(const struct zones_entry *entry);
/* Begins the loads of the first n entries, those of a configuration. */
void zones_checks_begin(struct zones *zones, size_t n);
/* Before entries that are ZONES_GONE are freed. */
void zones_checks_forget_gone(struct zones *zones);
/* No further load begins. */
void zones_checks_cancel(struct zones *zones);
/* Reads what an earlier daemon has stored of all zones, by one walk: a start does not look up each.
 * After an error each load reads the record of its own zone. */
void zones_recall_all(struct zones *zones);
/* As zones_ask(), for a zone from a transfer. 0: no memory, and the caller keeps the builder. */
uint64_t zones_begin_install(struct zones_entry *entry, struct zone_builder *builder);
/* Notes a change that a running compaction does not have: it is applied to the new image. 0 or
 * -ENOMEM. */
int zones_note_since(struct zones_entry *entry, const struct changeset *net)
	__attribute__((warn_unused_result));
/* No entry waits for its load any more: the loads do not begin. */
void zones_clear_queue(struct zones *zones);
/* The image that a compaction makes is not used. It ends by itself. */
void zones_forget_compaction(struct zones_entry *entry);
/* Loads that end before this time wait for each other: a publish of all zones takes at most a third
 * of control's time, however many zones come one after the other. */
uint64_t zones_pause_end(const struct zones *zones);
/* Makes a flush due soon. */
void zones_flush_soon(struct zones *zones);
/* A publish has failed: a publish of all zones follows somewhat later. */
void zones_flush_again(struct zones *zones);
/* Tells env.configured of the zone's settings. */
void zones_tell_configured(struct zones *zones, struct zones_entry *entry);
/* zones_publish(); then frees zones that are not served any more, and calls env.configured after a
 * new configuration. After an error that still has to be done: zones_flush_again(). */
int zones_publish_all(struct zones *zones) __attribute__((warn_unused_result));
/* To be called after a publish of all: the changes journaled so far are served. */
void zones_made_served(struct zones *zones);
/* All pending changes end with done(-ECANCELED). */
void zones_cancel_made(struct zones *zones);
/* Publishes the result of the running load although no call waits for it. */
void zones_await(struct zones *zones, struct zones_entry *entry);
/* From the next publish on the zone is answered for, with the version that was loaded. */
void zones_enter(struct zones *zones, struct zones_entry *entry);
/* A member was loaded, or goes: that is published soon. */
void zones_member_loaded(struct zones_entry *entry);
/* Frees n members that have gone from the set. */
void zones_remove_gone(struct zones *zones, struct zones_entry *const *gone, size_t n);
/* Members that were loaded are answered for from the next publish on. */
void zones_enter_members(struct zones *zones);

/*
 * Gives the entry its settings, a reference that it takes over, and the file of *config, which is
 * NULL then.
 */
void zones_set_config(struct zones_entry *entry, struct config_zone *config,
		      const struct config_zone *settings);

/* Puts an entry into the table. 0 or -ENOMEM. */
int zones_table_add(struct zones *zones, struct zones_entry *entry)
	__attribute__((warn_unused_result));

/* Takes zones that have gone from store_due and tended, if this one is there: the first call of
 * many takes all. */
void zones_forget_due(struct zones *zones, const struct zones_entry *gone);
void zones_forget_tended(struct zones *zones, const struct zones_entry *gone);

/* The zone of recursion.root-copy: only the resolver asks for it. */
static inline bool zones_is_hidden(const struct zones_entry *entry)
{
	return entry->config->is_root_copy;
}

/* Clients get answers from it, from the next publish on. */
static inline bool zones_is_for_clients(const struct zones_entry *entry)
{
	return zones_is_answered(entry) && !zones_is_hidden(entry);
}

/* The first configuration is being loaded. Until its end nothing is published: a set without its
 * zones would end the answers of an adopted cache for them. */
static inline bool zones_is_starting(const struct zones *zones)
{
	return zones->is_configuring && zones->n_configurations == 1;
}

/* The newest version of a zone, served or not yet. NULL: there is none. */
static inline struct zone *zones_newest(const struct zones_entry *entry)
{
	return entry->edited ? entry->edited : entry->zone;
}

#endif
