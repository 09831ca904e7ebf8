/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/convert.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "cache/message.h"
#include "dns/rdata.h"

#define RRSIG_SIGNER_AT 18 /* in RDATA: RFC 4034 section 3.1 */
#define SOA_TAIL_BYTES  20 /* after the names; MINIMUM is the last 4 of them */

/* ---- The message ----------------------------------------------------------------------------- */

bool convert_from_wire(struct convert_source *from, const uint8_t *msg, size_t n)
{
	*from = (struct convert_source){ 0 };
	if (!message_of_wire(&from->message, msg, n))
		return false;
	from->n_answer = wire_load_be16(msg + DNS_ANCOUNT_AT);
	from->n_authority = wire_load_be16(msg + DNS_NSCOUNT_AT);
	from->rcode = wire_load_be16(msg + DNS_FLAGS_AT) & DNS_RCODE_MASK;
	return true;
}

void convert_from_entry(struct convert_source *from, const struct volley_entry *entry,
			uint32_t now_s)
{
	*from = (struct convert_source){
		.message = message_of_entry(entry),
		.n_answer = ntohs(entry->ancount),
		.n_authority = ntohs(entry->nscount),
		.rcode = ntohs(entry->flags) & DNS_RCODE_MASK,
		.age_s = now_s - entry->born_s,
	};
}

/* Most owners are pointers: pointers to the same place are the same name. */
static uint32_t owner_place(const struct message *m, uint32_t at)
{
	uint32_t n;
	const uint8_t *p = message_octets(m, at, &n);

	return *p >= DNS_POINTER_BITS ? wire_load_be16(p) & DNS_POINTER_MAX : at;
}

static bool read_converted_record(struct convert *c, uint32_t *at, bool in_answer)
{
	const struct message *m = &c->from->message;
	uint32_t end = message_name_end(m, *at);
	struct message_record r;

	if (!end || !message_read_record(m, end, &r))
		return false;
	if (r.type == DNS_TYPE_RRSIG && r.len <= RRSIG_SIGNER_AT)
		return false;
	if (r.class == DNS_CLASS_IN)
		c->records[c->n_records++] = (struct convert_record){
			.owner_at = owner_place(m, *at),
			.at = end,
			.type = r.type,
			.covered = r.type == DNS_TYPE_RRSIG ? wire_load_be16(r.rdata) : 0,
			.in_answer = in_answer,
		};
	*at = r.rdata_at + r.len;
	return true;
}

static int read_converted_records(struct convert *c)
{
	unsigned int n = (unsigned int)c->from->n_answer + c->from->n_authority;
	uint32_t at = c->from->message.body_at;

	if (n > CONVERT_RECORDS_MAX)
		return ERR_FORMAT;
	for (unsigned int i = 0; i < n; i++)
		if (!read_converted_record(c, &at, i < c->from->n_answer))
			return ERR_FORMAT;
	return 0;
}

/* ---- Record sets ----------------------------------------------------------------------------- */

/* Copies the name of a record, of which only so many may be: then no more names are found. */
static bool copy_owner(struct convert *c, const struct convert_record *r, uint8_t *name)
{
	if (!c->n_copies_left)
		return false;
	c->n_copies_left--;
	return message_copy_name(&c->from->message, r->owner_at, name);
}

static void look_for(struct convert *c, const uint8_t *owner)
{
	c->owner = owner;
	c->seen_at = 0;
}

static bool is_owner(struct convert *c, const struct convert_record *r)
{
	if (r->owner_at != c->seen_at) {
		c->seen_at = r->owner_at;
		c->seen_equal = copy_owner(c, r, c->other) && name_equal(c->other, c->owner);
	}
	return c->seen_equal;
}

/* The common values of an RRset's records, beside the owner. */
struct set {
	uint16_t type, covered;
	bool in_answer;
};

static bool is_converted_of(struct convert *c, const struct convert_record *r, struct set set)
{
	return r->type == set.type && r->covered == set.covered && r->in_answer == set.in_answer &&
	       !r->written && is_owner(c, r);
}

static struct message_record record_of(const struct convert *c, const struct convert_record *r)
{
	struct message_record record;

