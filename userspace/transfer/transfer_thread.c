/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/transfer_thread.h"

#include <urcu-qsbr.h>

void loop_wake(struct transfer *t)
{
	t->read_clock(&t->now);
}

void loop_set(struct transfer *t, struct timer *timer, uint64_t after_ns)
{
	timer_set(timer, t->now.ns + after_ns);
}

struct zone *served_get(struct transfer *t, const struct transfer_zone *zone)
{
	const struct zone_member *member;
	const struct zone_set *set;
	struct zone *served = NULL;

	rcu_thread_online();
	set = rcu_dereference(*(zone->config->is_root_copy ? &t->env.published->root_copy->set :
							     &t->env.published->set));
	member = set ? zone_set_get(set, zone->apex, zone->apex_len) : NULL;
	served = member ? zone_set_zone(member) : NULL;
	if (served)
		zone_ref(served);
	rcu_thread_offline();
	return served;
}

bool served_serial(struct transfer *t, const struct transfer_zone *zone, uint32_t *serial)
{
	struct zone *served = served_get(t, zone);

	if (!served)
		return false;
	*serial = zone_serial(served);
	zone_unref(served);
	return true;
}
