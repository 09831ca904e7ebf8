/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an answer to the message that one client gets: header, the client's own question, as much of
 * the body as it takes, OPT.
 *
 *	 0        12          question_end
 *	 | header | question | full body, or its short prefix, or nothing and TC=1 | OPT |
 *
 * xdp/reply.h does exactly the same in the driver, but for extended errors, which it leaves to the
 * engine; a test compares the two byte for byte.
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
 * read from. opt is NULL where the query had none; its options must not lie in msg. The answer's
 * rcode, RA and AD are in a->flags; the opcode, RD and CD come from the query (RFC 1035 section
 * 4.1.1), and AD is said only to who asks for it, with AD or DO (RFC 6840 section 5.8). TTLs that
 * age do so in the reply alone. Returns the length and *form; 0: not even header, question and OPT
 * fit. Pure.
 */
size_t emit_reply(uint8_t *out, size_t limit, const uint8_t *msg, const struct query *q,
		  const struct cache_answer *a, const struct edns_reply *opt, enum emit_form *form);

#endif