	/* it was read before */
	(void)message_read_record(&c->from->message, r->at, &record);
	return record;
}

/* The rest of a TTL as it came: RFC 2181 section 8. */
static uint32_t ttl_left(const struct convert *c, uint32_t ttl)
{
	return ttl > DNS_TTL_MAX || ttl < c->from->age_s ? 0 : ttl - c->from->age_s;
}

static uint32_t clamp(uint32_t ttl, uint32_t low, uint32_t high)
{
	if (ttl < low)
		ttl = low;
	return ttl > high ? high : ttl;
}

/* The number of records in the set, and the smallest of their TTLs. */
static unsigned int measure_converted(struct convert *c, struct set set, uint32_t *ttl)
{
	unsigned int n = 0;

	*ttl = DNS_TTL_MAX;
	for (unsigned int i = 0; i < c->n_records; i++) {
		uint32_t left;

		if (!is_converted_of(c, &c->records[i], set))
			continue;
		left = ttl_left(c, record_of(c, &c->records[i]).ttl);
		if (left < *ttl)
			*ttl = left;
		n++;
	}
	return n;
}

static int write_converted_record(struct convert *c, struct convert_record *r, uint32_t ttl)
{
	struct message_record record = record_of(c, r);
	int n = rdnames_expand(&c->from->message, &record, c->rdata, sizeof(c->rdata));
	const uint8_t *rdata = n > 0 ? c->rdata : record.rdata;
	unsigned int len = n > 0 ? (unsigned int)n : record.len;
	int err = n < 0 ? n : rdata_check_frame(record.type, rdata, len);

	if (!err)
		err = writer_add_rr(&c->writer, c->owner, record.type, DNS_CLASS_IN, ttl, rdata,
				    len);
	if (err)
		return err;
	r->written = true;
	c->ttls[c->n_ttls++] = (uint16_t)(c->writer.ttl_at - c->writer.base);
	return 0;
}

/* Writes all records of a set of the present owner. Returns their number, or an error. */
static int write_converted_set(struct convert *c, struct set set)
{
	uint32_t ttl;
	unsigned int n = measure_converted(c, set, &ttl);

	if (!n)
		return 0;
	ttl = clamp(ttl, c->limits->min_ttl_s, c->ttl_cap_s);
	if (ttl < c->ttl_s)
		c->ttl_s = ttl;
	for (unsigned int i = 0; i < c->n_records; i++) {
		struct convert_record *r = &c->records[i];
		int err = is_converted_of(c, r, set) ? write_converted_record(c, r, ttl) : 0;

		if (err)
			return err;
	}
	return (int)n;
}

/* The same with its signatures, for DO. */
static int write_signed(struct convert *c, uint16_t type, bool in_answer)
{
	const struct set set = { .type = type, .in_answer = in_answer };
	const struct set signatures = { DNS_TYPE_RRSIG, type, in_answer };
	int n = write_converted_set(c, set), err;

	if (n <= 0 || !c->question->dnssec_ok)
		return n;
	err = write_converted_set(c, signatures);
	return err < 0 ? err : n;
}

/* ---- The answer section ---------------------------------------------------------------------- */

static const uint8_t *name_now(const struct convert *c)
{
	return c->n_chain ? c->chain[c->n_chain - 1] : c->question->name;
}

/* The first record of this type whose owner is above the name. With `same`, the owner may also be
 * the name itself. */
static const struct convert_record *find_above(struct convert *c, uint16_t type, bool in_answer,
					       bool same)
{
	const uint8_t *name = name_now(c);

	for (unsigned int i = 0; i < c->n_records; i++) {
		const struct convert_record *r = &c->records[i];

		if (r->type == type && r->in_answer == in_answer && !r->written &&
		    copy_owner(c, r, c->aside) && name_is_under(name, c->aside) &&
		    (same || !name_equal(name, c->aside)))
			return r;
	}
	return NULL;
}

/*
 * Of a set of which there may be one record, only the first of several with the same name in their
 * data is written. Some servers send an alias twice.
 */
