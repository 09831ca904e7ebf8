/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/denials_read.h"

#include <string.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/rdata.h"

#define ALGORITHM_SHA1   1  /* the only one: RFC 5155 section 11 */
#define FLAGS_KNOWN      1  /* Opt-Out; records with others are ignored: RFC 5155 section 8.2 */
#define SOA_NUMBERS      20 /* octets after its two names */
#define RRSIG_FIXED      18 /* octets before the signer's name: RFC 4034 section 3.1 */
#define SOA_DATA_MAX     (2 * DNS_NAME_MAX + SOA_NUMBERS)
#define NSEC3_SALT_AT    5
#define NSEC3_SALT_BYTES 4

/* The message being read. */
struct source {
	const uint8_t *msg;
	size_t n;
	size_t authority_at;
	unsigned int n_authority;
	uint64_t wall_s;
	struct denials_reading *out;
};

/* A record of the authority section. */
struct record {
	uint8_t owner[NAME_FOLDED_BYTES]; /* folded */
	uint16_t type;
	uint16_t class;
	uint32_t ttl;
	const uint8_t *data;
	size_t data_at;
	uint16_t n_data;
};

static uint32_t denials_draft_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool read_denials_draft_record(const struct source *s, struct wire_reader *r,
				      struct record *record)
{
	size_t end;
	int n_owner = name_follow(record->owner, s->msg, s->n, r->at, &end);

	if (n_owner < 0)
		return false;
	name_fold(record->owner, record->owner, (size_t)n_owner);
	wire_reader_seek(r, end);
	record->type = wire_read_be16(r);
	record->class = wire_read_be16(r);
	record->ttl = wire_read_be32(r);
	record->n_data = wire_read_be16(r);
	record->data_at = r->at;
	record->data = wire_read_ref(r, record->n_data);
	if (record->ttl > DNS_TTL_MAX)
		record->ttl = 0; /* RFC 2181 section 8 */
	return record->data;
}

/* Calls take() for each record of this type in the authority section. False: take() returned false,
 * or the section is malformed. */
static bool for_each(const struct source *s, uint16_t type,
		     bool (*take)(const struct source *s, const struct record *record))
{
	struct wire_reader r;

	wire_reader_init(&r, s->msg, s->n);
	wire_reader_seek(&r, s->authority_at);
	for (unsigned int i = 0; i < s->n_authority; i++) {
		struct record record;

		if (!read_denials_draft_record(s, &r, &record))
			return false;
		if (record.type == type && record.class == DNS_CLASS_IN && !take(s, &record))
			return false;
	}
	return true;
}

static bool append_denials_draft(struct denials_draft *d, const uint8_t *data, size_t n)
{
	if (n + 2 > sizeof(d->bytes) - d->n_bytes)
		return false;
	wire_store_be16(d->bytes + d->n_bytes, (uint16_t)n);
	memcpy(d->bytes + d->n_bytes + 2, data, n);
	d->n_bytes = (uint16_t)(d->n_bytes + 2 + n);
	return true;
}

/* --- The SOA --- */

/* Writes its data without compression. Returns the octets; 0: it is malformed. */
static size_t expand_soa(const struct source *s, const struct record *record,
			 uint8_t out[SOA_DATA_MAX])
{
	size_t at = record->data_at, end = record->data_at + record->n_data, n = 0;

	for (unsigned int i = 0; i < 2; i++) {
		uint8_t name[NAME_FOLDED_BYTES];
		int n_name = name_follow(name, s->msg, s->n, at, &at);

		if (n_name < 0 || at > end)
			return 0;
		memcpy(out + n, name, (size_t)n_name);
		n += (size_t)n_name;
	}
	if (end - at != SOA_NUMBERS)
		return 0;
	memcpy(out + n, s->msg + at, SOA_NUMBERS);
	return n + SOA_NUMBERS;
}

static bool take_denials_draft_soa(const struct source *s, const struct record *record)
{
	struct denials_draft *soa = &s->out->soa;
	uint8_t data[SOA_DATA_MAX];
	size_t n = expand_soa(s, record, data);

	if (soa->n_bytes || !n) /* a second one */
		return false;
	memcpy(s->out->apex, record->owner, name_bytes(record->owner));
	soa->life_s = denials_draft_least(soa->life_s, record->ttl);
	soa->life_s = denials_draft_least(soa->life_s, wire_load_be32(data + n - 4));
	return append_denials_draft(soa, data, n);
}

