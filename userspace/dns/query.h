/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client's message, read once: header, question, EDNS. What comes out says all that an answer
 * depends on, and the verdict says which kind of answer is due.
 *
 *	 0        12                     question_end
 *	 | header | qname | type | class | [records] | OPT | [TSIG] |
 *
 * Every record is walked to its end; only those that an answer depends on are read. Where the RFCs
 * leave it open, the majority of knotd 3.2, nsd 4.6 and named 9.18 decides (each was asked):
 * - records in the answer and authority sections of a QUERY, and others than OPT and TSIG in the
 *   additional section, are stepped over (knotd, named; nsd: FORMERR); their data is not read;
 * - bytes behind the last record are ignored (nsd, named; knotd: FORMERR);
 * - no question and no COOKIE is FORMERR (knotd, named), and a question that cannot be read too
 *   (nsd, named; knotd is silent);
 * - OPT and TSIG in another section, a TSIG that is not last, a second OPT: FORMERR (all three);
 * - an OPT whose owner is not the one octet 0 is FORMERR (nsd; the others take a pointer to 0);
 * - what is in an OPT of a higher version is not read: BADVERS (nsd).
 */
#ifndef VOLLEY_DNS_QUERY_H
#define VOLLEY_DNS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/proto.h"

#define QUERY_COOKIE_CLIENT_BYTES 8
#define QUERY_COOKIE_SERVER_MAX   32

enum query_verdict {
	QUERY_OK,          /* one question, well-formed: answer it */
	QUERY_COOKIE_ONLY, /* no question, but a COOKIE: answer the cookie (RFC 7873 section 5.4) */
	QUERY_IGNORE,      /* shorter than a header, or QR=1: answer nothing */
	QUERY_FORMERR,     /* answer FORMERR; has_question and edns.present say what to echo */
	QUERY_NOTIMP,      /* another opcode: answer NOTIMP; what to echo as for FORMERR */
	QUERY_BADVERS,     /* EDNS version above 0: answer BADVERS with our OPT (RFC 6891 6.1.3) */
};

struct query_edns {
	bool present;         /* one well-formed OPT: the reply carries one too */
	bool dnssec_ok;       /* DO: RFC 3225 */
	bool nsid_asked;      /* RFC 5001 */
	bool expire_asked;    /* RFC 7314 */
	bool keepalive_asked; /* RFC 7828: only to be honoured over TCP */
	bool padding_asked;   /* RFC 7830: only to be honoured where it is encrypted */
	bool has_cookie;      /* RFC 7873, of a valid length; the first where there are several */
	uint8_t version;
	uint8_t cookie_server_bytes; /* 0 (client part only) or 8..32 */
	uint16_t udp_size;           /* as it came: below 512 means 512 (RFC 6891 section 6.2.3) */
	uint16_t n_options;
	uint8_t cookie_client[QUERY_COOKIE_CLIENT_BYTES]; /* where has_cookie */
	uint8_t cookie_server[QUERY_COOKIE_SERVER_MAX];
};

struct query {
	const uint8_t *qname; /* in the message, in the client's letter case; NULL: no question */
	uint16_t id;          /* host order, as all numbers here */
	uint16_t flags;       /* the header's second word: test with DNS_FLAG_* */
	uint8_t opcode;
	bool rd, ad, cd;
	bool has_question;    /* qname, qtype, qclass and question_end are valid */
	bool has_tsig;        /* the last record is a TSIG: its signature is not checked here */
	uint16_t qname_bytes; /* 1..255, root octet included */
	uint16_t qtype;
	uint16_t qclass;
	uint16_t question_end; /* offset behind the question: 12 where there is none */
	uint16_t end;          /* offset behind the last record: bytes behind it mean nothing */
	uint16_t tsig_at;      /* offset of the TSIG record, where has_tsig */
	struct query_edns edns;
	/* Lower case, zero padded up to a multiple of 8 bytes, not further. */
	uint8_t folded[NAME_FOLDED_BYTES] __attribute__((aligned(8)));
};

/*
 * Read the message of len bytes (at most 65535 are looked at) into q. All of q but the
 * cookie that is not there and the bytes of folded behind its padding is set, for every verdict but
 * QUERY_IGNORE. q borrows msg through qname. Pure; any thread.
 */
enum query_verdict query_parse(struct query *q, const uint8_t *msg, size_t len)
	__attribute__((warn_unused_result));

/*
 * The largest reply that the client takes over UDP: 512 without EDNS, else its size but at least
 * 512.
 */
static inline uint16_t query_udp_size(const struct query *q)
{
	if (!q->edns.present || q->edns.udp_size < DNS_UDP_MIN)
		return DNS_UDP_MIN;
	return q->edns.udp_size;
}

#endif
