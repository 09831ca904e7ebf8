/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing zone files: our own (of zones from primaries, signed zones and produced catalogs), and
 * the operator's, which somebody else may have changed meanwhile.
 */
#ifndef VOLLEY_ZONEMGR_ZONEFILE_H
#define VOLLEY_ZONEMGR_ZONEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "store/store.h"
#include "zone/zone.h"

/* As store_write_zone_file(), but makes the folder if its parent exists. Background threads. */
int zonefile_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap) __attribute__((warn_unused_result));

/* Identifies the content of a file: with another mark the file was replaced or written to. Each
 * zone has one, so it has hashes. Zeros: there was no file. */
struct zonefile_mark {
	uint64_t content; /* of its device, its inode's number, its size and the time of its content */
	uint64_t status; /* of the time of its inode's last change */
	bool is_there;
	/* its last change was some seconds before, so a later one has another time */
	bool is_settled;
};

/* The mark of a file that had this status at the time now_s, seconds since 1970, or later. */
void zonefile_mark_of(const struct stat *st, uint64_t now_s, struct zonefile_mark *mark);
/* Reads the mark: before the file is read, or after it was written. */
void zonefile_mark_read(const char *path, struct zonefile_mark *mark);
/* True if the file can be opened, and has the content that it had with the mark @before, which was
 * settled. Any thread that may open files. */
bool zonefile_is_unchanged(const char *path, const struct zonefile_mark *before);
/* True if the file exists and has another mark. */
bool zonefile_is_other(const char *path, const struct zonefile_mark *mark);

/*
 * After a restart: applies the later changes of the journal to a zone that was read from its file.
 */

/* Applies @set to **@zone, which is unchanged after an error. Results as zone_edit_apply(). */
int replay_set(struct zone **zone, const struct changeset *set) __attribute__((warn_unused_result));

/* The store's key for the digest of the file that is about to replace a zone's file. */
#define REPLAY_NEXT_FILE "next file"

/* How a zone's file that volleyd writes compares with the store. */
enum replay_file {
	REPLAY_FILE_OURS, /* the file as it was last written */
	/* the store has no digest, or there is no store: the file is used as it is */
	REPLAY_FILE_UNKNOWN,
	REPLAY_FILE_HARMED, /* other content: the file was cut or changed */
};

/* Judges a file with this digest. Any thread. */
enum replay_file replay_judge_file(struct store *store, const uint8_t *apex,
				   const uint8_t digest[static ZONE_DIGEST_LEN]);

/*
 * Applies the change sets of the journal that follow **@zone, which was read from a file with this
 * digest; *@n becomes their number. If the journal does not begin with this file, nothing is
 * applied: the file was replaced, and is served as it is. Any thread. Returns 0, -ENOMEM, -EIO, or
 * ERR_ZONE: a set does not fit, and *@zone is the version before it. After an error @why has a
 * sentence: where the journal is, @and_so, and the reason.
 */
int replay(struct store *store, struct zone **zone, const uint8_t digest[static ZONE_DIGEST_LEN],
	   uint64_t *n, const char *and_so, struct zone_error *why)
	__attribute__((warn_unused_result));

#endif
