/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the kinds of answers that a test has seen, so that it can require all of them. */
#ifndef VOLLEY_TESTS_LIB_ANSWERKINDS_H
#define VOLLEY_TESTS_LIB_ANSWERKINDS_H

#include "tests/lib/packet.h"

/* K(kind, text). An answer may be of several kinds. REFUSED and other errors are of none. */
#define ANSWER_KINDS(K)                                           \
	K(POSITIVE, "answers")                                    \
	K(POSITIVE_SIGNED, "answers with signatures")             \
	K(REFERRAL, "referrals")                                  \
	K(REFERRAL_SIGNED, "referrals with DS or a signed proof") \
	K(NODATA, "NODATA")                                       \
	K(NODATA_SIGNED, "NODATA with signed proofs")             \
	K(NXDOMAIN, "NXDOMAIN")                                   \
	K(NXDOMAIN_SIGNED, "NXDOMAIN with signed proofs")         \
	K(NSEC3, "with NSEC3 records")                            \
	K(TRUNCATED, "truncated")

#define ANSWER_KIND_ENUM(kind, words) ANSWER_##kind,
enum answer_kind { ANSWER_KINDS(ANSWER_KIND_ENUM) N_ANSWER_KINDS };
#undef ANSWER_KIND_ENUM

/* Adds one to counts[kind] for each kind of this answer. */
void answer_kinds_count(uint64_t counts[N_ANSWER_KINDS], const struct pkt_answer *a);

const char *answer_kind_words(enum answer_kind kind);

#endif
