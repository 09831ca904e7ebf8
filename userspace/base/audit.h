/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit: which client or user did something, or was refused something. Each event is one line
 * of the log (log_event()), as text or JSON.
 *
 * A flood of one kind of event does not fill the log: for each kind, AUDIT_LINES are written in
 * AUDIT_PERIOD_NS. After that time a line "KIND omitted=N" gives the number of events that were
 * left out. All commands that change something are written.
 *
 * The thread where the event happens writes it, also a worker: an omitted event costs a few atomic
 * additions, and a written one never waits.
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
 * Takes one of the lines of that kind; audit_write() must follow. False: none is left in this
 * period, and the event is counted. Call it first in a place that a flood can reach, so that no
 * texts are made in vain. @now_ns: CLOCK_MONOTONIC. Any thread.
 */
bool audit_take(enum audit_event event, uint64_t now_ns) __attribute__((warn_unused_result));
void audit_write(enum audit_event event, const struct log_field *fields, size_t n);

/* Both in one. Any thread. */
void audit(enum audit_event event, uint64_t now_ns, const struct log_field *fields, size_t n);

/* Reports the omitted events of periods that are over. One thread calls it about once a second, and
 * at the end. */
void audit_tick(uint64_t now_ns);

/* Writes an address, AF_INET or AF_INET6, as text and returns `text`, which has AUDIT_ADDRESS_CAP
 * octets. An IPv4 address that is mapped into IPv6 is shown as IPv4. */
#define AUDIT_ADDRESS_CAP 46
const char *audit_address(char text[AUDIT_ADDRESS_CAP], uint8_t family, const uint8_t *address);

#endif
