/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two answers to one question: one from the cache, one rendered just now
 * (engine/shared_answer.h).
 *
 * The header flags and the rcode are compared, then the records in their order: section, owner,
 * type, class, TTL and data. Letter case and name compression do not count.
 *
 * An answer may stay in the cache when the zone has a new version (invalidate/affected.h). Then
 * these may be older:
 *
 *      serial number of the SOA in authority    RFC 2308 section 5 uses only its TTL and MINIMUM
 *      RRSIGs over that SOA, and their number   they cover the serial number; a new key adds one
 *
 * So the serial number is not compared. RRSIGs over the SOA are compared only if the serial numbers
 * are equal: a signature by the same key with the same times must have the same octets. Other keys
 * or times are ALIKE_UNSURE: a primary or an operator may have signed the zone again under the same
 * serial number.
 */
#ifndef VOLLEY_SHIELD_ALIKE_H
#define VOLLEY_SHIELD_ALIKE_H

#include <stdint.h>

#include "cache/message.h"

struct alike_answer {
	struct message m; /* both answers are to the same question; without OPT */
	uint16_t flags;   /* the second 16 bits of the header; host order, like the counts */
	uint16_t ancount, nscount, arcount;
};

enum alike {
	ALIKE_SAME,
	ALIKE_OTHER,
	ALIKE_UNSURE, /* only signatures over the SOA differ, in an allowed way */
};

/*
 * Compares an answer from the cache, which may be damaged in any way, with a rendered one.
 * ALIKE_OTHER also if a body cannot be read, or if the data of a record has more than 2048 octets
 * with its names expanded. Pure; any thread that may read both; O(octets), 5 KiB of stack.
 */
enum alike alike_compare(const struct alike_answer *cached, const struct alike_answer *rendered);

#endif
