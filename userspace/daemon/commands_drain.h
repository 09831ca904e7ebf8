/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `volleyctl drain`: health says that this host is not to be used, until it is taken back. */
#ifndef VOLLEY_DAEMON_COMMANDS_DRAIN_H
#define VOLLEY_DAEMON_COMMANDS_DRAIN_H

#include <jansson.h>
#include <stddef.h>

/* [on [WHY] | off]: the run() of a struct ctl_command; the user is a struct drain. Control's thread. */
int commands_drain(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