static void drop_copies(struct convert *c, struct set set)
{
	uint8_t first[NAME_FOLDED_BYTES], other[NAME_FOLDED_BYTES];
	bool has_first = false;

	for (unsigned int i = 0; i < c->n_records; i++) {
		struct convert_record *r = &c->records[i];
		uint32_t at;

		if (!is_converted_of(c, r, set))
			continue;
		at = record_of(c, r).rdata_at;
		if (!has_first)
			has_first = message_copy_name(&c->from->message, at, first);
		else if (message_copy_name(&c->from->message, at, other) &&
			 name_equal(first, other))
			r->written = true;
	}
}

/* Writes the DNAME that makes an alias of the name (RFC 6672), if it is not written yet. */
static int write_dname(struct convert *c)
{
	const struct set set = { .type = DNS_TYPE_DNAME, .in_answer = true };
	const struct convert_record *dname = find_above(c, DNS_TYPE_DNAME, true, false);
	uint8_t target[NAME_FOLDED_BYTES];
	int n;

	if (!dname)
		return 0;
	if (message_copy_name(&c->from->message, record_of(c, dname).rdata_at, target))
		c->is_endless |= name_is_under(target, c->aside);
	look_for(c, c->aside);
	drop_copies(c, set);
	n = write_signed(c, DNS_TYPE_DNAME, true);
	return n > 1 ? ERR_FORMAT : n;
}

/*
 * True if the chain would go on to this name for ever: it has been there, or a DNAME leads to a
 * name below itself.
 */
static bool is_loop(const struct convert *c, const uint8_t *name)
{
	bool is_passed = name_equal(name, c->question->name);

	for (unsigned int i = 0; i < c->n_chain; i++)
		is_passed |= name_equal(name, c->chain[i]);
	return is_passed || c->is_endless;
}

/* Goes on to the target of the name's CNAME. 1; 0: the name has none; or an error. */
static int write_cname(struct convert *c)
{
	const struct set set = { .type = DNS_TYPE_CNAME, .in_answer = true };
	struct message_record record = { 0 };
	unsigned int len;
	int n;

	drop_copies(c, set);
	for (unsigned int i = 0; i < c->n_records; i++)
		if (is_converted_of(c, &c->records[i], set))
			record = record_of(c, &c->records[i]);
	n = write_signed(c, DNS_TYPE_CNAME, true);
	if (n <= 0)
		return n;
	if (n > 1 || c->n_chain == CONVERT_CHAIN_MAX)
		return ERR_FORMAT; /* RFC 2181 section 10.1 */
	len = message_copy_name(&c->from->message, record.rdata_at, c->chain[c->n_chain]);
	if (!len)
		return ERR_RDATA;
	if (is_loop(c, c->chain[c->n_chain]))
		return ERR_FORMAT;
	c->n_chain++;
	return 1;
}

static bool is_of_dnssec(uint16_t type)
{
	return type == DNS_TYPE_RRSIG || type == DNS_TYPE_NSEC || type == DNS_TYPE_NSEC3;
}

/* Writes all sets of the name, or all its signatures. */
static int write_every_set(struct convert *c)
{
	bool any = c->question->qtype == DNS_TYPE_ANY;
	int n_sets = 0;

	for (unsigned int i = 0; i < c->n_records; i++) {
		const struct convert_record *r = &c->records[i];
		const struct set set = { r->type, r->covered, true };
		int n;

		if (any ? is_of_dnssec(r->type) && !c->question->dnssec_ok :
			  r->type != DNS_TYPE_RRSIG)
			continue;
		if (!is_converted_of(c, r, set))
			continue;
		n = write_converted_set(c, set);
		if (n < 0)
			return n;
		if (++n_sets > CONVERT_SETS_MAX)
			return ERR_FORMAT;
	}
	return n_sets;
}

/* Writes the records that were asked for, if the name has them. */
static int write_wanted(struct convert *c)
{
	uint16_t qtype = c->question->qtype;

	look_for(c, name_now(c));
	if (qtype == DNS_TYPE_ANY || qtype == DNS_TYPE_RRSIG)
		return write_every_set(c);
	return write_signed(c, qtype, true);
}

