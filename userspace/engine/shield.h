/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of the driver's shared answers by the workers' answers.
 *
 *	driver hands up one of VOLLEY_CHECK_EVERY queries that it could answer ─┐
 *	any other query without an entry in the cache ──────────────────────────┴─► worker renders the answer from the zone
 *	     the name exists, and the filter says that it does not ─► shield_check()  ┐ counted; zone, name and fault
 *	     the driver's entry says something else ────────────────► given_check()   ┴ are noted by shield_note()
 *	     control, once a second: shield_take() ─► logged; the driver denies nothing of that zone from now on
 *
 * A filter that lacks a name that is served, or a shared answer with other octets than the zone's,
 * is a fault of ours, or of the memory. The driver then gives a wrong answer, and no worker sees
 * these queries; so a few that it could answer are answered by workers.
 *
 * The driver's reason does not reach a worker. So a worker compares octets for each answer that
 * many names may share, but for SHIELD_CHECKS a second at most: that bounds what a flood of misses
 * costs where no driver answers.
 */
#ifndef VOLLEY_ENGINE_SHIELD_H
#define VOLLEY_ENGINE_SHIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/query.h"
#include "xdp/abi.h"
#include "zone/set.h"

#define SHIELD_PLACES 16u /* zones that can wait for control; a zone always takes the same place */
#define SHIELD_CHECKS 1000u /* comparisons of octets that one engine begins in a second */

struct names_walk;

/* What a worker has found to be wrong: F(fault, words for people). */
#define SHIELD_FAULTS(F)                               \
	F(EXISTENCE, "the filter of names lacked one") \
	F(OCTETS, "an answer of the driver had other octets than the zone's")

enum shield_fault {
#define SHIELD_FAULT(fault, words) SHIELD_##fault,
	SHIELD_FAULTS(SHIELD_FAULT)
#undef SHIELD_FAULT
};

/* A clause; static. */
const char *shield_fault_text(enum shield_fault fault);

/* A query to which the driver would give a wrong answer. */
struct shield_found {
	uint8_t name[DNS_NAME_MAX]; /* folded wire */
	uint8_t bytes;
	/* where the apex of the zone begins in it from which the driver would answer */
	uint8_t apex;
	uint16_t qtype; /* host order */
	enum shield_fault fault;
};

struct shield_place {
	uint32_t state; /* free, being written, or written */
	struct shield_found found;
};

struct shield {
	const struct volley_names_line *lines; /* volley_names; they outlive the engines */
	uint32_t n_lines;                      /* the filter's, and those of intervals */
	uint32_t edition; /* odd: a set or a version of a zone takes the place of another one */
	struct shield_place places[SHIELD_PLACES];
};

/* Over the lines of a filter, and of intervals behind it. Before there are engines. */
void shield_init(struct shield *shield, const struct volley_names_line *lines, uint32_t n_lines);

/*
 * For a query whose name exists, or a wildcard stands for it (is_expanded), by an answer that was
 * rendered from `set`: true if the driver would say otherwise, by a zone of the set whose names are
 * all in the filter. That is noted for control, or lost if another one waits in its place. Caller's
 * QSBR read section, in which the set was read; no lock, no allocation.
 */
bool shield_check(struct shield *shield, const struct volley_names_state *names,
		  const struct zone_set *set, const struct query *q, bool is_expanded);

/* Notes a fault for control, by the walk that led to it, or loses it if another one waits in its
 * place. Any thread; no lock. */
void shield_note(struct shield *shield, const struct query *q, const struct names_walk *walk,
		 enum shield_fault fault);

/*
 * From before a set, or a version of a zone, serves until all cached answers that it changed are
 * withdrawn, no octets are judged. Without an end, as behind an error, that holds until the next
 * end. Control's thread.
 */
void shield_begin_edition(struct shield *shield);
void shield_end_edition(struct shield *shield);

/* Takes what was noted; false: nothing is left. One thread at a time. */
bool shield_take(struct shield *shield, struct shield_found *out);

#endif
