/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of a transfer: fed message after message, it hands out records (AXFR, RFC 5936) or
 * change sets (IXFR, RFC 1995), and says when the transfer is complete.
 *
 *      messages ─► xfr_in_message() ─┬─► begin, record, record ...   the whole zone
 *                                    └─► changes, changes ...        one set per sequence
 *
 * What comes out counts only after XFR_IN_DONE: until then any message may turn out to be wrong. So
 * the sinks gather, and throw away what they have on any other end.
 *
 * Signatures are checked in here, with the transaction that signed the request. Where the RFCs
 * leave it open: records outside the zone, of a class but IN, a SOA off the apex, and meta types
 * are refused (BIND and Knot ignore some of them; a primary that sends them is broken); AA is not
 * asked for (BIND and Knot do not); records behind the final SOA are refused; duplicates are the
 * sink's.
 *
 * One thread per reader. No allocation but for change sets.
 */
#ifndef VOLLEY_XFR_XFR_IN_H
#define VOLLEY_XFR_XFR_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/tsig_signature.h"
#include "xfr/xfr_message.h"
#include "zone/changeset.h"

/*
 * name, words. MORE, DONE, CURRENT are no failures. SINK: the sink's code is in in->error.
 */
#define XFR_IN_RESULTS(X)                                                                     \
	X(MORE, "the transfer is not complete yet")                                           \
	X(DONE, "the transfer is complete")                                                   \
	X(CURRENT, "the primary has nothing newer")                                           \
	X(FORMAT, "a message of the transfer is malformed")                                   \
	X(NOT_REPLY, "a message is no reply to what was asked")                               \
	X(RCODE, "the primary refuses the transfer")                                          \
	X(TRUNCATED, "a message of the transfer is truncated")                                \
	X(TSIG, "the transfer's signature does not hold")                                     \
	X(NO_SOA, "the transfer does not begin with the SOA")                                 \
	X(OLDER, "the primary's serial number is lower than ours")                            \
	X(OUT_OF_ZONE, "a record lies outside the zone")                                      \
	X(CLASS, "a record is not of class IN")                                               \
	X(TYPE, "a record is of a type that no zone has")                                     \
	X(RDATA, "the data of a record does not fit its type")                                \
	X(SOA_INSIDE, "there is a SOA below the apex, or one that does not end the transfer") \
	X(CHAIN, "the changes do not lead from our serial number to the primary's")           \
	X(BEHIND, "there are records behind the end of the transfer")                         \
	X(EMPTY, "a message of the transfer has no records")                                  \
	X(LIMIT_BYTES, "the transfer is larger than allowed")                                 \
	X(LIMIT_RECORDS, "the transfer has more records than allowed")                        \
	X(LIMIT_MESSAGES, "the transfer has more messages than allowed")                      \
	X(SINK, "what came could not be kept")

enum xfr_in_result {
#define XFR_IN_RESULT(name, words) XFR_IN_##name,
	XFR_IN_RESULTS(XFR_IN_RESULT)
#undef XFR_IN_RESULT
};

/* The words above. Static. */
const char *xfr_in_text(enum xfr_in_result result);

/* Where it goes. A code but 0 ends the transfer with XFR_IN_SINK. */
struct xfr_in_sink {
	void *user;
	/* A whole zone follows, with this serial number: asked for, or instead of changes. */
	int (*begin)(void *user, uint32_t serial);
	/*
	 * One record of it, the SOA first and once. Owner: checked wire name in its own case, in
	 * the zone;
	 * data: uncompressed, passed by rdata_check(). A TTL with its top bit set is 0 (RFC 2181
	 * section 8).
	 */
	int (*record)(void *user, const uint8_t *owner, unsigned int owner_bytes, uint16_t type,
		      uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes);
	/* One sequence: @set may be moved from (changeset_move()). They chain, from our serial
	 * number on. */
	int (*changes)(void *user, struct changeset *set);
};

struct xfr_in_limits {      /* 0: none */
	uint64_t n_bytes;   /* of messages */
	uint64_t n_records; /* of AXFR and IXFR, SOAs included */
	uint64_t n_messages;
};

struct xfr_in_config {
	const uint8_t *zone; /* folded wire; copied */
	uint16_t id;         /* of the request */
	uint16_t type;       /* of the request: DNS_TYPE_AXFR or DNS_TYPE_IXFR */
	bool has_serial;     /* there is a version of ours; always for IXFR */
	bool takes_older;    /* AXFR: whatever serial number comes (a forced transfer) */
	uint32_t serial;     /* of ours */
	struct tsig *tsig;   /* of the request; NULL: not signed. Borrowed */
	struct xfr_in_limits limits;
	struct xfr_in_sink sink;
};

/* Fields are private but for those said. Large (about 3 KiB). */
struct xfr_in {
	struct xfr_in_config config;
	enum tsig_verdict verdict;               /* public: where XFR_IN_TSIG */
	uint8_t rcode;                           /* public: where XFR_IN_RCODE, the header's */
	int error;                               /* public: where XFR_IN_SINK */
	uint64_t n_bytes, n_records, n_messages; /* public: so far */
	uint32_t new_serial;                     /* public: of the first SOA, once there is one */
	bool is_whole;                           /* public: the whole zone has come, from DONE on */
	bool has_expire;        /* public: the first message has EXPIRE (RFC 7314), */
	uint32_t expire_left_s; /* public: so many seconds */
	uint8_t state;
	uint32_t at_serial;   /* IXFR: where the last complete sequence led */
	struct changeset set; /* IXFR: the sequence that is being read */
	uint16_t soa_bytes;
	uint8_t soa[2 * DNS_NAME_MAX + 20]; /* the first, to be met again */
	uint32_t soa_ttl;
	unsigned int zone_bytes;
	uint8_t zone[NAME_FOLDED_BYTES];
	struct xfr_record record;
};

void xfr_in_init(struct xfr_in *in, const struct xfr_in_config *config);
/* Frees a change set that is not complete. */
void xfr_in_fini(struct xfr_in *in);

/*
 * The next message, without the length in front of it, which is read to its end. Anything but
 * XFR_IN_MORE is the end: no further call. CURRENT: the serial number of the primary is ours (a
 * single SOA, or an AXFR's first SOA where has_serial and not takes_older: the connection is to be
 * closed then). A serial number lower than ours (RFC 1982) is OLDER.
 */
enum xfr_in_result xfr_in_message(struct xfr_in *in, const uint8_t *msg, size_t len, uint64_t now_s)
	__attribute__((warn_unused_result));

#endif
