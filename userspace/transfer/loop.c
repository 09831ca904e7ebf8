/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/transfer_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include "base/sandbox.h"
#include "tap/tap.h"
#include "transfer/primary.h"
#include "transfer/remotes.h"
#include "transfer/secondary.h"

static void on_mail(evutil_socket_t fd, short events, void *user)
{
	struct transfer *t = user;

	(void)fd, (void)events;
	loop_wake(t);
	calls_run(t, mailbox_take(&t->to_loop));
}

/* Only wakes the loop: loop_run() then calls the timers that are due. */
static void on_due(evutil_socket_t fd, short events, void *user)
{
	(void)fd, (void)events, (void)user;
}

static int open_base(struct transfer *t)
{
	int code;

	loop_wake(t);
	t->base = event_base_new();
	if (!t->base)
		return -ENOMEM;
	t->on_mail = event_new(t->base, t->to_loop.fd, EV_READ | EV_PERSIST, on_mail, t);
	if (!t->on_mail || event_add(t->on_mail, NULL))
		return -ENOMEM;
	t->on_due = evtimer_new(t->base, on_due, t);
	if (!t->on_due)
		return -ENOMEM;
	random_init(&t->random);
	code = secondary_open(t);
	if (!code)
		code = primary_open(t);
	return code;
}

int loop_open(struct transfer *t)
{
	static const struct config nothing;
	char err[256];
	int code;

	t->to_loop.fd = -1;
	t->to_control.fd = -1;
	code = mailbox_open(&t->to_loop);
	if (!code)
		code = mailbox_open(&t->to_control);
	if (!code)
		code = remotes_new(&t->remotes, &nothing, err, sizeof(err));
	if (!code && t->env.tap) {
		t->tap = tap_producer_new(t->env.tap);
		code = t->tap ? 0 : -ENOMEM;
	}
	if (!code)
		code = open_base(t);
	return code;
}

static void drop_zones(struct transfer *t)
{
	struct transfer_zone *zone = transfer_zones_next(&t->zones, NULL), *next;

	for (; zone; zone = next) {
		next = transfer_zones_next(&t->zones, zone); /* searches from there, not anew */
		secondary_drop_zone(zone);
		primary_drop_zone(t, zone);
		transfer_zones_remove(&t->zones, zone);
		transfer_zone_free(zone);
	}
	free(t->zones.buckets);
	t->zones = (struct transfer_zones){ 0 };
}

/* libevent returns after an event, at the latest when a timer is due. */
static void wait_loop_for_event(struct transfer *t)
{
	uint64_t due_ns = timers_due_ns(&t->timers), wait_us;
	struct timeval wait;

	if (due_ns != UINT64_MAX) {
		wait_us = due_ns > t->now.ns ? (due_ns - t->now.ns + 999) / 1000 : 0;
		wait = (struct timeval){ .tv_sec = (time_t)(wait_us / 1000000),
					 .tv_usec = (suseconds_t)(wait_us % 1000000) };
		(void)evtimer_add(t->on_due, &wait);
	}
	(void)event_base_loop(t->base, EVLOOP_ONCE);
}

void *loop_run(void *transfer)
{
	struct transfer *t = transfer;

	sandbox_enter(SANDBOX_TRANSFER);
	rcu_register_thread();
	rcu_thread_offline();
	while (!__atomic_load_n(&t->is_stopping, __ATOMIC_ACQUIRE)) {
		wait_loop_for_event(t);
		loop_wake(t);
		timers_run(&t->timers, t->now.ns);
	}
	calls_run(t, mailbox_take(&t->to_loop));
	rcu_unregister_thread();
	return NULL;
}

void loop_close(struct transfer *t)
{
	drop_zones(t);
	primary_close(t);
	secondary_close(t);
	remotes_put(t->remotes);
	t->remotes = NULL;
	if (t->on_mail)
		event_free(t->on_mail);
	t->on_mail = NULL;
	if (t->on_due)
		event_free(t->on_due);
	t->on_due = NULL;
	timers_fini(&t->timers);
	if (t->base)
		event_base_free(t->base);
	t->base = NULL;
}
