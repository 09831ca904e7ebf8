/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/zonefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "dns/name.h"
#include "zone/edit.h"

static int apply_replay(struct zone **zone, const struct changeset *set, struct zone_error *why)
{
	struct zone_edit *edit;
	struct zone *next;
	int err = zone_edit_begin(&edit, *zone);

	if (err)
		return err;
	err = zone_edit_apply(edit, set, why);
	if (err)
		zone_edit_cancel(edit);
	else
		err = zone_edit_finish(edit, &next, NULL, why);
	if (err)
		return err;
	zone_unref(*zone);
	*zone = next;
	return 0;
}

int replay_set(struct zone **zone, const struct changeset *set)
{
	struct zone_error why;

	return apply_replay(zone, set, &why);
}

static int apply_chain(struct store_chain *chain, struct zone **zone, uint64_t *n,
		       struct zone_error *why)
{
	struct changeset set;
	int err;

	changeset_init(&set);
	while ((err = store_chain_next(chain, &set)) == 1) {
		err = apply_replay(zone, &set, why);
		changeset_fini(&set);
		if (err)
			break;
		(*n)++;
	}
	changeset_fini(&set);
	return err;
}

/* True if we have replaced the file and ended before we noted it. */
static bool is_next_file(struct store *store, const uint8_t *apex,
			 const uint8_t digest[static ZONE_DIGEST_LEN])
{
	void *next;
	size_t n;
	bool is;

	if (store_get(store, apex, REPLAY_NEXT_FILE, &next, &n))
		return false;
	is = n == ZONE_DIGEST_LEN && !memcmp(next, digest, n);
	free(next);
	return is;
}

static bool has_next_file(struct store *store, const uint8_t *apex)
{
	void *next;
	size_t n;

	if (store_get(store, apex, REPLAY_NEXT_FILE, &next, &n))
		return false;
	free(next);
	return true;
}

enum replay_file replay_judge_file(struct store *store, const uint8_t *apex,
				   const uint8_t digest[static ZONE_DIGEST_LEN])
{
	static const uint8_t none[ZONE_DIGEST_LEN];
	struct store_zone known;

	if (!store)
		return REPLAY_FILE_UNKNOWN;
	if (is_next_file(store, apex, digest))
		return REPLAY_FILE_OURS;
	if (store_get_zone(store, apex, &known))
		memset(known.file_digest, 0, sizeof(known.file_digest));
	if (memcmp(known.file_digest, none, sizeof(none)) != 0)
		return memcmp(known.file_digest, digest, ZONE_DIGEST_LEN) ? REPLAY_FILE_HARMED :
									    REPLAY_FILE_OURS;
	return has_next_file(store, apex) ? REPLAY_FILE_HARMED : REPLAY_FILE_UNKNOWN;
}

/* Opens the changes that the file does not have. ERR_NOT_FOUND: there are none that fit. */
static int open_replay_chain(struct store *store, const uint8_t *apex, uint32_t serial,
			     const uint8_t digest[static ZONE_DIGEST_LEN],
			     struct store_chain **chain)
{
	char name[NAME_TEXT_MAX];
	struct store_zone known;
	int err = store_get_zone(store, apex, &known);

	if (err)
		return err;
	if (!memcmp(known.file_digest, digest, ZONE_DIGEST_LEN))
		return store_replay_open(store, apex, chain);
	if (is_next_file(store, apex, digest))
		return store_chain_open(store, apex, serial, chain);
	if (known.serial != known.file_serial && name_to_text(name, sizeof(name), apex) >= 0)
		log_warn("zone %s: the file was replaced: the changes of the journal behind "
			 "serial %u are dropped",
			 name, known.file_serial);
	return ERR_NOT_FOUND;
}

/* The reason comes last, because it may be cut. */
static void say_replay(const struct store *store, const struct zone *z, const char *and_so, int err,
		       struct zone_error *why)
{
	char reason[96];

	snprintf(reason, sizeof(reason), "%.95s", *why->sentence ? why->sentence : err_text(err));
	snprintf(why->sentence, sizeof(why->sentence),
		 "the journal in %s does not fit behind serial %u, %s: %s", store_folder(store),
		 zone_serial(z), and_so, reason);
}

int replay(struct store *store, struct zone **zone, const uint8_t digest[static ZONE_DIGEST_LEN],
	   uint64_t *n, const char *and_so, struct zone_error *why)
{
	unsigned int len;
	const uint8_t *apex = zone_apex(*zone, &len);
	struct store_chain *chain;
	int err = open_replay_chain(store, apex, zone_serial(*zone), digest, &chain);

	*n = 0;
	*why = (struct zone_error){ 0 };
	if (err == ERR_NOT_FOUND)
		return 0;
	if (!err) {
		err = apply_chain(chain, zone, n, why);
		store_chain_close(chain);
	}
	if (err)
		say_replay(store, *zone, and_so, err, why);
	return err;
}
