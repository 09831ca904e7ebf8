/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of volleyctl for an interface's queues, a ctl_command_fn; user is the daemon. */
#ifndef VOLLEY_DAEMON_COMMANDS_PORT_H
#define VOLLEY_DAEMON_COMMANDS_PORT_H

#include "control/ctl.h"

int commands_port_queues(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

#endif
