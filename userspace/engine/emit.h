/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef VOLLEY_ENGINE_EMIT_H
#define VOLLEY_ENGINE_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/edns.h"
#include "dns/query.h"

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
