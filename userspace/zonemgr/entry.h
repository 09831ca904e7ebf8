/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One zone that is known here: what is said of it, where it stands between what is said and what is
 * served, and what its file, the store, the loader and the workers have of it. Control's thread
 * alone reads and writes it; all but zonemgr only read.
 */
#ifndef VOLLEY_ZONEMGR_ENTRY_H
#define VOLLEY_ZONEMGR_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "store/store.h"
#include "zone/zone.h"
#include "zonemgr/load.h"
#include "zonemgr/withdraw.h"
#include "zonemgr/zonefile.h"

struct signing;
struct zones;

enum zones_state {
	ZONES_NEW,     /* not loaded yet, and not answered for */
	ZONES_FAILED,  /* nothing to serve: SERVFAIL */
	ZONES_SERVING, /* what the file holds, or held before the load that runs */
	ZONES_STALE,   /* an earlier version, since the file no longer loads */
	ZONES_AWAITED, /* no primary has given it yet: SERVFAIL */
	ZONES_EXPIRED, /* no primary has been there for too long: SERVFAIL */
	ZONES_N_STATES,
};

/* "loading", "failed", ... Static. */
const char *zones_state_text(enum zones_state state);

/*
 * Is it named, and answered for? A member of a catalog is never LEAVING: its catalog takes it out
 * at once.
 *
 *      COMING ─ loaded ─► LISTED ─ a configuration without it begins ─► LEAVING ─ and is in place ─► GONE
 *         │                 └─────────────── its catalog takes it out ───────────────────────────────► GONE
 *         └──────────────────────────────────── likewise ────────────────────────────────────────────► GONE
 *
 *      GONE ─ a publish of all ─► freed;  named again, since none has succeeded meanwhile ─► COMING
 */
enum zones_life {
	ZONES_COMING,  /* not answered for yet */
	ZONES_LISTED,  /* answered for, from the next publish on */
	ZONES_LEAVING, /* likewise */
	ZONES_GONE,    /* answered for until the next publish */
};

/*
 * The loads of a zone have numbers from 1 on; one at a time runs. n_ended <= n_begun <= n_wanted,
 * and who waits for one waits until n_ended has come so far.
 */
struct zones_loading {
	struct load *load;  /* that waits or runs, or NULL */
	struct load *fresh; /* that has ended well and is not published yet, or NULL */
	bool is_due;        /* the next publish takes fresh */
	bool is_changed;    /* file or command are not those of the load */
	int code;           /* of the last load */
	uint64_t n_wanted;  /* behind n_begun: one more begins when the load ends */
	uint64_t n_begun;
	uint64_t n_ended;
	uint64_t awaited_number; /* the configuration waits for this one; 0: it waits for none */
};

/*
 * Our writing of the file. A second one waits for the first.
 *
 *      IDLE ─ asked for, or its change is old enough ─► WRITING ─ asked for ─► WRITING_AND_DUE
 *        └─ a primary has given a whole zone ─► DUE ──────▲ │ ended              │ ended
 *                                                           ▼                    ▼
 *                                                         IDLE                  DUE
 *
 * A failure leads from each of them to IDLE, and its change is new then.
 */
enum zones_file_work {
	ZONES_FILE_IDLE,
	ZONES_FILE_DUE, /* at the next tick */
	ZONES_FILE_WRITING,
	ZONES_FILE_WRITING_AND_DUE,
};

/* The file that is read and written: zones_zonefile(). */
struct zones_file {
	struct zonefile_mark mark;            /* of the one that was read or written last */
	uint8_t next_digest[ZONE_DIGEST_LEN]; /* of what was last to be written to it */
	uint64_t changed_ns;                  /* the first change that it has not; 0: it has all */
	enum zones_file_work work;
	bool is_wrong; /* the last load that read it, or tried to, has failed */
	bool is_other; /* somebody else has changed it, and stored.error says so */
};

/*
 * Whether the store has `known`: it is read once, then written. A write leads from all states but
 * UNREAD to CURRENT.
 */
enum zones_store_state {
	ZONES_STORE_UNREAD,
	ZONES_STORE_CURRENT,
	ZONES_STORE_DUE,       /* it is to be written, */
	ZONES_STORE_LIMIT_DUE, /* and the journal is to drop the changes that the file has, too */
};

/* What the store has of the zone, or should have. */
struct zones_stored {
	struct store_zone known; /* but for its serial */
	enum zones_store_state state;
	uint64_t unwritten_bytes; /* of changes in the journal that its file has not */
	char error[640];          /* of the journal or the file; "" */
	char warning[320];        /* that the journal will have no room for them; "" */
};

/* A version with many changes becomes one image. */
struct zones_compaction {
	struct load *load;       /* NULL: none is on its way */
	struct changeset *since; /* what has changed since it began */
	size_t n, cap;
};

/* What the workers and the cache have of it. */
struct zones_published {
	uint32_t slot, gen;               /* in the cache */
	uint32_t names_id;                /* of the filter that has all names of `zone`; 0: none */
	bool is_changed;                  /* it is on the list zones.changed, */
	struct zones_entry *next_changed; /* and this one follows */
	uint64_t digest[2];               /* of what is served */
	uint64_t settings;                /* settings_digest of when it was published */
	struct withdrawn withdrawn;       /* by the last change */
};

struct zones_entry {
	struct zones *owner;
	struct config_zone *config; /* what is said of it; zeros for a moment, while it is made */
	const char *name;           /* "example.com."; the config's, as file */
	const char *file;
	uint8_t apex[ZONE_NAME_MAX]; /* folded wire form */
	unsigned int apex_len;
	enum zones_life life;
	uint64_t configuration; /* the last one that names it, by its number */
	bool is_member;         /* of a catalog; the configuration does not name it */
	bool is_expired;        /* from the next publish on there is nothing to serve */
	enum zones_state state;
	struct zone *zone;   /* that is served, or NULL */
	struct zone *edited; /* a later version than zone, for the next publish, or NULL */
	/* why the driver denies nothing: zones_stop_denials(); or NULL */
	const char *denials_fault;
	char error[640];   /* of the last load; "" when it was well */
	char warning[512]; /* likewise */
	uint64_t loaded_wall_s;
	uint64_t load_ns;
	struct signing *signing; /* it is kept signed; NULL: it is served as it is */
	uint8_t content_digest[ZONE_DIGEST_LEN]; /* of what the signed zone was made of */
	struct zones_loading loading;
	struct zones_file on_disk;
	struct zones_stored stored;
	struct zones_compaction compaction;
	struct zones_published published;
};

static inline bool zones_is_answered(const struct zones_entry *entry)
{
	return entry->life == ZONES_LISTED || entry->life == ZONES_LEAVING;
}

/* It is not to be changed or loaded any more. */
static inline bool zones_is_leaving(const struct zones_entry *entry)
{
	return entry->life >= ZONES_LEAVING;
}

/* What is known of it has changed: it is written to the store soon. */
static inline void zones_store_soon(struct zones_entry *entry)
{
	if (entry->stored.state < ZONES_STORE_DUE)
		entry->stored.state = ZONES_STORE_DUE;
}

static inline bool zones_is_file_written(const struct zones_entry *entry)
{
	return entry->on_disk.work >= ZONES_FILE_WRITING;
}

#endif
