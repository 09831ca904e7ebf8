/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones that are served: loaded from files in the background, published to the workers, their
 * old answers withdrawn.
 *
 *      request ─► load (zonemgr/loader.h) ─► new zone set ─► pointer swap ─► withdraw changed
 *                  │ in the background        when all zones  (workers)       answers (withdraw.h),
 *                  ▼                          of the request                  or new generation
 *              progress in the status         are loaded                        │
 *                                                             free ◄─ wait for all readers ─► done
 *
 * When a reload is done, no CPU gives an answer of the old zone. A file that does not load changes
 * nothing: the old zone keeps serving and the entry says why.
 *
 * A request for a zone gets a load that began after the request: if a load runs, another follows
 * it, and all requests made meanwhile share that one. The zones of a configuration are published
 * together, so that names which move from one file to another are never missing. While a
 * configuration is loaded the next one waits, and a later one replaces the waiting one. A reload of
 * a single zone does not wait for the others.
 *
 * A change of a few records makes a new version of the served one (zone/edit.h): zones_change().
 * Changes that come at about the same time, of all zones, share one transaction of the journal and
 * one publish (zones_flush()). So the cost depends on the changes and not on the number of zones:
 *
 *      zones_change() ─► version ─► ... ─► zones_flush(): journal ─► pointers ─► withdraw ─► done
 *
 * Control's thread calls all functions.
 */
#ifndef VOLLEY_ZONEMGR_ZONEMGR_H
#define VOLLEY_ZONEMGR_ZONEMGR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "zone/edit.h"
#include "zonemgr/entry.h"
#include "zonemgr/zones_env.h"

/* The store's key for the digest of the content that a signed zone was made of. */
#define ZONES_CONTENT_WORD "content"

int zones_new(struct zones **out, const struct zones_env *env) __attribute__((warn_unused_result));

/* Sets the present time, for the zones and for signing, catalogs and maintenance. Control's loop
 * calls it once for each event, before anything else. The wall clock may go back. Pure. */
void zones_set_time(struct zones *zones, const struct clock_now *now);
/* The time that was set last. */
const struct clock_now *zones_time(const struct zones *zones);

/* Ends all requests: done() with -ECANCELED. After loader_stop(), before loader_poll() gives the
 * cancelled loads back. */
void zones_cancel(struct zones *zones);

/* Withdraws nothing from the cache, because a later daemon may adopt it. After zones_cancel() and
 * after the workers have ended. NULL is allowed. */
void zones_free(struct zones *zones);

/*
 * Serves the zones of `config`: reads every file, and drops zones that it does not name. If a file
 * cannot be loaded, the zone keeps its earlier version, if it has one, and its entry has the error.
 * Takes the list of zones out of `config`, or keeps the one before. 0: done() follows, from
 * zones_poll(). -ENOMEM: nothing changes, and done() is not called.
 */
