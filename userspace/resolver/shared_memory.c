/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/shared_memory.h"

#include "base/byte_ring.h"
#include "tap/outlet.h"

#define SHARED_PAGE 4096u

static size_t to_page(size_t n)
{
	return (n + SHARED_PAGE - 1) & ~(size_t)(SHARED_PAGE - 1);
}

void shared_layout_make(struct shared_layout *out, const struct shared_sizes *sizes)
{
	struct shared_layout *l = out;

	*l = (struct shared_layout){ .sizes = *sizes };
	l->totals_at = to_page(sizes->config_bytes);
	l->boards_at = l->totals_at + to_page(sizeof(struct shared_words));
	l->board_bytes = board_stride(sizes->n_targets);
	l->taps_at = l->boards_at + to_page(l->board_bytes * sizes->n_threads);
	l->tap_bytes = to_page(sizeof(struct tap_outlet_shared) + SHARED_TAP_CAP);
	l->desks_at = l->taps_at + l->tap_bytes * sizes->n_threads;
	l->replies_at = to_page(byte_ring_bytes(SHARED_QUESTIONS_CAP));
	l->desk_bytes = l->replies_at + to_page(byte_ring_bytes(SHARED_REPLIES_CAP));
	l->total = l->desks_at + l->desk_bytes * sizes->n_desks;
}