/* An alias has no other records, so only these types have an answer at an alias. */
static bool may_be_alias(uint16_t qtype)
{
	return qtype == DNS_TYPE_CNAME || qtype == DNS_TYPE_ANY || qtype == DNS_TYPE_RRSIG;
}

/* Follows the chain. 1: it ends in an answer; 0: it does not; or an error. */
static int write_chain(struct convert *c)
{
	for (;;) {
		int n_dnames = write_dname(c);
		int n = n_dnames < 0 ? n_dnames : write_wanted(c);

		if (n > 0 && n_dnames && !may_be_alias(c->question->qtype))
			return ERR_FORMAT;
		if (n)
			return n < 0 ? n : 1;
		n = write_cname(c);
		if (n < 0)
			return n;
		if (!n) /* YXDOMAIN has the DNAME only: RFC 6672 section 2.2 */
			return n_dnames;
	}
}

/* ---- The authority section ------------------------------------------------------------------- */

/* Writes the SOA of a zone that has the name: RFC 2308 section 5. Without a SOA the answer is not
 * cached. */
static int write_converted_soa(struct convert *c)
{
	const struct set set = { .type = DNS_TYPE_SOA };
	const struct convert_record *soa = find_above(c, DNS_TYPE_SOA, false, true);
	struct message_record record;
	uint32_t minimum;
	int n;

	if (!soa) {
		c->ttl_s = 0;
		return 0;
	}
	record = record_of(c, soa);
	if (record.len < SOA_TAIL_BYTES)
		return ERR_RDATA;
	minimum = ttl_left(c, wire_load_be32(record.rdata + record.len - 4));
	c->ttl_cap_s = clamp(minimum, c->limits->min_ttl_s, c->limits->max_negative_ttl_s);
	look_for(c, c->aside);
	drop_copies(c, set);
	n = write_signed(c, DNS_TYPE_SOA, false);
	c->ttl_cap_s = c->limits->max_ttl_s;
	return n > 1 ? ERR_FORMAT : n;
}

static bool is_on_chain(const struct convert *c, const uint8_t *zone)
{
	if (name_is_under(c->question->name, zone))
		return true;
	for (unsigned int i = 0; i < c->n_chain; i++)
		if (name_is_under(c->chain[i], zone))
			return true;
	return false;
}

/* True if the set in c->aside has a signature by a zone that this answer is about. */
static bool is_signed_here(struct convert *c, uint16_t type)
{
	const struct set signatures = { DNS_TYPE_RRSIG, type, false };

	look_for(c, c->aside);
	for (unsigned int i = 0; i < c->n_records; i++) {
		struct message_record record;
		const uint8_t *signer;

		if (!is_converted_of(c, &c->records[i], signatures))
			continue;
		record = record_of(c, &c->records[i]);
		signer = record.rdata + RRSIG_SIGNER_AT;
		if (name_check(signer, (size_t)record.len - RRSIG_SIGNER_AT) > 0 &&
		    name_is_under(c->aside, signer) && is_on_chain(c, signer))
			return true;
	}
	return false;
}

