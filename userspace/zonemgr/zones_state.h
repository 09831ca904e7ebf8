/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state behind zonemgr/zonemgr.h, for zonemgr.c (requests), zones_entry.c (one zone, and its
 * load), zones_change.c (changes) and zones_publish.c (what is served).
 */
#ifndef VOLLEY_ZONEMGR_ZONES_STATE_H
#define VOLLEY_ZONEMGR_ZONES_STATE_H

#include "base/clock.h"
#include "zonemgr/entry.h"
#include "zonemgr/zones_env.h"

/* A call that waits for a reload. */
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

/* A change that is made, but not served yet. */
struct zones_made {
	struct zones_made *next;
	struct zones_entry *entry; /* NULL: it has gone */
	struct zone *version;      /* that it made: a reference */
	struct changeset net;
	zones_done_fn *done;
	void *user;
	uint64_t unwritten_bytes; /* with it: as in the entry */
	bool is_journaled;        /* or there is no journal */
	int code;
};

struct zones {
	struct zones_env env;
	struct clock_now now; /* zones_set_time() */
	struct zones_entry **entries;
	struct zones_entry **by_apex; /* the same, sorted by zones_compare() */
	size_t n, cap;

	struct zones_waiter *singles;        /* for one zone each */
	struct zones_waiter *running;        /* for the configuration that is being loaded */
	struct zones_waiter *later;          /* for the next one, which begins behind it */
	struct zones_list next;              /* what it says */
	uint64_t n_configurations;           /* that were begun: the last one has this number */
	struct zones_made *made, **made_end; /* in the order of their making */
	struct zones_entry *changed;         /* those with a version to be served */
	uint64_t flush_at_ns;                /* UINT64_MAX: nothing is to be flushed */
	uint64_t flushed_ns;                 /* when the last one ended, */
	bool was_flushed;                    /* which zones_set_time() has not noted yet */
	uint64_t wait_until_ns;              /* for the cache's filter; 0: a flush need not wait */
	bool is_due;                         /* all are to be published: one has come or gone */
	bool is_configuring;
	/* a configuration is complete, and env.configured is still to be called */
	bool is_configured_due;
	size_t n_awaited; /* entries whose load the configuration still waits for */
};

/* Of pointers to entries, for qsort(): the order of zones.by_apex. */
int zones_compare(const void *a, const void *b);

/* One for the zone of that name, which is not kept, in no table. NULL: no memory. */
struct zones_entry *zones_entry_new(struct zones *zones, const char *name);
/* With its zones. Not while it is loaded: zones_forget_load(). */
void zones_entry_free(struct zones_entry *entry);

/* As zones_ask(), of what a transfer brought. 0: no memory, and the builder is still the
 * caller's. */
uint64_t zones_begin_install(struct zones_entry *entry, struct zone_builder *builder);
/* A compaction that runs does not have this change, which has to follow it. 0 or -ENOMEM. */
int zones_note_since(struct zones_entry *entry, const struct changeset *net)
	__attribute__((warn_unused_result));
/* zones_flush_at() is not far. */
void zones_flush_soon(struct zones *zones);
/* A publish has failed: one of all follows, somewhat later. */
void zones_flush_again(struct zones *zones);
/*
 * zones_publish(), and then what nobody serves any more goes, and those of a new configuration are
 * told that they are. After an error that is still to be done: zones_flush_again().
 */
int zones_publish_all(struct zones *zones) __attribute__((warn_unused_result));
/* All changes that were journaled so far are served: behind a publish of all. */
void zones_made_served(struct zones *zones);
/* All pending changes end with done(-ECANCELED). */
void zones_cancel_made(struct zones *zones);
/* The result of the running load is published, though no call waits for it. */
void zones_await(struct zones *zones, struct zones_entry *entry);
/* It is answered for from the next publish on, with what it has loaded. */
void zones_enter(struct zones *zones, struct zones_entry *entry);
/* A member has been read, or goes: all are published, soon. */
void zones_member_loaded(struct zones *zones);

/* Takes over the configuration of the zone; *config is zeros then. */
void zones_set_config(struct zones_entry *entry, struct config_zone *config);

/* Puts an entry into the table. 0 or -ENOMEM. */
int zones_table_add(struct zones *zones, struct zones_entry *entry)
	__attribute__((warn_unused_result));

/* The zone of recursion.root-copy: only the resolver asks for it. */
static inline bool zones_is_hidden(const struct zones_entry *entry)
{
	return entry->config->is_root_copy;
}

/* Clients are answered from it, from the next publish on. */
static inline bool zones_is_for_clients(const struct zones_entry *entry)
{
	return zones_is_answered(entry) && !zones_is_hidden(entry);
}

/* The newest version of a zone, served or not yet. NULL: there is none. */
static inline struct zone *zones_newest(const struct zones_entry *entry)
{
	return entry->edited ? entry->edited : entry->zone;
}

#endif
