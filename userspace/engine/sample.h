/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which questions an engine answers most: one of 256 on average is noted, with random gaps, so that
 * regular traffic does not decide which.
 *
 *      engine ─► sampler_see ─► ring of SAMPLER_CAP questions ─► sampler_take ─► control
 *
 * One thread sees, one takes; neither waits. What finds the ring full is not noted, but counted in
 * n_seen: so a sample always stands for a known number of questions.
 */
#ifndef VOLLEY_ENGINE_SAMPLE_H
#define VOLLEY_ENGINE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/query.h"

#define SAMPLER_CAP    256u /* a power of two */
#define SAMPLER_FINEST 9u   /* every question */

struct sample {
	uint16_t qtype;
	uint16_t name_bytes;
	uint8_t folded[DNS_NAME_MAX];
};

struct sampler {
	uint32_t left; /* questions to let by */
	uint32_t seed;
	uint32_t mask;   /* of the gaps; atomic, the taker's */
	uint32_t head;   /* atomic, the engine's */
	uint32_t tail;   /* atomic, the taker's */
	uint64_t n_seen; /* up to the next that is drawn; atomic, the engine's */
	struct sample ring[SAMPLER_CAP];
};

/* In zeroed memory. */
void sampler_init(struct sampler *sampler);

/* For sampler_see() alone. */
void sampler_draw(struct sampler *sampler, const struct query *query);

/* A question that was answered. The engine's thread. */
static inline void sampler_see(struct sampler *sampler, const struct query *query)
{
	if (sampler->left--)
		return;
	sampler_draw(sampler, query);
}

/*
 * Copies at most `cap` samples to `out`, oldest first, and makes room for others; how many.
 * *n_seen: questions up to the next that will be drawn. One thread at a time.
 */
size_t sampler_take(struct sampler *sampler, struct sample *out, size_t cap, uint64_t *n_seen);

/* Halves the gaps so many times, from the next one on; 0 to SAMPLER_FINEST. The taker's thread. */
void sampler_set_finer(struct sampler *sampler, unsigned int finer);

#endif
