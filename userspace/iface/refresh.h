/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the driver wants fetched anew: the ring volley_refresh, heard by one worker, whose responder
 * asks for it. What finds no place in the ring, or no slot, is asked for when it has expired.
 */
#ifndef VOLLEY_IFACE_REFRESH_H
#define VOLLEY_IFACE_REFRESH_H

#include "worker/responder.h"
#include "worker/worker.h"

struct refresh;

/* fd: the map; it stays the caller's. The responder outlives it. 0 or -errno. */
int refresh_open(struct refresh **out, int fd, struct responder *responder)
	__attribute__((warn_unused_result));

/* For the worker of the responder. */
struct worker_source refresh_source(struct refresh *refresh);

/* When that worker has ended. NULL is allowed. */
void refresh_close(struct refresh *refresh);

#endif
