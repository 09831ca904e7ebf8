/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of the driver's shared answers by the workers' answers.
 *
 *   driver hands up one of VOLLEY_CHECK_EVERY queries that it could answer ┐
 *   any other query without an entry in the cache                          ┤
 *      ┌───────────────────────────────────────────────────────────────────┘
 *      └► worker renders the answer from the zone
 *         the name exists, but the filter denies it ─► shield_check() ┐ counted; shield_note()
 *         the driver's entry has other octets ───────► given_check()  ┴ notes zone, name and fault
 *      control, once a second: shield_take() ─► logged; the driver denies no more of that zone
 *
 * A filter that lacks a name that is served, or a shared answer with other octets than the zone's,
 * is a fault of ours or of the memory. The driver then gives a wrong answer, and no worker sees
 * these queries. So workers answer a few of the queries that the driver could answer.
 *
 * The driver's reason does not reach a worker. So a worker compares octets for each answer that
 * many names may share, at most SHIELD_CHECKS times a second. This bounds the cost of a flood of
 * misses if no driver answers.
 */
#ifndef VOLLEY_SHIELD_SHIELD_H
#define VOLLEY_SHIELD_SHIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/query.h"
#include "xdp/abi.h"
#include "zone/set.h"

#define SHIELD_PLACES 16u   /* zones that can wait for control; each always takes the same place */
#define SHIELD_CHECKS 1000u /* comparisons of octets that one engine begins in a second */

struct names_walk;

/* The faults that a worker can find: F(fault, words for people). */
#define SHIELD_FAULTS(F)                               \
	F(EXISTENCE, "the filter of names lacked one") \
	F(OCTETS, "an answer of the driver had other octets than the zone's")

enum shield_fault {
#define SHIELD_FAULT(fault, words) SHIELD_##fault,
	SHIELD_FAULTS(SHIELD_FAULT)
#undef SHIELD_FAULT
};

/* The fault in words: a clause; static. */
const char *shield_fault_text(enum shield_fault fault);

/* A query to which the driver would give a wrong answer. */
struct shield_found {
	uint8_t name[DNS_NAME_MAX]; /* folded wire */
	uint8_t bytes;
	/* where in it the apex begins of the zone from which the driver would answer */
	uint8_t apex;
	uint16_t qtype; /* host order */
	enum shield_fault fault;
};

struct shield_place {
	uint32_t state; /* free, being written, or written */
	struct shield_found found;
};

struct shield {
	const struct volley_names_line *lines; /* volley_names; they must outlive the engines */
	uint32_t n_lines;                      /* of the filter and of the intervals */
	uint32_t edition; /* odd: a set or a version of a zone is being replaced */
	struct shield_place places[SHIELD_PLACES];
};

/* `lines`: of a filter and of the intervals after it. Call this before there are engines. */
void shield_init(struct shield *shield, const struct volley_names_line *lines, uint32_t n_lines);

/*
 * Checks a query whose name exists, or for which a wildcard stands (is_expanded), by an answer that
 * was rendered from `set`. True if the driver would say otherwise, by a zone of the set whose names
 * are all in the filter. The fault is noted for control; it is lost if another one waits in its
 * place. Caller's QSBR read section, in which the set was read; no lock, no allocation.
 */
bool shield_check(struct shield *shield, const struct volley_names_state *names,
		  const struct zone_set *set, const struct query *q, bool is_expanded);

/* Notes a fault with its walk for control, or loses it if the place is taken. Any thread; no
 * lock. */
void shield_note(struct shield *shield, const struct query *q, const struct names_walk *walk,
		 enum shield_fault fault);

/*
 * Between these two no octets are compared. Call begin before a set or a version of a zone is
 * served, and end after all cached answers that it changed are withdrawn. If the end is missing, as
 * after an error, this lasts until the next end. Control's thread.
 */
void shield_begin_edition(struct shield *shield);
void shield_end_edition(struct shield *shield);

/* Takes a fault that was noted; false: none is left. One thread at a time. */
bool shield_take(struct shield *shield, struct shield_found *out);

#endif
