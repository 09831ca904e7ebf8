/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Response rate limiting in userspace, with the same table and the same arithmetic as the driver
 * (xdp/rrl.h): answers of driver and engines to a prefix of clients count together.
 *
 *	control ─► limiter_configure() ─► struct volley_rrl ◄─ driver, each engine
 *	                                  loads, 4 MiB       ◄─ driver, each engine
 *	                                  near, 32 KiB: one for each CPU of the driver,
 *	                                  one in each engine
 *
 * Only UDP is limited. Over TCP, or with a good cookie, a client has shown that its address is not
 * spoofed. The transfer thread's replies (IXFR, NOTIFY, UPDATE, refusals) come here by
 * engine_limit(); it gives all replies to messages that are signed well, whose senders have a key.
 */
#ifndef VOLLEY_LIMITS_LIMITER_H
#define VOLLEY_LIMITS_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"

struct clients;

/* The shared data. The memory is mapped, or the process's own; it outlives all engines. */
struct limiter {
	struct volley_rrl *rrl;
	struct volley_rrl_line *loads; /* VOLLEY_RRL_LINES */
};

/* Limits for one address; wider prefixes have higher ones (xdp/rrl.h). */
struct limiter_config {
	uint32_t answers; /* a second; 0: no limit */
	uint32_t octets;  /* of DNS, a second; 0: no limit */
	/* one in so many answers over the limit gets TC=1 or BADCOOKIE; 0: none */
	uint32_t slip;
	bool dry_run;
	bool has_exempt;
	/* CPUs of the driver and engines, each with a first stage of its own; at least 1 */
	unsigned int n_readers;
};

#define LIMITER_ANSWERS_MAX 1000000u
#define LIMITER_OCTETS_MAX  (1u << 30)

/*
 * Puts the limits in force, at once for driver and engines; each word changes by itself. Loads of
 * clients stay. Makes the secret keys if there are none yet. -EINVAL: a value is out of range;
 * -errno of getrandom(2). Control's thread.
 */
int limiter_configure(struct volley_rrl *rrl, const struct limiter_config *config)
	__attribute__((warn_unused_result));

/* What happens to an answer. In the order of the driver's counters. */
enum limiter_verdict {
	LIMITER_GIVEN,
	LIMITER_EXEMPT,
	LIMITER_DRY, /* given because of dry_run */
	LIMITER_SLIPS,
	LIMITER_DROPPED,
};

/* An answer over UDP, before it is sent. */
struct limiter_answer {
	uint8_t family;        /* AF_INET or AF_INET6; IPv4 in IPv6 (::ffff:0:0/96) is IPv4 */
	const uint8_t *client; /* network order */
	uint32_t octets;       /* of DNS */
	uint16_t net_id;       /* the query's, as on the wire */
	bool is_exempt;        /* the client has a good cookie */
	const struct clients *clients; /* has the exempt prefixes; NULL: none */
	uint64_t now_ms;               /* of the clock that the driver reads */
	uint32_t now_s;                /* likewise */
};

/* Judges an answer, and adds it to the loads if it is given. No lock, no system call. `near` is the
 * caller's alone; any thread. */
enum limiter_verdict limiter_judge(const struct limiter *limiter, struct volley_near *near,
				   const struct limiter_answer *answer);

#endif
