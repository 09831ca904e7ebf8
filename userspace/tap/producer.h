/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A producer of events: the ring of one thread that answers, and the switch that says what the
 * readers want. tap/tap.h has the functions.
 */
#ifndef VOLLEY_TAP_PRODUCER_H
#define VOLLEY_TAP_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include "tap/ring.h"

/* Producers read this; atomic. tap_configure() and tap_observe() write it. */
struct tap_switch {
	uint32_t every;        /* one in this many answers; 0: none */
	bool wants_queries;    /* the octets of queries, too */
	bool wants_forwarders; /* messages with upstreams, too */
};

/* One thread's. */
struct tap_producer {
	const struct tap_switch *is;
	uint32_t left; /* answers to skip */
	uint32_t seed;
	struct tap_ring ring;
	struct tap_producer *next; /* belongs to the tap, as the list does */
};

#endif
