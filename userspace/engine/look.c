/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/look.h"

#include <assert.h>

/* Of what answer_data() in engine.c looks for: the others have no answer in the cache. */
static bool takes_key(const struct engine *e, const struct engine_look *look)
{
	const struct query *q = &look->query;

	return e->cache && look->verdict == QUERY_OK && q->qclass == DNS_CLASS_IN &&
	       volley_is_data_type(q->qtype);
}

void look_read(const struct engine *e, struct engine_look *look, const uint8_t *msg, size_t len)
{
	struct query *q = &look->query;
	uint8_t flags;

	look->verdict = query_parse(q, msg, len);
	look->has_key = takes_key(e, look);
	if (!look->has_key)
		return;
	flags = (uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) | (q->cd ? VOLLEY_KEY_CD : 0));
	cache_key_init(&look->key, e->cache, q->folded, q->qname_bytes, q->qtype, q->qclass, flags,
		       VOLLEY_VIEW_PUBLIC);
}

void look_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n)
{
	assert(n <= ENGINE_AHEAD);
	for (unsigned int i = 0; i < n; i++)
		look_read(e, &e->looks[i], msgs[i].bytes, msgs[i].len);
	for (unsigned int i = 0; i < n; i++)
		if (e->looks[i].has_key)
			cache_prefetch(e->cache, &e->looks[i].key);
	for (unsigned int i = 0; i < n; i++)
		if (e->looks[i].has_key)
			cache_prefetch_entry(e->cache, &e->looks[i].key);
}
