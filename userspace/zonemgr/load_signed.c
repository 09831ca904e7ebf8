/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/load_steps.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "xfr/xfr_message.h"
#include "zone/builder.h"
#include "zone/diff.h"
#include "zonemgr/signing_work.h"
#include "zonemgr/zonefile.h"

/* --- The version before ----------------------------------------------------------------------- */

static bool is_first(const struct load *load)
{
	static const uint8_t none[ZONE_DIGEST_LEN];

	return !memcmp(load->content_digest, none, sizeof(none));
}

/*
 * Reads the file of the signed zone, if it is as the store knows it. *before NULL: there is none.
 */
static int read_signed(struct load *load, struct zone **before)
{
	struct zone_error why;
	unsigned int len;
	int err = zone_load(before, load->name, load->signing->file, NULL, &why);

	if (err == -ENOMEM)
		return err;
	if (err) {
		load->own = is_first(load) ? LOAD_OWN_FINE : LOAD_OWN_HARMED;
		return 0;
	}
	zone_digest(*before, load->file_digest);
	if (is_first(load) || replay_judge_file(load->store, zone_apex(*before, &len),
						load->file_digest) != REPLAY_FILE_HARMED) {
		load->file_serial = zone_serial(*before);
		return 0;
	}
	load->own = LOAD_OWN_HARMED;
	zone_unref(*before);
	*before = NULL;
	return 0;
}

/*
 * Finds the signed version: the served one, or that of its file and the journal. NULL: there is
 * none. If the journal does not fit, it is dropped only if the operator's file has new content,
 * which replaces the changes anyway.
 */
static int signed_before(struct load *load, bool is_other_content, struct zone **before)
{
	struct zone_error why;
	int err = 0;

	*before = load->base ? zone_ref(load->base) : NULL;
	if (*before)
		return 0;
	err = read_signed(load, before);
	if (err || !*before || !load->store)
		return err;
	err = replay(load->store, before, load->file_digest, &load->n_replayed,
		     "and is dropped, since the file has other content", &why);
	load->gives_up_journal = err && err != -ENOMEM && is_other_content;
	if (!err || load->gives_up_journal)
		return 0;
	memcpy(load->err->sentence, why.sentence, sizeof(why.sentence));
	zone_unref(*before);
	*before = NULL;
	return err;
}

static void raise_above(uint32_t *serial, uint32_t other)
{
	if (!xfr_serial_newer(*serial, other))
		*serial = other + 1;
}

/* Reads the store's record of the version that an earlier daemon served, even without its files. */
static bool get_known(const struct load *load, const struct zone *content, struct store_zone *known)
{
	unsigned int len;

	return !load->base && load->store &&
	       !store_get_zone(load->store, zone_apex(content, &len), known);
}

/* Warns that changes which only the damaged file and its journal had are lost. */
static void warn_harmed(struct load *load, const struct zone *content)
{
	struct store_zone known = { 0 };
	char lost[96] = "";

	if (get_known(load, content, &known) && known.serial != known.file_serial)
		snprintf(lost, sizeof(lost),
			 ", without the changes of the journal from serial %u to serial %u",
			 known.file_serial, known.serial);
	load_warn(
		load,
		"%s: it is not what was written to it, or cannot be read: the zone is %s from %s%s",
		load->signing->file, load->source == LOAD_UNSIGNED_FILE ? "made" : "signed anew",
		load->file, lost);
}

/*
 * The zone was served unsigned until now: changes made since its file was written are signed, too.
 */
static int add_changes(struct load *load, struct zone **content,
		       const uint8_t digest[ZONE_DIGEST_LEN])
{
	struct zone_error why;
	uint64_t n;
	int err;

	if (load->base && !memcmp(digest, load->file_digest, ZONE_DIGEST_LEN)) {
		zone_unref(*content);
		*content = zone_ref(load->base);
	}
	if (load->base || !load->store)
		return 0;
	err = replay(load->store, content, digest, &n,
		     "and is dropped once the file has a newer serial number", &why);
	if (err)
		memcpy(load->err->sentence, why.sentence, sizeof(why.sentence));
	return err;
}

/* --- Signed ----------------------------------------------------------------------------------- */

