/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/targets.h"

#include "resolver/resolver_counters.h"

int targets_init(struct targets *t, const struct resolver_config *config,
		 struct target_counters *rows)
{
	int code = nameset_init(&t->zones, config->n_stubs);

	for (size_t i = 0; i < config->n_stubs && !code; i++)
		code = nameset_add(&t->zones, config->stubs[i].zone);
	nameset_sort(&t->zones);
	t->rows = rows;
	return code;
}

void targets_fini(struct targets *t)
{
	nameset_fini(&t->zones);
	t->rows = NULL;
}

size_t targets_find(const struct targets *t, const uint8_t *folded, uint16_t qtype)
{
	const uint8_t *parent = qtype == DNS_TYPE_DS ? name_parent(folded) : NULL;
	uint8_t name[NAME_FOLDED_BYTES];

	if (!parent)
		return nameset_place(&t->zones, folded);
	name_fold(name, parent, name_bytes(parent));
	return nameset_place(&t->zones, name);
}

void targets_on_asked(struct targets *t, struct resolver_group *group, uint64_t now_ns)
{
	group->target = (uint32_t)targets_find(t, group->name, group->qtype);
	group->asked_ns = now_ns;
	resolver_count(&t->rows[group->target].asked);
}

void targets_on_end(struct targets *t, const struct resolver_group *group, enum target_end end,
		    bool is_known, uint64_t now_ns)
{
	struct target_counters *row = &t->rows[group->target];

	if (end != TARGET_ANSWERED) {
		resolver_count(end == TARGET_BOGUS ? &row->bogus : &row->failed);
		__atomic_store_n(&row->last_failed_ns, now_ns, __ATOMIC_RELAXED);
	} else if (is_known) {
		resolver_count(&row->known);
	} else {
		resolver_count(&row->answered);
		resolver_count_n(&row->took_ns, now_ns - group->asked_ns);
		__atomic_store_n(&row->last_answered_ns, now_ns, __ATOMIC_RELAXED);
	}
	resolver_count(&row->done);
}

void targets_on_timeout(struct targets *t, const struct resolver_group *group)
{
	resolver_count(&t->rows[group->target].timed_out);
}

static uint64_t targets_later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

void targets_add_row(const struct target_counters *row, struct target_counters *sum)
{
	uint64_t answered_ns = sum->last_answered_ns, failed_ns = sum->last_failed_ns;

#define ADD(name) sum->name += __atomic_load_n(&row->name, __ATOMIC_RELAXED);
	TARGET_COUNTERS(ADD)
#undef ADD
	sum->last_answered_ns = targets_later(answered_ns, sum->last_answered_ns - answered_ns);
	sum->last_failed_ns = targets_later(failed_ns, sum->last_failed_ns - failed_ns);
}
