/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the operator says in the place of upstream, for clients that recurse: local data, and block
 * lists in the form of response policy zones (draft-vixie-dnsop-dns-rpz-00). Asked behind the cache
 * and our zones and before the resolver; what it answers is cached as any other answer, so a rule
 * costs a hit nothing.
 *
 *	name of the question ─► local data: a name that has records ─► these, or NODATA
 *	                    └─► each list in turn: NAME.ORIGIN, wildcards too ─► the rule's action
 *
 * Local data is a zone of the root whose records are all the local ones, a list is a zone of its
 * origin; both are read by zone_load(). Rules are triggered by the name of the question alone:
 *
 *	CNAME .              NXDOMAIN            CNAME rpz-passthru.  as if no list were there
 *	CNAME *.             NODATA              CNAME rpz-drop.      no reply
 *	CNAME NAME.          NAME is asked       CNAME rpz-tcp-only.  TC=1 over UDP
 *	CNAME *.NAME.        QUESTION.NAME is    CNAME to itself      as rpz-passthru
 *	other records        these
 *
 * Ignored, and counted by policy_count(): triggers by address or name server (rpz-ip, rpz-client-ip,
 * rpz-nsip, rpz-nsdname), and CNAMEs to other names of one label that begins with "rpz-".
 *
 * Immutable after policy_new(); any thread reads.
 */
#ifndef VOLLEY_ENGINE_POLICY_H
#define VOLLEY_ENGINE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "engine/render.h"
#include "zone/zone.h"

struct policy;

/*
 * Local data (NULL: none) and n lists, the first that has a rule decides. The zones are borrowed
 * and must outlive the policy. Answers carry slot and gen, of a slot in the cache that stands for
 * policy alone. 0 or -ENOMEM.
 */
int policy_new(struct policy **out, const struct zone *local, const struct zone *const *lists,
	       size_t n, uint32_t slot, uint32_t gen) __attribute__((warn_unused_result));
void policy_free(struct policy *p);

/* The names below the apex that have records. */
struct policy_counts {
	uint32_t n_rules;   /* questions for these names are answered by the policy */
	uint32_t n_ignored; /* no question triggers these */
};

/* Counts those of a list, or of local data, which ignores none. O(names). */
struct policy_counts policy_count(const struct zone *zone, bool is_list);

enum policy_verdict {
	POLICY_NONE,  /* no rule, or one that says to pass: ask upstream */
	POLICY_LOCAL, /* *a is the answer: local data */
	POLICY_ALIAS, /* the same, and it is a CNAME: for who asks for more, *alias is where that is */
	POLICY_FILTERED, /* *a is the answer of a list: RFC 8914 section 4.18 */
	POLICY_REWRITE, /* *alias is what the name stands for; *a is this CNAME alone, not to be cached */
	POLICY_DROP,     /* no reply */
	POLICY_TCP_ONLY, /* over UDP an empty answer with TC=1; over TCP as POLICY_NONE */
};

/* What a rule says a name stands for. */
struct policy_alias {
	uint8_t target[NAME_FOLDED_BYTES]; /* folded */
	unsigned int n_bytes;              /* of it; 0: there is none */
	uint32_t ttl_s;
};

/*
 * What is said to q (class IN). With an answer, a->body lies in r until its next use, and zone_slot
 * and zone_gen say under which slot it may be cached, for good: its TTLs do not age. alias->n_bytes is 0 but for
 * POLICY_ALIAS and POLICY_REWRITE. No allocation.
 */
enum policy_verdict policy_answer(const struct policy *p, struct render *r, const struct query *q,
				  struct policy_alias *alias, struct cache_answer *a);

/* The same of local data alone: POLICY_NONE, POLICY_LOCAL or POLICY_ALIAS. */
enum policy_verdict policy_answer_local(const struct policy *p, struct render *r,
					const struct query *q, struct policy_alias *alias,
					struct cache_answer *a);

/* Whether policy_answer() would say anything but POLICY_NONE to questions for this folded name. */
bool policy_names(const struct policy *p, const uint8_t *folded, unsigned int bytes);

#endif
