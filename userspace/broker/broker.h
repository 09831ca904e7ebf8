/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that has the capabilities for BPF, and the way to ask it (docs/decisions/0068).
 *
 *      volleyd (the daemon)                 reads packets, zones, replies, commands
 *        └─ volley-parent (base/parent.h)   starts the next one; nothing else
 *             └─ volley-broker              loads, attaches, detaches; makes maps
 *
 * Two sockets join daemon and broker, one for each channel of broker/request.h. If a broker dies,
 * its parent starts the next one, which finds the open programs by the kernel's state; the request
 * under way fails with ERR_BROKER.
 *
 * One process has one broker, as it has one log. Without broker_prepare(), requests are served in
 * the calling thread: a daemon with `port: dpdk` needs all capabilities itself, and so do tests.
 */
#ifndef VOLLEY_BROKER_BROKER_H
#define VOLLEY_BROKER_BROKER_H

#include <sys/types.h>

#include "broker/request.h"

struct config;

/* What a broker gets from the daemon. */
struct broker_ends {
	pid_t daemon;
	const struct config *config; /* for broker/named.h, which needs only its path; or NULL */
	int fds[BROKER_N_CHANNELS];
};

/* The process itself: serves until the daemon has closed the channels. Its exit status. */
int broker_run(const struct broker_ends *ends);

/*
 * Adds the broker to the processes that parent_start() starts. The capabilities of the caller stay;
 * those of the broker are the parent's (privilege_drop_broker()). A request that has no reply for
 * patience_ms is the last one: the broker counts as ended. `config` is for broker/named.h, is valid
 * until parent_start(), and may be NULL. 0 or -errno.
 */
int broker_prepare(const struct config *config, uint32_t patience_ms)
	__attribute__((warn_unused_result));

/* Lets the broker go; it ends. Does nothing without one. False: it hangs or had ended before. */
bool broker_stop(void);

/*
 * Sends a request and waits for the reply. Sets its number, mask, and what the log is like. `fds`
 * may be NULL and stays the caller's; *out is the caller's, and has no descriptors after an error.
 * The reply's code: 0, ERR_BROKER (the broker has died; ask again later), or that of the operation.
 * Operations of channel HOOK: control's thread, and BIND any thread; MAP: any thread.
 */
int broker_call(struct broker_request *request, const struct broker_fds *fds,
		struct broker_reply *reply, struct broker_fds *out)
	__attribute__((warn_unused_result));

/*
 * Texts by which the operator names more than the configuration's file does (broker/named.h). They
 * are passed when a broker does not know an interface or a port.
 *
 *	an interface's name   the text that came with the command attach
 *	BROKER_TEXT_NEXT      the text of a `config apply` that is under way
 *	BROKER_TEXT_NOW       the one that is in force
 *
 * Keeps a copy of the descriptor in place of an earlier one; fd -1: there is none. If there are
 * too many, that of another interface is given up. Control's thread.
 */
#define BROKER_TEXT_NEXT "/next" /* no interface has such a name */
#define BROKER_TEXT_NOW  "/now"
void broker_keep_text(const char *key, int fd);

/* A sentence for `degraded` if there is no broker any more, else "". Control's thread. */
const char *broker_problem(void);

/* True if programs may be loaded and attached: by the broker, or without one by this process. */
bool broker_has_xdp(void);

#endif
