/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that the daemon uses and that only the broker may open or bind. Errors: those of the
 * system call, or ERR_BROKER. Any thread, but a call waits while another request is in work.
 */
#ifndef VOLLEY_BROKER_SOCKETS_H
#define VOLLEY_BROKER_SOCKETS_H

#include "port/privileged.h"

/* For port_set_helper(). bind: also ERR_PORT (broker/ports.h). */
extern const struct port_helper sockets_helper;

/* An AF_XDP socket that is not bound yet (port/xsk_rings.h), or an error. Control's thread. */
int sockets_open_xsk(void) __attribute__((warn_unused_result));

#endif
