/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/signing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/json_put.h"
#include "base/log.h"
#include "base/siphash.h"
#include "dns/name.h"
#include "sign/keys.h"
#include "sign/rollover.h"
#include "zone/builder.h"
#include "zone/edit.h"
#include "zonemgr/zonemgr.h"

#define RENEW_MAX   1000u /* signatures in one change */
#define CHECK_MIN_S 60u   /* between two looks at all signatures of a zone */
#define CHECK_MAX_S 86400u

struct signing {
	struct sign_keys keys;
	struct sign_options options;
	struct rollover_policy policy;
	char *folder;          /* of the keys; NULL: no keys */
	char *file;            /* of the signed zone */
	char why[256];         /* why its keys cannot be used; "": they can, or none are needed */
	uint64_t step_s;       /* when the keys are checked next; seconds since 1970 */
	uint64_t check_s;      /* when the signatures are checked next */
	uint64_t seen_s;       /* the time of the last tick */
	struct sign_span span; /* of all signatures, at the last look; end_s 0: no look yet */
	size_t renew_at;       /* where sign_renew() continues */
	uint32_t resigned_serial; /* served while the whole zone is being signed anew */
	bool is_resigning;        /* the whole zone is being signed anew */
	bool is_renewing;         /* a change by the signer is not served yet */
	bool is_gone;             /* free it when that change has ended */
};

/* --- Making ----------------------------------------------------------------------------------- */

static const enum sign_algorithm algorithms[] = {
	[CONFIG_SIGN_ECDSAP256SHA256] = SIGN_ECDSAP256SHA256,
	[CONFIG_SIGN_ECDSAP384SHA384] = SIGN_ECDSAP384SHA384,
	[CONFIG_SIGN_ED25519] = SIGN_ED25519,
	[CONFIG_SIGN_RSASHA256] = SIGN_RSASHA256,
};
_Static_assert(sizeof(algorithms) / sizeof(algorithms[0]) == CONFIG_N_SIGN_ALGORITHMS,
	       "each algorithm of the configuration has its number");

static void set_policy(struct rollover_policy *p, const struct config_signing *policy)
{
	const struct rollover_policy before = *p;

	*p = (struct rollover_policy){
		.single_key = policy->single_key,
		.algorithm = algorithms[policy->algorithm],
		.zsk_lifetime_s = policy->zsk_lifetime_s,
		.ksk_lifetime_s = policy->ksk_lifetime_s,
		.dnskey_ttl_s = policy->dnskey_ttl_s,
		.zone_ttl_s = before.zone_ttl_s,
		.propagation_s = policy->propagation_s,
		.parent_ttl_s = policy->parent_ttl_s,
		.parent_propagation_s = policy->parent_propagation_s,
		.renewed_s = before.renewed_s,
	};
}

/* The same salt for a zone at each start, because a new salt would need a new chain. It may be
 * predictable: RFC 9276 section 3.1 recommends no salt at all. */
static void make_salt(uint8_t *salt, unsigned int n, const uint8_t *apex)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "nsec3 salt";
	uint8_t seed[DNS_NAME_MAX + 2];
	size_t bytes = name_bytes(apex);

	memcpy(seed, apex, bytes);
	for (unsigned int i = 0; i < n; i++) {
		seed[bytes] = (uint8_t)i;
		salt[i] = (uint8_t)siphash24(key, seed, bytes + 1);
	}
}

static void set_signing_options(struct sign_options *o, const struct config_signing *policy,
				const uint8_t *apex)
{
	*o = (struct sign_options){
		.nsec3 = policy->denial == CONFIG_DENIAL_NSEC3,
		.opt_out = policy->nsec3_opt_out,
		.cds = policy->cds,
		.nsec3_iterations = policy->nsec3_iterations,
		.nsec3_salt_bytes = policy->nsec3_salt_bytes,
		.signature_s = policy->signature_s,
		.refresh_s = policy->refresh_s,
		.jitter_s = policy->jitter_s,
		.dnskey_ttl_s = policy->dnskey_ttl_s,
	};
	make_salt(o->nsec3_salt, o->nsec3_salt_bytes, apex);
}

