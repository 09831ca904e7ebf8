/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last questions that failed, each with the reason: a table of a fixed size, one for each
 * resolver thread.
 *
 *	resolver thread: failure_table_note() ─► a set of FAILURE_WAYS places, by the question's hash ─► control: failure_table_find()
 *
 * A question that fails again keeps its place. Another question takes a free place of its set, or
 * that of the failure that is the oldest in the set. So the table has the last few hundred
 * failures, and a flood of names that fail costs no memory.
 *
 * One thread writes, and no lock is taken there. Any thread reads: each place has a version, which
 * is odd while the place is being written. A reader that meets an odd version, or another version
 * behind its copy than before, copies again; after FAILURE_READ_TRIES it leaves the place out. So a
 * failure that is read is whole, never torn, but failures that are noted while a reader goes
 * through the table may or may not be found.
 */
#ifndef VOLLEY_RESOLVER_FAILURE_TABLE_H
#define VOLLEY_RESOLVER_FAILURE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/resolver_question.h"

#define FAILURE_SETS       64 /* a power of two */
#define FAILURE_WAYS       4
#define FAILURE_WHY_CAP    424 /* with the NUL; a longer reason is cut */
#define FAILURE_READ_TRIES 8

struct failure {
	uint64_t first_ns; /* CLOCK_MONOTONIC: when the question failed first, and last */
	uint64_t last_ns;  /* 0: the place is free */
	uint64_t n;        /* how often, each client that asked counted */
	int32_t ede_code;  /* RFC 8914, or EDNS_NO_EDE; of the last time, as the reason */
	uint16_t qtype;    /* host order */
	uint16_t qclass;
	uint8_t name[NAME_FOLDED_BYTES]; /* folded */
	char why[FAILURE_WHY_CAP]; /* ASCII without control characters; "": no reason is known */
};

#define FAILURE_WORDS (sizeof(struct failure) / sizeof(uint64_t))

struct failure_table {
	struct failure_place {
		uint64_t version;
		union {
			struct failure failure;
			uint64_t words[FAILURE_WORDS];
		} u;
	} places[FAILURE_SETS * FAILURE_WAYS];
};

/*
 * Notes that a question (its name folded, its hash set) has failed. text is why, for a person, or
 * NULL. now_ns: CLOCK_MONOTONIC, not 0. The table's thread.
 */
void failure_table_note(struct failure_table *t, const struct resolver_question *q, int ede_code,
			const char *text, uint64_t now_ns);

/*
 * Copies the failures of a folded name (NULL: of all names), whatever their type, into out, which
 * has room for cap; how many were copied. In no order. Any thread; it reads the whole table.
 */
size_t failure_table_find(const struct failure_table *t, const uint8_t *folded, struct failure *out,
			  size_t cap);

#endif
