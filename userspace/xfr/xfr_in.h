/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of a transfer. It takes message after message, gives records (AXFR, RFC 5936) or
 * change sets (IXFR, RFC 1995) to the caller's sink, and says when the transfer is complete.
 *
 *      messages ─► xfr_in_message() ─┬─► begin, record, record ...   the whole zone
 *                                    └─► changes, changes ...        one set per sequence
 *
 * The result counts only after XFR_IN_DONE, since any later message may turn out to be wrong. So a
 * sink gathers what it gets, and throws it away if the transfer ends in any other way.
 *
 * The reader checks signatures with the transaction that signed the request. Where the RFCs leave a
 * choice (decision 0056): it leaves out records outside the zone, of a class other than IN, of meta
 * types, and a SOA below the apex, since no answer could have them. It demands neither AA nor the
 * question, and ignores TC and messages without records. It refuses records behind the final SOA.
 * The sink handles duplicates.
 *
 * One thread for each reader. Only change sets allocate memory.
 */
#ifndef VOLLEY_XFR_XFR_IN_H
#define VOLLEY_XFR_XFR_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xfr/tsig_signature.h"
#include "xfr/xfr_message.h"
#include "zone/changeset.h"

/* name, text. MORE, DONE and CURRENT are no failures. With SINK, in->error has the sink's code. */
#define XFR_IN_RESULTS(X)                                                           \
	X(MORE, "the transfer is not complete yet")                                 \
	X(DONE, "the transfer is complete")                                         \
	X(CURRENT, "the primary has nothing newer")                                 \
	X(FORMAT, "a message of the transfer is malformed")                         \
	X(NOT_REPLY, "a message is no reply to our request")                        \
	X(RCODE, "the primary refuses the transfer")                                \
	X(TSIG, "the transfer's signature does not hold")                           \
	X(NO_SOA, "the transfer does not begin with the SOA")                       \
	X(OLDER, "the primary's serial number is lower than ours")                  \
	X(RDATA, "the data of a record does not fit its type")                      \
	X(SOA_INSIDE, "there is a SOA that does not end the transfer")              \
	X(CHAIN, "the changes do not lead from our serial number to the primary's") \
	X(BEHIND, "there are records behind the end of the transfer")               \
	X(LIMIT_BYTES, "the transfer is larger than allowed")                       \
	X(LIMIT_RECORDS, "the transfer has more records than allowed")              \
	X(LIMIT_CHANGES, "there are more changes than a whole zone has records")    \
	X(LIMIT_MESSAGES, "the transfer has more messages than allowed")            \
	X(SINK, "the content could not be stored")

enum xfr_in_result {
#define XFR_IN_RESULT(name, words) XFR_IN_##name,
	XFR_IN_RESULTS(XFR_IN_RESULT)
#undef XFR_IN_RESULT
};

/* The text above. Static. */
const char *xfr_in_text(enum xfr_in_result result);

/* Room for "OWNER TYPE: " with a reason. */
#define XFR_IN_RECORD_MAX 320

/* Takes the content. A result other than 0 ends the transfer with XFR_IN_SINK. */
struct xfr_in_sink {
	void *user;
	/* A whole zone with this serial number follows, as asked for or instead of changes. */
	int (*begin)(void *user, uint32_t serial);
	/*
	 * One record of it. The SOA comes first, and only once. The owner is a checked wire name in
	 * the zone, in its own case. The data is uncompressed and has passed
	 * rdata_check_foreign(). A TTL with its top bit set is 0 (RFC 2181 section 8).
	 */
	int (*record)(void *user, const uint8_t *owner, unsigned int owner_bytes, uint16_t type,
		      uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes);
	/* One sequence of changes. The function may move @set away (changeset_move()). The sets
	 * form a chain that begins at our serial number. */
	int (*changes)(void *user, struct changeset *set);
};

struct xfr_in_limits {      /* 0: none */
	uint64_t n_bytes;   /* of messages */
	uint64_t n_records; /* of AXFR and IXFR, SOAs included */
	uint64_t n_changes; /* records of IXFR that are changes, SOAs included */
	uint64_t n_messages;
};

struct xfr_in_config {
	const uint8_t *zone; /* folded wire; copied */
	uint16_t id;         /* of the request */
	uint16_t type;       /* of the request: DNS_TYPE_AXFR or DNS_TYPE_IXFR */
	bool has_serial;     /* we have a version; always true for IXFR */
	bool takes_older;    /* AXFR: accept any serial number (a forced transfer) */
	uint32_t serial;     /* of our version */
	struct tsig *tsig;   /* of the request; NULL: unsigned. Borrowed */
	struct xfr_in_limits limits;
	struct xfr_in_sink sink;
};

/* Fields are private unless marked public. About 3 KiB. */
struct xfr_in {
	struct xfr_in_config config;
	enum tsig_verdict verdict;               /* public: with XFR_IN_TSIG */
	uint16_t rcode;                          /* public: with XFR_IN_RCODE, with OPT's bits */
	int error;                               /* public: with XFR_IN_SINK */
	uint64_t n_bytes, n_records, n_messages; /* public: so far */
	uint64_t n_changes;                      /* of n_records */
	uint64_t n_left_out;                     /* public: records that no zone could have */
	char left_out[XFR_IN_RECORD_MAX];        /* public: the first of them */
	char refused[XFR_IN_RECORD_MAX];         /* public: with XFR_IN_RDATA */
	uint32_t new_serial;                     /* public: of the first SOA, after it has come */
	/* public, after DONE: a whole zone has come */
	bool is_whole;
	bool has_expire;        /* public: the first message has EXPIRE (RFC 7314), */
	uint32_t expire_left_s; /* public: with this many seconds */
	uint8_t state;
	uint32_t at_serial;   /* IXFR: the serial number after the last complete sequence */
	struct changeset set; /* IXFR: the sequence that is being read */
	uint16_t soa_bytes;
	uint8_t soa[2 * DNS_NAME_MAX + 20]; /* the first SOA, which ends the transfer, too */
	uint32_t soa_ttl;
	unsigned int zone_bytes;
	uint8_t zone[NAME_FOLDED_BYTES];
	struct xfr_record record;
};

void xfr_in_init(struct xfr_in *in, const struct xfr_in_config *config);
/* Frees a change set that is incomplete. */
void xfr_in_fini(struct xfr_in *in);

/*
 * Takes the next message, without the length that TCP puts before it. Any result other than
 * XFR_IN_MORE is the end: do not call it again. CURRENT: the primary's serial number is ours. Then
 * a single SOA has come, or the first SOA of an AXFR with has_serial and without takes_older; in
 * the latter case close the connection. OLDER: the primary's serial number is lower than ours (RFC
 * 1982).
 */
enum xfr_in_result xfr_in_message(struct xfr_in *in, const uint8_t *msg, size_t len, uint64_t now_s)
	__attribute__((warn_unused_result));

#endif