/* --- NSEC3 --- */

/* Decodes a hash from a label in base32hex, of either letter case (RFC 4648 section 7). False: the
 * label is no hash. */
static bool hash_of_label(uint8_t out[NSEC3_HASH_BYTES], const uint8_t *label)
{
	uint64_t bits = 0;

	if (label[0] != NSEC3_LABEL_CHARS)
		return false;
	for (unsigned int i = 0; i < NSEC3_LABEL_CHARS; i++) {
		uint8_t c = label[1 + i], lower = c | 0x20;

		if (c >= '0' && c <= '9')
			bits = bits << 5 | (c - (unsigned)'0');
		else if (lower >= 'a' && lower <= 'v')
			bits = bits << 5 | (lower - (unsigned)'a' + 10);
		else
			return false;
		if (i % 8 == 7) {
			out[i / 8 * 5] = (uint8_t)(bits >> 32);
			wire_store_be32(out + i / 8 * 5 + 1, (uint32_t)bits);
		}
	}
	return true;
}

struct denials_nsec3 denials_nsec3_of(const uint8_t *bytes)
{
	const uint8_t *data = bytes + 2, *end = data + wire_load_be16(bytes);
	const uint8_t *next = data + NSEC3_SALT_AT + data[NSEC3_SALT_BYTES] + 1;

	return (struct denials_nsec3){
		.flags = data[1],
		.next = next,
		.bitmap = next + NSEC3_HASH_BYTES,
		.bitmap_bytes = (size_t)(end - (next + NSEC3_HASH_BYTES)),
	};
}

/* After rdata_check() all lengths are within the data. */
static bool is_usable_nsec3(const struct record *record)
{
	const uint8_t *data = record->data;

	if (rdata_check(DNS_TYPE_NSEC3, data, record->n_data))
		return false;
	return data[0] == ALGORITHM_SHA1 && !(data[1] & ~FLAGS_KNOWN) &&
	       wire_load_be16(data + 2) <= DENIALS_ITERATIONS_MAX &&
	       data[NSEC3_SALT_BYTES] <= DENIALS_SALT_MAX &&
	       data[NSEC3_SALT_AT + data[NSEC3_SALT_BYTES]] == NSEC3_HASH_BYTES;
}

/* All records must have the parameters of the first one. */
static bool has_same_params(struct denials_reading *out, const uint8_t *data)
{
	struct nsec3_params params = { .iterations = wire_load_be16(data + 2),
				       .salt_bytes = data[NSEC3_SALT_BYTES] };

	memcpy(params.salt, data + NSEC3_SALT_AT, params.salt_bytes);
	if (!out->n_nsec3)
		out->params = params;
	return nsec3_params_equal(&params, &out->params);
}

static struct denials_draft *find_nsec3(struct denials_reading *out,
					const uint8_t hash[NSEC3_HASH_BYTES])
{
	for (unsigned int i = 0; i < out->n_nsec3; i++)
		if (!memcmp(out->nsec3[i].owner, hash, NSEC3_HASH_BYTES))
			return &out->nsec3[i];
	return NULL;
}

static bool take_nsec3(const struct source *s, const struct record *record)
{
	struct denials_reading *out = s->out;
	struct denials_draft *draft = &out->nsec3[out->n_nsec3];
	uint8_t hash[NSEC3_HASH_BYTES];

	if (!is_usable_nsec3(record) || !hash_of_label(hash, record->owner) ||
	    !name_equal(name_parent(record->owner), out->apex) ||
	    !has_same_params(out, record->data) || find_nsec3(out, hash) ||
	    out->n_nsec3 == DENIALS_NSEC3_MAX)
		return false;
	memcpy(draft->owner, hash, sizeof(hash));
	draft->life_s = denials_draft_least(out->soa.life_s, record->ttl);
	draft->n_signatures = 0;
	draft->n_bytes = 0;
	out->n_nsec3++;
	return append_denials_draft(draft, record->data, record->n_data);
}

