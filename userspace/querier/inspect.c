/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/inspect.h"

#include <string.h>

#include "querier/querier_state.h"

/* Copies a row. A row that no resolver of ours would write is left out. */
static bool copy_upstream(const struct forward_board *board, unsigned int i,
			  struct inspect_upstream *out)
{
	const uint8_t *flags = (const uint8_t *)&board->ways.tcp_only;
	uint32_t n = __atomic_load_n(&board->ways.n_upstreams, __ATOMIC_RELAXED);

	_Static_assert(offsetof(struct forward_ways, caps_for_id) ==
			       offsetof(struct forward_ways, tcp_only) + 2,
		       "three flags in a row");
	if (i >= n || n > UPSTREAMS_MAX)
		return false;
	out->ways = (struct forward_ways){
		.n_upstreams = n,
		.tcp_only = __atomic_load_n(&flags[0], __ATOMIC_RELAXED) != 0,
		.has_tls = __atomic_load_n(&flags[1], __ATOMIC_RELAXED) != 0,
		.caps_for_id = __atomic_load_n(&flags[2], __ATOMIC_RELAXED) != 0,
	};
	memcpy(&out->address, &board->named[i].address, sizeof(out->address));
	memcpy(out->name, board->named[i].name, sizeof(out->name));
	out->name[sizeof(out->name) - 1] = 0;
	for (char *at = out->name; *at; at++)
		if (*at <= ' ' || *at > '~')
			*at = '?';
	forward_board_get(board, i, &out->seen);
	return true;
}

bool inspect_upstream(struct querier *q, unsigned int thread, unsigned int i,
		      struct inspect_upstream *out)
{
	const struct session *s;
	bool is_there = false;

	pthread_mutex_lock(&q->lock);
	s = q->shown;
	if (s && thread < s->layout.sizes.n_threads)
		is_there = copy_upstream(&board_at(&s->boards, thread)->forward, i, out);
	pthread_mutex_unlock(&q->lock);
	return is_there;
}

size_t inspect_n_targets(const struct querier *q)
{
	return q->targets.rows ? q->targets.zones.n + 1 : 0;
}

bool inspect_target(struct querier *q, size_t i, struct inspect_target *out)
{
	const struct nameset *zones = &q->targets.zones;
	const struct session *s;

	*out = (struct inspect_target){ .zone = i ? zones->members[i - 1].name : NULL };
	if (i && i < zones->n && name_equal(out->zone, zones->members[i].name))
		return false;
	pthread_mutex_lock(&q->lock);
	s = q->shown;
	for (unsigned int k = 0; s && k < s->layout.sizes.n_threads; k++)
		targets_add_row(&board_at(&s->boards, k)->targets[i], &out->counters);
	pthread_mutex_unlock(&q->lock);
	return true;
}

size_t inspect_target_of(const struct querier *q, const uint8_t *folded, uint16_t qtype)
{
	return q->targets.rows ? targets_find(&q->targets, folded, qtype) : 0;
}

/* failure_table_find() has checked the name. */
static void clean_failure(struct failure *f)
{
	f->why[sizeof(f->why) - 1] = 0;
	for (char *at = f->why; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

size_t inspect_failures(struct querier *q, const uint8_t *folded, struct failure *out, size_t cap)
{
	const struct session *s;
	size_t n = 0;

	pthread_mutex_lock(&q->lock);
	s = q->shown;
	for (unsigned int k = 0; s && k < s->layout.sizes.n_threads; k++)
		n += failure_table_find(&board_at(&s->boards, k)->failures, folded, out + n,
					cap - n);
	pthread_mutex_unlock(&q->lock);
	for (size_t i = 0; i < n; i++)
		clean_failure(&out[i]);
	return n;
}
