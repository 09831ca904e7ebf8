/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of the control socket. The user of all of them is the daemon. */
#ifndef VOLLEY_DAEMON_COMMANDS_H
#define VOLLEY_DAEMON_COMMANDS_H

#include "control/ctl_command.h"

extern const struct ctl_command commands[];

#endif
