/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/outlet.h"

#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

struct tap_producer *tap_outlet_open(struct tap_outlet_shared *shared, size_t cap)
{
	struct tap_producer *p = &shared->producer;

	p->is = &shared->is;
	if (getrandom(&p->seed, sizeof(p->seed), GRND_NONBLOCK) != sizeof(p->seed) || !p->seed)
		p->seed = 1;
	p->ring.memory = shared->octets;
	p->ring.cap = cap;
	return p;
}

bool tap_outlet_is_sound(const struct tap_outlet *outlet)
{
	return !__atomic_load_n(&outlet->is_broken, __ATOMIC_RELAXED);
}

/* Values that no producer of ours would write. */
static bool is_event_sound(const struct tap_event *e, size_t bytes)
{
	uint8_t is_rebuilt;

	memcpy(&is_rebuilt, &e->is_rebuilt, sizeof(is_rebuilt));
	return e->n_query <= TAP_MESSAGE_MAX && e->n_reply <= TAP_MESSAGE_MAX &&
	       tap_event_bytes(e) == bytes && e->way == TAP_FORWARDER &&
	       e->transport < TAP_N_TRANSPORTS && is_rebuilt <= 1 &&
	       (e->family == AF_INET || e->family == AF_INET6);
}

static bool break_outlet(struct tap_outlet *outlet)
{
	__atomic_store_n(&outlet->is_broken, true, __ATOMIC_RELAXED);
	return false;
}

/* The length of the record at the tail, whose octets lie within the ring; 0: there is none. */
static size_t find_event(struct tap_outlet *outlet)
{
	uint64_t head = __atomic_load_n(&outlet->shared->producer.ring.head, __ATOMIC_ACQUIRE);
	uint64_t used = head - outlet->tail, at = outlet->tail & (outlet->cap - 1), bytes;

	if (!used)
		return 0;
	if (used > outlet->cap || used % 8)
		return break_outlet(outlet);
	memcpy(&bytes, outlet->shared->octets + at, sizeof(bytes));
	if (bytes == TAP_RING_SKIP && used > outlet->cap - at) {
		outlet->tail += outlet->cap - at;
		used -= outlet->cap - at;
		at = 0;
		memcpy(&bytes, outlet->shared->octets, sizeof(bytes));
	}
	if (bytes >= sizeof(struct tap_event) && bytes <= TAP_EVENT_MAX &&
	    tap_ring_room((size_t)bytes) <= used &&
	    tap_ring_room((size_t)bytes) <= outlet->cap - at)
		return (size_t)bytes;
	return break_outlet(outlet);
}

bool tap_outlet_next(struct tap_outlet *outlet, struct tap_event *e)
{
	size_t bytes = outlet->is_broken ? 0 : find_event(outlet);
	uint64_t at = outlet->tail & (outlet->cap - 1);

	if (!bytes)
		return false;
	memcpy(e, outlet->shared->octets + at + TAP_RING_HEAD_BYTES, bytes);
	outlet->tail += tap_ring_room(bytes);
	__atomic_store_n(&outlet->shared->producer.ring.tail, outlet->tail, __ATOMIC_RELEASE);
	return is_event_sound(e, bytes) || break_outlet(outlet);
}
