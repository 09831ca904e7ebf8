/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a forwarder calls when a group of questions ends. */
#ifndef VOLLEY_RESOLVER_FORWARD_DONE_H
#define VOLLEY_RESOLVER_FORWARD_DONE_H

#include <stddef.h>
#include <stdint.h>

struct resolver_group;

/*
 * How a group ends: one of these, once, and the group is the callee's again. Called by libevent,
 * and within forward_round().
 */
struct forward_done {
	void *ctx;
	/* The answer; msg is the forwarder's. */
	void (*answered)(void *ctx, struct resolver_group *group, const uint8_t *msg, size_t n);
	/*
	 * No upstream gave one. ede_code: the upstream's own, or DNS_EDE_NO_REACHABLE_AUTHORITY, or
	 * DNS_EDE_NETWORK_ERROR. Or nobody waits for it any more.
	 */
	void (*failed)(void *ctx, struct resolver_group *group, int ede_code);
};

#endif
