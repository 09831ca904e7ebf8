/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the name servers of a name, for the rules rpz-nsdname and rpz-nsip
 * (rpz/rpz.h). Upstream does not send them with an answer. So they are asked for, one
 * question after the other, in the place of the client's question, which waits:
 *
 *	answer ─► held ─► NS of the name ─┬─ NS records ─► A and AAAA of each server ─┐
 *	                   ▲              └─ none ─────────────────────────────────────┤
 *	                   └── the name above, or the apex that a denial's SOA names ◄─┘
 *	                   a name of one label, or the root, is not asked for: the answer is judged
 *
 * All zones from the name up to the second level count, as in named, whose min-ns-dots is 1. The
 * answers to these questions are cached under keys of their own (SERVERS_KEY), so no client gets
 * them: an answer to the same question of a client must be judged itself.
 *
 * If a server could not be found, no rule for it applies, and the answer is given, as in named.
 * There are three cases: a question fails (this is cached for RECURSION_SERVFAIL_S);
 * SERVERS_ASKED_MAX questions or the client's time are used up; a limit of ours refuses the
 * question. The answer is then cached for RECURSION_SERVFAIL_S at most and judged again. If a zone
 * has more servers than fit into ENGINE_SERVERS_BYTES, all names are judged, but only the addresses
 * of the first servers. The answer is judged when it comes, not again while it is in the cache. The
 * records are those of the zone itself, not those of the delegation above.
 *
 * Owner thread of the engine, in a QSBR read section, except servers_abandon().
 */
#ifndef VOLLEY_ENGINE_SERVERS_H
#define VOLLEY_ENGINE_SERVERS_H

#include "engine/engine_state.h"
#include "engine/rpz_act.h"

#define SERVERS_ASKED_MAX 16u /* questions upstream for one answer */
/* In the flags of a key: no query has it, so neither driver nor engine give these entries. */
#define SERVERS_KEY 0x80u

/* Where servers_find() finds name servers: in p and in the cache. */
struct servers_finder {
	struct engine *e;
	const struct rpz *rpz;
	struct engine_pending *p;
	const struct engine_times *times; /* NULL: no question is asked */
};

/* policy_servers.find; user is a struct servers_finder. On RPZ_SERVERS_WAIT with times set, p is
 * now another question and must be submitted. */
enum rpz_servers_state servers_find(void *user, unsigned int at, const uint8_t *folded,
				    size_t n_lists, struct rpz_server_hit *hit);

/* Forgets all servers, before p becomes another question. p must not be asking for servers. */
void servers_reset(struct engine_pending *p);

/* As engine_abandon(). */
void servers_abandon(struct engine_pending *p);

/* A question of servers_find() has completed: uses and caches the answer, and restores the held
 * question in p. */
void servers_take(struct engine *e, struct engine_pending *p, const struct engine_times *times);

#endif
