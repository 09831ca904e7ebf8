/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An outlet: the events of a thread in another process, in memory that both processes have mapped.
 *
 *	process: tap_outlet_open() ─► tap_producer ─► ring ─► octets		as any producer
 *	this one: tap_outlet_add() ─► the tap's thread copies, checks and handles each event
 *
 * The tap believes nothing that the other process writes. It keeps its own position, reads the
 * other side's once, copies an event before it looks at it, and checks lengths and all values with
 * few meanings. After the first wrong one it reads no more from this outlet
 * (tap_outlet_is_sound()).
 */
#ifndef VOLLEY_TAP_OUTLET_H
#define VOLLEY_TAP_OUTLET_H

#include <stddef.h>

#include "tap/event.h"
#include "tap/producer.h"

/* In shared memory, aligned to 64 octets, zeroed. */
struct tap_outlet_shared {
	struct tap_switch is;         /* written by the tap */
	struct tap_producer producer; /* the other process's; its pointers mean nothing here */
	__attribute__((aligned(64))) uint8_t octets[];
};

/* The reading side. Set shared and cap; the rest is the tap's. */
struct tap_outlet {
	struct tap_outlet_shared *shared;
	size_t cap; /* of octets: a power of two, as in the other process */
	uint64_t tail;
	bool is_broken; /* atomic */
	struct tap_outlet *next;
};

/* In the process that has the producer, once. The producer may be used until the memory goes. */
struct tap_producer *tap_outlet_open(struct tap_outlet_shared *shared, size_t cap);

/* False: the other process has written nonsense. Any thread. */
bool tap_outlet_is_sound(const struct tap_outlet *outlet);

/*
 * Copies the next event into *e, which has room for TAP_EVENT_MAX octets, and gives its room back.
 * False: there is none, or the outlet is broken. The tap's thread.
 */
bool tap_outlet_next(struct tap_outlet *outlet, struct tap_event *e);

#endif
