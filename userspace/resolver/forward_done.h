/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a forwarder calls when a group of questions ends. */
#ifndef VOLLEY_RESOLVER_FORWARD_DONE_H
#define VOLLEY_RESOLVER_FORWARD_DONE_H

#include <stddef.h>
#include <stdint.h>

struct resolver_group;

/*
 * One of these is called once at the end of each group, and the group is the callee's again. They
 * are called from libevent's events and within forward_round().
 */
struct forward_done {
	void *ctx;
	/* There is an answer; msg is the forwarder's. head_bytes: resolver/resolver_question.h. */
	void (*answered)(void *ctx, struct resolver_group *group, const uint8_t *msg, size_t n,
			 size_t head_bytes);
	/*
	 * No upstream gave an answer, or no client waits any more. ede_code: the upstream's own, or
	 * DNS_EDE_NO_REACHABLE_AUTHORITY, or DNS_EDE_NETWORK_ERROR.
	 */
	void (*failed)(void *ctx, struct resolver_group *group, int ede_code);
};

#endif
