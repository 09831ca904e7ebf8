/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all engines read and control swaps. */
#ifndef VOLLEY_ENGINE_ENGINE_DATA_H
#define VOLLEY_ENGINE_ENGINE_DATA_H

#include "dns/cookie.h"
#include "engine/engine_config.h"
#include "zone/set.h"

struct blocks;
struct clients;
struct handover_rules;
struct limiter;
struct policy;
struct shield;

/* What is served, to whom: control swaps each pointer (rcu_xchg_pointer) and waits for all
 * workers. */
struct engine_data {
	struct zone_set *set;    /* RCU, as the others; NULL: no zone */
	struct clients *clients; /* NULL: nobody recurses, everyone may ask for our zones */
	struct policy *policy;   /* NULL: none */
	struct engine_recursion *recursion; /* NULL: nothing is asked upstream */
	struct handover_rules *handover; /* engine/handover_rules.h; NULL: nothing is handed over */
	const struct limiter
		*limiter; /* engine/limiter.h; set before there are engines; NULL: no limits */
	struct cookie_secrets *cookies;   /* NULL: COOKIE options are as any unknown option */
	struct engine_identity *identity; /* NULL: the server says nothing of itself */
	struct blocks *blocks;            /* engine/block_lookup.h; NULL: nothing is blocked */
	struct shield *shield; /* engine/shield.h; set before there are engines; NULL: no filter */
	/*
	 * What the resolver's own authority answers, and no client: its set has the zone of
	 * recursion.root-copy, or there is none. Set before there are engines; NULL: there is no
	 * such authority.
	 */
	struct engine_data *root_copy;
};

#endif
