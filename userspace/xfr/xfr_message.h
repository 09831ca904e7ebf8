/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a DNS message, query or reply, record by record. Names are followed, and names in data are
 * written out. query_parse() reads clients' queries on the fast path; this module is for messages
 * whose records count.
 *
 *      xfr_message_open() ─► _question() ─► _next() ... ─► false: the end, or m.error
 *
 * A pointer leads to a place before the name that it is part of (RFC 1035 section 4.1.4), so there
 * are no loops. Pure; any thread.
 */
#ifndef VOLLEY_XFR_XFR_MESSAGE_H
#define VOLLEY_XFR_XFR_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/proto.h"

/* Room for data whose names are written out: a NSEC with all types is the largest in use. */
#define XFR_RDATA_MAX (2 * DNS_NAME_MAX + 256 * 34)

/* Sections, as in an UPDATE: zone, prerequisite, update, additional (RFC 2136 section 2). */
enum xfr_section {
	XFR_QUESTION,
	XFR_ANSWER,
	XFR_AUTHORITY,
	XFR_ADDITIONAL,
	XFR_N_SECTIONS,
};

#define XFR_NO_OWNER SIZE_MAX

struct xfr_message {
	const uint8_t *bytes;
	size_t len;
	size_t at;          /* of the next record */
	uint16_t id, flags; /* host order */
	uint16_t count[XFR_N_SECTIONS];
	uint16_t left[XFR_N_SECTIONS]; /* records that are still to be read */
	uint8_t opcode, rcode;         /* rcode: the header's four bits */
	int error;                     /* 0 or ERR_FORMAT, which stays */
	/* where the last owner is (if it was a pointer: its target), or XFR_NO_OWNER */
	size_t owner_at;
};

struct xfr_question {
	uint16_t type, class;
	unsigned int name_bytes;
	uint8_t name[NAME_FOLDED_BYTES]; /* as it came */
};

struct xfr_record {
	enum xfr_section section;
	uint16_t type, class;
	uint32_t ttl; /* as it came */
	size_t at;    /* offset of the record in the message */
	unsigned int owner_bytes;
	uint16_t rdata_bytes;
	const uint8_t *rdata; /* uncompressed: in the message, or in expanded */
	uint8_t owner[NAME_FOLDED_BYTES];
	uint8_t expanded[XFR_RDATA_MAX];
};

/* Reads the header. 0, or ERR_FORMAT if the message is shorter than a header or longer than
 * DNS_MESSAGE_MAX octets. */
int xfr_message_open(struct xfr_message *m, const uint8_t *bytes, size_t len)
	__attribute__((warn_unused_result));

/* The next question. 0, or ERR_FORMAT if there is none or it is malformed. */
int xfr_message_question(struct xfr_message *m, struct xfr_question *q)
	__attribute__((warn_unused_result));

/*
 * The next record of any section; read all questions first. Names in the data of types with a row
 * in dns/rdtypes.h are written out. rdata_check() or rdata_check_foreign() has to check the data.
 * False at the end, or with m->error. All calls for one message must use the same @r, because it
 * keeps the last owner.
 */
bool xfr_message_next(struct xfr_message *m, struct xfr_record *r);

/* The seconds of the EXPIRE option (RFC 7314 section 3.1) in an OPT record. False: there is none,
 * or the record is no OPT. */
bool xfr_expire_of(const struct xfr_record *r, uint32_t *seconds);

/* The upper bits of the rcode in an OPT record, shifted to their place (RFC 6891 section 6.1.3); 0
 * for other records. */
uint16_t xfr_extended_rcode(const struct xfr_record *r);

/*
 * Makes a reply to @request (n octets) that has only a header, an rcode and, if it can be read, the
 * question: for NOTIFY, UPDATE and errors. ID, opcode and RD are those of the request; @flags (AA)
 * are added. It has no OPT and no TSIG. Returns the length, ERR_SPACE, or ERR_FORMAT if the request
 * has no whole header.
 */
int xfr_reply(uint8_t *out, size_t cap, const uint8_t *request, size_t n, uint16_t flags,
	      enum dns_rcode rcode) __attribute__((warn_unused_result));

/* RFC 1982: true if a is later than b. False for numbers that are 2^31 apart. */
static inline bool xfr_serial_newer(uint32_t a, uint32_t b)
{
	return a != b && (uint32_t)(a - b) < 0x80000000u;
}

/* The serial number in the data of a SOA, which rdata_check() has passed. */
uint32_t xfr_soa_serial(const uint8_t *rdata, size_t rdata_bytes);

#endif
