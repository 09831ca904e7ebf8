/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the worker of a busy port from sleeping between two bursts. Sleeping and waking cost as
 * much as several replies, on both sides: the kernel's receiving thread wakes the worker for each
 * of its own bursts. So after a burst of AWAKE_BURST messages the port asks the worker to look
 * again at once, until AWAKE_LOOKS looks have found nothing. Before each look the worker yields the
 * CPU, above all to the kernel's receiving thread if it runs on the same core.
 *
 * A port that receives messages one by one lets its worker sleep as usual.
 */
#ifndef VOLLEY_PORT_AWAKE_H
#define VOLLEY_PORT_AWAKE_H

#include <stdbool.h>

#define AWAKE_BURST 8 /* from so many messages on, a port is busy */
#define AWAKE_LOOKS 2

struct awake {
	unsigned int n_looks; /* looks left before the worker may sleep */
};

/* Call after each receive; n is the number of its messages. */
static inline void awake_note(struct awake *a, unsigned int n)
{
	if (n >= AWAKE_BURST)
		a->n_looks = AWAKE_LOOKS;
	else if (!n && a->n_looks)
		a->n_looks--;
}

/* True if port_wake_at() must return 0. */
static inline bool awake_is_on(const struct awake *a)
{
	return a->n_looks;
}

#endif
