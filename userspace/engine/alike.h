/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two answers to one question: do they say the same? For an answer from the cache beside one that
 * was rendered just now (engine/given.h).
 *
 * They are compared record by record, in their order: header flags with the rcode, counts, and each
 * record's owner, type, class, TTL and data. Letter case and the way in which names are compressed
 * do not count.
 *
 * An answer may stay in the cache when the zone has a new version (engine/affected.h), and then
 * these may be older:
 *
 *      the SOA's serial number, in the authority section   RFC 2308 section 5 uses its TTL and MINIMUM only
 *      the RRSIGs over that SOA, and how many there are    they cover the serial number; a new key adds one
 *
 * So the serial number is not compared. RRSIGs over the SOA are not compared where the serial
 * numbers differ. Where these are the same, a signature by the same key with the same times must
 * have the same octets. Other keys or times are
 * ALIKE_UNSURE: a primary or an operator may have signed the zone once more under the same serial
 * number.
 */
#ifndef VOLLEY_ENGINE_ALIKE_H
#define VOLLEY_ENGINE_ALIKE_H

#include <stdint.h>

#include "engine/message.h"

struct alike_answer {
	struct message m; /* of the same question in both answers; without OPT */
	uint16_t flags;   /* the second 16 bits of the header; host order, as the counts */
	uint16_t ancount, nscount, arcount;
};

enum alike {
	ALIKE_SAME,
	ALIKE_OTHER,
	ALIKE_UNSURE, /* only signatures over the SOA differ, in a way that is allowed */
};

/*
 * Compares an answer from the cache, which may be damaged in any way, with one that was rendered. A
 * body that cannot be read is ALIKE_OTHER, and so is record data that has more than 2048 octets
 * when its names are expanded. Pure; any thread that may read both; O(octets), 5 KiB of stack.
 */
enum alike alike_compare(const struct alike_answer *cached, const struct alike_answer *rendered);

#endif
