/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zones that are kept signed: their keys and policies, and the signing of new versions.
 *
 *      operator's file (content) ─► loader ─► signed version ─► its own file and journal
 *      zone edit, UPDATE ─► zones_change(): signing_edit() ─► signed version
 *      a tick ─► signing_tick(): keys that come and go, signatures that end ─► zones_change()
 *
 * The signed zone has a serial number of its own, which follows the content's if that is newer.
 * @now_s is the wall clock, seconds since 1970. Control's thread, unless a comment says otherwise.
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

/* The signing of one zone. */
struct signing;

/* Signs by @policy with the keys in its folder; makes and writes the first keys. @storage is
 * server.storage. NULL with a sentence in @err. */
struct signing *signing_new(const uint8_t *apex, const struct config_signing *policy,
			    const char *storage, uint64_t now_s, char *err, size_t err_cap);
/*
 * For a zone whose signed version is only read. @why "": the zone was signed until now and is
 * signed no more. Else @why says why its keys cannot be used: its signed version is served and not
 * changed. NULL: no memory.
 */
struct signing *signing_new_without_keys(const uint8_t *apex, const char *storage, const char *why);
void signing_free(struct signing *s); /* NULL is allowed */
/* The folder of its keys, valid as long as @s; NULL: it has none. Is that the folder that @policy
 * names? */
const char *signing_folder(const struct signing *s);
bool signing_is_folder(const struct signing *s, const struct config_signing *policy,
		       const char *storage);
/* The policy of the same name has changed. */
void signing_set_policy(struct signing *s, const struct config_signing *policy);

/* Copies of all policies, which outlive the configuration. */
struct signing_policies {
	struct config_signing *policies;
	size_t n;
};
int signing_policies_set(struct signing_policies *p, const struct config *config)
	__attribute__((warn_unused_result));
/* Checks that the zones can be kept signed as @config says: the keys of a zone stay in one folder
 * as long as volleyd runs. 0, or a negative code with a sentence in @err. */
int signing_check(const struct zones *zones, const struct config *config, const char *storage,
		  char *err, size_t err_cap) __attribute__((warn_unused_result));
void signing_policies_fini(struct signing_policies *p);
/* For zones_env.sign: sets entry->signing as the zone's configuration says. If that names no policy
 * any more, entry->signing stays until a version without signatures is served: signing_end(). */
void signing_apply(const struct signing_policies *p, const char *storage,
		   struct zones_entry *entry);
void signing_end(struct zones_entry *entry);

/* The file of the signed zone. Valid as long as @s. */
const char *signing_file(const struct signing *s);

/* Makes a copy for a background thread; signing_work_fini() frees it. 0 or -ENOMEM. */
int signing_work_init(struct signing_work *w, const struct signing *s, uint64_t now_s)
	__attribute__((warn_unused_result));

/* As sign_edit(), at the end of an edit of @base. ERR_ZONE: the whole zone would have to be signed
 * again for this edit. */
int signing_edit(struct signing *s, struct zone_edit *edit, const struct zone *base, uint64_t now_s,
		 struct zone_error *err) __attribute__((warn_unused_result));

/* To be called once a second: does the work that is due for the zone at zones_time(). */
void signing_tick(struct zones *zones, struct zones_entry *entry);

/*
 * When the first of its signatures ends, seconds since 1970. It is the result of the last look at
 * all signatures, so it stays the same while they are being renewed. 0: there was no look yet.
 * Pure.
 */
uint64_t signing_first_end(const struct signing *s);

/*
 * True if the signatures of the served version are valid at @now_s, or if it has none. For a zone
 * that is signed here these are all signatures, as of the last look; for another zone those of its
 * SOA record. False: a sentence in @text. O(1).
 */
bool signing_judge(const struct zones_entry *entry, uint64_t now_s, char *text, size_t cap)
	__attribute__((warn_unused_result));

/* Reports of the DS records and the keys. New references; NULL: no memory. */
json_t *signing_report_ds(const struct signing *s, uint64_t now_s);
json_t *signing_report_keys(const struct signing *s);
/* Begins a rollover: "zsk", "ksk" or "csk". 0 or a negative code with a sentence. */
int signing_rollover(struct signing *s, const char *role, uint64_t now_s, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* The parent has published the DS of the new keys. 0 or a negative code with a sentence. */
int signing_ds_seen(struct signing *s, uint64_t now_s, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
