/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a busy port keeps its worker from sleeping between two bursts. To sleep and to be woken costs
 * as much as some replies, on both sides: the kernel's receiving thread wakes the worker for each
 * of its own bursts. So after a burst of some size the port asks to be looked at again at once,
 * until AWAKE_LOOKS of these found nothing; before each of them the worker gives the CPU to whoever
 * else wants it, which is above all that thread, where the two share a core.
 *
 * A port that gets messages one by one never stays awake: it costs what it did.
 */
#ifndef VOLLEY_PORT_AWAKE_H
#define VOLLEY_PORT_AWAKE_H

#include <stdbool.h>

#define AWAKE_BURST 8 /* messages that make a port busy */
#define AWAKE_LOOKS 2

struct awake {
	unsigned int n_looks; /* still to be made before the worker may sleep */
};

/* After each receive that had n messages. */
static inline void awake_note(struct awake *a, unsigned int n)
{
	if (n >= AWAKE_BURST)
		a->n_looks = AWAKE_LOOKS;
	else if (!n && a->n_looks)
		a->n_looks--;
}

/* Whether port_wake_at() is to be 0. */
static inline bool awake_is_on(const struct awake *a)
{
	return a->n_looks;
}

#endif
