/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A load: what a zone is made of, how far the work is, and its result. The loader's threads own it
 * between loader_start() and its end (zonemgr/loader.h); before and after that control owns it.
 */
#ifndef VOLLEY_ZONEMGR_LOAD_H
#define VOLLEY_ZONEMGR_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"
#include "config/config.h"
#include "config/verify.h"
#include "invalidate/changes.h"
#include "zone/changeset.h"
#include "zone/zone.h"
#include "zonemgr/zonefile.h"

struct file_checks;
struct load;
struct signing_work;
struct store;
struct zone_builder;

/* Called once for each load, in the thread of loader_poll(); the callee frees the load. */
typedef void load_ended_fn(struct load *load);

enum load_stage {
	LOAD_WAITING, /* for a thread */
	LOAD_READING,
	LOAD_BUILDING,
	LOAD_VERIFYING, /* the command runs */
	LOAD_ENDED,
};

/* What a zone is made of. It decides which members of struct load are set, and what make_loader()
 * of loader.c does. */
enum load_source {
	LOAD_FILE,          /* `file`, and later changes from the journal in `store` */
	LOAD_SIGNED_FILE,   /* the same, signed with `signing` */
	LOAD_UNSIGNED_FILE, /* the same; the zone was signed until now and is signed no more */
	LOAD_TRANSFER,      /* `builder`: a zone from a primary */
	LOAD_VERSION,       /* `version`, which becomes one image again */
	LOAD_RESIGN,        /* `version`, completely signed anew with `signing` */
	LOAD_CHECKS,        /* `checks`: only looks at files, and makes no zone */
};

/* What happens if there is no complete file. */
enum load_absent {
	LOAD_ABSENT_FAILS,
	LOAD_ABSENT_WAITS, /* the load succeeds without a zone: a primary will give it */
	LOAD_ABSENT_MADE,  /* an empty catalog is made */
};

/* How the version to serve was made of content that is signed here. */
enum load_content {
	LOAD_NOT_SIGNED,
	LOAD_SIGNED_BEFORE, /* the earlier version: the content is the same, or could not be read */
	LOAD_SIGNED_ANEW,   /* signed now: the content or the keys are new */
};

/* The state of a file that volleyd writes. */
enum load_own {
	LOAD_OWN_FINE,   /* or the file is the operator's */
	LOAD_OWN_DUE,    /* the zone is written to it before the load ends */
	LOAD_OWN_HARMED, /* the signed file was cut or changed: it is not used */
};

/* The serial of a zone from an operator's file. */
enum load_serial {
	LOAD_SERIAL_FINE,
	LOAD_SERIAL_RAISED, /* the zone has a newer one than its file */
	LOAD_SERIAL_BEHIND, /* the zone has changed, and its serial is not newer than before */
};

/* What the serial of an operator's file is compared with: zonemgr/load_steps.h. */
struct load_serial_rule {
	bool is_on;     /* false: the serial of the file is not looked at */
	bool is_known;  /* an earlier version was served */
	bool is_behind; /* the served version has other content than one with `served` had */
	enum config_serial policy;
	uint32_t served;      /* the newest serial that was served */
	uint32_t file_serial; /* under which the file's content was served */
	uint8_t file_digest[ZONE_DIGEST_LEN];
	uint8_t next_digest[ZONE_DIGEST_LEN]; /* of what was last to be written to it */
	uint64_t now_s;
};

struct load {
	/* Set before the start; constant while it runs, except `user`. */
	enum load_source source;
	enum load_absent absent;
	char *name; /* of the zone */
	char *file;
	struct verify verify;
	struct zone *base; /* a reference: the version to compare with; NULL: none */
	struct zone_builder *builder;
	struct zone *version;  /* a reference */
	struct store *store;   /* NULL: no journal is applied */
	struct store *journal; /* gets the digest of our file before it is written; NULL: none */
	struct signing_work *signing;
	struct file_checks *checks;
	bool needs_zonemd; /* refuse a zone without a ZONEMD that can be checked */
	bool wants_net;    /* make `net`, for the journal */
	struct load_serial_rule serial_rule;
	/* not settled: the file is read. Else only if it is another than with this mark: an
	 * unchanged file gives no zone. */
	struct zonefile_mark known;
	/* for control: the zone had changes that its file did not have when the load began */
	bool is_base_ahead;
	load_ended_fn *ended;
	void *user; /* for ended(); the threads do not use it */

	/* Written by the loader's threads; others read with load_stage() and relaxed loads. */
	struct zone_progress progress;
	uint32_t stage;    /* enum load_stage */
	uint64_t begun_ns; /* clock_ns(); 0: waiting */

	/* Valid after the end. */
	int code;          /* as zone_load() or verify_run(); -ECANCELED after loader_cancel() */
	struct zone *zone; /* NULL after an error */
	/* Not 0: the content could not be read (err has the reason), and `zone` is the version that
	 * was signed before. */
	int file_code;
	struct changes *changes; /* from base to zone; NULL: see refusal */
	/* The same as records; empty: there is no base, or too many records changed.
	 * LOAD_UNSIGNED_FILE: from the file's content to zone. */
	struct changeset net;
	uint32_t file_serial; /* of the file's content, without the journal */
	uint8_t file_digest[ZONE_DIGEST_LEN];
	struct zonefile_mark file_mark; /* of the file that was read */
	uint64_t n_replayed;            /* change sets applied from the journal */
	enum load_own own;
	enum load_content content;
	uint8_t content_digest[ZONE_DIGEST_LEN]; /* unless LOAD_NOT_SIGNED */
	uint8_t content_before[ZONE_DIGEST_LEN]; /* the content digest before this load */
	enum changes_refusal refusal;
	struct zone_error *err; /* NULL: before it runs, without memory, or load_forget_texts() */
	bool gives_up_journal;  /* its changes do not fit the file */
	enum load_serial serial_state;
	uint32_t behind_serial; /* LOAD_SERIAL_BEHIND: the newest serial that was served */
	uint32_t serial;        /* of a zone that the command has refused */
	struct sentence why;    /* why it has refused */
	uint64_t took_ns;       /* without comparison and command */
	uint64_t ended_wall_s;  /* seconds since 1970 */

	struct zone *old;  /* control's: a reference that is freed with the load */
	struct load *next; /* in the loader's queue, or in its list of ended loads */
};

/*
 * Makes a load of the zone `name` from `file`, and does not start it. For another source, which the
 * caller sets with its members, `file` is only text for messages. `verify`, unless NULL, has to
 * accept the zone. All three are copied. NULL: no memory.
 */
struct load *load_new(const char *name, const char *file, const struct verify *verify,
		      load_ended_fn *ended, void *user);
/* Frees it with the zones that it still has. Not while it runs. NULL is allowed. */
void load_free(struct load *load);

/* Gives up the zone that it has made. */
static inline void load_drop_zone(struct load *load)
{
	zone_unref(load->zone);
	load->zone = NULL;
}

/* Frees err, name and file, once all is told: a zone may wait for others until it is published. */
void load_forget_texts(struct load *load);

/* Writes what was wrong as one sentence, with file and line if known. After an end with an error or
 * a file_code. */
void load_put_error(const struct load *load, char *buf, size_t cap);

enum load_stage load_stage(const struct load *load);
/* "waiting", "reading" ... Static. */
const char *load_stage_text(enum load_stage stage);

#endif
