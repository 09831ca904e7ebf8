/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a cached answer from a message of upstream. Only the records that answer this question are
 * written, anew and compressed against the question's name, so the body does not depend on letter
 * case or order in the message.
 *
 *	upstream                          body
 *	| answer                          | the chain from the question's name: DNAME, CNAME, ...,
 *	|                                 | what was asked for, each with its signatures
 *	| authority                       | SOA of a denial, and with DO the proofs
 *	| additional, OPT                 | -
 *
 * Records of the answer that are not on the chain, NS records and all additional records are
 * dropped: a client that needs them asks for them. So an answer never speaks for another name.
 *
 * TTLs: a TTL with the top bit set is 0 (RFC 2181 section 8); those of an RRset are made equal (RFC
 * 2181 section 5.2); a denial lives as long as SOA and MINIMUM say (RFC 2308 section 5), and
 * without a SOA it is not cached. The floor and the caps of the configuration are applied last.
 *
 * Without DO the body has RRSIG, NSEC and NSEC3 only if they were asked for (RFC 4035 section
 * 3.2.1).
 */
#ifndef VOLLEY_CACHE_CONVERT_H
#define VOLLEY_CACHE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/name.h"
#include "dns/writer.h"
#include "cache/message.h"

#define CONVERT_RECORDS_MAX 6000 /* the most that a message can have, of 11 octets at least */
#define CONVERT_CHAIN_MAX   16   /* CNAMEs that are followed, as in zones */
#define CONVERT_SETS_MAX    64   /* RRsets of one name, for ANY and RRSIG */
/*
 * Owners that are copied to be compared. Records of one name mostly point to the same place, which
 * is copied once. If they do not, each record of a type is copied twice for each name of the chain.
 * A message with thousands of them and a long chain would keep a worker busy for 100 ms.
 */
#define CONVERT_COPIES_MAX 24000
#define CONVERT_OPT_ROOM   128 /* reserved for OPT behind the largest answer */

/* What convert_answer() reads. */
struct convert_source {
	struct message message;
	uint16_t n_answer, n_authority;
	uint16_t rcode; /* 4 bits */
	uint32_t age_s; /* subtracted from each TTL */
	/* As `before`: it came from upstream together with the message, and the limits apply. */
	bool is_head;
};

struct convert_question {
	const uint8_t *name; /* folded; the caller's; outlives the use of the converter */
	uint16_t qtype;      /* of class IN */
	bool dnssec_ok;
	/*
	 * The part that was found before, or NULL. Its chain begins at the name, and the message
	 * continues where that chain ends. The proofs in its authority section are kept.
	 */
	const struct convert_source *before;
};

struct convert_limits {
	uint32_t max_ttl_s;
	uint32_t min_ttl_s; /* the caps have precedence */
	uint32_t max_negative_ttl_s;
};

/* Where a record is in the message. */
struct convert_record {
	uint32_t owner_at; /* where its name begins; a pointer at its start is followed */
	uint32_t at;       /* the octet after the owner */
	uint16_t type;
	uint16_t covered; /* of RRSIG, else 0 */
	bool in_answer;
	bool written;
};

/* Working memory for one answer, so that the stack needs none. */
struct convert {
	const struct convert_source *from; /* `before` first, if there is one */
	const struct convert_question *question;
	const struct convert_limits *limits;
	uint32_t ttl_s;     /* the smallest TTL that was written */
	uint32_t ttl_cap_s; /* the cap of the TTLs that are written next */
	uint16_t rcode;     /* of the body */
	unsigned int n_chain;
	bool is_endless; /* a DNAME leads to a name below itself */
	unsigned int n_records;
	unsigned int n_copies_left; /* of CONVERT_COPIES_MAX */
	uint16_t n_ttls;

	/* The owner that is looked for, and whether the name at seen_at equals it. */
	const uint8_t *owner;
	uint32_t seen_at; /* 0: nothing */
	bool seen_equal;

	uint8_t chain[CONVERT_CHAIN_MAX + 1][NAME_FOLDED_BYTES];
	uint8_t other[NAME_FOLDED_BYTES]; /* a name that is compared */
	uint8_t aside[NAME_FOLDED_BYTES]; /* the owner of a DNAME, SOA, NSEC */
	uint8_t rdata[4 * NAME_FOLDED_BYTES];
	struct convert_record records[CONVERT_RECORDS_MAX];
	uint16_t ttls[CONVERT_RECORDS_MAX];
	struct writer writer;
	uint8_t body[DNS_MESSAGE_MAX];
};

/* A message from the network. False: not a message with one question and such sections. */
bool convert_from_wire(struct convert_source *from, const uint8_t *msg, size_t n);

/* An entry that is valid at now_s. */
void convert_from_entry(struct convert_source *from, const struct volley_entry *entry,
			uint32_t now_s);

/*
 * Converts. Sets body, counts, TTLs (in c until the next call) and the rcode of *a; the caller sets
 * zone, expiry and the other flags. *ttl_s: how long the answer may be cached; 0: not at all. The
 * question in the message is not read. ERR_FORMAT: malformed, a loop of aliases, no answer to the
 * question, or too much work (CONVERT_COPIES_MAX); ERR_SPACE: too large for a message; ERR_RDATA.
 * No allocation.
 */
int convert_answer(struct convert *c, const struct convert_source *from,
		   const struct convert_question *question, const struct convert_limits *limits,
		   struct cache_answer *a, uint32_t *ttl_s) __attribute__((warn_unused_result));

#endif
