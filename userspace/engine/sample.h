/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples the questions that an engine answers, to find the most frequent ones. One of 256 on
 * average is noted. The gaps are random, so that regular traffic does not distort the sample.
 *
 *      engine ─► sampler_see ─► ring of SAMPLER_CAP questions ─► sampler_take ─► control
 *
 * One thread calls sampler_see(), another one sampler_take(); neither waits. If the ring is full, a
 * question is only counted in n_seen. So a sample always stands for a known number of questions.
 */
#ifndef VOLLEY_ENGINE_SAMPLE_H
#define VOLLEY_ENGINE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/query.h"

#define SAMPLER_CAP    256u /* a power of two */
#define SAMPLER_FINEST 9u   /* every question is noted */

struct sample {
	uint16_t qtype;
	uint16_t name_bytes;
	uint8_t folded[DNS_NAME_MAX];
};

struct sampler {
	uint32_t left; /* questions before the next that is drawn */
	uint32_t seed;
	uint32_t mask;   /* of the gaps; atomic, written by the taker */
	uint32_t head;   /* atomic, written by the engine */
	uint32_t tail;   /* atomic, written by the taker */
	uint64_t n_seen; /* up to the next that is drawn; atomic, written by the engine */
	struct sample ring[SAMPLER_CAP];
};

/* The sampler must be zeroed memory. */
void sampler_init(struct sampler *sampler);

/* Only for sampler_see(). */
void sampler_draw(struct sampler *sampler, const struct query *query);

/* Call it for each question that was answered. The engine's thread. */
static inline void sampler_see(struct sampler *sampler, const struct query *query)
{
	if (sampler->left--)
		return;
	sampler_draw(sampler, query);
}

/*
 * Copies at most `cap` samples to `out`, the oldest first, and frees their places. Returns how
 * many. *n_seen: questions up to the next one that will be drawn. One thread at a time.
 */
size_t sampler_take(struct sampler *sampler, struct sample *out, size_t cap, uint64_t *n_seen);

/* Halves the gaps `finer` times, 0 to SAMPLER_FINEST, from the next gap on. The taker's thread. */
void sampler_set_finer(struct sampler *sampler, unsigned int finer);

#endif
