/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last step of every answer: what goes along for this client (OPT, cookie, TSIG), its limit,
 * counters. */
#ifndef VOLLEY_ENGINE_REPLY_WRITER_H
#define VOLLEY_ENGINE_REPLY_WRITER_H

#include "engine/engine_request.h"

struct cache_answer;
struct engine;

/*
 * An IPv4 client is the same one behind an IPv6 socket: its address, of 4 octets then, or 16 (RFC
 * 4291 section 2.5.5.2).
 */
const uint8_t *reply_client(const struct engine_request *rq, size_t *bytes);

/*
 * Writes the reply to q with this answer and rcode (all 12 bits) to out, as engine_answer() says.
 * Takes the extended error and the TSIG of the engine along. The length; 0: no room. Counts.
 */
size_t reply_write(struct engine *e, const struct engine_request *rq, const struct query *q,
		   const struct cache_answer *a, uint16_t rcode, uint8_t *out, size_t cap);

#endif
