/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `volleyctl top` shows: lines made of the daemon's answers (daemon/live.h), without a
 * terminal.
 *
 *      answers/s, history, ways of answers   always
 *      table of the view that is chosen      clients, names: estimates
 *                                            types, rcodes, zones, limited: counted
 *
 * Pure; any thread.
 */
#ifndef VOLLEY_CLIENT_TOP_VIEW_H
#define VOLLEY_CLIENT_TOP_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define TOP_HISTORY   60u /* seconds */
#define TOP_WIDTH_MIN 20u

/* The first letter of a view is the key that shows it. */
#define TOP_VIEW_LIST(T)          \
	T(TOP_CLIENTS, "clients") \
	T(TOP_NAMES, "names")     \
	T(TOP_TYPES, "types")     \
	T(TOP_RCODES, "rcodes")   \
	T(TOP_ZONES, "zones")     \
	T(TOP_LIMITED, "limited")

enum top_kind {
#define TOP_KIND(name, word) name,
	TOP_VIEW_LIST(TOP_KIND) TOP_N_KINDS
#undef TOP_KIND
};

struct top_view {
	enum top_kind kind;
	unsigned int width;  /* columns: at least TOP_WIDTH_MIN */
	unsigned int height; /* the most lines; 0: one for each row */
	bool is_live;        /* show the keys, and overwrite the earlier picture */
	bool is_paused;
	bool is_help; /* show what the keys do in place of the table */
	bool is_utf8;
	double history[TOP_HISTORY]; /* answers per second; the latest value is the last */
	unsigned int n_history;      /* number of values, which are at the end of history */
};

/* Finds the view by its word or its key (one letter). False if there is none. */
bool top_view_find(enum top_kind *kind, const char *word);

void top_view_remember(struct top_view *view, double per_second);

/*
 * Adds rates to `now`, for the time since `before`, an earlier reply: "per_second" is an object
 * like "answers", with "shed", and each of "clients" and "names" gets a "per_second". Returns the
 * answers per second.
 */
double top_view_rates(json_t *now, const json_t *before);

/* Writes the view of a reply with rates: at most view->height lines of view->width columns. */
void top_view_draw(FILE *out, const struct top_view *view, const json_t *now);

#endif
