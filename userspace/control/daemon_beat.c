/* SPDX-License-Identifier: GPL-2.0-only */
/* The heartbeat: until when the programs may answer without hearing from us (cache.orphan-serve). */
#include <unistd.h>

#include "base/clock.h"
#include "control/daemon_internal.h"

#define HEARTBEAT_S  1u
#define ORPHAN_S_MIN 3u /* a heartbeat that is late by two must not silence the driver */

static void serve_until(struct daemon *d, uint32_t until_s)
{
	size_t i;

	pthread_mutex_lock(&d->alive_lock);
	for (i = 0; i < 2; i++)
		if (d->alive[i])
			__atomic_store_n(&d->alive[i]->serve_until_s, until_s, __ATOMIC_RELEASE);
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

/* Of its own, so that what takes the control thread long does not look like a death. */
static void *heartbeat_main(void *arg)
{
	struct daemon *d = arg;

	while (!__atomic_load_n(&d->heartbeat_stops, __ATOMIC_ACQUIRE)) {
		beat(d);
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

static void stop_heartbeat(struct daemon *d)
{
	if (!d->has_heartbeat)
		return;
	__atomic_store_n(&d->heartbeat_stops, true, __ATOMIC_RELEASE);
	pthread_join(d->heartbeat, NULL);
	d->has_heartbeat = false;
}

void daemon_silence(struct daemon *d)
{
	stop_heartbeat(d);
	if (d->keep)
		beat(d);
	else
		serve_until(d, 0);
}
