/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heartbeat: until when the programs may answer without hearing from us (cache.orphan-serve). And its end. */
#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/daemon_internal.h"

#define HEARTBEAT_S  1u
#define ORPHAN_S_MIN 3u /* a heartbeat that is late by two must not silence the driver */

/*
 * One event may keep control's thread that long: keys that are made for hundreds of zones, a disk that stands still.
 * Workers and driver answer meanwhile, so this is no reason for an end.
 */
#define CONTROL_LONG_NS (300 * CLOCK_NS_PER_S)

/* A stop may take that long, and the snapshot of a cache so much longer on a slow disk. */
#define STOP_S           60u
#define STOP_BYTES_PER_S (16u << 20)

/* The driver dates cookies by the wall clock, which may be set at any time. */
static void serve_until(struct daemon *d, uint32_t until_s)
{
	uint64_t wall_ns = clock_wall_ahead_ns();
	size_t i;

	pthread_mutex_lock(&d->alive_lock);
	for (i = 0; i < 2; i++) {
		if (!d->alive[i])
			continue;
		__atomic_store_n(&d->alive[i]->wall_ns, wall_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&d->alive[i]->serve_until_s, until_s, __ATOMIC_RELEASE);
	}
	for (i = 0; i < d->n_alive_old; i++)
		__atomic_store_n(d->alive_old[i], until_s, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&d->alive_lock);
}

static void beat(struct daemon *d)
{
	uint32_t orphan_s = d->config->cache_orphan_serve_s;

	if (orphan_s < ORPHAN_S_MIN)
		orphan_s = ORPHAN_S_MIN;
	serve_until(d, clock_coarse_s() + orphan_s);
}

void daemon_serve_by(struct daemon *d, struct volley_state *first, struct volley_state *second)
{
	pthread_mutex_lock(&d->alive_lock);
	d->alive[0] = first;
	d->alive[1] = second;
	pthread_mutex_unlock(&d->alive_lock);
	beat(d);
}

void daemon_silence_old(struct daemon *d)
{
	pthread_mutex_lock(&d->alive_lock);
	for (size_t i = 0; i < d->n_alive_old; i++)
		__atomic_store_n(d->alive_old[i], 0, __ATOMIC_RELEASE);
	d->n_alive_old = 0;
	pthread_mutex_unlock(&d->alive_lock);
}

void daemon_let_old_go(struct daemon *d)
{
	pthread_mutex_lock(&d->alive_lock);
	d->n_alive_old = 0;
	pthread_mutex_unlock(&d->alive_lock);
}

/* systemd's watchdog, unless a worker hangs, or control's thread. */
static void feed_watchdog(const struct daemon *d)
{
	uint64_t well_ns = __atomic_load_n(&d->well_ns, __ATOMIC_ACQUIRE);

	if (d->is_watched && well_ns && clock_ns() < well_ns + CONTROL_LONG_NS)
		sd_notify(0, "WATCHDOG=1");
}

/* Of its own, so that what takes the control thread long does not look like a death. */
static void *heartbeat_main(void *arg)
{
	struct daemon *d = arg;

	for (unsigned int n = 0; !__atomic_load_n(&d->heartbeat_stops, __ATOMIC_ACQUIRE); n++) {
		beat(d);
		if (n % 4 == 0)
			feed_watchdog(d);
		usleep(HEARTBEAT_S * 1000000 / 4);
	}
	return NULL;
}

int daemon_start_heartbeat(struct daemon *d)
{
	int err = pthread_create(&d->heartbeat, NULL, heartbeat_main, d);

	d->has_heartbeat = !err;
	return -err;
}

/* --- The watchdog -------------------------------------------------------------------------------- */

void daemon_find_watchdog(struct daemon *d)
{
	uint64_t usec;

	d->is_watched = sd_watchdog_enabled(0, &usec) > 0;
	d->well_ns = clock_ns();
}

/* The number of a worker that hangs, or -1. */
static int find_hanging(const struct daemon *d)
{
	unsigned int n = d->crew ? crew_n(d->crew) : 0;

	for (unsigned int i = 0; i < n && i < HEALTH_WORKERS_CAP; i++)
		if (health_hangs(&d->health.heartbeats, i))
			return (int)i;
	return -1;
}

/*
 * Control's thread waits for readers here and there. So one that hangs while a zone changes keeps this from being
 * called, and comes to the same, later.
 */
void daemon_watch_workers(struct daemon *d)
{
	int hanging = d->is_watched ? find_hanging(d) : -1;

	if (!d->is_watched)
		return;
	if (hanging >= 0 && d->well_ns)
		log_error("worker %d hangs: unless it goes on, systemd's watchdog ends volleyd",
			  hanging);
	__atomic_store_n(&d->well_ns, hanging < 0 ? clock_ns() : 0, __ATOMIC_RELEASE);
}

/* --- The end ------------------------------------------------------------------------------------- */

static void stop_heartbeat(struct daemon *d)
{
	if (!d->has_heartbeat)
		return;
	__atomic_store_n(&d->heartbeat_stops, true, __ATOMIC_RELEASE);
	pthread_join(d->heartbeat, NULL);
	d->has_heartbeat = false;
}

/*
 * Of systemd, which kills who does not end within TimeoutStopSec: sd_notify(3). Once, and not as long as
 * the writing goes on, so that a disk that hangs does not keep the host from stopping. The watchdog is
 * off by then: STOPPING=1 was said.
 */
static void ask_for_time(const struct daemon *d)
{
	struct cache_stats stats;
	uint64_t usec;

	if (!d->snapshots || !d->config->cache_snapshot)
		return;
	cache_stats_estimate(d->cache, &stats);
	usec = (STOP_S + stats.used_bytes / STOP_BYTES_PER_S) * 1000000;
	sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRIu64, usec);
}

void daemon_silence(struct daemon *d)
{
	ask_for_time(d);
	stop_heartbeat(d);
	if (d->keep)
		beat(d);
	else
		serve_until(d, 0);
}
