/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/unseen.h"

#include "base/clock.h"

#define LOOK_NS (CLOCK_NS_PER_S - CLOCK_NS_PER_S / 10) /* the timer of a second may fire early */

/* A card may count a frame one look later than the program, so a single look proves nothing. */
#define N_LOOKS 2u
/* Unseen frames before the program is attached again, which stops some cards for a moment; and
 * before that is reported as useless. */
#define N_FRAMES_LOST  4u
#define N_FRAMES_STILL 16u

bool unseen_is_due(const struct unseen *u, uint64_t now_ns)
{
	return !u->is_begun || now_ns - u->looked_at_ns >= LOOK_NS;
}

static void begin_unseen(struct unseen *u, uint64_t n_rx, uint64_t n_received, uint64_t now_ns)
{
	*u = (struct unseen){
		.is_begun = true,
		.is_renewed = u->is_renewed,
		.looked_at_ns = now_ns,
		.n_rx = n_rx,
		.n_received = n_received,
	};
}

static enum unseen_state judge_unseen(struct unseen *u)
{
	if (u->n_looks < N_LOOKS || u->n_frames < (u->is_renewed ? N_FRAMES_STILL : N_FRAMES_LOST))
		return UNSEEN_UNKNOWN;
	if (u->is_renewed)
		return UNSEEN_STILL;
	u->is_renewed = true;
	u->n_frames = 0;
	u->n_looks = 0;
	return UNSEEN_LOST;
}

enum unseen_state unseen_take(struct unseen *u, uint64_t n_rx, uint64_t n_received, uint64_t now_ns)
{
	const bool was_seen = u->is_begun && n_received > u->n_received;
	uint64_t more;

	if (!unseen_is_due(u, now_ns))
		return UNSEEN_UNKNOWN;
	if (was_seen || !u->is_begun || n_received < u->n_received || n_rx < u->n_rx) {
		if (was_seen)
			u->is_renewed = false;
		begin_unseen(u, n_rx, n_received, now_ns);
		return was_seen ? UNSEEN_NONE : UNSEEN_UNKNOWN;
	}
	more = n_rx - u->n_rx;
	u->looked_at_ns = now_ns;
	u->n_rx = n_rx;
	u->n_frames += more;
	u->n_looks += more > 0;
	return more ? judge_unseen(u) : UNSEEN_UNKNOWN;
}
