/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit's events (base/audit.h) about the daemon itself: start and end, signals, reloads by a
 * signal; and the settings of the log. Control's thread.
 */
#ifndef VOLLEY_DAEMON_DAEMON_AUDIT_H
#define VOLLEY_DAEMON_DAEMON_AUDIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>

#include "config/config.h"

/* The daemon begins to answer; the daemon ends. keep: its programs answer on for a while. */
void daemon_audit_start(const struct config *config);
void daemon_audit_stop(uint64_t started_ns, bool keep);

/* A signal ends the daemon or makes it reload: logs the signal, and the process that sent it. */
void daemon_audit_signal(const struct signalfd_siginfo *info);
/* The result of a reload by a signal: 0, or a negative code. */
void daemon_audit_reload(int code);

/*
 * Sets the log as a new configuration says. The level is set only if it differs from that of
 * `running`, which then gets the new one.
 */
void daemon_configure_log(struct config *running, const struct config *config);

/* `log level`: control/ctl_command.h describes a command. USER is not used. */
int daemon_audit_log_level(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap);

#endif
