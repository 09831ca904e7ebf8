/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring volley_refresh: answers that the driver wants fetched again before they expire. One
 * worker reads it, and its responder asks upstream. Without room in the ring, or without a slot,
 * the answer is fetched after it has expired.
 */
#ifndef VOLLEY_IFACE_REFRESH_H
#define VOLLEY_IFACE_REFRESH_H

#include "worker/responder.h"
#include "worker/worker.h"

struct refresh;

/* fd: the map; the caller closes it. The responder outlives *out. 0 or -errno. */
int refresh_open(struct refresh **out, int fd, struct responder *responder)
	__attribute__((warn_unused_result));

/* The source of events for the responder's worker. */
struct worker_source refresh_source(struct refresh *refresh);

/* Call it after that worker has ended. NULL is allowed. */
void refresh_close(struct refresh *refresh);

#endif