int zones_configure(struct zones *zones, struct config *config, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * The zones have, or get, the settings of the last configuration that zones_configure() has taken,
 * so the next one may have the same zones (config_load_again()). False: there was no memory.
 */
bool zones_have_configuration(const struct zones *zones);

/* Reads one zone's file and serves its content. 0: done() follows, from zones_poll(); ERR_NOT_FOUND
 * for a zone that is not configured, or -ENOMEM. */
int zones_reload(struct zones *zones, const char *name, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/* Serves a zone from a transfer, if it is valid. 0: takes over `builder`, and done() follows.
 * -EBUSY (the zone's file is still being read) or -ENOMEM: the caller keeps the builder. */
int zones_install(struct zones *zones, struct zones_entry *entry, struct zone_builder *builder,
		  zones_done_fn *done, void *user) __attribute__((warn_unused_result));

/* Makes the change in @edit. Returns 0, or a negative code: then nothing changes. */
typedef int zones_edit_fn(void *user, struct zone_edit *edit, struct zone_error *why);

/*
 * Changes a zone that is served. 0: done() follows, from zones_flush(); it gets 0 when the change
 * is in the journal and served, and no CPU gives an older answer. 1: there was nothing to change,
 * and done() is not called. Else a negative code with a sentence in `why`: that of `edit`;
 * ERR_ZONE: the zone would be invalid; ERR_NOT_FOUND: the zone is not served; -EBUSY: a version
 * that was loaded or is being signed is about to replace the served one.
 */
int zones_change(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
		 void *edit_user, zones_done_fn *done, void *user, struct zone_error *why)
	__attribute__((warn_unused_result));

/* The same for a change by the signer, which needs no further signing. */
int zones_renew(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
		void *edit_user, zones_done_fn *done, void *user, struct zone_error *why)
	__attribute__((warn_unused_result));

/*
 * When zones_flush() has to be called, in the clock_ns() of zones_set_time(); UINT64_MAX: there is
 * nothing to do. A flush may postpone itself, for 2 s at most, while the cache's filter is not
 * ready (cache/dependency_filter.h).
 */
uint64_t zones_flush_at(const struct zones *zones);
/* Writes all changes to the journal and publishes them. */
void zones_flush(struct zones *zones);

/*
 * From the next flush on the zone is not served. Its pending changes end with done(ERR_NOT_FOUND).
 */
void zones_expire(struct zones *zones, struct zones_entry *entry);

/* Makes one image of the served version in the background, and serves it instead. */
void zones_compact(struct zones *zones, struct zones_entry *entry);

/* Signs the whole served version anew, in the background. */
void zones_resign(struct zones *zones, struct zones_entry *entry);

/* Adds a member of a catalog, or a zone that a command adds, with the settings of `config`, whose
 * content is taken; it is served when it has been read. 0, -EEXIST or -ENOMEM.
 * zones_remove_member() removes it. */
int zones_add_member(struct zones *zones, struct config_zone *config)
	__attribute__((warn_unused_result));
/* Changes the configuration of a member. `config` is taken as above. */
void zones_configure_member(struct zones *zones, struct zones_entry *entry,
			    struct config_zone *config);
/* The member keeps its configuration when volleyd gets a new one. */
void zones_keep_member(struct zones *zones, struct zones_entry *entry);
void zones_remove_member(struct zones *zones, struct zones_entry *entry);
/* True if a zone has found no place in the cache's table of zones: its answers are not cached. */
bool zones_has_uncached(const struct zones *zones);
/* True if the last publish has put the zone, as it is now, in place. */
bool zones_is_in_place(const struct zones_entry *entry);

/*
 * The driver's answers for this zone cannot be trusted; `fault`, a static clause, says why. When
 * this returns 0, the driver gives no shared answers of the zone any more, and the zone's cached
 * answers are dead. ERR_NOT_FOUND: there is no such zone, or this was done before. Any other error
 * is that of a publish, which zones_flush() tries again.
 */
int zones_stop_denials(struct zones *zones, const uint8_t *apex, unsigned int apex_len,
		       const char *fault) __attribute__((warn_unused_result));

/*
 * Begins a new filter of names, with only the names of the served zones. Until it has all of them
 * the driver denies nothing. forgives: allows denials again in zones where they were stopped. 0; an
 * error of names_begin(): the driver denies nothing until a later call succeeds; or an error of a
 * publish, which zones_flush() tries again. Only with a filter. O(names).
 */
int zones_rebuild_names(struct zones *zones, bool forgives) __attribute__((warn_unused_result));

/*
 * The memory of a zone: its content, with the changes since its image was made, its entry here and
 * in the transfer thread, its places in tables, and what goes on with it here. Without keys, and
 * without a transfer under way. O(1), except during a compaction.
 */
size_t zones_memory_bytes(const struct zones_entry *entry);

/* The number of names in all served zones, with empty non-terminals. O(zones). */
uint64_t zones_n_names(const struct zones *zones);

/* Answers depend on other settings from now on: when this returns 0, all cached answers are dead.
 * An error is that of zones_publish(): then the next publish does it. */
int zones_set_settings(struct zones *zones, uint64_t settings_digest)
	__attribute__((warn_unused_result));

/* Replaces the cache by one with the same slots: cache/copy.h. */
void zones_set_cache(struct zones *zones, struct cache *cache);

/* Publishes completed loads. To be called after each loader_poll(). */
void zones_poll(struct zones *zones);

/* The zones in the order of the configuration; while one is loaded, zones that it does not name
 * come last. */
size_t zones_n(const struct zones *zones);
/* False: no zone has a load that runs or waits, so there is none to look for. */
bool zones_has_loads(const struct zones *zones);
/* For walks with i from 0 on: fetches the memory of the next zones. */
const struct zones_entry *zones_at(const struct zones *zones, size_t i);
struct zones_entry *zones_entry_at(struct zones *zones, size_t i); /* for changes */

/*
 * Calls each() for the zones in the canonical order of their names (RFC 4034 section 6.1), until it
 * returns false: those after the folded wire name `from`, and with `is_with` also that zone itself;
 * NULL: all. A zone of that name need not exist, so a walk can go on where an earlier one ended,
 * whatever has come or gone meanwhile. each() changes no zone. O(log zones), and what is walked.
 */
typedef bool zones_walk_fn(void *user, const struct zones_entry *entry);
void zones_walk(const struct zones *zones, const uint8_t *from, bool is_with, zones_walk_fn *each,
		void *user);

/* Finds a zone by its presentation form, in any case, with or without the last dot. NULL: none. */
const struct zones_entry *zones_find(const struct zones *zones, const char *name);
/* The same, for changes; and by folded wire name. */
struct zones_entry *zones_get(const struct zones *zones, const char *name);
struct zones_entry *zones_get_apex(const struct zones *zones, const uint8_t *apex,
				   unsigned int apex_len);

/* The zonefile: for a signed zone our own file. */
const char *zones_zonefile(const struct zones_entry *entry);

/* The file that was read or written has this mark. Ends the error about a changed file. */
void zones_know_file(struct zones_entry *entry, const struct zonefile_mark *mark);

/* It has primaries, so its content comes from them. */
bool zones_is_secondary(const struct zones_entry *entry);

/*
 * Changes of a zone as people write them, a line each:
 *
 *      add OWNER [TTL] TYPE RDATA       a record; default TTL: that of the RRset, or EDIT_TTL_S
 *      remove OWNER TYPE RDATA          this record
 *      remove OWNER TYPE                all of the type
 *      remove OWNER                     all of the name
 *
 * As in a master file: an owner without a last dot is relative to the zone, @ is the zone itself.
 */

#define EDIT_TTL_S 3600

/*
 * Makes the changes of @n lines. If anything has changed, and no line changed the serial number, it
 * is raised by one. In a zone that is signed here (@is_signed) lines with record types of the
 * signer are errors. 0, or a negative code with the line and a sentence in @why: then the caller
 * has to cancel the edit.
 */
int edit_lines(struct zone_edit *edit, const char *const *lines, size_t n, bool is_signed,
	       struct zone_error *why) __attribute__((warn_unused_result));
/* Raises the serial number by one. 0, -ENOMEM, or ERR_ZONE without a SOA record. */
int edit_raise_serial(struct zone_edit *edit) __attribute__((warn_unused_result));

#endif