static char *join_signing(const char *folder, const char *rest)
{
	size_t n = strlen(folder) + strlen(rest) + 2;
	char *path = malloc(n);

	if (path)
		snprintf(path, n, "%s/%s", folder, rest);
	return path;
}

/* A slash in the zone's name must not lead to another folder: it becomes a '%'. */
static char *file_name(const uint8_t *apex, const char *storage)
{
	char text[NAME_TEXT_MAX], rest[NAME_TEXT_MAX + 16];

	if (name_to_text(text, sizeof(text), apex) < 0)
		return NULL;
	for (char *at = text; *at; at++)
		if (*at == '/')
			*at = '%';
	snprintf(rest, sizeof(rest), "signed/%szone", text);
	return join_signing(storage, rest);
}

/* Brings the keys and their files to their present state. *renew: the zone has to be signed by
 * them. */
static int step_signing(struct signing *s, uint64_t now_s, bool *renew)
{
	struct rollover_actions actions;
	int err = rollover_step(&s->keys, &s->policy, now_s, &actions, &s->step_s);

	*renew = !err && actions.renew;
	return err ? err : rollover_store(&s->keys, &actions, s->folder);
}

/* Puts the keys in the folder into use, or makes the first ones. */
static int begin_keys(struct signing *s, uint64_t now_s, char *err, size_t err_cap)
{
	char name[NAME_TEXT_MAX] = "", note[256];
	bool renew, is_given = key_given_adopt(&s->keys, now_s, note, sizeof(note));
	int code = 0;

	(void)name_to_text(name, sizeof(name), s->keys.apex);
	if (*note)
		log_warn("zone %s: %s", name, note);
	for (size_t i = 0; is_given && !code && i < s->keys.n; i++)
		if (s->keys.keys[i].origin != SIGN_OURS)
			code = sign_key_write(&s->keys, &s->keys.keys[i], s->folder);
	if (!code)
		code = step_signing(s, now_s, &renew);
	if (code == -ENOKEY)
		snprintf(err, err_cap,
			 "%s has keys of zone %s, but none whose DS the parent can have: put the "
			 "files of its KSK or CSK there; or take all of its keys away if the "
			 "parent has no DS",
			 s->folder, name);
	else if (code)
		snprintf(err, err_cap, "%s: %s", s->folder, err_text(code));
	return code;
}

struct signing *signing_new(const uint8_t *apex, const struct config_signing *policy,
			    const char *storage, uint64_t now_s, char *err, size_t err_cap)
{
	struct signing *s = calloc(1, sizeof(*s));
	int code = -ENOMEM;

	snprintf(err, err_cap, "keys: %s", err_text(-ENOMEM));
	if (!s)
		return NULL;
	set_signing_options(&s->options, policy, apex);
	set_policy(&s->policy, policy);
	s->folder = policy->key_folder ? strdup(policy->key_folder) : join_signing(storage, "keys");
	s->file = file_name(apex, storage);
	if (s->folder && s->file)
		code = sign_keys_read(&s->keys, apex, s->folder, err, err_cap);
	if (!code)
		code = begin_keys(s, now_s, err, err_cap);
	if (!code)
		return s;
	log_error("signing: %s", err);
	signing_free(s);
	return NULL;
}

void signing_free(struct signing *s)
{
	if (!s)
		return;
	if (s->is_renewing) {
		s->is_gone = true;
		return;
	}
	sign_keys_fini(&s->keys);
	free(s->folder);
	free(s->file);
	free(s);
}

void signing_set_policy(struct signing *s, const struct config_signing *policy)
{
	set_signing_options(&s->options, policy, s->keys.apex);
	set_policy(&s->policy, policy);
	s->check_s = s->step_s = 0;
}

struct signing *signing_new_without_keys(const uint8_t *apex, const char *storage, const char *why)
{
	struct signing *s = calloc(1, sizeof(*s));

	if (s) {
		snprintf(s->why, sizeof(s->why), "%s", why);
		memcpy(s->keys.apex, apex, name_bytes(apex));
		s->file = file_name(apex, storage);
	}
	if (s && s->file)
		return s;
	free(s);
	return NULL;
}

