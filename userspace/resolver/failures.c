/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/failures.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "dns/proto.h"

static unsigned int cause_of(int ede_code)
{
	return ede_code >= 0 && ede_code < FAILURES_CAUSES - 1 ? (unsigned int)ede_code :
								 FAILURES_CAUSES - 1;
}

size_t failures_line(struct failures *f, char *out, size_t cap, const struct resolver_question *q,
		     int ede_code, const char *text, uint64_t now_ns)
{
	unsigned int cause = cause_of(ede_code);
	char name[NAME_TEXT_MAX] = "?", type[PROTO_TEXT_MAX], more[64] = "";
	int n;

	if (f->of[cause].told_ns && now_ns - f->of[cause].told_ns < FAILURES_EVERY_NS) {
		f->of[cause].n_left_out++;
		return 0;
	}
	(void)name_to_text(name, sizeof(name), q->name);
	proto_type_to_text(type, q->qtype);
	if (f->of[cause].n_left_out)
		snprintf(more, sizeof(more), " (%" PRIu64 " more failed with this error before)",
			 f->of[cause].n_left_out);
	f->of[cause].told_ns = now_ns;
	f->of[cause].n_left_out = 0;
	n = snprintf(out, cap, "recursion: %s %s failed: %s%s", name, type,
		     text ? text : "no reason is known", more);
	return n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1;
}

void failures_tell(struct failures *f, const struct resolver_question *q, int ede_code,
		   const char *text, uint64_t now_ns)
{
	char line[FAILURES_TEXT_CAP];

	if (failures_line(f, line, sizeof(line), q, ede_code, text, now_ns))
		log_info("%s", line);
}
