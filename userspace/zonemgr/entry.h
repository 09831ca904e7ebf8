/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One zone that volleyd knows: its configuration, its state, and what its file, the store, the
 * loader and the workers have of it. Only control's thread uses it, and only zonemgr writes to it.
 */
#ifndef VOLLEY_ZONEMGR_ENTRY_H
#define VOLLEY_ZONEMGR_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"
#include "config/config.h"
#include "store/store.h"
#include "zone/zone.h"
#include "zonemgr/load.h"
#include "zonemgr/withdraw.h"
#include "zonemgr/zonefile.h"

struct signing;
struct zones;

enum zones_state {
	ZONES_NEW,     /* not loaded yet: there are no answers for it */
	ZONES_FAILED,  /* nothing to serve: SERVFAIL */
	ZONES_SERVING, /* the content of the file, or its content before the running load */
	ZONES_STALE,   /* an earlier version, because the file cannot be loaded any more */
	ZONES_AWAITED, /* no primary has given it yet: SERVFAIL */
	ZONES_EXPIRED, /* no primary has answered for too long: SERVFAIL */
	ZONES_N_STATES,
};

/* "loading", "failed", ... Static. */
const char *zones_state_text(enum zones_state state);

/*
 * Whether the configuration, a catalog or a command names the zone, and whether it is answered for.
 * A member is never LEAVING: its catalog, or a command, removes it at once.
 *
 *      COMING ─ loaded ─► LISTED ─ configuration without it ─► LEAVING ─ that is loaded ─► GONE
 *         │                 └──────────── its catalog or a command removes it ───────────► GONE
 *         └────────────────────────────── its catalog or a command removes it ───────────► GONE
 *
 *      GONE ─ a publish of all ─► freed;   GONE ─ named again before such a publish ─► COMING
 */
enum zones_life {
	ZONES_COMING,  /* not answered for yet */
	ZONES_LISTED,  /* answered for from the next publish on */
	ZONES_LEAVING, /* the same, but the new configuration does not name it */
	ZONES_GONE,    /* answered for until the next publish */
};

/* The loads of a zone have numbers from 1 on; one runs at a time. n_ended <= n_begun <= n_wanted. A
 * wait for a load ends when n_ended has reached its number. */
struct zones_loading {
	struct load *load;  /* the load that waits for a thread or runs, or NULL */
	struct load *fresh; /* a load that has succeeded and is not published yet, or NULL */
	int code;           /* of the last load */
	bool is_due;        /* the next publish serves `fresh` */
	bool is_changed;    /* the settings have changed since the load began */
	bool is_queued;     /* the next load begins when others have ended: zones.queue */
	uint32_t n_wanted;  /* above n_begun: another load begins when this one ends */
	uint32_t n_begun;
	uint32_t n_ended;
	uint32_t awaited_number; /* the load that the new configuration waits for; 0: none */
};

/*
 * The writing of the zonefile. A second write waits for the first.
 *
 *      IDLE ─ asked for, or its change is old enough ─► WRITING ─ asked for ─► WRITING_AND_DUE
 *        └─ a whole zone from a primary is served ─► DUE ─▲ │ ended              │ ended
 *                                                           ▼                    ▼
 *                                                         IDLE                  DUE
 *
 * After a failure the state is IDLE, and the time of the change is set to now.
 */
enum zones_file_work {
	ZONES_FILE_IDLE,
	ZONES_FILE_DUE, /* the next tick begins it */
	ZONES_FILE_WRITING,
	ZONES_FILE_WRITING_AND_DUE,
};

/* The zonefile: zones_zonefile(). */
struct zones_file {
	struct zonefile_mark mark;            /* of the file as last read or written */
	uint8_t next_digest[ZONE_DIGEST_LEN]; /* of the zone that was last to be written to it */
	uint64_t changed_ns; /* the first change that is not in it; 0: it has all */
	enum zones_file_work work;
	bool is_wrong; /* the last try to load it has failed */
	bool is_other; /* changed by somebody else; stored.error says so */
};

/* Whether the store has `known`. It is read once; after that it is only written. A write leads from
 * every state except UNREAD to CURRENT. */
enum zones_store_state {
	ZONES_STORE_UNREAD,
	ZONES_STORE_CURRENT,
	ZONES_STORE_DUE,       /* it has to be written */
	ZONES_STORE_LIMIT_DUE, /* the same, and the journal drops old changes that the file has */
};

/* The fields of struct store_zone. Most zones are in no catalog, so that part is apart. */
struct zones_known {
	uint32_t serial;
	uint32_t file_serial;
	uint64_t checked_wall_s;
	uint64_t expires_wall_s;
	uint8_t file_digest[ZONE_DIGEST_LEN];
	uint8_t *member; /* catalog, member and group, in the form of known.c; NULL: none */
};

/* The data that the store has, or should have, about the zone. */
struct zones_stored {
	struct zones_known known; /* all except its serial */
	enum zones_store_state state;
	struct zones_entry *next_due; /* from DUE on: the next in the list zones.store_due */
	uint64_t unwritten_bytes; /* octets of changes in the journal that the file does not have */
	struct sentence error;    /* of the journal or the file */
	struct sentence warning;  /* that the journal has little room left for changes */
};

/* The job that turns a version with many changes into one image. */
struct zones_compaction {
	struct load *load;
	struct changeset *since; /* the changes made since it began */
	size_t n, cap;
};

