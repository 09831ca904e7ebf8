/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_board.h"

#include <string.h>

#include "resolver/forward_tcp.h"

void forward_board_init(struct forward_board *board, const struct upstreams *us,
			const struct forward_ways *ways)
{
	for (unsigned int i = 0; i < us->n; i++) {
		board->named[i].address = us->all[i].address;
		memcpy(board->named[i].name, us->all[i].name, sizeof(board->named[i].name));
	}
	board->ways = *ways;
	board->ways.n_upstreams = us->n;
}

void forward_board_put(struct forward_board *board, const struct upstreams *us,
		       const struct forward_tcp *tcp)
{
	for (unsigned int i = 0; i < us->n; i++) {
		const struct upstream *u = &us->all[i];
		const struct forward_connection *c = &tcp->connections[i];
		struct forward_seen *seen = &board->of[i];

#define WRITE(name, value) __atomic_store_n(&seen->name, (uint64_t)(value), __ATOMIC_RELAXED);
		FORWARD_SEEN(WRITE)
#undef WRITE
	}
}

void forward_board_get(const struct forward_board *board, unsigned int i, struct forward_seen *out)
{
	const struct forward_seen *seen = &board->of[i];

#define READ(name, value) out->name = __atomic_load_n(&seen->name, __ATOMIC_RELAXED);
	FORWARD_SEEN(READ)
#undef READ
}
