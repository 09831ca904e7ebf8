/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/leaving.h"

#include <string.h>

#include "base/clock.h"

#define BAD_ROUNDS  2u
#define GOOD_ROUNDS 8u /* a fault that comes and goes is then logged once */

/* --- Pauses ----------------------------------------------------------------------------------- */

bool leaving_is_barred(const struct leaving_pause *pause, uint64_t now_ns)
{
	return now_ns < pause->until_ns;
}

static void bar(struct leaving_pause *pause, uint64_t now_ns)
{
	const uint32_t twice = 2 * pause->s;
	const bool has_worked = now_ns - pause->tried_ns > LEAVING_PAUSE_MAX_S * CLOCK_NS_PER_S;

	pause->s = !pause->s || has_worked     ? LEAVING_PAUSE_MIN_S :
		   twice < LEAVING_PAUSE_MAX_S ? twice :
						 LEAVING_PAUSE_MAX_S;
	pause->until_ns = now_ns + pause->s * CLOCK_NS_PER_S;
}

void leaving_forgive(struct leaving *leaving)
{
	for (uint32_t i = 0; i < VOLLEY_QUEUES; i++)
		leaving->queues[i].pause.until_ns = 0;
	leaving->hits.pause.until_ns = 0;
}

/* --- Sockets ---------------------------------------------------------------------------------- */

void leaving_open(struct leaving_queue *q, uint64_t now_ns)
{
	*q = (struct leaving_queue){ .pause = q->pause };
	q->pause.until_ns = 0;
	q->pause.tried_ns = now_ns;
}

void leaving_excuse(struct leaving_queue *q)
{
	q->since_ns = 0;
}

static bool has_to_move(const struct xsk_sent *sent)
{
	return sent->given != sent->taken || sent->given - sent->completed >= sent->ring / 2;
}

bool leaving_is_stuck(struct leaving_queue *q, const struct xsk_sent *sent, uint64_t now_ns)
{
	const bool has_moved = sent->taken != q->last.taken || sent->completed != q->last.completed;

	q->last = *sent;
	if (!has_to_move(sent)) {
		q->since_ns = 0;
		return false;
	}
	if (has_moved || !q->since_ns) {
		q->since_ns = now_ns;
		return false;
	}
	if (now_ns - q->since_ns < LEAVING_STUCK_NS)
		return false;
	bar(&q->pause, now_ns);
	return true;
}

/* --- Hits ------------------------------------------------------------------------------------- */

void leaving_begin_hits(struct leaving_hits *h, uint64_t n_hits, uint64_t n_lost, uint64_t now_ns)
{
	*h = (struct leaving_hits){
		.n_hits = n_hits,
		.n_lost = n_lost,
		.round_ns = now_ns,
		.is_begun = true,
		.pause = h->pause,
	};
	h->pause.until_ns = 0;
	h->pause.tried_ns = now_ns;
}

/* True if `lost` of `hits` count as all. */
static bool is_all(uint64_t hits, uint64_t lost, uint64_t took_ns)
{
	const bool is_slow = hits * CLOCK_NS_PER_S < LEAVING_SLOW * took_ns;

	return 10 * lost >= (is_slow ? hits : 9 * hits);
}

enum leaving_verdict leaving_judge_hits(struct leaving_hits *h, uint64_t n_hits, uint64_t n_lost,
					uint64_t now_ns)
{
	const uint64_t hits = n_hits - h->n_hits, lost = n_lost - h->n_lost;
	const bool is_bad = 10 * lost >= hits;

	if (hits < LEAVING_HITS)
		return h->verdict;
	h->n_no = is_all(hits, lost, now_ns - h->round_ns) ? h->n_no + 1 : 0;
	h->n_bad = is_bad ? h->n_bad + 1 : 0;
	h->n_good = is_bad ? 0 : h->n_good + 1;
	h->n_hits = n_hits;
	h->n_lost = n_lost;
	h->round_ns = now_ns;
	if (h->n_no >= BAD_ROUNDS) {
		h->verdict = LEAVING_ALL_LOST;
		h->is_begun = false;
		bar(&h->pause, now_ns);
	} else if (h->n_bad >= BAD_ROUNDS) {
		h->verdict = LEAVING_SOME_LOST;
	} else if (h->n_good >= GOOD_ROUNDS) {
		h->verdict = LEAVING_WELL;
	}
	return h->verdict;
}
