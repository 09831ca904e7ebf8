/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zones that are kept signed: their keys and policies, for those who make versions of them.
 *
 *      operator's file (content) ─► loader: signing_load() ─► signed version ─► its own file and journal
 *      zone edit, UPDATE ─► zones_change(): signing_edit() ─► signed version
 *      a tick ─► signing_tick(): keys that come and go, signatures that end ─► zones_change()
 *
 * The signed zone has a serial number of its own, which follows the content's where that is newer.
 * @now_s is the wall clock, seconds since 1970. Control's thread, but for what says otherwise.
 */
#ifndef VOLLEY_ZONEMGR_SIGNING_H
#define VOLLEY_ZONEMGR_SIGNING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "zonemgr/signing_work.h"

struct zones;
struct zones_entry;

/* Of one zone. */
struct signing;

/*
 * By the policy @policy, with the keys in its folder; the first ones are made and written. @storage
 * is server.storage. NULL with a sentence in @err.
 */
struct signing *signing_new(const uint8_t *apex, const struct config_signing *policy,
			    const char *storage, uint64_t now_s, char *err, size_t err_cap);
/*
 * Of a zone that was signed until now: to read its signed version once more. Or @why, unless "",
 * says why its keys cannot be used: then it is served as it was signed, and not changed. NULL: no
 * memory.
 */
struct signing *signing_new_without_keys(const uint8_t *apex, const char *storage, const char *why);
void signing_free(struct signing *s); /* NULL is allowed */
/* Where its keys are, which lives as long; NULL: it has none. Is it the one that @policy names? */
const char *signing_folder(const struct signing *s);
bool signing_is_folder(const struct signing *s, const struct config_signing *policy,
		       const char *storage);
/* Another policy of that name. */
void signing_set_policy(struct signing *s, const struct config_signing *policy);

/* Copies of all policies, which outlive the configuration. */
struct signing_policies {
	struct config_signing *policies;
	size_t n;
};
int signing_policies_set(struct signing_policies *p, const struct config *config)
	__attribute__((warn_unused_result));
/*
 * Can the zones be kept signed as @config says? A zone's keys are in one folder as long as volleyd
 * runs. 0 or a negative code with a sentence.
 */
int signing_check(const struct zones *zones, const struct config *config, const char *storage,
		  char *err, size_t err_cap) __attribute__((warn_unused_result));
void signing_policies_fini(struct signing_policies *p);
/*
 * zones_env.sign: entry->signing becomes what its configuration says. Where that names no policy
 * any more, it stays, and keeps the zone signed, until a version without signatures is served:
 * signing_end().
 */
void signing_apply(const struct signing_policies *p, const char *storage,
		   struct zones_entry *entry);
void signing_end(struct zones_entry *entry);

/* Where the signed zone is written. Lives as long. */
const char *signing_file(const struct signing *s);

/* A copy for a thread in the background, which ends with signing_work_fini(). 0 or -ENOMEM. */
int signing_work_init(struct signing_work *w, const struct signing *s, uint64_t now_s)
	__attribute__((warn_unused_result));

/* As sign_edit(), at the end of an edit of @base; ERR_ZONE where all would have to be signed again
 * for the edit. */
int signing_edit(struct signing *s, struct zone_edit *edit, const struct zone *base, uint64_t now_s,
		 struct zone_error *err) __attribute__((warn_unused_result));

/* Once a second: what is due of the zone, by zones_time(). */
void signing_tick(struct zones *zones, struct zones_entry *entry);

/*
 * When the first of its signatures ends, seconds since 1970: as of the last look at all of them,
 * which is what it was before while they are being renewed. 0: there was no look yet. Pure.
 */
uint64_t signing_first_end(const struct signing *s);

/*
 * Are the signatures of what is served valid at @now_s: of a zone that is signed here all of them,
 * as of the last look; of another those of its SOA record? False: a sentence in @text. A zone
 * without any is as it shall be. O(1).
 */
bool signing_judge(const struct zones_entry *entry, uint64_t now_s, char *text, size_t cap)
	__attribute__((warn_unused_result));

/* What people are told: DS records, keys. New references, NULL: no memory. */
json_t *signing_report_ds(const struct signing *s, uint64_t now_s);
json_t *signing_report_keys(const struct signing *s);
/* Begins a rollover: "zsk", "ksk" or "csk". 0 or a negative code with a sentence. */
int signing_rollover(struct signing *s, const char *role, uint64_t now_s, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* The parent has the DS of the new keys that wait for it. 0 or a negative code with a sentence. */
int signing_ds_seen(struct signing *s, uint64_t now_s, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
