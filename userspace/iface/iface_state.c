/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/iface_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

const char *iface_state_text(enum iface_state state)
{
	static const char *const texts[] = { "down", "up", "gone", "degraded" };

	return texts[state];
}

bool iface_driver_answers(const struct iface *iface)
{
	const bool is_native = program_mode(iface->program) == PROGRAM_NATIVE;
	const unsigned int harmless = is_native ? 0 : IFACE_MUTE_NATIVE;

	return iface->config.driver_answers && !(iface->mute & ~harmless);
}

void iface_mute(struct iface *iface, enum iface_mute reason, bool is_so)
{
	iface->mute = is_so ? iface->mute | reason : iface->mute & ~(unsigned int)reason;
	if (iface->program)
		program_set_answers(iface->program, iface_driver_answers(iface));
}

void iface_need(struct iface *iface, enum iface_due due)
{
	if (iface->due < due)
		iface->due = due;
}

/* Makes the note and the state from the remarks. */
static void sum_up_iface_state(struct iface *iface)
{
	bool is_fault = false;
	size_t len = 0;

	iface->note[0] = 0;
	for (int i = 0; i < IFACE_N_TOPICS; i++) {
		const struct iface_remark *remark = &iface->remarks[i];

		is_fault |= remark->is_fault;
		if (*remark->text)
			len += (size_t)snprintf(iface->note + len, sizeof(iface->note) - len,
						"%s%s", len ? "; " : "", remark->text);
	}
	if (is_fault && iface->state != IFACE_GONE)
		iface->state = IFACE_DEGRADED;
	else if (iface->state == IFACE_DEGRADED)
		iface->state = iface->program || iface->dpdk ? IFACE_UP : IFACE_DOWN;
}

void iface_say(struct iface *iface, enum iface_topic topic, bool is_fault, const char *format, ...)
{
	struct iface_remark *remark = &iface->remarks[topic];
	char text[IFACE_REMARK_CAP];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (*text && strcmp(text, remark->text) != 0)
		log_line(is_fault ? LOG_LEVEL_WARN : LOG_LEVEL_NOTICE, "%s: %s", iface->config.name,
			 text);
	snprintf(remark->text, sizeof(remark->text), "%s", text);
	remark->is_fault = is_fault && *text;
	sum_up_iface_state(iface);
}

void iface_unsay(struct iface *iface, enum iface_topic topic)
{
	iface_say(iface, topic, false, "%s", "");
}
