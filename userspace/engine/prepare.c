/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/engine_state.h"

#include <assert.h>

/* True for queries that answer_data() in engine.c looks up. No other answer is in the cache. */
static bool takes_key(const struct engine *e, const struct engine_prepared *prepared)
{
	const struct query *q = &prepared->query;

	return e->cache && prepared->verdict == QUERY_OK && q->qclass == DNS_CLASS_IN &&
	       volley_is_cached_type(q->qtype);
}

void prepare_read(const struct engine *e, struct engine_prepared *prepared, const uint8_t *msg,
		  size_t len)
{
	struct query *q = &prepared->query;
	uint8_t flags;

	prepared->verdict = query_parse(q, msg, len);
	prepared->has_key = takes_key(e, prepared);
	if (!prepared->has_key)
		return;
	flags = (uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) | (q->cd ? VOLLEY_KEY_CD : 0));
	cache_key_init(&prepared->key, e->cache, q->folded, q->qname_bytes, q->qtype, q->qclass,
		       flags, VOLLEY_VIEW_PUBLIC);
}

void prepare_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n)
{
	assert(n <= ENGINE_AHEAD);
	for (unsigned int i = 0; i < n; i++)
		prepare_read(e, &e->prepared[i], msgs[i].bytes, msgs[i].len);
	for (unsigned int i = 0; i < n; i++)
		if (e->prepared[i].has_key)
			cache_prefetch(e->cache, &e->prepared[i].key);
	for (unsigned int i = 0; i < n; i++)
		if (e->prepared[i].has_key)
			cache_prefetch_entry(e->cache, &e->prepared[i].key);
}
