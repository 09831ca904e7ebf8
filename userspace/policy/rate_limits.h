/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control side of rate limits: the memory of their table, their configuration, and reports of the prefixes that are
 * over them, in the log and for volleyctl.
 *
 *	configuration ─► rrl_configure() ─► struct volley_rrl, at once for driver and workers
 *	                                        │ limited: written by driver or worker when it withholds an answer
 *	log ◄─ rrl_tick(), once a second ◄──────┘
 *	volleyctl rrl top ◄─ rrl_report_top()
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_POLICY_RATE_LIMITS_H
#define VOLLEY_POLICY_RATE_LIMITS_H

#include <jansson.h>
#include <stdint.h>

#include "config/config.h"
#include "engine/limiter.h"

struct rrl;

/*
 * Over the maps of the programs, or, where MAPS is NULL, over memory of this process: then only workers know the limits.
 * 0 or -ENOMEM.
 */
int rrl_open(struct rrl **out, const struct limiter *maps) __attribute__((warn_unused_result));
/* No engine uses it any more. NULL is allowed. */
void rrl_close(struct rrl *rrl);

/* For engine_data.limiter: lives until rrl_close(). */
const struct limiter *rrl_limiter(const struct rrl *rrl);

/* Puts the limits of the configuration in force; n_workers of userspace answer, beside the driver. 0 or -errno. */
int rrl_configure(struct rrl *rrl, const struct config *config, unsigned int n_workers)
	__attribute__((warn_unused_result));

/* Once a second: forgets dead loads, and logs which prefixes went over their limit or came back below it, a few lines at most. */
void rrl_tick(struct rrl *rrl, uint32_t now_s);

/* For `rrl top`: n prefixes that are over their limit, sorted by the answers withheld from them, most first. NULL: no memory. */
json_t *rrl_report_top(const struct rrl *rrl, unsigned int n, uint32_t now_s);
/* For `rrl status`: the limits, and how many prefixes are over them. NULL: no memory. */
json_t *rrl_report(const struct rrl *rrl, uint32_t now_s);
/* How many prefixes are over their limit. */
unsigned int rrl_n_limited(const struct rrl *rrl, uint32_t now_s);

#endif
