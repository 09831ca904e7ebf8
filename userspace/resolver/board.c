/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/board.h"

static void add_resolver_counters(struct resolver_counters *sum, const struct resolver_counters *of)
{
#define ADD(name, words) sum->name += __atomic_load_n(&of->name, __ATOMIC_RELAXED);
	RESOLVER_COUNTERS(ADD)
#undef ADD
	histogram_read(&of->took, &sum->took);
}

void board_counters(const struct resolver_boards *boards, unsigned int n,
		    struct resolver_counters *out)
{
	const struct resolver_totals *totals = boards->totals;

	*out = (struct resolver_counters){
		.limited_outstanding =
			__atomic_load_n(&totals->limited_outstanding, __ATOMIC_RELAXED),
		.limited_client = __atomic_load_n(&totals->limited_client, __ATOMIC_RELAXED),
		.limited_share = __atomic_load_n(&totals->limited_share, __ATOMIC_RELAXED),
	};
	out->asked = out->limited_outstanding + out->limited_client + out->limited_share;
	for (unsigned int i = 0; i < n; i++)
		add_resolver_counters(out, &board_at(boards, i)->counters);
}