bool signing_is_folder(const struct signing *s, const struct config_signing *policy,
		       const char *storage)
{
	char *folder = policy->key_folder ? strdup(policy->key_folder) :
					    join_signing(storage, "keys");
	bool is = !folder || !s->folder ||
		  !strcmp(folder, s->folder); /* true without memory: a later step fails */

	free(folder);
	return is;
}

const char *signing_folder(const struct signing *s)
{
	return s->folder;
}

const char *signing_file(const struct signing *s)
{
	return s->file;
}

/* --- Making versions -------------------------------------------------------------------------- */

int signing_work_init(struct signing_work *w, const struct signing *s, uint64_t now_s)
{
	*w = (struct signing_work){ .options = s->options, .now_s = now_s };
	memcpy(w->why, s->why, sizeof(w->why));
	w->file = strdup(s->file);
	if (w->file && !sign_keys_copy(&w->keys, &s->keys))
		return 0;
	free(w->file);
	return -ENOMEM;
}

int signing_edit(struct signing *s, struct zone_edit *edit, const struct zone *base, uint64_t now_s,
		 struct zone_error *err)
{
	int code = sign_edit(edit, base, &s->keys, &s->options, now_s, err);

	if (code != ERR_LIMIT || *err->sentence)
		return code;
	if (zone_negative_ttl(zone_edit_view(edit)) == zone_negative_ttl(base)) {
		(void)zone_error_set(err, "", 0, "the zone is about to be signed anew: try again");
		return code;
	}
	return zone_error_set(
		err, "", 0,
		"the TTL of negative answers, the last field of the SOA record or the "
		"record's own TTL, is in all proofs of a signed zone: change it in the "
		"zone's file and reload that, which takes the place of all changes");
}

/* --- Periodic work ---------------------------------------------------------------------------- */

struct renewal {
	struct signing *signing;
	const struct zone *base;
	uint64_t now_s;
	size_t n;
};

static int renew_signing(void *user, struct zone_edit *edit, struct zone_error *why)
{
	struct renewal *r = user;
	struct signing *s = r->signing;

	return sign_renew(edit, r->base, &s->keys, &s->options, r->now_s, &s->renew_at, RENEW_MAX,
			  &r->n, why);
}

static void on_renewed(void *user, int code)
{
	struct signing *s = user;

	(void)code; /* logged where it failed; it is tried again */
	s->is_renewing = false;
	if (s->is_gone)
		signing_free(s);
}

/* Notes the longest TTL that resolvers may have cached. It never shrinks, because they may still
 * have old records. */
static void note_ttl(struct signing *s, const struct zones_entry *entry)
{
	uint32_t ttl_s = sign_ttl_max(entry->zone);

	if (ttl_s > s->policy.zone_ttl_s)
		s->policy.zone_ttl_s = ttl_s;
}

/* Makes, activates and removes keys that are due. */
static void check_keys(struct signing *s, struct zones_entry *entry, uint64_t now_s)
{
	size_t n_before = s->keys.n;
	bool renew;
	int err;

	note_ttl(s, entry);
	err = step_signing(s, now_s, &renew);
	if (s->keys.n > n_before && rollover_is_changing(&s->keys))
		log_warn("zone %s: its keys are of another kind than its policy asks for, so new "
			 "ones are made beside them: the DS at the parent stays valid, and has to "
			 "be replaced when volleyctl zone ds %s prints the new one",
			 entry->name, entry->name);
	if (s->keys.n > n_before)
		log_info("zone %s: a key of algorithm %u has been made: volleyctl zone keys %s",
			 entry->name, s->keys.keys[n_before].algorithm, entry->name);
	if (err) {
		log_error("zone %s: keys: %s", entry->name, err_text(err));
		s->step_s = now_s + CHECK_MIN_S;
	}
	if (renew)
		s->check_s = 0;
}

/* The signatures of the whole zone are right. */
static void note_renewed(struct signing *s, uint64_t now_s)
{
	uint64_t due = sign_due(&s->span, &s->options), last = now_s + CHECK_MAX_S;

	s->policy.renewed_s = now_s;
	s->step_s = 0;
	s->check_s = due < last ? due : last;
	if (s->check_s < now_s + CHECK_MIN_S)
		s->check_s = now_s + CHECK_MIN_S;
}

