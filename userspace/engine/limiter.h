/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Response rate limiting in userspace: the same table and the same arithmetic as in the driver
 * (xdp/rrl.h), so what a prefix of clients has had by one way counts on all of them.
 *
 *	control ─► limiter_configure() ─► struct volley_rrl ◄─ driver, each engine
 *	                                  loads, 4 MiB       ◄─ driver, each engine
 *	                                  near, 32 KiB: one for each CPU of the driver, one in each
 *	                                  engine
 *
 * Only UDP is limited: over TCP a client has shown that its address is its own, as it has with a
 * good cookie.
 */
#ifndef VOLLEY_ENGINE_LIMITER_H
#define VOLLEY_ENGINE_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"

struct clients;

/* What is shared. The memory is mapped, or the process's own; it stays as long as any engine. */
struct limiter {
	struct volley_rrl *rrl;
	struct volley_rrl_line *loads; /* VOLLEY_RRL_LINES */
};

/* For one address; wider prefixes have more (xdp/rrl.h). */
struct limiter_config {
	uint32_t answers; /* a second; 0: no limit */
	uint32_t octets;  /* of DNS, a second; 0: no limit */
	uint32_t slip;    /* one in so many of those over the limit is told so; 0: none */
	bool dry_run;
	bool has_exempt;
	unsigned int
		/* CPUs of the driver and engines, each with a first stage of its own; at least 1 */
		n_readers;
};

#define LIMITER_ANSWERS_MAX 1000000u
#define LIMITER_OCTETS_MAX  (1u << 30)

/*
 * Puts the limits in force, at once for driver and engines; each word changes by itself. What
 * clients have had stays counted. The secret keys are made where there are none yet. -EINVAL: a
 * value is out of range; -errno of getrandom(2). Control's thread.
 */
int limiter_configure(struct volley_rrl *rrl, const struct limiter_config *config)
	__attribute__((warn_unused_result));

/*
 * Empties the places of the n lines from `line` on (modulo VOLLEY_RRL_LINES) whose loads are dead.
 * A place tells time by 16 bits of milliseconds, so each line has to be swept within 40 s, else
 * what is 65 s old is taken for new. Beside driver and engines; one thread.
 */
void limiter_sweep(const struct limiter *limiter, uint32_t line, uint32_t n, uint32_t now_ms);

/* What becomes of an answer. In the order of what the driver counts. */
enum limiter_verdict {
	LIMITER_GIVEN,
	LIMITER_EXEMPT,
	LIMITER_DRY, /* given, since dry_run says so */
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
	const struct clients
		*clients; /* which are exempt by their prefix is looked up there; NULL: none */
	uint32_t now_ms;  /* of the clock that the driver reads; may wrap */
	uint32_t now_s;   /* likewise */
};

/* Judges an answer, and counts it where it is given. No lock, no system call. `near` is the
 * caller's alone; any thread. */
enum limiter_verdict limiter_judge(const struct limiter *limiter, struct volley_near *near,
				   const struct limiter_answer *answer);

#endif
