/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of upstream from text, as resolver.h says that they are: header with QR, RD, RA, the
 * question in lower case, records; names are compressed as ldns does it. No code of engine/ is
 * used.
 */
#ifndef VOLLEY_TESTS_ENGINE_UPSTREAM_H
#define VOLLEY_TESTS_ENGINE_UPSTREAM_H

#include <ldns/ldns.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns/proto.h"
#include "tests/lib/must.h"

/* Sections: a record in each line, as in master files with whole names. NULL: empty. */
struct upstream {
	const char *name;
	uint16_t qtype;
	uint16_t rcode;
	const char *answer;
	const char *authority;
	const char *additional;
};

static inline void upstream_push(ldns_pkt *pkt, ldns_pkt_section section, const char *text)
{
	char *copy, *save = NULL;

	if (!text)
		return;
	copy = strdup(text);
	MUST(copy);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		ldns_rr *rr;

		if (ldns_rr_new_frm_str(&rr, line, 0, NULL, NULL) != LDNS_STATUS_OK) {
			fprintf(stderr, "no record: %s\n", line);
			abort();
		}
		ldns_pkt_push_rr(pkt, section, rr);
	}
	free(copy);
}

/* The message; the caller frees it. */
static inline uint8_t *upstream_wire(const struct upstream *u, size_t *n)
{
	ldns_rdf *name = ldns_dname_new_frm_str(u->name);
	ldns_pkt *pkt = ldns_pkt_query_new(name, (ldns_rr_type)u->qtype, LDNS_RR_CLASS_IN,
					   LDNS_QR | LDNS_RD | LDNS_RA);
	uint8_t *wire;

	MUST(pkt);
	ldns_pkt_set_rcode(pkt, (ldns_pkt_rcode)u->rcode);
	upstream_push(pkt, LDNS_SECTION_ANSWER, u->answer);
	upstream_push(pkt, LDNS_SECTION_AUTHORITY, u->authority);
	upstream_push(pkt, LDNS_SECTION_ADDITIONAL, u->additional);
	MUST(ldns_pkt2wire(&wire, pkt, n) == LDNS_STATUS_OK);
	ldns_pkt_free(pkt);
	return wire;
}

#endif