/* --- Signatures --- */

/* The draft of the record that it covers; NULL: there is none. */
static struct denials_draft *covered_by(struct denials_reading *out, const struct record *record)
{
	uint16_t covered = wire_load_be16(record->data);
	uint8_t hash[NSEC3_HASH_BYTES];

	if (covered == DNS_TYPE_SOA && name_equal(record->owner, out->apex))
		return &out->soa;
	if (covered == DNS_TYPE_NSEC3 && hash_of_label(hash, record->owner) &&
	    name_equal(name_parent(record->owner), out->apex))
		return find_nsec3(out, hash);
	return NULL;
}

static bool take_signature(const struct source *s, const struct record *record)
{
	struct denials_reading *out = s->out;
	const uint8_t *data = record->data;
	struct denials_draft *draft;
	int32_t left_s;

	if (rdata_check(DNS_TYPE_RRSIG, data, record->n_data))
		return false;
	draft = covered_by(out, record);
	if (!draft)
		return true;
	/* Fewer labels than the owner has mean a wildcard: RFC 4035 section 5.3.4. */
	if (data[3] != name_n_labels(record->owner) || !name_equal(data + RRSIG_FIXED, out->apex) ||
	    draft->n_signatures == DENIALS_SIGNATURES_MAX)
		return false;
	left_s = (int32_t)(wire_load_be32(data + 8) - (uint32_t)s->wall_s); /* RFC 1982 */
	draft->life_s = denials_draft_least(draft->life_s, record->ttl);
	draft->life_s =
		denials_draft_least(draft->life_s, wire_load_be32(data + 4)); /* the original TTL */
	draft->life_s = denials_draft_least(draft->life_s, left_s > 0 ? (uint32_t)left_s : 0);
	draft->n_signatures++;
	return append_denials_draft(draft, data, record->n_data);
}

/* --- The message --- */

/* False if the message is no denial. Else sets where its authority section begins. */
static bool find_authority(struct source *s)
{
	uint8_t name[NAME_FOLDED_BYTES];
	uint16_t rcode;

	if (s->n < DNS_HEADER_BYTES || wire_load_be16(s->msg + DNS_QDCOUNT_AT) != 1 ||
	    wire_load_be16(s->msg + DNS_ANCOUNT_AT))
		return false;
	rcode = wire_load_be16(s->msg + DNS_FLAGS_AT) & DNS_RCODE_MASK;
	s->n_authority = wire_load_be16(s->msg + DNS_NSCOUNT_AT);
	if ((rcode != DNS_RCODE_NOERROR && rcode != DNS_RCODE_NXDOMAIN) || s->n_authority < 4 ||
	    name_follow(name, s->msg, s->n, DNS_HEADER_BYTES, &s->authority_at) < 0)
		return false;
	s->authority_at += DNS_QUESTION_FIXED_BYTES;
	return true;
}

static bool is_alive(const struct denials_draft *draft)
{
	return draft->n_signatures && draft->life_s;
}

bool denials_read(struct denials_reading *out, const uint8_t *msg, size_t n, uint64_t wall_s,
		  uint32_t max_s)
{
	struct source s = { .msg = msg, .n = n, .wall_s = wall_s, .out = out };
	unsigned int n_alive = 0;

	out->soa.n_bytes = 0;
	out->soa.n_signatures = 0;
	out->soa.life_s = max_s;
	out->n_nsec3 = 0;
	if (!find_authority(&s) || !for_each(&s, DNS_TYPE_SOA, take_denials_draft_soa) ||
	    !out->soa.n_bytes || !for_each(&s, DNS_TYPE_NSEC3, take_nsec3) ||
	    !for_each(&s, DNS_TYPE_RRSIG, take_signature) || !is_alive(&out->soa))
		return false;
	for (unsigned int i = 0; i < out->n_nsec3; i++) {
		if (!is_alive(&out->nsec3[i]))
			continue;
		if (n_alive != i)
			out->nsec3[n_alive] = out->nsec3[i];
		n_alive++;
	}
	out->n_nsec3 = n_alive;
	return n_alive;
}