/* The data about the zone in the set and the cache. */
struct zones_published {
	uint32_t slot, gen; /* in the cache */
	uint32_t names_id;  /* of the filter that has all names of `zone`; 0: no filter */
	bool is_changed;    /* it is in the list zones.changed */
	struct zones_entry *next_changed; /* the next in that list */
	uint64_t digest[2];               /* of the served version */
	uint64_t settings;                /* settings_digest of the last publish */
	struct withdrawn *withdrawn;      /* by the last change; NULL: there was none */
};

struct zones_entry {
	/* Walks over all zones read these, so they stand together: lists read the first cache line,
	 * reports the second one, too (zones_walk.c). */
	enum zones_state state;
	unsigned int apex_len;
	const char *name;    /* "example.com.", behind the entry */
	const uint8_t *apex; /* folded wire form, behind the entry */
	struct zones_loading loading;
	struct zone *zone;              /* the served version, or NULL */
	struct sentence error, warning; /* of the last load */
	/* the fault for which zones_stop_denials() was called, or NULL */
	const char *denials_fault;
	/* Not 0: a version with this serial was served, and the served one is not newer, so that
	 * secondaries do not fetch it. */
	uint32_t behind_serial;
	enum zones_life life;
	struct signing *signing; /* the zone is kept signed; NULL: it is not signed here */
	/* shared (config/zone_pool.h): without name and file; zeros only while the entry is made */
	const struct config_zone *config;

	struct zones *owner;
	char *file;             /* NULL only while the entry is made */
	uint32_t at;            /* its place in zones.entries */
	uint64_t configuration; /* the number of the last one that names it */
	bool is_member; /* of a catalog, or added by a command; the configuration does not name it */
	bool is_expired;                 /* from the next publish on it is not served */
	bool is_reconfigured;            /* its settings are other than env.configured was told */
	bool is_tended;                  /* it is in the list zones.tended */
	struct zones_entry *next_tended; /* the next in that list */
	struct zone *edited;             /* a later version, for the next publish, or NULL */
	uint64_t loaded_wall_s;
	uint64_t load_ns;
	/* of the content that the signed zone was made of */
	uint8_t content_digest[ZONE_DIGEST_LEN];
	struct zones_file on_disk;
	struct zones_stored stored;
	struct zones_compaction *compaction; /* NULL: none runs */
	struct zones_published published;
};

static inline bool zones_is_answered(const struct zones_entry *entry)
{
	return entry->life == ZONES_LISTED || entry->life == ZONES_LEAVING;
}

/* A load runs, or waits for others. */
static inline bool zones_is_loading(const struct zones_entry *entry)
{
	return entry->loading.load || entry->loading.is_queued;
}

/* Where the zone comes from: "configuration", "catalog" or "command". Static. */
const char *zones_origin(const struct zones_entry *entry);

/* The zone must not be changed or loaded any more. */
static inline bool zones_is_leaving(const struct zones_entry *entry)
{
	return entry->life >= ZONES_LEAVING;
}

/* stored.known has changed: it is written to the store soon. */
void zones_store_soon(struct zones_entry *entry);
/* There may be something to be done for it: maintenance visits it until there is nothing more. */
void zones_tend(struct zones_entry *entry);

static inline bool zones_is_file_written(const struct zones_entry *entry)
{
	return entry->on_disk.work >= ZONES_FILE_WRITING;
}

/* known.c. Zeros are a known without anything; free(known->member) is its end. */

void zones_known_get(const struct zones_known *known, struct store_zone *out);
/* 0, or -ENOMEM: all but the part about the catalog, which stays as it was. */
int zones_known_set(struct zones_known *known, const struct store_zone *from)
	__attribute__((warn_unused_result));
/* Takes only the part about the catalog. 0, or -ENOMEM: nothing changes. */
int zones_known_set_member(struct zones_known *known, const struct store_zone *from)
	__attribute__((warn_unused_result));
/* True if it is a member of the catalog, a folded wire name. */
bool zones_known_is_of(const struct zones_known *known, const uint8_t *catalog);
/* True if a command has added the zone (zonemgr/added.h). */
bool zones_known_is_added(const struct zones_known *known);
/* store_put_zone() of it. */
int zones_known_put(struct store_batch *batch, const uint8_t *apex, const struct zones_known *known)
	__attribute__((warn_unused_result));

/* A command has added the zone (zonemgr/added.h); the configuration may name it, too. */
static inline bool zones_is_added(const struct zones_entry *entry)
{
	return zones_known_is_added(&entry->stored.known);
}

/* The steps of zones_poll() and zones_flush(), which tests call one by one. Control's thread. */

/* Makes sure that a load follows that begins after this call. Returns its number: it has ended when
 * n_ended has reached it. Without memory that may be at once. */
uint32_t zones_ask(struct zones_entry *entry);
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

/* The same only for the list zones.changed, which is empty afterwards: changes the set in place,
 * and frees members that have gone. O(changed zones), with recursion O(cache) if a zone comes. */
int zones_publish_changed(struct zones *zones) __attribute__((warn_unused_result));
/* The state after a publish of zones_newest(), which may differ from .state after a change of the
 * settings. */
enum zones_state zones_next_state(const struct zones_entry *entry);
/* The zone has another version for the next publish. */
void zones_mark_changed(struct zones *zones, struct zones_entry *entry);
/* Withdraws cached answers of zones that are not served. 0 or -ENOMEM. */
int zones_drop_others(struct zones *zones) __attribute__((warn_unused_result));

#endif
