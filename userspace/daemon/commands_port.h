/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `port queues`: gives up the sockets of queues that ethtool -L is about to take away. */
#ifndef VOLLEY_DAEMON_COMMANDS_PORT_H
#define VOLLEY_DAEMON_COMMANDS_PORT_H

#include <jansson.h>
#include <stddef.h>

#include "daemon/interfaces.h"

/*
 * ARGS: an interface and a number of queues. 0, or a negative code with a sentence in err. Control's
 * thread.
 */
int commands_port_set_queues(struct interfaces *all, const json_t *args, char *err, size_t err_cap);

#endif
