/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/heartbeat.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sandbox.h"

#define HEARTBEAT_S  1u
#define ORPHAN_S_MIN 3u /* a heartbeat that is two seconds late must not silence the driver */

/*
 * One event may take control's thread that long: making keys for hundreds of zones, or a disk that
 * hangs. Workers and driver answer meanwhile, so volleyd need not be restarted.
 */
#define CONTROL_LONG_NS (300 * CLOCK_NS_PER_S)

void heartbeat_init(struct heartbeat *h, uint32_t orphan_s)
{
	uint64_t usec;

	*h = (struct heartbeat){ .orphan_s = orphan_s };
	pthread_mutex_init(&h->lock, NULL);
	h->is_watched = sd_watchdog_enabled(0, &usec) > 0;
	h->well_ns = clock_ns();
}

void heartbeat_fini(struct heartbeat *h)
{
	pthread_mutex_destroy(&h->lock);
}

/* Also stores the wall clock, by which the driver dates cookies: it may be set at any time. */
static void serve_until(struct heartbeat *h, uint32_t until_s)
{
	uint64_t wall_ns = clock_wall_ahead_ns();
	size_t i;

	pthread_mutex_lock(&h->lock);
	for (i = 0; i < 2; i++) {
		if (!h->states[i])
			continue;
		__atomic_store_n(&h->states[i]->wall_ns, wall_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&h->states[i]->tap_until_s, clock_coarse_s() + ORPHAN_S_MIN,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&h->states[i]->serve_until_s, until_s, __ATOMIC_RELEASE);
	}
	for (i = 0; i < h->n_old; i++)
		__atomic_store_n(h->old[i], until_s, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&h->lock);
}

static void renew_heartbeat(struct heartbeat *h)
{
	serve_until(h,
		    clock_coarse_s() + (h->orphan_s < ORPHAN_S_MIN ? ORPHAN_S_MIN : h->orphan_s));
}

void heartbeat_serve_by(struct heartbeat *h, struct volley_state *first,
			struct volley_state *second)
{
	pthread_mutex_lock(&h->lock);
	h->states[0] = first;
	h->states[1] = second;
	pthread_mutex_unlock(&h->lock);
	renew_heartbeat(h);
}

void heartbeat_keep_old(struct heartbeat *h, uint32_t *until_s)
{
	pthread_mutex_lock(&h->lock);
	h->old[h->n_old++] = until_s;
	pthread_mutex_unlock(&h->lock);
}

void heartbeat_silence_old(struct heartbeat *h)
{
	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->n_old; i++)
		__atomic_store_n(h->old[i], 0, __ATOMIC_RELEASE);
	h->n_old = 0;
	pthread_mutex_unlock(&h->lock);
}

void heartbeat_let_old_go(struct heartbeat *h)
{
	pthread_mutex_lock(&h->lock);
	h->n_old = 0;
	pthread_mutex_unlock(&h->lock);
}

void heartbeat_put_block_kinds(struct heartbeat *h, uint32_t kinds)
{
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < 2; i++)
		if (h->states[i])
			__atomic_store_n(&h->states[i]->block_kinds, kinds, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&h->lock);
}

/* Feeds systemd's watchdog, unless a worker or control's thread hangs. */
static void feed_watchdog(const struct heartbeat *h)
{
	uint64_t well_ns = __atomic_load_n(&h->well_ns, __ATOMIC_ACQUIRE);

	if (h->is_watched && well_ns && clock_ns() < well_ns + CONTROL_LONG_NS)
		sd_notify(0, "WATCHDOG=1");
}

static void *heartbeat_main(void *arg)
{
	struct heartbeat *h = arg;

	sandbox_enter(SANDBOX_QUIET);
	for (unsigned int n = 0; !__atomic_load_n(&h->stops, __ATOMIC_ACQUIRE); n++) {
		renew_heartbeat(h);
		if (n % 4 == 0)
			feed_watchdog(h);
		usleep(HEARTBEAT_S * 1000000 / 4);
	}
	return NULL;
}

int heartbeat_start(struct heartbeat *h)
{
	int err = pthread_create(&h->thread, NULL, heartbeat_main, h);

	h->has_thread = !err;
	return -err;
}

/* --- The watchdog ----------------------------------------------------------------------------- */

/* The number of a worker that hangs, or -1. */
static int find_hanging(const struct health_watch *watch, unsigned int n)
{
	for (unsigned int i = 0; i < n && i < HEALTH_WORKERS_CAP; i++)
		if (health_hangs(&watch->heartbeats, i))
			return (int)i;
	return -1;
}

/*
 * If a worker hangs while control's thread waits for readers, control's thread does not come here,
 * and the watchdog ends the daemon later.
 */
void heartbeat_watch(struct heartbeat *h, const struct health_watch *watch, unsigned int n_workers)
{
	int hanging = h->is_watched ? find_hanging(watch, n_workers) : -1;

	if (!h->is_watched)
		return;
	if (hanging >= 0 && h->well_ns)
		log_error("worker %d hangs: unless it goes on, systemd's watchdog ends volleyd",
			  hanging);
	__atomic_store_n(&h->well_ns, hanging < 0 ? clock_ns() : 0, __ATOMIC_RELEASE);
}

/* --- The end ---------------------------------------------------------------------------------- */

static void stop_heartbeat_thread(struct heartbeat *h)
{
	if (!h->has_thread)
		return;
	__atomic_store_n(&h->stops, true, __ATOMIC_RELEASE);
	pthread_join(h->thread, NULL);
	h->has_thread = false;
}

void heartbeat_stop(struct heartbeat *h, bool keep)
{
	stop_heartbeat_thread(h);
	if (keep)
		renew_heartbeat(h);
	else
		serve_until(h, 0);
}
