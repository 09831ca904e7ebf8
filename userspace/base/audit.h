/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit: who did what, or was refused what. One line of the log for each event (log_event()),
 * as text or JSON.
 *
 * A flood of one kind of event does not fill the log: of each kind AUDIT_LINES are written in
 * AUDIT_PERIOD_NS, and a line "KIND omitted=N" says, when that time is over, how many were left
 * out. Commands that change something are all written.
 *
 * Whoever learns of the event writes it, a worker too: what is left out costs some atomic
 * additions, and a line never waits.
 */
#ifndef VOLLEY_BASE_AUDIT_H
#define VOLLEY_BASE_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

#define AUDIT_PERIOD_NS 10000000000ull
#define AUDIT_LINES     20u

/* name, its word in the log, level, and how many lines of it are written in a period */
#define AUDIT_EVENTS(X)                                                              \
	X(AUDIT_START, "start", LOG_LEVEL_NOTICE, UINT32_MAX)                        \
	X(AUDIT_STOP, "stop", LOG_LEVEL_NOTICE, UINT32_MAX)                          \
	X(AUDIT_SIGNAL, "signal", LOG_LEVEL_NOTICE, UINT32_MAX)                      \
	X(AUDIT_RELOAD, "reload", LOG_LEVEL_NOTICE, UINT32_MAX)                      \
	X(AUDIT_COMMAND, "command", LOG_LEVEL_NOTICE, UINT32_MAX)                    \
	X(AUDIT_COMMAND_READ, "command-read", LOG_LEVEL_INFO, AUDIT_LINES)           \
	X(AUDIT_COMMAND_REFUSED, "command-refused", LOG_LEVEL_NOTICE, AUDIT_LINES)   \
	X(AUDIT_TRANSFER_GIVEN, "transfer-given", LOG_LEVEL_INFO, AUDIT_LINES)       \
	X(AUDIT_TRANSFER_FAILED, "transfer-failed", LOG_LEVEL_INFO, AUDIT_LINES)     \
	X(AUDIT_TRANSFER_REFUSED, "transfer-refused", LOG_LEVEL_NOTICE, AUDIT_LINES) \
	X(AUDIT_NOTIFY_REFUSED, "notify-refused", LOG_LEVEL_NOTICE, AUDIT_LINES)     \
	X(AUDIT_UPDATE_DONE, "update-done", LOG_LEVEL_INFO, AUDIT_LINES)             \
	X(AUDIT_UPDATE_REFUSED, "update-refused", LOG_LEVEL_NOTICE, AUDIT_LINES)     \
	X(AUDIT_TSIG_REFUSED, "tsig-refused", LOG_LEVEL_NOTICE, AUDIT_LINES)

enum audit_event {
#define AUDIT_EVENT(name, word, level, lines) name,
	AUDIT_EVENTS(AUDIT_EVENT)
#undef AUDIT_EVENT
		AUDIT_N_EVENTS,
};

/*
 * Takes one of the lines of that kind; audit_write() follows. False: there is none left in this
 * period, and the event is
 * counted: so whoever may meet a flood of them writes no texts in vain. @now_ns: CLOCK_MONOTONIC.
 * Any thread.
 */
bool audit_take(enum audit_event event, uint64_t now_ns) __attribute__((warn_unused_result));
void audit_write(enum audit_event event, const struct log_field *fields, size_t n);

/* Both. Any thread. */
void audit(enum audit_event event, uint64_t now_ns, const struct log_field *fields, size_t n);

/* Tells of what was left out in periods that are over. To be called about once a second, by one
 * thread; and at the end. */
void audit_tick(uint64_t now_ns);

/*
 * The text of an address, AF_INET or AF_INET6, in `text` of AUDIT_ADDRESS_CAP octets, which is
 * returned. An IPv4 address that is mapped into IPv6 is shown as IPv4.
 */
#define AUDIT_ADDRESS_CAP 46
const char *audit_address(char text[AUDIT_ADDRESS_CAP], uint8_t family, const uint8_t *address);

#endif
