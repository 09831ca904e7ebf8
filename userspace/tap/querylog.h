/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The query log: a line for each answer, as text or JSON, to a file or systemd's journal.
 *
 *      event ─► filters ─► line ─► tap/record_writer.h ─► file, journal
 *
 * The file is opened for appending. A line is written whole or not at all.
 */
#ifndef VOLLEY_TAP_QUERYLOG_H
#define VOLLEY_TAP_QUERYLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "tap/event.h"
#include "tap/record_writer.h"

#define QUERYLOG_LINE_MAX 4608 /* two of the longest names, escaped twice, and all other fields */

struct querylog_net {
	uint8_t family;
	uint8_t bits;
	uint8_t address[16];
};

/* The policy zone that has changed an answer. */
struct querylog_rpz {
	uint8_t list[NAME_FOLDED_BYTES]; /* a name in wire form */
	bool is_local_data;              /* then there is no list */
	const char *action;              /* a word of letters and hyphens; static */
};

/* True if a policy zone has changed the answer of this event; *out says which. Called by the tap's
 * thread, or by a thread that changes its settings. */
typedef bool querylog_judge_fn(void *ctx, const struct tap_event *e, struct querylog_rpz *out);

struct querylog_config {
	char *path; /* NULL: the journal */
	bool is_json;
	uint32_t every; /* one in this many answers; at least 1 */
	struct tap_prefix prefix;
	querylog_judge_fn *judge; /* NULL: lines have no policy zone */
	void *judge_ctx;          /* outlives the log */
	/* Filters. An empty filter lets all through; an event must pass all of them. */
	uint8_t (*zones)[NAME_FOLDED_BYTES]; /* names at or below one of these */
	size_t n_zones;
	uint64_t rcodes; /* a bit for each; 0: all */
	struct querylog_net *clients;
	size_t n_clients;
};

/* Frees what it points to. */
void querylog_config_fini(struct querylog_config *config);

struct querylog;

/* Starts the thread that writes. Takes *config, also on an error. 0 or -errno. */
int querylog_open(struct querylog **out, struct querylog_config *config)
	__attribute__((warn_unused_result));
/* Adds the final querylog_counters(). NULL is allowed. */
void querylog_close(struct querylog *log, uint64_t *written, uint64_t *lost);

/* querylog_file_reopen() of its file. Control's thread. */
int querylog_reopen(struct querylog *log) __attribute__((warn_unused_result));

/* Puts the line of an event into the queue, if the filters let it through; querylog_kick() wakes
 * the writer. One thread. */
void querylog_put(struct querylog *log, const struct tap_event *e);
void querylog_kick(struct querylog *log);

/* Written lines and lost lines. Any thread, as the next one. */
void querylog_counters(const struct querylog *log, uint64_t *written, uint64_t *lost);

/* True if the filters let an event through. Pure; any thread. */
bool querylog_wants(const struct querylog_config *config, const struct tap_event *e,
		    const struct tap_view *view);
/* The line of an event without a line feed. Returns its length. Calls config->judge; otherwise
 * pure. Any thread. */
size_t querylog_line(const struct querylog_config *config, const struct tap_event *e,
		     const struct tap_view *view, char out[QUERYLOG_LINE_MAX]);

/* The output of the query log: a file, or systemd's journal. */

/* Comes before each line that goes to the journal. */
#define QUERYLOG_LEAD "MESSAGE="

struct querylog_file;

/*
 * Makes *sink for tap_writer_open(); its close() frees it. Opens a path at once, to report
 * mistakes: -errno. The path must live as long. NULL: the journal, and then *file is NULL. `out`
 * will point to the output.
 */
int querylog_sink_new(struct tap_sink *sink, struct querylog_file **file, const char *path,
		      struct tap_writer *const *out) __attribute__((warn_unused_result));

/*
 * If the path no longer leads to the open file, because that was renamed or removed, opens the path
 * anew: the next lines go there. 0; or -errno, and lines go on to the open file. NULL is allowed.
 * Control's thread.
 */
int querylog_file_reopen(struct querylog_file *file) __attribute__((warn_unused_result));

#endif
