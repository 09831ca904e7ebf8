/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/deadlines.h"

void deadlines_init(struct deadlines *d, uint64_t now_ns)
{
	d->tick = now_ns / DEADLINES_TICK_NS;
	for (unsigned int i = 0; i < DEADLINES_SLOTS; i++)
		CDS_INIT_LIST_HEAD(&d->slots[i]);
}

void deadlines_add(struct deadlines *d, struct deadline *entry, uint64_t at_ns)
{
	/* The tick after at_ns, so that it has passed when its slot is handled. */
	uint64_t tick = at_ns / DEADLINES_TICK_NS + 1;

	if (tick <= d->tick)
		tick = d->tick + 1;
	entry->at_ns = at_ns;
	cds_list_add_tail(&entry->node, &d->slots[tick % DEADLINES_SLOTS]);
}

static void expire_slot(struct cds_list_head *slot, uint64_t now_ns, struct cds_list_head *over)
{
	struct deadline *entry, *next;

	cds_list_for_each_entry_safe(entry, next, slot, node) {
		if (entry->at_ns > now_ns)
			continue;
		cds_list_del(&entry->node);
		cds_list_add_tail(&entry->node, over);
	}
}

void deadlines_expire(struct deadlines *d, uint64_t now_ns, struct cds_list_head *over)
{
	uint64_t now = now_ns / DEADLINES_TICK_NS;

	/* After a long sleep one turn is enough: it handles each slot. */
	if (now > d->tick + DEADLINES_SLOTS)
		d->tick = now - DEADLINES_SLOTS;
	while (d->tick < now) {
		d->tick++;
		expire_slot(&d->slots[d->tick % DEADLINES_SLOTS], now_ns, over);
	}
}
