/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs why questions failed: the name, the type, and what the validator, the upstream or a limit
 * said. Each cause gets at most one line in FAILURES_EVERY_NS, with the number of failures left out
 * since the last line. So a client that asks for failing names does not fill the log. One struct
 * for each resolver thread; one thread.
 */
#ifndef VOLLEY_RESOLVER_FAILURES_H
#define VOLLEY_RESOLVER_FAILURES_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/resolver_question.h"

#define FAILURES_EVERY_NS 10000000000ULL
#define FAILURES_CAUSES   32 /* EDE codes (RFC 8914); all higher codes are one cause */
#define FAILURES_TEXT_CAP 1600

struct failures {
	struct {
		uint64_t told_ns; /* CLOCK_MONOTONIC; 0: never */
		uint64_t n_left_out;
	} of[FAILURES_CAUSES];
};

/*
 * Writes the line for a question that failed with this extended error (EDNS_NO_EDE: none) into out,
 * of cap octets, and returns its length. 0: a line for this cause was written within
 * FAILURES_EVERY_NS, and the failure is only counted. text is the reason for a person, or NULL.
 * now_ns: CLOCK_MONOTONIC, not 0.
 */
size_t failures_line(struct failures *f, char *out, size_t cap, const struct resolver_question *q,
		     int ede_code, const char *text, uint64_t now_ns);

/* Logs that line, if there is one, at level info. */
void failures_tell(struct failures *f, const struct resolver_question *q, int ede_code,
		   const char *text, uint64_t now_ns);

/*
 * The extended error (RFC 8914) of a bogus answer, by what libunbound says of it, as 1.17.1 and
 * 1.26.2 do: "validation failure <www.lab. A IN>: signature expired from 192.0.2.1". libunbound's
 * API has the text only. DNS_EDE_DNSSEC_BOGUS if the text is NULL or has another reason. Pure.
 */
int failures_bogus_ede(const char *why);

#endif