/* Writes the NSEC and NSEC3 records of the zones that the chain went through. */
static int write_proofs(struct convert *c)
{
	unsigned int n_sets = 0;

	for (unsigned int i = 0; i < c->n_records; i++) {
		const struct convert_record *r = &c->records[i];
		int n;

		if ((r->type != DNS_TYPE_NSEC && r->type != DNS_TYPE_NSEC3) || r->in_answer ||
		    r->written)
			continue;
		if (n_sets++ == CONVERT_SETS_MAX)
			return ERR_FORMAT;
		if (!message_copy_name(&c->from->message, r->owner_at, c->aside) ||
		    !is_signed_here(c, r->type))
			continue;
		n = write_signed(c, r->type, false);
		if (n < 0)
			return n;
	}
	return 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Changes to another message: reads its records, and writes none of them. */
static int take_source(struct convert *c, const struct convert_source *from)
{
	c->from = from;
	c->n_records = 0;
	return read_converted_records(c);
}

/* Writes the chain that was found before, which ends at a name without an answer. */
static int write_converted_before(struct convert *c, const struct convert_limits *limits)
{
	static const struct convert_limits none = { DNS_TTL_MAX, 0, DNS_TTL_MAX };
	int found;

	if (!c->question->before->is_head) {
		c->limits = &none;
		c->ttl_cap_s = none.max_ttl_s;
	}
	found = take_source(c, c->question->before);
	if (!found)
		found = write_chain(c);
	c->limits = limits;
	c->ttl_cap_s = limits->max_ttl_s;
	return found > 0 ? ERR_FORMAT : found;
}

/*
 * True if the alias itself was asked for and found. Some servers look for its target all the same,
 * and their rcode is about the target. The alias exists: RFC 6604 section 3.
 */
static bool is_at_alias(struct convert *c)
{
	bool is_found = false;

	look_for(c, name_now(c));
	for (unsigned int i = 0; i < c->n_records && may_be_alias(c->question->qtype); i++) {
		const struct convert_record *r = &c->records[i];

		is_found |= r->type == DNS_TYPE_CNAME && r->in_answer && is_owner(c, r);
	}
	return is_found;
}

/* Writes the records of the message itself. */
static int write_converted_message(struct convert *c)
{
	uint16_t n_before = c->n_ttls;
	int found = write_chain(c), err;

	if (found < 0)
		return found;
	if (c->from->n_answer && c->n_ttls == n_before &&
	    !(c->question->before && c->question->before->is_head))
		return ERR_FORMAT; /* an answer to another question */
	c->rcode = c->from->rcode;
	if (found && c->rcode == DNS_RCODE_NXDOMAIN) {
		if (!is_at_alias(c))
			return ERR_FORMAT;
		c->rcode = DNS_RCODE_NOERROR;
	}
	writer_set_section(&c->writer, WRITER_AUTHORITY);
	err = found ? 0 : write_converted_soa(c);
	if (err >= 0 && c->question->dnssec_ok)
		err = write_proofs(c);
	return err;
}

static int write_converted_body(struct convert *c, const struct convert_source *from,
				const struct convert_limits *limits)
{
	const struct convert_source *before = c->question->before;
	int err = before ? write_converted_before(c, limits) : 0;

	if (err >= 0)
		err = take_source(c, from);
	if (err >= 0)
		err = write_converted_message(c);
	if (err >= 0 && before && c->question->dnssec_ok) {
		err = take_source(c, before);
		if (err >= 0)
			err = write_proofs(c);
	}
	return err < 0 ? err : 0;
}

static void begin_converted(struct convert *c, const struct convert_question *question,
			    const struct convert_limits *limits)
{
	uint32_t base =
		DNS_HEADER_BYTES + (uint32_t)name_bytes(question->name) + DNS_QUESTION_FIXED_BYTES;

	c->question = question;
	c->limits = limits;
	c->ttl_s = DNS_TTL_MAX;
	c->ttl_cap_s = limits->max_ttl_s;
	c->n_copies_left = CONVERT_COPIES_MAX;
	c->n_chain = 0;
	c->is_endless = false;
	c->n_ttls = 0;
	writer_init(&c->writer, c->body, base, DNS_MESSAGE_MAX - CONVERT_OPT_ROOM, question->name);
}

int convert_answer(struct convert *c, const struct convert_source *from,
		   const struct convert_question *question, const struct convert_limits *limits,
		   struct cache_answer *a, uint32_t *ttl_s)
{
	int err;

	begin_converted(c, question, limits);
	err = write_converted_body(c, from, limits);
	if (!err && !c->n_copies_left)
		err = ERR_FORMAT;
	if (err)
		return err;
	*a = (struct cache_answer){
		.body = c->body,
		.full_bytes = (uint16_t)writer_bytes(&c->writer),
		.short_bytes = (uint16_t)writer_bytes(&c->writer),
		.ancount = c->writer.n_records[WRITER_ANSWER],
		.nscount = c->writer.n_records[WRITER_AUTHORITY],
		.flags = c->rcode,
		.ttls = c->ttls,
		.n_ttls = c->n_ttls,
	};
	*ttl_s = c->n_ttls ? c->ttl_s : 0;
	return 0;
}
