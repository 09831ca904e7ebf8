/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a client's message once: header, question, EDNS. The result has all that an answer depends
 * on, and the verdict tells which kind of answer to send.
 *
 * 	 0        12                     question_end
 * 	 | header | qname | type | class | [records] | OPT | [TSIG] |
 *
 * The parser walks every record to its end, but reads only those that an answer depends on. Where
 * the RFCs leave it open, the majority of knotd 3.2, nsd 4.6 and named 9.18 decides (each was
 * tested):
 * - records in the answer and authority sections of a QUERY, and others than OPT and TSIG in the
 *   additional section, are skipped without reading their data (knotd, named; nsd: FORMERR);
 * - bytes after the last record are ignored (nsd, named; knotd: FORMERR);
 * - no question and no COOKIE is FORMERR (knotd, named), and a malformed question, too (nsd, named;
 *   knotd is silent);
 * - OPT and TSIG in another section, a TSIG that is not last, a second OPT: FORMERR (all three);
 * - an OPT whose owner is not the one octet 0 is FORMERR (nsd; the others accept a pointer to 0);
 * - the options of an OPT of a higher version are not read: BADVERS (nsd).
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
	QUERY_FORMERR,     /* answer FORMERR; echo what has_question and edns.present tell */
	QUERY_NOTIMP,      /* another opcode: answer NOTIMP; echo as for FORMERR */
	QUERY_BADVERS,     /* EDNS version above 0: answer BADVERS with our OPT (RFC 6891 6.1.3) */
};

/* Options without a value that ask for something in the reply: bits. */
enum query_asks {
	QUERY_ASKS_NSID = 1,      /* RFC 5001 */
	QUERY_ASKS_EXPIRE = 2,    /* RFC 7314 */
	QUERY_ASKS_KEEPALIVE = 4, /* RFC 7828: only valid over TCP */
	QUERY_ASKS_PADDING = 8,   /* RFC 7830: only valid on an encrypted connection */
};

struct query_edns {
	bool present;    /* one well-formed OPT: the reply has one, too */
	bool dnssec_ok;  /* DO: RFC 3225 */
	bool has_cookie; /* RFC 7873, of a valid length; the first of several */
	uint8_t asks;    /* QUERY_ASKS_* */
	uint8_t version;
	uint8_t cookie_server_bytes; /* 0 (client part only) or 8..32 */
	uint16_t udp_size;           /* as it came: below 512 means 512 (RFC 6891 section 6.2.3) */
	uint16_t n_options;
	uint8_t cookie_client[QUERY_COOKIE_CLIENT_BYTES]; /* if has_cookie */
	uint8_t cookie_server[QUERY_COOKIE_SERVER_MAX];
};

/* Its booleans are bits of the header and what the message has: independent facts. */
struct query {
	const uint8_t *qname; /* in the message, in the client's letter case; NULL: no question */
	uint16_t id;          /* host order, as all numbers here */
	uint16_t flags;       /* the header's second word: test with DNS_FLAG_* */
	uint8_t opcode;
	bool rd, ad, cd;
	bool has_question;    /* qname, qtype, qclass and question_end are valid */
	bool has_tsig;        /* the last record is a TSIG; its signature is not checked here */
	uint16_t qname_bytes; /* 1..255, root octet included */
	uint16_t qtype;
	uint16_t qclass;
	uint16_t question_end; /* offset after the question; 12 if there is none */
	uint16_t end;          /* offset after the last record; later bytes mean nothing */
	uint16_t tsig_at;      /* offset of the TSIG record, if has_tsig */
	struct query_edns edns;
	/* Lower case, zero padded up to a multiple of 8 bytes, not further. */
	uint8_t folded[NAME_FOLDED_BYTES] __attribute__((aligned(8)));
};

/*
 * Reads the message of len bytes (at most 65535 are used) into q. For every verdict but
 * QUERY_IGNORE all of q is set, except the bytes of a missing cookie and of folded after its
 * padding. q borrows msg through qname. Pure; any thread.
 */
enum query_verdict query_parse(struct query *q, const uint8_t *msg, size_t len)
	__attribute__((warn_unused_result));

/*
 * The largest UDP reply for the client: 512 without EDNS, else its payload size, but at least 512.
 */
static inline uint16_t query_udp_size(const struct query *q)
{
	if (!q->edns.present || q->edns.udp_size < DNS_UDP_MIN)
		return DNS_UDP_MIN;
	return q->edns.udp_size;
}

#endif
