/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: a Unix stream socket that takes commands and gives results in the protocol of
 * config/ctl_protocol.h.
 *
 * Everything runs in the thread that calls ctl_poll(), and nothing there waits. A client that sends
 * half a line or does not read its reply holds up only its own connection. The connection is closed
 * when a request, or a reply, has taken CTL_IDLE_NS in all, even if octets still come. While a
 * reply waits to be sent, no further request of that client is read.
 *
 * A command that takes long is answered later: it takes a ticket by ctl_defer() and returns
 * CTL_LATER, and ctl_answer() sends the reply. Meanwhile its client waits without a limit, and the
 * others are served.
 *
 * Each command is reported to the audit (base/audit.h), with its result and the client's process,
 * except `health`, which may come each second.
 *
 * Root and the daemon's own user are always let in. Other users are let in if the mode of the
 * socket lets the group or everyone write to it; the kernel checks that at connect(). Each command
 * needs a right (control/rights.h), which is checked before it runs.
 *
 * The daemon opens no file that a client names. The client opens it, with its own rights, and sends
 * the descriptor with the first octet of the request (SCM_RIGHTS, one descriptor). Only clients
 * that may change something can send descriptors, as soon as the daemon has accepted their
 * connection: until then, and for all others, sendmsg() fails with EPERM (SO_PASSRIGHTS, Linux
 * 6.16). On older kernels the connection of a client ends that sends one without that right; this
 * thread neither receives nor closes the descriptor (control/ctl_request.h).
 *
 * Other users may take CTL_OTHERS_CAP of the places. When all places are taken, a new client takes
 * the place of the client whose request or reply has taken longest. Root may take any client's
 * place. Another user may take the place of a user that has at least two places more, or of a user
 * that has as many, if that client has had CTL_TURN_NS. So each user gets a share of the places. A
 * client whose reply comes later keeps its place.
 *
 * In each turn a few requests of a client are answered, then the other clients have theirs.
 */
#ifndef VOLLEY_CONTROL_CTL_H
#define VOLLEY_CONTROL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/ctl_command.h"
#include "control/rights.h"

#define CTL_CLIENTS_CAP 32
/* places for clients other than root and the daemon's user */
#define CTL_OTHERS_CAP 24
#define CTL_IDLE_NS    30000000000ull /* for one request or one reply */
#define CTL_TURN_NS    1000000000ull
#define CTL_WAITING_CAP \
	24 /* clients whose reply comes later; the other places are for quick commands */
#define CTL_WAITING_OTHERS_CAP 16 /* of these, clients of other users */
#define CTL_WAITING_READERS_CAP \
	8 /* of these, clients that may not change anything; they cannot keep the others away */

struct ctl;

/*
 * Opens the socket at PATH with permissions MODE. COMMANDS (ended by a NULL name) and USER must
 * live as long as *OUT. A socket file on which no process listens is replaced. Returns 0, or a
 * negative code with a sentence in ERR: ERR_RUNNING if a process listens, -EEXIST if PATH is not a
 * socket, -EINVAL if a command has no words, or -errno.
 */
int ctl_open(struct ctl **out, const char *path, mode_t mode, const struct ctl_command *commands,
	     void *user, char *err, size_t err_cap) __attribute__((warn_unused_result));

/* Sets the rights of clients, from their next request on. Borrowed. Without this all may read. */
void ctl_set_rights(struct ctl *ctl, const struct rights *rights);

/* A descriptor that is readable when ctl_poll() has work to do; for poll() or epoll. */
int ctl_fd(const struct ctl *ctl);

/*
 * Reads requests, runs the commands that are whole, and sends replies as far as possible. NOW_NS is
 * CLOCK_MONOTONIC. Only the commands themselves may wait. Call it when ctl_fd() is readable, and at
 * least once a second to close idle clients.
 */
void ctl_poll(struct ctl *ctl, uint64_t now_ns);

/*
 * For run(): the descriptor that came with the request, which run() then owns. -EBADF with a
 * sentence in err: there is none.
 */
int ctl_take_file_or_tell(struct ctl *ctl, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* For run(): the client is root or the daemon's user. */
bool ctl_is_owner(const struct ctl *ctl);

/* For run(): the ticket of its request; run() then returns CTL_LATER. 0: too many clients wait. */
uint64_t ctl_defer(const struct ctl *ctl);
/* For run(): how many clients with at most the right of this client may wait for replies. */
unsigned int ctl_waiting_cap(const struct ctl *ctl);
/* As ctl_defer(). 0, or -EBUSY with a sentence in err if too many clients wait. */
int ctl_defer_or_tell(const struct ctl *ctl, uint64_t *ticket, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Sends the reply to the request with that ticket: CODE 0 and RESULT, or a negative code and ERR
 * ("" for the sentence of the code), as for run(). Takes the reference to RESULT. Does nothing if
 * the client has gone. Must not be called from run().
 */
void ctl_answer(struct ctl *ctl, uint64_t ticket, uint64_t now_ns, int code, json_t *result,
		const char *err);

/*
 * From now on ctl_answer() sends its reply but runs no request that waits behind it, since the
 * parts that commands use may be closed. ctl_poll() must not follow. NULL is allowed.
 */
void ctl_stop(struct ctl *ctl);

/* Removes the socket file if this daemon made it. Connections stay. NULL is allowed. */
void ctl_unlink(struct ctl *ctl);

/*
 * As ctl_unlink(), then closes every connection; NULL is allowed. volleyctl stop waits for the end
 * of its connection, so call this last, when socket file and lock are gone.
 */
void ctl_close(struct ctl *ctl);

#endif
