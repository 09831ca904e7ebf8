/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon may do. It starts with what it was given (root: everything) and at once, before
 * it has any thread, gives up all capabilities but those that its parts use.
 */
#ifndef VOLLEY_BASE_PRIVILEGE_H
#define VOLLEY_BASE_PRIVILEGE_H

#include <stdbool.h>

/*
 * Keeps of this process's capabilities: CAP_NET_ADMIN (attach XDP programs), CAP_NET_RAW (AF_XDP
 * sockets), CAP_BPF and CAP_PERFMON (load them), CAP_SYS_ADMIN (open a program or map by its id, to
 * adopt it), CAP_NET_BIND_SERVICE (port 53), CAP_IPC_LOCK (AF_XDP memory), CAP_DAC_READ_SEARCH
 * (zone files of other owners). The others are gone for good. 0 or -EPERM. Before any thread.
 */
int privilege_drop(void) __attribute__((warn_unused_result));

/*
 * The same for the calling thread alone, which only reads files: it keeps CAP_DAC_READ_SEARCH. A
 * process that it starts has no other, and that one only where the daemon is root. 0 or -EPERM.
 */
int privilege_drop_thread(void) __attribute__((warn_unused_result));

/*
 * Whether the calling thread has the capabilities that loading and attaching an XDP program take:
 * CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN in place of both, and CAP_NET_ADMIN.
 */
bool privilege_has_xdp(void);

#endif
