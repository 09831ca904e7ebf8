/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what a request asks for, with the capabilities of the process. In the broker a loop calls
 * it; in a daemon without a broker (`port: dpdk`, tests) the daemon itself.
 *
 * It remembers the open program of each interface. What a broker does not know, because the broker
 * before it has opened it, is found again by the kernel's state: the program's number is in the
 * request, and the program says which maps it has.
 */
#ifndef VOLLEY_BROKER_SERVE_H
#define VOLLEY_BROKER_SERVE_H

#include <sys/types.h>

#include "broker/request.h"
#include "config/config.h"

struct hook;
struct named;

struct broker_serve {
	struct {
		char ifname[IF_NAMESIZE];
		struct hook *hook;
	} at[CONFIG_INTERFACES_MAX];
	struct named *named; /* NULL: no port is allowed, and each interface */
	pid_t owner; /* the daemon's process, for the locks of interfaces; 0: this process */
	bool has_dpdk;
};

/*
 * Requests of one channel come one after the other; the two channels may have a thread each. `fds`
 * are the request's, and stay the caller's. The reply and its descriptors *out are the caller's. A
 * request that broker_check() refuses is answered by its code, and logged.
 */
void broker_serve(struct broker_serve *serve, enum broker_channel channel,
		  const struct broker_request *request, const struct broker_fds *fds,
		  struct broker_reply *reply, struct broker_fds *out);

#endif
