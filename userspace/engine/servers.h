/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name servers of a name, for the rules rpz-nsdname and rpz-nsip of policies (engine/policy.h).
 * Upstreams do not say them with an answer, so they are asked for, one question after the other in
 * the place of the client's question, which waits:
 *
 *	answer ─► held ─► NS of the name ─┬─ NS records ─► A and AAAA of each server ─┐
 *	                   ▲              └─ none ─────────────────────────────────────┤
 *	                   └── the name above; where a denial's SOA says it, the apex ◄┘
 *	                   names of one label, and the root, are not asked: the answer is judged
 *
 * All zones from the name up to the second level count, as in named, whose min-ns-dots is 1. What
 * is cached of this is under keys of its own (SERVERS_KEY), so no client is told of it: an answer
 * to the same question of a client has to be judged itself.
 *
 * A rule for a server that could not be found does not hold, and the answer is given, as in named:
 * where a question fails (that is cached for RECURSION_SERVFAIL_S), behind SERVERS_ASKED_MAX
 * questions or the end of the client's time, and where a limit of ours refuses the question. Such
 * an answer is cached for RECURSION_SERVFAIL_S at most, and then judged anew. Of a zone with more
 * servers than fit into ENGINE_SERVERS_BYTES all names are judged, and the addresses of the first.
 * The answer is judged when it comes, not again while it is in the cache. The records are those
 * that the zone itself has: the ones of the delegation above are not seen.
 *
 * Owner thread of the engine, in a QSBR read section, but for the last.
 */
#ifndef VOLLEY_ENGINE_SERVERS_H
#define VOLLEY_ENGINE_SERVERS_H

#include "engine/engine_state.h"
#include "engine/policy.h"

#define SERVERS_ASKED_MAX 16u /* questions upstream for one answer */
#define SERVERS_KEY \
	0x80u /* in the flags of a key: no query has it, so neither driver nor engine give these entries */

/* The name servers that p knows of, and those in the cache. */
struct servers_finder {
	struct engine *e;
	const struct policy *policy;
	struct engine_pending *p;
	const struct engine_times *times; /* NULL: none is asked for */
};

/* policy_servers.find, of user, a struct servers_finder. With POLICY_SERVERS_WAIT, and times, p is
 * another question now, to be submitted. */
enum policy_servers_state servers_find(void *user, unsigned int at, const uint8_t *folded,
				       size_t n_lists, struct policy_server_hit *hit);

/* Nothing is known: before p is another question. Must not be asking. */
void servers_reset(struct engine_pending *p);

/* As engine_abandon(). */
void servers_abandon(struct engine_pending *p);

/* A completion of a question that servers_find() has asked: it is taken into account and cached,
 * and p is the held question again. */
void servers_take(struct engine *e, struct engine_pending *p, const struct engine_times *times);

#endif
