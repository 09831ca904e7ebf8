/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon: puts all parts together. Each part is opened after the parts that it needs.
 *
 *   start   lock ─► programs and maps ─► cache ─► control socket ─► resolver ─► zones ─► workers,
 *           sockets ─► AF_XDP ─► services
 *   life    one thread in epoll: signals, control socket, loads that have ended, address and link
 *           changes, a tick a second
 *   stop    the same backwards
 *
 * Beside that thread: the workers, the keeper of the cache, the loader of zones, a thread for walks
 * over the cache (base/background.h), and the heartbeat by which the driver knows that a daemon is
 * there (cache.orphan-serve). base/affinity.h says on which processors they run.
 *
 * daemon_internal.h lists the parts. Each has its state and functions in a header of its own.
 */
#ifndef VOLLEY_DAEMON_DAEMON_H
#define VOLLEY_DAEMON_DAEMON_H

#include <stdbool.h>

#include "config/config.h"

/*
 * Runs until a signal or a command stops it. 0, or -errno or an own code after a failed start; the
 * fault has been logged. The caller's thread is the control thread. `config` becomes the daemon's.
 */
int daemon_run(struct config *config, bool keep) __attribute__((warn_unused_result));

#endif
