/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last step of each answer: OPT, cookie and TSIG for this client, its limit, counters, and the
 * octets of the message. */
#ifndef VOLLEY_ENGINE_REPLY_WRITER_H
#define VOLLEY_ENGINE_REPLY_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/edns.h"
#include "dns/query.h"
#include "engine/engine_request.h"
#include "limits/limiter.h"

struct cache_answer;
struct engine;

/*
 * The client's address; *bytes is 4 for IPv4, also behind an IPv6 socket (RFC 4291 section
 * 2.5.5.2), else 16.
 */
const uint8_t *reply_client(const struct engine_request *rq, size_t *bytes);

/*
 * Writes the reply to q with this answer and rcode (all 12 bits) to out, as engine_answer() says.
 * Adds the extended error and the TSIG of the engine. Returns the length; 0: there is no room, or
 * the client is over its limit. Counts.
 */
size_t reply_write(struct engine *e, const struct engine_request *rq, const struct query *q,
		   const struct cache_answer *a, uint16_t rcode, uint8_t *out, size_t cap);

/*
 * True if the reply to the message, of which the header is read, may have TC=1. That tells
 * resolvers to ask by TCP. It tells the sender of a NOTIFY or an UPDATE nothing, and replies to
 * these have no records that it could take the place of. Pure.
 */
bool reply_has_use_for_tc(const uint8_t *msg);

/*
 * The rate limit's verdict on a reply over UDP that another module has written (a transfer, NOTIFY,
 * UPDATE, a refusal): `bytes` octets for the message rq, of which the header is read. The reply
 * counts in the same table as all others, and the verdict in the engine's counters. After
 * LIMITER_SLIPS the caller sends a reply without records: with TC=1 for opcode QUERY, with its own
 * rcode for any other. After LIMITER_DROPPED it sends none. Owner thread only, in a QSBR read
 * section.
 */
enum limiter_verdict engine_limit(struct engine *e, const struct engine_request *rq, size_t bytes);

/*
 * Audit events (base/audit.h) for messages that an engine refuses at once: transfers, NOTIFY and
 * UPDATE from an address that no rule allows, and signatures by unknown keys. Any thread.
 */

/* The request rq, read as q, is refused with this rcode. */
void refused_audit(const struct engine_request *rq, const struct query *q, unsigned int rcode);

/*
 * Writes the message that one client gets: header, the client's own question, as much of the body
 * as fits, OPT.
 *
 *	 0        12          question_end
 *	 | header | question | full body, or its short prefix, or nothing and TC=1 | OPT |
 *
 * xdp/reply.h does the same in the driver, but for extended errors, which it leaves to the engine.
 * A test compares the two byte for byte.
 */

enum emit_form {
	EMIT_FULL,
	EMIT_SHORT,     /* without the optional additional records */
	EMIT_TRUNCATED, /* TC=1, all sections empty (RFC 2181 section 9) */
};

/*
 * Writes the reply to q, of at most limit octets, to out, which may be msg, the query that q was
 * read from. opt is NULL if the query has none; its options must not be in msg. The answer's rcode,
 * RA and AD are in a->flags. The opcode, RD and CD are those of the query (RFC 1035 section 4.1.1).
 * AD is set only for a query with AD or DO (RFC 6840 section 5.8). TTLs that age are changed in the
 * reply only. Returns the length and *form; 0: header, question and OPT do not fit. Pure.
 */
size_t emit_reply(uint8_t *out, size_t limit, const uint8_t *msg, const struct query *q,
		  const struct cache_answer *a, const struct edns_reply *opt, enum emit_form *form);

#endif
