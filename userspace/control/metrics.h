/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters over HTTP, for Prometheus: GET /metrics.
 *
 *      scraper ─► libmicrohttpd, in a thread of its own ─► metrics_fd() ─► control's thread
 *              ◄────────── the text, for all that ask ◄─────────────────── metrics_poll() writes it
 *
 * The HTTP thread reads no data of the daemon. Control's thread writes the text on request, at most
 * once in METRICS_FRESH_NS. It reads the workers' counters in place and does not disturb the
 * workers. Many scrapers or a slow one delay no other client: a request and its answer may take
 * METRICS_REQUEST_S in all, even if octets still come. Beyond METRICS_CONNECTIONS, the connection
 * whose request has taken longest is closed for a new one.
 */
#ifndef VOLLEY_CONTROL_METRICS_H
#define VOLLEY_CONTROL_METRICS_H

#include <stddef.h>

#include "control/metrics_text.h"
#include "port/addr.h"

#define METRICS_FRESH_NS       200000000ull
#define METRICS_CONNECTIONS    32u
#define METRICS_CONNECTIONS_IP 8u  /* of one address */
#define METRICS_IDLE_S         10u /* then an idle connection is closed */
#define METRICS_REQUEST_S      10u /* for a request and its answer in all */
#define METRICS_CONTROL_WAIT_S 5   /* then the scraper gets 503 */

struct metrics;

/* Writes the text. Called in control's thread by metrics_poll(). */
typedef void metrics_write_fn(void *user, struct metrics_text *out);

/*
 * Listens, and starts the thread. metrics_poll() calls `write_fn` with `user`. 0, or -errno with a
 * sentence in err that begins with the key.
 */
int metrics_open(struct metrics **out, const struct port_addr *listen_at,
		 metrics_write_fn *write_fn, void *user, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* A descriptor for poll() or epoll: if it is readable, a client waits; call metrics_poll(). */
int metrics_fd(const struct metrics *metrics);
void metrics_poll(struct metrics *metrics);

/* Waiting requests get 503; every connection is closed. NULL is allowed. */
void metrics_close(struct metrics *metrics);

#endif
