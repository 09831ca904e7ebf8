/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shield/alike.h"

#include <string.h>

#include "base/wire.h"
#include "cache/message.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "dns/rdata.h"

#define DATA_MAX 2048

/* RFC 1035 section 3.3.13: the serial number is the first of five numbers at the end. */
#define SOA_NUMBERS_BYTES 20u

/* RFC 4034 section 3.1: type, algorithm, labels, TTL, times and key tag. */
#define SIGNATURE_FIXED_BYTES 18u

enum section { ANSWER, AUTHORITY, ADDITIONAL };

/* A position in the records of an answer: only those that are signatures over a SOA in the
 * authority section, or only the others. */
struct cursor {
	const struct alike_answer *a;
	uint32_t at, number;
	bool wants_soa_signatures;
};

struct record {
	uint8_t owner[NAME_FOLDED_BYTES];
	enum section section;
	struct message_record r;
};

enum step { STEP_RECORD, STEP_END, STEP_BROKEN };

static enum section section_of(const struct alike_answer *a, uint32_t number)
{
	if (number < a->ancount)
		return ANSWER;
	return number < (uint32_t)a->ancount + a->nscount ? AUTHORITY : ADDITIONAL;
}

static bool is_soa_signature(const struct record *record)
{
	return record->section == AUTHORITY && record->r.type == DNS_TYPE_RRSIG &&
	       record->r.len >= 2 && wire_load_be16(record->r.rdata) == DNS_TYPE_SOA;
}

static enum step next_alike(struct cursor *c, struct record *out)
{
	const struct alike_answer *a = c->a;
	uint32_t n = (uint32_t)a->ancount + a->nscount + a->arcount, end;

	while (c->number < n) {
		end = message_name_end(&a->m, c->at);
		if (!end || !message_read_name(&a->m, c->at, out->owner) ||
		    !message_read_record(&a->m, end, &out->r))
			return STEP_BROKEN;
		out->section = section_of(a, c->number++);
		c->at = out->r.rdata_at + out->r.len;
		if (is_soa_signature(out) == c->wants_soa_signatures)
			return STEP_RECORD;
	}
	return c->at == a->m.end ? STEP_END : STEP_BROKEN;
}

/* Reads the data with its names expanded: *octets points into the message, or to `room`. False: the
 * data does not fit its type. */
static bool read_data(const struct alike_answer *a, const struct record *record,
		      uint8_t room[DATA_MAX], const uint8_t **octets, unsigned int *n)
{
	int bytes = rdnames_expand(&a->m, &record->r, room, DATA_MAX);

	if (bytes < 0)
		return false;
	*octets = bytes ? room : record->r.rdata;
	*n = bytes ? (unsigned int)bytes : record->r.len;
	return true;
}

/* Returns the serial number and sets it to 0 in `room`: the data of a SOA begins with two names, so
 * it was expanded there. */
static uint32_t take_serial(uint8_t room[DATA_MAX], unsigned int n)
{
	uint8_t *at = room + n - SOA_NUMBERS_BYTES;
	uint32_t serial = wire_load_be32(at);

	memset(at, 0, sizeof(serial));
	return serial;
}

static bool same_data(const struct alike_answer *cached, const struct record *c,
		      const struct alike_answer *rendered, const struct record *r, bool *is_older)
{
	uint8_t c_room[DATA_MAX], r_room[DATA_MAX];
	const uint8_t *c_octets, *r_octets;
	unsigned int c_n, r_n;

	if (!read_data(cached, c, c_room, &c_octets, &c_n) ||
	    !read_data(rendered, r, r_room, &r_octets, &r_n) || c_n != r_n)
		return false;
	if (r->section == AUTHORITY && r->r.type == DNS_TYPE_SOA) {
		if (r_n < SOA_NUMBERS_BYTES + 2)
			return false;
		*is_older |= take_serial(c_room, c_n) != take_serial(r_room, r_n);
	}
	return !memcmp(c_octets, r_octets, r_n) ||
	       (!rdata_check(r->r.type, c_octets, c_n) &&
		!rdata_cmp(r->r.type, c_octets, c_n, r_octets, r_n));
}

static bool same_head(const struct record *c, const struct record *r)
{
	return c->section == r->section && c->r.type == r->r.type && c->r.class == r->r.class &&
	       c->r.ttl == r->r.ttl && name_equal(c->owner, r->owner);
}

static bool same_records(const struct alike_answer *cached, const struct alike_answer *rendered,
			 bool *is_older)
{
	struct cursor c = { .a = cached, .at = cached->m.body_at };
	struct cursor r = { .a = rendered, .at = rendered->m.body_at };
	struct record c_record, r_record;
	enum step step;

	for (;;) {
		step = next_alike(&r, &r_record);
		if (next_alike(&c, &c_record) != step || step == STEP_BROKEN)
			return false;
		if (step == STEP_END)
			return true;
		if (!same_head(&c_record, &r_record) ||
		    !same_data(cached, &c_record, rendered, &r_record, is_older))
			return false;
	}
}

/* True if two signatures over one SOA are by the same key with the same times: then they must be
 * the same. */
static bool same_signer(const struct record *c, const struct record *r)
{
	return c->r.len >= SIGNATURE_FIXED_BYTES && r->r.len >= SIGNATURE_FIXED_BYTES &&
	       !memcmp(c->r.rdata, r->r.rdata, SIGNATURE_FIXED_BYTES);
}

static enum alike compare_signatures(const struct alike_answer *cached,
				     const struct alike_answer *rendered)
{
	struct cursor c = { .a = cached, .at = cached->m.body_at, .wants_soa_signatures = true };
	struct cursor r = { .a = rendered,
			    .at = rendered->m.body_at,
			    .wants_soa_signatures = true };
	struct record c_record, r_record;
	bool is_older = false;
	enum step step;

	for (;;) {
		step = next_alike(&r, &r_record);
		if (next_alike(&c, &c_record) != step)
			return ALIKE_UNSURE;
		if (step != STEP_RECORD)
			return ALIKE_SAME;
		if (!same_signer(&c_record, &r_record))
			return ALIKE_UNSURE;
		if (!same_head(&c_record, &r_record) ||
		    !same_data(cached, &c_record, rendered, &r_record, &is_older))
			return ALIKE_OTHER;
	}
}

enum alike alike_compare(const struct alike_answer *cached, const struct alike_answer *rendered)
{
	bool is_older = false;

	if (cached->flags != rendered->flags || cached->ancount != rendered->ancount ||
	    cached->arcount != rendered->arcount || !same_records(cached, rendered, &is_older))
		return ALIKE_OTHER;
	return is_older ? ALIKE_SAME : compare_signatures(cached, rendered);
}