/* The processors that this thread, and so the threads that it starts, may run on. */
static unsigned int n_processors(void)
{
	cpu_set_t set;
	int n = pthread_getaffinity_np(pthread_self(), sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return (unsigned int)n;
}

static int sign_signed_load(struct load *load, const struct zone *content,
			    const struct zone *before, uint32_t serial)
{
	load->content = LOAD_SIGNED_ANEW;
	load->own = LOAD_OWN_DUE;
	return sign_all(content, before, &load->signing->keys, &load->signing->options,
			load->signing->now_s, serial, n_processors(), &load->progress.cancel,
			&load->zone, load->err);
}

int load_make_signed(struct load *load)
{
	uint8_t digest[ZONE_DIGEST_LEN];
	struct zone *content = load->zone, *before = NULL;
	uint32_t serial = zone_serial(content);
	struct store_zone known;
	bool is_other, is_harmed;
	int err = 0;

	zone_digest(content, digest);
	is_other = memcmp(digest, load->content_digest, sizeof(digest)) != 0;
	load->zone = NULL;
	load->content = LOAD_SIGNED_BEFORE;
	if (is_first(load))
		err = add_changes(load, &content, digest);
	if (!err)
		err = signed_before(load, is_other, &before);
	is_harmed = load->own == LOAD_OWN_HARMED;
	if (before)
		raise_above(&serial, zone_serial(before));
	if (get_known(load, content, &known))
		raise_above(&serial, known.serial);
	if (!err && before && zone_is_signed(before) && !is_other)
		load->zone = zone_ref(before);
	else if (!err)
		err = sign_signed_load(load, content, before, serial);
	if (!err && is_harmed) {
		load->gives_up_journal = true;
		warn_harmed(load, content);
	}
	memcpy(load->content_digest, digest, sizeof(digest));
	zone_unref(content);
	zone_unref(before);
	return err;
}

/* Returns @err if a version is served already, or if the zone was never signed. */
int load_make_without_content(struct load *load, int err)
{
	const struct zone_error why = *load->err;
	struct zone *before;

	if (err == -ECANCELED || load->base || is_first(load))
		return err;
	if (signed_before(load, false, &before))
		before = NULL;
	*load->err = why;
	if (load->own == LOAD_OWN_HARMED)
		log_error("zone %s: %s is not what was written to it, or cannot be read: there "
			  "is no other version to serve",
			  load->name, load->signing->file);
	if (!before || !zone_is_signed(before)) {
		zone_unref(before);
		return err;
	}
	load->zone = before;
	load->content = LOAD_SIGNED_BEFORE;
	load->file_code = err;
	return 0;
}

void load_fall_back(struct load *load)
{
	int err = load->code;

	load_drop_zone(load);
	memcpy(load->content_digest, load->content_before, ZONE_DIGEST_LEN);
	load->own = LOAD_OWN_FINE;
	load->gives_up_journal = false;
	load->code = load_make_without_content(load, err);
}

int load_make_without_keys(struct load *load)
{
	return load_make_without_content(load, zone_error_set(load->err, "", 0, "%s",
							      load->signing->why));
}

int load_sign_again(struct load *load)
{
	return sign_signed_load(load, load->version, load->version, zone_serial(load->version) + 1);
}

/* --- Signed no more --------------------------------------------------------------------------- */

/* Gives the unsigned version a higher serial number, so that secondaries fetch it, and keeps
 * changes made here, unless the file has new content. */
static int unsign(struct load *load, const struct zone *content, const struct zone *before,
		  uint32_t served)
{
	bool is_new = memcmp(load->file_digest, load->content_digest, ZONE_DIGEST_LEN) != 0;
	int err;

	if (zone_is_signed(content))
		return zone_error_set(
			load->err, "", 0,
			"it is signed, and serial %u is not newer than %u, which was signed here "
			"and is served: give it a newer one",
			load->file_serial, served);
	err = sign_strip(is_new || !before ? content : before, served + 1, &load->progress.cancel,
			 &load->zone, load->err);
	return err ? err : zone_difference(content, load->zone, ZONE_DIFFERENCE_MAX, &load->net);
}

int load_make_unsigned(struct load *load)
{
	uint8_t digest[ZONE_DIGEST_LEN];
	struct zone *content = load->zone, *before;
	struct store_zone known = { 0 };
	uint32_t served;
	bool is_above;
	int err;

	zone_digest(content, digest);
	err = signed_before(load, memcmp(digest, load->content_digest, sizeof(digest)) != 0,
			    &before);
	is_above = before || (load->own == LOAD_OWN_HARMED && get_known(load, content, &known));
	served = before ? zone_serial(before) : known.serial;
	load->file_serial = zone_serial(content);
	memcpy(load->file_digest, digest, sizeof(digest));
	load->n_replayed = 0;
	if (is_above && !xfr_serial_newer(load->file_serial, served)) {
		load->zone = NULL;
		err = unsign(load, content, before, served);
	} else {
		(void)zone_ref(content);
	}
	if (!err && load->own == LOAD_OWN_HARMED)
		warn_harmed(load, content);
	zone_unref(content);
	zone_unref(before);
	return err;
}
