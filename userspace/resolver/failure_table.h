/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latest questions that failed, each with its reason: a table of fixed size, one for each
 * resolver thread.
 *
 *	resolver thread: failure_table_note()
 *	    └─► one of FAILURE_SETS sets, by the question's hash: FAILURE_WAYS places
 *	            └─► control: failure_table_find()
 *
 * A question that fails again keeps its place. A new question takes a free place of its set, or the
 * place of the oldest failure there. So the table has the last few hundred failures, and a flood of
 * failing names costs no memory.
 *
 * One thread writes, without a lock. Any thread reads. Each place has a version, which is odd while
 * the place is being written. If the version is odd, or has changed while the reader copied the
 * place, the reader copies it again; after FAILURE_READ_TRIES it leaves the place out. So a failure
 * that is read is never torn, but a reader may miss failures that are noted meanwhile.
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
	uint64_t first_ns; /* CLOCK_MONOTONIC: first and last failure */
	uint64_t last_ns;  /* 0: the place is free */
	uint64_t n;        /* failures, counted for each client that asked */
	int32_t ede_code;  /* RFC 8914, or EDNS_NO_EDE; of the last failure, like why */
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
 * Notes that a question (its name folded, its hash set) has failed. text is the reason for a
 * person, or NULL. now_ns: CLOCK_MONOTONIC, not 0. The table's thread.
 */
void failure_table_note(struct failure_table *t, const struct resolver_question *q, int ede_code,
			const char *text, uint64_t now_ns);

/*
 * Copies the failures of a folded name (NULL: of all names) of all types into out, which has room
 * for cap, in no order. Returns how many were copied. It reads the whole table. Any thread.
 */
size_t failure_table_find(const struct failure_table *t, const uint8_t *folded, struct failure *out,
			  size_t cap);

#endif
