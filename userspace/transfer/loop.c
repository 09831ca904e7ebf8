/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop: libevent, and control's calls out of the mailbox. It waits for nothing else: whoever has
 * much to do does a part of it and comes back.
 */
#include <errno.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include "transfer/calls.h"
#include "transfer/internal.h"

static void on_mail(evutil_socket_t fd, short events, void *user)
{
	struct transfer *t = user;

	(void)fd, (void)events;
	calls_run(t, mailbox_take(&t->to_loop));
}

int loop_open(struct transfer *t)
{
	int code;

	t->base = event_base_new();
	if (!t->base)
		return -ENOMEM;
	t->on_mail = event_new(t->base, t->to_loop.fd, EV_READ | EV_PERSIST, on_mail, t);
	if (!t->on_mail || event_add(t->on_mail, NULL))
		return -ENOMEM;
	random_init(&t->random);
	code = secondary_open(t);
	if (!code)
		code = primary_open(t);
	return code;
}

static void drop_zones(struct transfer *t)
{
	struct transfer_zone *zone;

	while ((zone = transfer_zones_next(&t->zones, NULL))) {
		secondary_drop_zone(t, zone);
		primary_drop_zone(t, zone);
		transfer_zones_remove(&t->zones, zone);
		transfer_zone_free(zone);
	}
	free(t->zones.buckets);
	t->zones = (struct transfer_zones){ 0 };
}

void *loop_run(void *transfer)
{
	struct transfer *t = transfer;

	rcu_register_thread();
	rcu_thread_offline();
	while (!__atomic_load_n(&t->is_stopping, __ATOMIC_ACQUIRE))
		(void)event_base_loop(t->base, EVLOOP_ONCE);
	calls_run(t, mailbox_take(&t->to_loop));
	rcu_unregister_thread();
	return NULL;
}

void loop_close(struct transfer *t)
{
	drop_zones(t);
	primary_close(t);
	secondary_close(t);
	book_put(t->book);
	t->book = NULL;
	if (t->on_mail)
		event_free(t->on_mail);
	t->on_mail = NULL;
	if (t->base)
		event_base_free(t->base);
	t->base = NULL;
}

struct zone *served_get(struct transfer *t, const struct transfer_zone *zone)
{
	const struct zone_member *member;
	const struct zone_set *set;
	struct zone *served = NULL;

	rcu_thread_online();
	set = rcu_dereference(t->env.published->set);
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
