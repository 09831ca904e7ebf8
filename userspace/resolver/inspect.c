/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/inspect.h"

#include "resolver/thread.h"

static bool of_relay(const struct tls_relay *r, unsigned int i, struct inspect_upstream *out)
{
	out->upstream = tls_relay_upstream(r, i);
	if (!out->upstream)
		return false;
	out->ways = (struct forward_ways){ .n_upstreams = tls_relay_n_upstreams(r),
					   .tcp_only = true,
					   .has_tls = true };
	tls_relay_read(r, i, &out->seen);
	return true;
}

bool inspect_upstream(const struct resolver *r, unsigned int thread, unsigned int i,
		      struct inspect_upstream *out)
{
	const struct resolver_thread *t = resolver_thread_at(r, thread);

	if (t && t->relay)
		return of_relay(t->relay, i, out);
	if (!t || !t->forward)
		return false;
	forward_get_ways(t->forward, &out->ways);
	if (i >= out->ways.n_upstreams)
		return false;
	out->upstream = forward_get_upstream(t->forward, i);
	forward_get_seen(t->forward, i, &out->seen);
	return true;
}

/* All threads have the same zones. */
static const struct targets *targets_of(const struct resolver *r)
{
	const struct resolver_thread *first = resolver_thread_at(r, 0);

	return first && first->targets.rows ? &first->targets : NULL;
}

size_t inspect_n_targets(const struct resolver *r)
{
	const struct targets *targets = targets_of(r);

	return targets ? targets->zones.n + 1 : 0;
}

bool inspect_target(const struct resolver *r, size_t i, struct inspect_target *out)
{
	const struct nameset *zones = &targets_of(r)->zones;
	const struct resolver_thread *t;

	*out = (struct inspect_target){ .zone = i ? zones->members[i - 1].name : NULL };
	if (i && i < zones->n && name_equal(out->zone, zones->members[i].name))
		return false;
	for (unsigned int k = 0; (t = resolver_thread_at(r, k)); k++)
		targets_add(&t->targets, i, &out->counters);
	return true;
}

size_t inspect_target_of(const struct resolver *r, const uint8_t *folded, uint16_t qtype)
{
	const struct targets *targets = targets_of(r);

	return targets ? targets_find(targets, folded, qtype) : 0;
}

size_t inspect_failures(const struct resolver *r, const uint8_t *folded, struct failure *out,
			size_t cap)
{
	const struct resolver_thread *t;
	size_t n = 0;

	for (unsigned int k = 0; (t = resolver_thread_at(r, k)); k++)
		n += failure_table_find(&t->failure_table, folded, out + n, cap - n);
	return n;
}
