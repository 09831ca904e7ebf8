/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data that all engines read and control's thread swaps. */
#ifndef VOLLEY_ENGINE_ENGINE_DATA_H
#define VOLLEY_ENGINE_ENGINE_DATA_H

#include "dns/cookie.h"
#include "engine/engine_config.h"
#include "zone/set.h"

struct blocks;
struct clients;
struct handover_rules;
struct limiter;
struct rpz;
struct shield;

/* What is served, and to which clients. Control swaps each pointer (rcu_xchg_pointer) and waits for
 * all workers. */
struct engine_data {
	struct zone_set *set;    /* RCU, as the others; NULL: no zone */
	struct clients *clients; /* NULL: no client may recurse, all may ask for our zones */
	struct rpz *rpz;         /* NULL: none */
	struct engine_recursion *recursion; /* NULL: no questions upstream */
	struct handover_rules *handover;    /* engine/handover_rules.h; NULL: no handover */
	/* limits/limiter.h; set before engines exist; NULL: no limits */
	const struct limiter *limiter;
	struct cookie_secrets *cookies;   /* NULL: COOKIE options are treated as unknown */
	struct engine_identity *identity; /* NULL: the server says nothing of itself */
	struct blocks *blocks;            /* limits/block_lookup.h; NULL: no blocks */
	struct shield *shield; /* shield/shield.h; set before engines exist; NULL: no filter */
	/*
	 * Data of the authority that only the resolver asks, never a client: its set has the zone
	 * of recursion.root-copy, or no zone. Set before engines exist; NULL: not used.
	 */
	struct engine_data *root_copy;
};

#endif
