/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After a restart: a zone as its file has it, and what the journal has beyond. */
#ifndef VOLLEY_ZONEMGR_REPLAY_H
#define VOLLEY_ZONEMGR_REPLAY_H

#include <stdint.h>

#include "store/store.h"
#include "zone/zone.h"

/* **@zone becomes the version that @set leads to; after an error it is as before. As
 * zone_edit_apply(). */
int replay_set(struct zone **zone, const struct changeset *set) __attribute__((warn_unused_result));

/* What the store calls the digest of the file that is about to take the place of a zone's. */
#define REPLAY_NEXT_FILE "next file"

/* What the store says of a zone's file that is ours to write. */
enum replay_file {
	REPLAY_FILE_OURS, /* this is what was written last */
	/* the store, or NULL, knows of none: whoever made it, it is taken as it is */
	REPLAY_FILE_UNKNOWN,
	REPLAY_FILE_HARMED, /* another content: the file was cut, or somebody has changed it */
};

/* Of a file with this digest, just read. Any thread. */
enum replay_file replay_judge_file(struct store *store, const uint8_t *apex,
				   const uint8_t digest[static ZONE_DIGEST_LEN]);

/*
 * Applies to **@zone, just read from a file with this digest, the change sets that begin with its
 * serial number; *@zone is the version behind them then, and *@n their number. Nothing is applied
 * where the file is not the one that the journal begins with: somebody has replaced it, and it is
 * served as it is. Any thread. Returns 0; -ENOMEM, -EIO; ERR_ZONE where a set does not fit: *@zone
 * is as far as it went. After an error @why has a sentence: where the journal is, @and_so, and the
 * reason.
 */
int replay(struct store *store, struct zone **zone, const uint8_t digest[static ZONE_DIGEST_LEN],
	   uint64_t *n, const char *and_so, struct zone_error *why)
	__attribute__((warn_unused_result));

#endif