/* Signs the whole zone on all processors at once, because resolvers reject it until its signatures
 * are valid. */
static void sign_all_anew(struct zones *zones, struct zones_entry *entry, uint64_t now_s)
{
	struct signing *s = entry->signing;

	log_warn("zone %s: it has signatures that are not valid now: all are checked, and "
		 "signed again where needed",
		 entry->name);
	s->is_resigning = true;
	s->resigned_serial = zone_serial(entry->zone);
	s->check_s = now_s + CHECK_MIN_S;
	zones_resign(zones, entry);
}

static void check_zonemgr_signing_signatures(struct zones *zones, struct zones_entry *entry,
					     uint64_t now_s)
{
	struct signing *s = entry->signing;
	struct renewal r = { .signing = s, .base = entry->zone, .now_s = now_s };
	bool is_first = !s->renew_at;
	struct zone_error why;
	int code;

	if (is_first)
		s->span = sign_span(entry->zone, now_s);
	if (is_first && !sign_span_has(&s->span, now_s) && zone_n_names(entry->zone) > RENEW_MAX) {
		sign_all_anew(zones, entry, now_s);
		return;
	}
	s->is_renewing = true;
	code = zones_renew(zones, entry, renew_signing, &r, on_renewed, s, &why);
	if (code)
		s->is_renewing = false;
	if (code == ERR_LIMIT)
		zones_resign(zones, entry);
	else if (code < 0)
		log_error("zone %s: signatures are not renewed: %s", entry->name, why.sentence);
	if (code < 0) {
		s->renew_at = 0;
		s->check_s = now_s + CHECK_MIN_S;
	} else if (r.n) {
		log_info("zone %s: %zu signatures renewed", entry->name, r.n);
	} else if (is_first && !s->renew_at) {
		note_renewed(s, now_s);
	}
}

/* Without a folder of keys only the times are noted: no signature can be renewed, and a new key
 * would not be known to the parent. */
static void note_span(struct signing *s, const struct zones_entry *entry, uint64_t now_s)
{
	if (now_s < s->check_s)
		return;
	s->span = sign_span(entry->zone, now_s);
	s->check_s = now_s + CHECK_MAX_S;
}

/* If the clock went back, plans are checked now; also after the whole zone was signed anew. */
static void note_time(struct signing *s, const struct zones_entry *entry, uint64_t now_s)
{
	if (now_s < s->seen_s) {
		s->step_s = s->check_s = 0;
		s->renew_at = 0;
		if (s->policy.renewed_s > now_s)
			s->policy.renewed_s = 0;
	}
	s->seen_s = now_s;
	if (s->is_resigning && zone_serial(entry->zone) != s->resigned_serial) {
		s->is_resigning = false;
		s->check_s = 0;
	}
}

void signing_tick(struct zones *zones, struct zones_entry *entry)
{
	struct signing *s = entry->signing;
	uint64_t now_s = zones_time(zones)->wall_s;

	if (!entry->zone || entry->edited || zones_is_loading(entry) || entry->loading.fresh ||
	    s->is_renewing)
		return;
	note_time(s, entry, now_s);
	if (!s->folder) {
		note_span(s, entry, now_s);
		return;
	}
	if (now_s >= s->step_s && !s->renew_at)
		check_keys(s, entry, now_s);
	if (now_s >= s->check_s || s->renew_at)
		check_zonemgr_signing_signatures(zones, entry, now_s);
}

uint64_t signing_first_end(const struct signing *s)
{
	return s->span.end_s == UINT64_MAX ? 0 : s->span.end_s;
}

static void put_signing_fault(const struct sign_span *span, uint64_t now_s, char *out, size_t cap)
{
	bool is_early = now_s < span->begin_s;
	time_t at = (time_t)(is_early ? span->begin_s : span->end_s);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(out, cap, "its signatures are not valid now: they %s %s",
		 is_early ? "begin at" : "ended at", text);
}

