/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones that are served: loaded from files in the background, published to the workers, their
 * old answers withdrawn.
 *
 *      ask ─► load (zonemgr/loader.h) ─► new zone set ─► pointer swap ─► withdraw what changed
 *              │ in the background        when all that   (workers)       (zonemgr/withdraw.h),
 *              │                          was asked for                    or all: new generation
 *              ▼                          at once has                         │
 *      status says how far               been loaded          free ◄─ wait for all readers ─► done
 *
 * When a reload is done, no CPU gives an answer of the old zone. A file that does not load changes
 * nothing: the old zone keeps serving and the entry says why.
 *
 * Who asks for a zone gets a load that began after the question: if one is under way, another
 * follows it, and all who ask meanwhile share that one. The zones of a configuration are put in
 * place together, so that names which move from one file to another are never missing; while one
 * configuration is loaded the next one waits, and a later one takes its place. A zone that is
 * asked for by itself does not wait for the others.
 *
 * A change of a few records makes a version of what is served (zone/edit.h) instead:
 * zones_change(). Changes of all zones that come at about the same time share one transaction of
 * the journal and one publish (zones_flush()), so their cost is that of the changes, whatever the
 * number of zones:
 *
 *      zones_change() ─► version ─► ... ─► zones_flush(): journal ─► pointers ─► withdraw ─► done
 *
 * Control's thread calls all of these.
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

/* What the store calls the digest of the content that a signed zone was made of. */
#define ZONES_CONTENT_WORD "content"

int zones_new(struct zones **out, const struct zones_env *env) __attribute__((warn_unused_result));

/*
 * It is this moment, for the zones and for all of zonemgr that works on them: signing, catalogs,
 * maintenance. Control's loop calls it, once for each event, before anything else. The moment may
 * lie before the last one, by the wall clock. Pure.
 */
void zones_set_time(struct zones *zones, const struct clock_now *now);
/* The moment that was set last. */
const struct clock_now *zones_time(const struct zones *zones);

/*
 * Gives up all that was asked for: done() with -ECANCELED. After loader_stop(), before
 * loader_poll() gives the cancelled loads back.
 */
void zones_cancel(struct zones *zones);

/*
 * Withdraws nothing from the cache: a later daemon may adopt it. After zones_cancel() and after the
 * workers have ended. NULL is allowed.
 */
void zones_free(struct zones *zones);

/*
 * Makes the zones of `config` the ones that are served: reads every file, drops the zones that are
 * gone. A zone whose file does not load is served as it was before, whatever file that came from,
 * or else as far as it can be; its entry tells. Takes the list of zones out of `config`. 0: done()
 * follows, from zones_poll(); or -ENOMEM: what was served before still is, and done() is not
 * called.
 */
