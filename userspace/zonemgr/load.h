/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A load: what a zone is to be made of, how far that has come, and what came of it. The loader's
 * threads work on it between loader_start() and its end (zonemgr/loader.h); until then and from
 * then on it is control's.
 */
#ifndef VOLLEY_ZONEMGR_LOAD_H
#define VOLLEY_ZONEMGR_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/verify.h"
#include "engine/changes.h"
#include "zone/changeset.h"
#include "zone/zone.h"
#include "zonemgr/zonefile.h"

struct load;
struct signing_work;
struct store;
struct zone_builder;

/* Called once for each load, in the thread of loader_poll(); the load is the callee's to free. */
typedef void load_ended_fn(struct load *load);

enum load_stage {
	LOAD_WAITING, /* for a thread */
	LOAD_READING,
	LOAD_BUILDING,
	LOAD_VERIFYING, /* the command runs */
	LOAD_ENDED,
};

/* What a zone is made of. The row decides what of struct load is set, and what make() of loader.c
 * does. */
enum load_source {
	LOAD_FILE,          /* `file`, and what the journal in `store` has beyond it */
	LOAD_SIGNED_FILE,   /* the same as content, which is signed by `signing` */
	LOAD_UNSIGNED_FILE, /* the same, which was content until now and is signed no more */
	LOAD_TRANSFER,      /* `builder`: what a primary gave */
	LOAD_VERSION,       /* `version`, which is to be one image again */
	LOAD_RESIGN,        /* `version`, all of which is signed anew by `signing` */
};

/* What it means that there is no file, or none that is whole. */
enum load_absent {
	LOAD_ABSENT_FAILS,
	LOAD_ABSENT_WAITS, /* it ends well without a zone: a primary will give it */
	LOAD_ABSENT_MADE,  /* an empty catalog takes its place */
};

/* How what is to be served came of content that is signed here. */
enum load_content {
	LOAD_NOT_SIGNED,
	LOAD_SIGNED_BEFORE, /* as it is: the content is the same, or could not be read */
	LOAD_SIGNED_ANEW,   /* what was signed before, if anything, was of other content or keys */
};

/* Of a file that is ours. */
enum load_own {
	LOAD_OWN_FINE,   /* or the operator's */
	LOAD_OWN_DUE,    /* the zone is in it before the load ends */
	LOAD_OWN_HARMED, /* the signed one was cut or changed: nothing was taken of it */
};

struct load {
	/* Set by who starts it; constant while it runs, but for user. */
	enum load_source source;
	enum load_absent absent;
	char *name; /* of the zone */
	char *file;
	struct verify verify;
	struct zone *base; /* to compare with, a reference; NULL: none */
	struct zone_builder *builder;
	struct zone *version;  /* a reference */
	struct store *store;   /* NULL: nothing of a journal is applied */
	struct store *journal; /* is told of our file before that is written; NULL: there is none */
	struct signing_work *signing;
	bool needs_zonemd; /* a zone without a ZONEMD that can be checked is refused */
	bool wants_net;    /* net is to be made, for the journal */
	/* for control: when it was asked for, the zone had what its file had not */
	bool is_base_ahead;
	load_ended_fn *ended;
	void *user; /* for ended; the threads do not look at it */

	/* By the loader's threads; others look with load_stage() and relaxed loads. */
	struct zone_progress progress;
	uint32_t stage;    /* enum load_stage */
	uint64_t begun_ns; /* clock_ns(); 0: waiting */

	/* Good once it has ended. */
	int code;          /* of zone_load() or verify_run(); -ECANCELED after loader_cancel() */
	struct zone *zone; /* NULL after an error */
	/* Not 0: the content could not be read, as err says; the zone is what was signed before. */
	int file_code;
	struct changes *changes; /* from base to zone; NULL: refusal says why */
	/*
	 * Likewise, as records; empty: there is no base, or too many changed. Of what is signed no
	 * more: from what the file holds.
	 */
	struct changeset net;
	uint32_t file_serial; /* of what the file holds, without the journal */
	uint8_t file_digest[ZONE_DIGEST_LEN];
	struct zonefile_mark file_mark; /* of the file that was read */
	uint64_t n_replayed;            /* change sets of the journal */
	enum load_own own;
	enum load_content content;
	uint8_t content_digest[ZONE_DIGEST_LEN]; /* unless LOAD_NOT_SIGNED */
	uint8_t content_before[ZONE_DIGEST_LEN]; /* what that was before this load */
	enum changes_refusal refusal;
	struct zone_error err;
	bool gives_up_journal; /* what follows in it does not fit */
	uint32_t serial;       /* of a zone that was refused by the command */
	char why[512];         /* it was; "" without one */
	uint64_t took_ns;      /* without comparison and command */
	uint64_t ended_wall_s; /* seconds since 1970 */

	struct zone *old;  /* by control: a reference that goes with the load */
	struct load *next; /* in the loader's queue, or among those that have ended */
};

/*
 * A load of the zone `name` from `file`, not started; of another source, which the caller sets with
 * what it needs, `file` is a word for people. `verify`, unless NULL, has to accept the zone. All
 * three are copied. NULL: no memory.
 */
struct load *load_new(const char *name, const char *file, const struct verify *verify,
		      load_ended_fn *ended, void *user);
/* Frees it with its zones, if it still has some. NULL is allowed. Not while it runs. */
void load_free(struct load *load);

/* What it has made is not wanted. */
static inline void load_drop_zone(struct load *load)
{
	zone_unref(load->zone);
	load->zone = NULL;
}

/* What was wrong, with file and line if known, as one sentence. After an end with an error, or a
 * file_code. */
void load_put_error(const struct load *load, char *buf, size_t cap);

enum load_stage load_stage(const struct load *load);
/* "waiting", "reading" ... Static. */
const char *load_stage_text(enum load_stage stage);

#endif
