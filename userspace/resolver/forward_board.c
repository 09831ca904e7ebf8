/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_board.h"

#include "resolver/forward_question.h"

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

void forward_board_write(struct forward *f)
{
	forward_board_put(&f->board, &f->upstreams, &f->tcp);
}

void forward_board_ways(const struct forward *f, struct forward_ways *out)
{
	*out = (struct forward_ways){
		.n_upstreams = f->upstreams.n,
		.tcp_only = f->tcp_only,
		.has_tls = f->tls,
		.caps_for_id = f->caps_for_id,
	};
}

const struct upstream *forward_board_upstream(const struct forward *f, unsigned int i)
{
	return &f->upstreams.all[i];
}

void forward_board_read(const struct forward *f, unsigned int i, struct forward_seen *out)
{
	forward_board_get(&f->board, i, out);
}
