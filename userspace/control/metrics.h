/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters over HTTP, for Prometheus: GET /metrics.
 *
 *      scraper ─► libmicrohttpd, in a thread of its own ─► metrics_fd() ─► control's thread
 *              ◄─────────── the text, for all who ask ◄──────────────────── metrics_poll() writes it
 *
 * The HTTP thread looks at nothing of the daemon. Control's thread writes the text when somebody
 * asks, at most once in METRICS_FRESH_NS; workers are not asked, their counters are read where they
 * lie. So neither many scrapers nor a slow one delay any other client: a request and its answer
 * have METRICS_REQUEST_S in all, however busily their octets come, and past METRICS_CONNECTIONS the
 * one whose request has taken longest is closed for a new one.
 */
#ifndef VOLLEY_CONTROL_METRICS_H
#define VOLLEY_CONTROL_METRICS_H

#include <stddef.h>

#include "control/metrics_text.h"
#include "port/addr.h"

#define METRICS_FRESH_NS       200000000ull
#define METRICS_CONNECTIONS    32u
#define METRICS_CONNECTIONS_IP 8u  /* of one address */
#define METRICS_IDLE_S         10u /* after which a connection is closed */
#define METRICS_REQUEST_S      10u /* for a request and its answer, in all */
#define METRICS_CONTROL_WAIT_S 5   /* then the scraper is told 503 */

struct metrics;

/* Writes the text. Control's thread, in metrics_poll(). */
typedef void metrics_write_fn(void *user, struct metrics_text *out);

/*
 * Listens, and starts the thread. `write` and `user` are for metrics_poll(). 0, or -errno with a
 * sentence in err that begins with the key.
 */
int metrics_open(struct metrics **out, const struct port_addr *listen_at,
		 metrics_write_fn *write_fn, void *user, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Readable when somebody waits for the text; for poll() or epoll. */
int metrics_fd(const struct metrics *metrics);
void metrics_poll(struct metrics *metrics);

/* Requests that wait get 503; every connection is closed. NULL is allowed. */
void metrics_close(struct metrics *metrics);

#endif
