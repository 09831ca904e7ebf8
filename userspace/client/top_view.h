/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `volleyctl top` shows: lines made of the daemon's answers (daemon/live.h), without a terminal.
 *
 *      answers/s, history, who answered      always
 *      table of the view that is chosen      clients, names: estimates; types, rcodes, zones: counted; limited: counted
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

/* The key that shows a view is its first letter. */
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
	unsigned int height; /* lines at most; 0: as many as there are rows */
	bool is_live;        /* keys are told, and what was drawn there before is overwritten */
	bool is_paused;
	bool is_utf8;
	double history[TOP_HISTORY]; /* answers per second, the last one at the end */
	unsigned int n_history;      /* how many of these, from the end, there are */
};

/* The view of that word, or of that key (a word of one letter). False: there is none. */
bool top_view_find(enum top_kind *kind, const char *word);

void top_view_remember(struct top_view *view, double per_second);

/*
 * Puts rates into `now`, of the time since `before`, an earlier answer: "per_second" is an object like "answers", with "shed", and
 * each of "clients" and "names" has a "per_second". The sum of them: answers per second.
 */
double top_view_rates(json_t *now, const json_t *before);

/* Writes the view of an answer with rates: no line is wider than view->width, and there are no more than view->height. */
void top_view_draw(FILE *out, const struct top_view *view, const json_t *now);

#endif
