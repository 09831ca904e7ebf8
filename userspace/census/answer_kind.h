/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind of a cached answer, read from its octets. */
#ifndef VOLLEY_CENSUS_ANSWER_KIND_H
#define VOLLEY_CENSUS_ANSWER_KIND_H

#include <stdbool.h>

#include "xdp/abi.h"

/* K(name, words). An alias that leads to nothing is NODATA or NXDOMAIN (RFC 2308 section 2). */
#define ANSWER_KINDS(K)                                        \
	K(POSITIVE, "positive") /* the RRset asked for */      \
	K(ALIAS, "alias")       /* by way of CNAME, DNAME */   \
	K(REFERRAL, "referral")                                \
	K(NODATA, "nodata")                                    \
	K(NXDOMAIN, "nxdomain")                                \
	K(ANY, "any")       /* to a query of type ANY */       \
	K(SHARED, "shared") /* for many names: xdp/shared.h */ \
	K(ERROR, "error")

enum answer_kind {
#define ANSWER_KIND(name, words) ANSWER_##name,
	ANSWER_KINDS(ANSWER_KIND)
#undef ANSWER_KIND
		N_ANSWER_KINDS
};

/* Any thread that may read the entry. An answer that cannot be parsed has the kind ERROR. */
enum answer_kind answer_kind(const struct volley_entry *entry);

/* True for NODATA and NXDOMAIN. */
bool answer_kind_is_negative(enum answer_kind kind);

/* Static. */
const char *answer_kind_text(enum answer_kind kind);

#endif
