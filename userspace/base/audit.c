/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/audit.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	enum log_level level;
	uint32_t n_lines;
} kinds[] = {
#define AUDIT_ROW(name, word, level, lines) { word, level, lines },
	AUDIT_EVENTS(AUDIT_ROW)
#undef AUDIT_ROW
};

static struct {
	_Atomic uint64_t since_ns; /* when its period began; 0: never */
	_Atomic uint32_t n;        /* lines in it */
	_Atomic uint64_t n_omitted;
} of[AUDIT_N_EVENTS];

static void tell_omitted(enum audit_event event)
{
	uint64_t n = atomic_exchange_explicit(&of[event].n_omitted, 0, memory_order_relaxed);
	char text[24];
	const struct log_field field = { "omitted", text };

	if (!n)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, n);
	log_event(kinds[event].level, kinds[event].word, &field, 1);
}

/* A thread's time may be a little behind that of another thread. */
static bool is_audit_over(uint64_t since_ns, uint64_t now_ns)
{
	return !since_ns || (int64_t)(now_ns - since_ns) >= (int64_t)AUDIT_PERIOD_NS;
}

/* If several threads find that the period is over, only one begins the next. */
static void begin_period(enum audit_event event, uint64_t now_ns)
{
	uint64_t since_ns = atomic_load_explicit(&of[event].since_ns, memory_order_relaxed);

	if (!is_audit_over(since_ns, now_ns) ||
	    !atomic_compare_exchange_strong(&of[event].since_ns, &since_ns, now_ns))
		return;
	tell_omitted(event);
	atomic_store_explicit(&of[event].n, 0, memory_order_relaxed);
}

bool audit_take(enum audit_event event, uint64_t now_ns)
{
	const uint32_t most = kinds[event].n_lines;

	begin_period(event, now_ns);
	if (atomic_load_explicit(&of[event].n, memory_order_relaxed) < most &&
	    atomic_fetch_add_explicit(&of[event].n, 1, memory_order_relaxed) < most)
		return true;
	atomic_fetch_add_explicit(&of[event].n_omitted, 1, memory_order_relaxed);
	return false;
}

void audit_write(enum audit_event event, const struct log_field *fields, size_t n)
{
	log_event(kinds[event].level, kinds[event].word, fields, n);
}

void audit(enum audit_event event, uint64_t now_ns, const struct log_field *fields, size_t n)
{
	if (audit_take(event, now_ns))
		audit_write(event, fields, n);
}

void audit_tick(uint64_t now_ns)
{
	for (unsigned int i = 0; i < AUDIT_N_EVENTS; i++)
		if (is_audit_over(atomic_load_explicit(&of[i].since_ns, memory_order_relaxed),
				  now_ns))
			tell_omitted(i);
}

const char *audit_address(char text[AUDIT_ADDRESS_CAP], uint8_t family, const uint8_t *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const bool is_mapped = family == AF_INET6 && !memcmp(address, mapped, sizeof(mapped));

	if (is_mapped)
		inet_ntop(AF_INET, address + sizeof(mapped), text, AUDIT_ADDRESS_CAP);
	else
		inet_ntop(family, address, text, AUDIT_ADDRESS_CAP);
	return text;
}