bool signing_judge(const struct zones_entry *entry, uint64_t now_s, char *text, size_t cap)
{
	struct sign_span span;

	if (!entry->zone || !zone_is_signed(entry->zone))
		return true;
	span = sign_span_of_soa(entry->zone, now_s);
	if (sign_span_has(&span, now_s) && entry->signing && entry->signing->span.end_s)
		span = entry->signing->span;
	if (sign_span_has(&span, now_s))
		return true;
	put_signing_fault(&span, now_s, text, cap);
	return false;
}

static const char *const roles[] = { [SIGN_ZSK] = "zsk", [SIGN_KSK] = "ksk", [SIGN_CSK] = "csk" };

/* --- Commands --------------------------------------------------------------------------------- */

static int carry_out(struct signing *s, const struct rollover_actions *actions, int code, char *err,
		     size_t err_cap)
{
	if (!code)
		code = rollover_store(&s->keys, actions, s->folder);
	if (code == ERR_NOT_FOUND)
		snprintf(err, err_cap, "there is no such key");
	else if (code == -EALREADY)
		snprintf(err, err_cap, "a rollover is on already");
	else if (code == -EAGAIN)
		snprintf(err, err_cap, "it is too early: not all caches know the new key");
	else if (code)
		snprintf(err, err_cap, "%s: %s", s->folder, err_text(code));
	s->check_s = s->step_s = 0;
	return code;
}

int signing_rollover(struct signing *s, const char *role, uint64_t now_s, char *err, size_t err_cap)
{
	struct rollover_actions actions;
	int code;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(role, roles[i]) != 0)
			continue;
		code = rollover_start(&s->keys, (enum sign_role)i, now_s, &actions);
		return carry_out(s, &actions, code, err, err_cap);
	}
	snprintf(err, err_cap, "%s: give zsk, ksk or csk", role);
	return -EINVAL;
}

int signing_ds_seen(struct signing *s, uint64_t now_s, char *err, size_t err_cap)
{
	struct rollover_actions actions;
	int code = rollover_ds_seen(&s->keys, -1, now_s, &actions);

	return carry_out(s, &actions, code, err, err_cap);
}

/* --- Reports ---------------------------------------------------------------------------------- */

static void put_hex(char *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
}

json_t *signing_report_ds(const struct signing *s, uint64_t now_s)
{
	json_t *o = json_object(), *list = json_array();
	char name[NAME_TEXT_MAX], hex[2 * SIGN_DS_BYTES + 1];
	uint8_t ds[SIGN_DS_BYTES];

	(void)name_to_text(name, sizeof(name), s->keys.apex);
	for (size_t i = 0; i < s->keys.n; i++) {
		const struct sign_key *key = &s->keys.keys[i];

		if (key->role == SIGN_ZSK || key->retired_s || key->removed_s ||
		    !sign_key_is_published(key, now_s) || sign_key_ds(&s->keys, key, ds))
			continue;
		put_hex(hex, ds + 4, sizeof(ds) - 4);
		json_array_append_new(list, json_sprintf("%s IN DS %u %u 2 %s", name, key->tag,
							 key->algorithm, hex));
	}
	json_object_set_new(o, "ds", list);
	return o;
}

static void put_signing_time(json_t *o, const char *name, uint64_t at)
{
	if (at)
		json_put_int(o, name, at);
}

json_t *signing_report_keys(const struct signing *s)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < s->keys.n; i++) {
		const struct sign_key *key = &s->keys.keys[i];
		json_t *k = json_object();

		json_put_int(k, "tag", key->tag);
		json_put_text(k, "role", roles[key->role]);
		json_put_int(k, "algorithm", key->algorithm);
		put_signing_time(k, "created_at", key->created_s);
		put_signing_time(k, "published_at", key->published_s);
		put_signing_time(k, "active_at", key->active_s);
		put_signing_time(k, "retired_at", key->retired_s);
		put_signing_time(k, "removed_at", key->removed_s);
		put_signing_time(k, "cds_at", key->cds_s);
		put_signing_time(k, "ds_seen_at", key->ds_seen_s);
		json_array_append_new(list, k);
	}
	json_object_set_new(o, "keys", list);
	return o;
}
