/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/answerkinds.h"

#define TYPE_RRSIG     46
#define TYPE_NSEC3     50
#define RCODE_NXDOMAIN 3
#define RR_FIXED_BYTES 10 /* type, class, TTL, length */
#define POINTER        0xc0

static const uint8_t *skip_name(const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at && *at < POINTER)
		at += 1 + *at;
	return at + (at < end && *at ? 2 : 1);
}

/* Whether the answer has a record of this type. */
static bool has_type(const struct pkt_answer *a, uint16_t type)
{
	const uint8_t *at = a->body, *end = a->body + a->body_bytes;

	while ((at = skip_name(at, end)) + RR_FIXED_BYTES <= end) {
		if ((at[0] << 8 | at[1]) == type)
			return true;
		at += RR_FIXED_BYTES + (at[8] << 8 | at[9]);
	}
	return false;
}

/* The kind without signatures; N_ANSWER_KINDS: none. The next kind is the same with signatures. */
static enum answer_kind kind_of(const struct pkt_answer *a)
{
	uint16_t rcode = a->flags & 15;

	if (rcode == RCODE_NXDOMAIN)
		return ANSWER_NXDOMAIN;
	if (rcode || a->flags & PKT_TC)
		return N_ANSWER_KINDS;
	if (a->ancount)
		return ANSWER_POSITIVE;
	return a->flags & PKT_AA ? ANSWER_NODATA : ANSWER_REFERRAL;
}

void answer_kinds_count(uint64_t counts[N_ANSWER_KINDS], const struct pkt_answer *a)
{
	enum answer_kind kind = kind_of(a);

	if (a->flags & PKT_TC)
		counts[ANSWER_TRUNCATED]++;
	else if (kind != N_ANSWER_KINDS)
		counts[kind + has_type(a, TYPE_RRSIG)]++;
	if (has_type(a, TYPE_NSEC3))
		counts[ANSWER_NSEC3]++;
}

const char *answer_kind_words(enum answer_kind kind)
{
#define ANSWER_KIND_WORDS(name, words) words,
	static const char *const all[] = { ANSWER_KINDS(ANSWER_KIND_WORDS) };

	return all[kind];
}
