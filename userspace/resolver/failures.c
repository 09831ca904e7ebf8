/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/failures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* Parts of libunbound's reasons. Each has a space, so no name in the text can contain it. */
static const struct {
	const char *part;
	int ede_code;
} bogus_reasons[] = {
	{ "signature expired", DNS_EDE_SIGNATURE_EXPIRED },
	{ "signature before inception date", DNS_EDE_SIGNATURE_NOT_YET_VALID },
	{ "dnskey without ZSK flag", DNS_EDE_NO_ZONE_KEY_BIT },
	{ "signatures from unknown keys", DNS_EDE_DNSKEY_MISSING },
	{ "o DNSKEY r", DNS_EDE_DNSKEY_MISSING }, /* "No DNSKEY record", "no DNSKEY rrset" */
	{ "DNSKEY RRset did not match", DNS_EDE_DNSKEY_MISSING },
	{ "DS hash mismatches key", DNS_EDE_DNSKEY_MISSING },
	{ "unsupported algorithm by crypto library", DNS_EDE_UNSUPPORTED_KEY },
	{ "zone has no known algorithms", DNS_EDE_UNSUPPORTED_KEY },
	{ "no signatures", DNS_EDE_RRSIGS_MISSING },
	{ "signature missing", DNS_EDE_RRSIGS_MISSING },
};

#define N_BOGUS_REASONS (sizeof(bogus_reasons) / sizeof(bogus_reasons[0]))

int failures_bogus_ede(const char *why)
{
	for (size_t i = 0; why && i < N_BOGUS_REASONS; i++)
		if (strstr(why, bogus_reasons[i].part))
			return bogus_reasons[i].ede_code;
	return DNS_EDE_DNSSEC_BOGUS;
}
