/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes answers from the rules of a policy: what the rule that rpz/policy.h has found does to an
 * answer.
 */
#ifndef VOLLEY_ENGINE_POLICY_ACT_H
#define VOLLEY_ENGINE_POLICY_ACT_H

#include "engine/render.h"
#include "rpz/policy.h"

enum policy_verdict {
	POLICY_NONE,  /* no rule, or a rule that says to pass: ask upstream */
	POLICY_LOCAL, /* *a is the answer, from local data */
	/* the same, and *a is a CNAME; *alias has its target for a query that must go on there */
	POLICY_ALIAS,
	POLICY_FILTERED, /* *a is the answer of a list, with the ede_code of the hit */
	/* the question goes on with *alias; *a is this CNAME alone and must not be cached */
	POLICY_REWRITE,
	POLICY_DROP,     /* no reply */
	POLICY_TCP_ONLY, /* over UDP an empty answer with TC=1; over TCP the same as POLICY_NONE */
};

/* The target that a rule gives to a name. */
struct policy_alias {
	uint8_t target[NAME_FOLDED_BYTES]; /* folded */
	unsigned int n_bytes;              /* of target; 0: there is no alias */
	uint32_t ttl_s;
	int ede_code;
	bool is_of_list; /* false: of local data */
};

/*
 * Makes the answer of the rule *hit to q. Counts a hit unless the rule says to pass. The body of an
 * answer lies in r until the next use of r. zone_slot and zone_gen say under which slot it may be
 * cached, without an end: its TTLs do not age. `from` is the answer of upstream in which the rule
 * was found (NULL: none); its aliases come first. It may be *a itself, but must not lie in r.
 * alias->n_bytes is 0 except with POLICY_ALIAS and POLICY_REWRITE. No allocation.
 */
enum policy_verdict policy_act(const struct policy *p, struct render *r,
			       const struct policy_question *q, const struct policy_hit *hit,
			       const struct cache_answer *from, struct policy_alias *alias,
			       struct cache_answer *a);

/* The same for local data alone: POLICY_NONE, POLICY_LOCAL or POLICY_ALIAS. */
enum policy_verdict policy_answer_local(const struct policy *p, struct render *r,
					const struct policy_question *q, struct policy_alias *alias,
					struct cache_answer *a);

#endif
