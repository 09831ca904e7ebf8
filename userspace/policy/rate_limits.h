/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control side of rate limits: the memory of their table, their configuration, and reports of
 * the prefixes that are over them, in the log and for volleyctl.
 *
 *	configuration ─► rate_limits_configure() ─► struct volley_rrl, at once for driver and workers
 *	                                        │ limited: written by driver or worker when it withholds an answer
 *	log ◄─ rate_limits_tick(), once a second ◄──────┘
 *	volleyctl rrl top ◄─ rate_limits_report_top()
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_POLICY_RATE_LIMITS_H
#define VOLLEY_POLICY_RATE_LIMITS_H

#include <jansson.h>
#include <stdint.h>

#include "config/config.h"
#include "engine/limiter.h"

struct rate_limits;

/*
 * Over the maps of the programs, or, where MAPS is NULL, over memory of this process: then only
 * workers know the limits. 0 or -ENOMEM.
 */
int rate_limits_open(struct rate_limits **out, const struct limiter *maps)
	__attribute__((warn_unused_result));
/* No engine uses it any more. NULL is allowed. */
void rate_limits_close(struct rate_limits *rrl);

/* For engine_data.limiter: lives until rate_limits_close(). */
const struct limiter *rate_limits_limiter(const struct rate_limits *rrl);

/* Puts the limits of the configuration in force; n_workers of userspace answer, beside the driver.
 * 0 or -errno. */
int rate_limits_configure(struct rate_limits *rrl, const struct config *config,
			  unsigned int n_workers) __attribute__((warn_unused_result));

/* Once a second: forgets dead loads, and logs which prefixes went over their limit or came back
 * below it, a few lines at most. */
void rate_limits_tick(struct rate_limits *rrl, uint32_t now_s);

/* For `rrl top`: n prefixes that are over their limit, sorted by the answers withheld from them,
 * most first. NULL: no memory. */
json_t *rate_limits_report_top(const struct rate_limits *rrl, unsigned int n, uint32_t now_s);
/* For `rrl status`: the limits, and how many prefixes are over them. NULL: no memory. */
json_t *rate_limits_report(const struct rate_limits *rrl, uint32_t now_s);
/* How many prefixes are over their limit. */
unsigned int rate_limits_n_limited(const struct rate_limits *rrl, uint32_t now_s);

#endif
