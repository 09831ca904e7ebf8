/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: a Unix stream socket that takes commands and gives results, as
 * config/ctl_protocol.h says.
 *
 * Everything runs in the thread that calls ctl_poll(), and nothing there waits: a client that sends
 * half a line or does not read its reply holds only its own connection, and is closed when a
 * request, or a reply, has taken CTL_IDLE_NS in all, however busily its octets come. While a reply
 * waits to be sent, no further request of that client is read.
 *
 * A command that takes long is answered later: it takes a ticket by ctl_defer() and returns
 * CTL_LATER, and ctl_answer() sends the reply. Meanwhile its client waits, however long, and the
 * others are served.
 *
 * Each command is reported to the audit (base/audit.h) with its result and the process that asked.
 *
 * Root and the daemon's own user are always let in; other users if the mode of the socket lets the
 * group or everybody write to it, which the kernel checks at connect(). Other users have
 * CTL_OTHERS_CAP of the places. When all places are taken, a new client takes the place of the
 * client whose request or reply has taken
 * longest: root that of any client, other users only that of another user's client that has had
 * CTL_TURN_NS.
 */
#ifndef VOLLEY_CONTROL_CTL_H
#define VOLLEY_CONTROL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/ctl_command.h"

#define CTL_CLIENTS_CAP 32
#define CTL_OTHERS_CAP  24             /* places that clients other than root may take */
#define CTL_IDLE_NS     30000000000ull /* for one request, or one reply */
#define CTL_TURN_NS     1000000000ull
#define CTL_WAITING_CAP \
	24 /* clients whose reply comes later; the other places are for quick ones */
#define CTL_WAITING_OTHERS_CAP 16 /* of these, other than root */

struct ctl;

/*
 * Opens the socket at PATH with permissions MODE. COMMANDS (ended by a NULL name) and USER must
 * live as long as *OUT. A socket file on which no process listens is replaced. Returns 0,
 * ERR_RUNNING when a process listens, -EEXIST when PATH is not a socket, -EINVAL when a command has
 * no words, or -errno; ERR then has the sentence.
 */
int ctl_open(struct ctl **out, const char *path, mode_t mode, const struct ctl_command *commands,
	     void *user, char *err, size_t err_cap) __attribute__((warn_unused_result));

/* A descriptor that is readable when ctl_poll() has work to do; for poll() or epoll. */
int ctl_fd(const struct ctl *ctl);

/*
 * Reads requests, runs the commands that are whole, and sends replies as far as possible. NOW_NS is
 * CLOCK_MONOTONIC. Never waits, but for the commands themselves. To be called when ctl_fd() is
 * readable and at least once a second, so that idle clients go.
 */
void ctl_poll(struct ctl *ctl, uint64_t now_ns);

/*
 * The ticket of the request that is being run, for run() only, which then returns CTL_LATER. 0: too
 * many wait already.
 */
uint64_t ctl_defer(const struct ctl *ctl);
/* The same; where too many wait, it is -EBUSY with a sentence in err, else 0. */
int ctl_defer_or_tell(const struct ctl *ctl, uint64_t *ticket, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Sends the reply to the request with that ticket, as run() would have given it: CODE 0 and RESULT,
 * whose reference is taken, or a negative code and ERR, "" for the sentence of the code. Does
 * nothing when the client has gone meanwhile. Not from within run().
 */
void ctl_answer(struct ctl *ctl, uint64_t ticket, uint64_t now_ns, int code, json_t *result,
		const char *err);

/*
 * From now on ctl_answer() sends its reply and runs no request that waits behind it, since the
 * parts that commands use may be closed. No ctl_poll() follows. NULL is allowed.
 */
void ctl_stop(struct ctl *ctl);

/* Removes the socket file if it is still ours; NULL is allowed. Connections stay. */
void ctl_unlink(struct ctl *ctl);

/*
 * As ctl_unlink(), then closes every connection; NULL is allowed. volleyctl stop waits for its
 * connection to end, so call this when nothing of the daemon is left, neither the socket file nor
 * the lock.
 */
void ctl_close(struct ctl *ctl);

#endif
