/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/sample.h"

#include <string.h>

#define GAP_MAX 511u /* a mask */

void sampler_init(struct sampler *s)
{
	s->mask = GAP_MAX;
	s->seed = 0x9e3779b9;
}

/* Xorshift (Marsaglia, 2003): the gaps need not be secret. */
static uint32_t draw_gap(struct sampler *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 17;
	s->seed ^= s->seed << 5;
	return s->seed & __atomic_load_n(&s->mask, __ATOMIC_RELAXED);
}

static void note_engine_sample(struct sample *to, const struct query *q)
{
	to->qtype = q->qtype;
	to->name_bytes = q->qname_bytes;
	memcpy(to->folded, q->folded, q->qname_bytes);
}

void sampler_draw(struct sampler *s, const struct query *q)
{
	uint32_t head = s->head, gap = draw_gap(s);

	if (head - __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) < SAMPLER_CAP) {
		note_engine_sample(&s->ring[head % SAMPLER_CAP], q);
		__atomic_store_n(&s->head, head + 1, __ATOMIC_RELEASE);
	}
	s->left = gap;
	__atomic_store_n(&s->n_seen, s->n_seen + 1 + gap, __ATOMIC_RELAXED);
}

size_t sampler_take(struct sampler *s, struct sample *out, size_t cap, uint64_t *n_seen)
{
	uint32_t tail = s->tail, n = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE) - tail;

	*n_seen = __atomic_load_n(&s->n_seen, __ATOMIC_RELAXED);
	if (n > cap)
		n = (uint32_t)cap;
	for (uint32_t i = 0; i < n; i++)
		out[i] = s->ring[(tail + i) % SAMPLER_CAP];
	__atomic_store_n(&s->tail, tail + n, __ATOMIC_RELEASE);
	return n;
}

void sampler_set_finer(struct sampler *s, unsigned int finer)
{
	__atomic_store_n(&s->mask, GAP_MAX >> finer, __ATOMIC_RELAXED);
}