int zones_configure(struct zones *zones, struct config *config, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * Reads one zone's file and serves what it holds. 0: done() follows, from zones_poll();
 * ERR_NOT_FOUND for a zone that is not configured, or -ENOMEM.
 */
int zones_reload(struct zones *zones, const char *name, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * What a transfer has brought takes the zone's place, if it is good: `builder` becomes the zones'.
 * 0: done() follows; -EBUSY: its file is still being read, or -ENOMEM: then the builder is the
 * caller's.
 */
int zones_install(struct zones *zones, struct zones_entry *entry, struct zone_builder *builder,
		  zones_done_fn *done, void *user) __attribute__((warn_unused_result));

/* Makes the change in an edit that has begun. Returns 0 or a negative code: then nothing
 * changes. */
typedef int zones_edit_fn(void *user, struct zone_edit *edit, struct zone_error *why);

/*
 * Changes a zone that is served. 0: done() follows, from zones_flush(), with 0 when the change is
 * in the journal and is served, and no CPU gives an answer from before. 1: there was nothing to
 * change, and done() is not called. Else a negative code with a sentence in `why`: that of `edit`,
 * ERR_ZONE for a zone that would not be whole, ERR_NOT_FOUND where nothing is served, -EBUSY while
 * what has been loaded, or is being signed, is about to take the place of what is served.
 */
int zones_change(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
		 void *edit_user, zones_done_fn *done, void *user, struct zone_error *why)
	__attribute__((warn_unused_result));

/* The same for a change of the signer, which is not signed again. */
int zones_renew(struct zones *zones, struct zones_entry *entry, zones_edit_fn *edit,
		void *edit_user, zones_done_fn *done, void *user, struct zone_error *why)
	__attribute__((warn_unused_result));

/*
 * When zones_flush() has to be called, by the clock_ns() of zones_set_time(); UINT64_MAX: there is
 * nothing to do. A flush may put itself off, for 2 s at most, while the cache's filter is not ready
 * (cache/dependency_filter.h).
 */
uint64_t zones_flush_at(const struct zones *zones);
/* Puts all changes in place. */
void zones_flush(struct zones *zones);

/*
 * From the next flush on nothing is served for it; its pending changes end with
 * done(ERR_NOT_FOUND).
 */
void zones_expire(struct zones *zones, struct zones_entry *entry);

/* The same content in one image takes the place of the version with its changes, once it is
 * made. */
void zones_compact(struct zones *zones, struct zones_entry *entry);

/* All of what is served is signed anew, in the background: its chain is to be another. */
void zones_resign(struct zones *zones, struct zones_entry *entry);

/*
 * A zone beside those of the configuration, of which `config` (its content is taken) tells all;
 * served when it has been read. 0, -EEXIST, -ENOMEM. And the end of one.
 */
int zones_add_member(struct zones *zones, struct config_zone *config)
	__attribute__((warn_unused_result));
/* Another configuration of a member. `config` is taken as above. */
void zones_configure_member(struct zones *zones, struct zones_entry *entry,
			    struct config_zone *config);
/* The member keeps its configuration beside a new one of volleyd. */
void zones_keep_member(struct zones *zones, struct zones_entry *entry);
void zones_remove_member(struct zones *zones, struct zones_entry *entry);

/*
 * The driver's answers for this zone cannot be trusted; `fault`, a static clause, says why. It
 * gives no shared answers of the zone any more when this returns 0, and the zone's cached answers
 * are dead. ERR_NOT_FOUND: there is no such zone, or this was done before. Any other error is that
 * of a publish, which is tried once more by zones_flush().
 */
int zones_stop_denials(struct zones *zones, const uint8_t *apex, unsigned int apex_len,
		       const char *fault) __attribute__((warn_unused_result));

/*
 * Another filter of names, with the names of the zones that are served alone. Until it has all of
 * them the driver denies nothing.
 * forgives: zones whose denials were stopped have them again. 0; or that of names_begin(), and the
 * driver denies nothing until this succeeds; or that of a publish, which is tried once more by
 * zones_flush(). With a filter only. O(names).
 */
int zones_rebuild_names(struct zones *zones, bool forgives) __attribute__((warn_unused_result));

/* Names of all zones that are served, empty non-terminals included. O(zones). */
uint64_t zones_n_names(const struct zones *zones);

/*
 * From now on answers depend on other settings: all that are cached are dead when this returns 0.
 * An error is that of zones_publish(); the next publish does it then.
 */
int zones_set_settings(struct zones *zones, uint64_t settings_digest)
	__attribute__((warn_unused_result));

/* From now on it is this cache, with the same slots: cache/copy.h. */
void zones_set_cache(struct zones *zones, struct cache *cache);

/* Publishes what has been loaded and is complete; to be called after each loader_poll(). */
void zones_poll(struct zones *zones);

/* In the order of the configuration; while one is being loaded, those that will go come last. */
size_t zones_n(const struct zones *zones);
const struct zones_entry *zones_at(const struct zones *zones, size_t i);
struct zones_entry *zones_entry_at(struct zones *zones, size_t i); /* to be changed */

/* By presentation form, any case, with or without the last dot. NULL: none. */
const struct zones_entry *zones_find(const struct zones *zones, const char *name);
/* The same, to be changed; and by folded wire name. */
struct zones_entry *zones_get(const struct zones *zones, const char *name);
struct zones_entry *zones_get_apex(const struct zones *zones, const uint8_t *apex,
				   unsigned int apex_len);

/* The zonefile: of a signed zone it is our own file. */
const char *zones_zonefile(const struct zones_entry *entry);

/* The content of its file has that mark from now on; an error about an older content is over. */
void zones_know_file(struct zones_entry *entry, const struct zonefile_mark *mark);

/* It has primaries, so its content comes from them. */
bool zones_is_secondary(const struct zones_entry *entry);

#endif
