/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes answers from the rules of a policy zone: what the rule that rpz/rpz.h has found does to an
 * answer.
 */
#ifndef VOLLEY_ENGINE_RPZ_ACT_H
#define VOLLEY_ENGINE_RPZ_ACT_H

#include "engine/render.h"
#include "rpz/rpz.h"

enum rpz_verdict {
	RPZ_NONE,  /* no rule, or a rule that says to pass: ask upstream */
	RPZ_LOCAL, /* *a is the answer, from local data */
	/* the same, and *a is a CNAME; *alias has its target for a query that must go on there */
	RPZ_ALIAS,
	RPZ_FILTERED, /* *a is the answer of a list, with the ede_code of the hit */
	/* the question goes on with *alias; *a is this CNAME alone and must not be cached */
	RPZ_REWRITE,
	RPZ_DROP,     /* no reply */
	RPZ_TCP_ONLY, /* over UDP an empty answer with TC=1; over TCP the same as RPZ_NONE */
};

/* The target that a rule gives to a name. */
struct rpz_alias {
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
 * alias->n_bytes is 0 except with RPZ_ALIAS and RPZ_REWRITE. No allocation.
 */
enum rpz_verdict rpz_act(const struct rpz *p, struct render *r, const struct rpz_question *q,
			 const struct rpz_hit *hit, const struct cache_answer *from,
			 struct rpz_alias *alias, struct cache_answer *a);

/* The same for local data alone: RPZ_NONE, RPZ_LOCAL or RPZ_ALIAS. */
enum rpz_verdict rpz_answer_local(const struct rpz *p, struct render *r,
				  const struct rpz_question *q, struct rpz_alias *alias,
				  struct cache_answer *a);

#endif
