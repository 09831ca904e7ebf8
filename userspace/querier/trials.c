/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/trials.h"

/* n: 1, or -1 for one less. */
static void count_trials(struct worker_desk *desk, uint64_t n)
{
	__atomic_fetch_add(&desk->suspects->trials.n_waiting, n, __ATOMIC_SEQ_CST);
}

void trial_add(struct worker_desk *desk, struct ticket *t)
{
	desk_list_add(&desk->trials, t->question);
	count_trials(desk, 1);
}

/* One more is tried. False: not now. Of two desks that ask at once, one at most gets true. */
static bool may_try(struct trials *all, uint64_t now_ns, bool *is_alone)
{
	uint64_t next_ns = __atomic_load_n(&all->next_ns, __ATOMIC_SEQ_CST);

	*is_alone = !__atomic_fetch_add(&all->n_tried, 1, __ATOMIC_SEQ_CST);
	if ((*is_alone || now_ns >= next_ns) &&
	    __atomic_compare_exchange_n(&all->next_ns, &next_ns, now_ns + TRIAL_NS, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return true;
	__atomic_fetch_sub(&all->n_tried, 1, __ATOMIC_SEQ_CST);
	return false;
}

struct ticket *trial_next(struct worker_desk *desk, uint64_t now_ns)
{
	struct trials *all = &desk->suspects->trials;
	struct ticket *t;
	bool is_alone;

	if (!desk->trials.first || !may_try(all, now_ns, &is_alone))
		return NULL;
	t = ticket_of(desk, desk_list_take(&desk->trials));
	count_trials(desk, (uint64_t)-1); /* after n_tried, for trials_are_done() */
	t->trial = __atomic_add_fetch(&all->last, 1, __ATOMIC_SEQ_CST);
	t->is_alone = is_alone;
	return t;
}

void trial_end(struct worker_desk *desk, struct ticket *t)
{
	if (!t->trial)
		return;
	__atomic_fetch_sub(&desk->suspects->trials.n_tried, 1, __ATOMIC_SEQ_CST);
	t->trial = 0;
}

bool trial_convicts(const struct worker_desk *desk, const struct ticket *t)
{
	uint64_t last = __atomic_load_n(&desk->suspects->trials.last, __ATOMIC_SEQ_CST);
	bool is_isolated = __atomic_load_n(&desk->used->is_isolated, __ATOMIC_SEQ_CST);

	return t->trial &&
	       (t->n_ends + 1 >= TRIAL_ENDS || (is_isolated && t->is_alone && t->trial == last));
}

struct resolver_question *trial_expire(struct worker_desk *desk, uint64_t now_ns)
{
	struct desk_list waiting = desk->trials, expired;
	struct resolver_question *q;

	desk_list_init(&desk->trials);
	desk_list_init(&expired);
	while ((q = desk_list_take(&waiting))) {
		bool is_late = q->deadline_ns <= now_ns;

		desk_list_add(is_late ? &expired : &desk->trials, q);
		if (is_late)
			count_trials(desk, (uint64_t)-1);
	}
	return expired.first;
}
