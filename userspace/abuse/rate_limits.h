/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control side of rate limits: the memory of their table, their configuration, and reports of
 * prefixes over the limit, in the log and for volleyctl.
 *
 *      configuration ─► rate_limits_configure() ─► struct volley_rrl, for driver and workers
 *                                                    │ limited: a driver or worker writes it
 *                                                    │ when it withholds an answer
 *      log ◄─ rate_limits_tick(), once a second ◄────┘
 *      volleyctl rrl top ◄─ rate_limits_report_top()
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ABUSE_RATE_LIMITS_H
#define VOLLEY_ABUSE_RATE_LIMITS_H

#include <jansson.h>
#include <stdint.h>

#include "config/config.h"
#include "limits/limiter.h"

struct rate_limits;

/*
 * Uses the maps of the programs. If MAPS is NULL, it uses memory of this process: then only the
 * workers apply the limits. 0 or -ENOMEM.
 */
int rate_limits_open(struct rate_limits **out, const struct limiter *maps)
	__attribute__((warn_unused_result));
/* No engine may use it any more. NULL is allowed. */
void rate_limits_close(struct rate_limits *rrl);

/* For engine_data.limiter: lives until rate_limits_close(). */
const struct limiter *rate_limits_limiter(const struct rate_limits *rrl);

/* Puts the configured limits in force; n_workers answer, beside the driver. 0 or -errno. */
int rate_limits_configure(struct rate_limits *rrl, const struct config *config,
			  unsigned int n_workers) __attribute__((warn_unused_result));

/*
 * Call it once a second: drops unused loads, and logs the prefixes that went over their limit or
 * came back within it, in a few lines at most.
 */
void rate_limits_tick(struct rate_limits *rrl, uint32_t now_s);

/*
 * For `rrl top`: at most n prefixes over their limit, by the answers withheld in the last second,
 * the most first. NULL: no memory.
 */
json_t *rate_limits_report_top(const struct rate_limits *rrl, unsigned int n, uint32_t now_s);
/* For `rrl status`: the limits, and the number of prefixes over them. NULL: no memory. */
json_t *rate_limits_report(const struct rate_limits *rrl, uint32_t now_s);
/* The number of prefixes over their limit. */
unsigned int rate_limits_n_limited(const struct rate_limits *rrl, uint32_t now_s);

#endif
