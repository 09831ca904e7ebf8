/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

#define SIGNER_AT 18 /* in the data of RRSIG: RFC 4034 section 3.1 */

/* --- Reading ---------------------------------------------------------------------------------- */

struct chain_record {
	uint8_t owner[NAME_FOLDED_BYTES];
	int owner_bytes;
	uint16_t type;
	uint16_t covered; /* by RRSIG */
	uint32_t ttl;
	size_t data_at;
	uint16_t n_data;
};

struct chain_reader {
	const uint8_t *msg;
	size_t n, at;
	unsigned int n_answers, n_authority; /* that are left */
};

static void begin_reading(struct chain_reader *r, const uint8_t *msg, size_t n)
{
	*r = (struct chain_reader){
		.msg = msg,
		.n = n,
		.at = DNS_HEADER_BYTES + name_bytes(msg + DNS_HEADER_BYTES) +
		      DNS_QUESTION_FIXED_BYTES,
		.n_answers = wire_load_be16(msg + DNS_ANCOUNT_AT),
		.n_authority = wire_load_be16(msg + DNS_NSCOUNT_AT),
	};
}

/* False: the message has no more records. All were read before, so this is not checked again. */
static bool read_next(struct chain_reader *r, struct chain_record *record)
{
	const uint8_t *p;
	size_t end;

	record->owner_bytes = name_follow(record->owner, r->msg, r->n, r->at, &end);
	if (record->owner_bytes < 0 || r->n - end < DNS_RR_FIXED_BYTES)
		return false;
	p = r->msg + end;
	record->type = wire_load_be16(p);
	record->ttl = wire_load_be32(p + 4);
	record->n_data = wire_load_be16(p + 8);
	record->data_at = end + DNS_RR_FIXED_BYTES;
	if (r->n - record->data_at < record->n_data)
		return false;
	record->covered = record->type == DNS_TYPE_RRSIG && record->n_data > SIGNER_AT ?
				  wire_load_be16(r->msg + record->data_at) :
				  0;
	r->at = record->data_at + record->n_data;
	return true;
}

static bool next_answer(struct chain_reader *r, struct chain_record *record)
{
	return r->n_answers && r->n_answers-- && read_next(r, record);
}

static bool next_authority(struct chain_reader *r, struct chain_record *record)
{
	while (next_answer(r, record))
		;
	return r->n_authority && r->n_authority-- && read_next(r, record);
}

/* --- Steps ------------------------------------------------------------------------------------ */

enum step_kind {
	STEP_END,   /* the name has what was asked for */
	STEP_OPEN,  /* the message says nothing about the name */
	STEP_ALIAS, /* by a CNAME */
	STEP_MADE,  /* by a DNAME alone: the CNAME is missing */
};

struct step {
	enum step_kind kind;
	uint8_t dname[NAME_FOLDED_BYTES]; /* owner of the DNAME; STEP_ALIAS: empty without one */
	bool has_dname;
	uint32_t dname_ttl;
	uint8_t target[NAME_FOLDED_BYTES];
	uint8_t dname_target[NAME_FOLDED_BYTES];
};

static bool is_forward_chain_wanted(uint16_t type, uint16_t qtype)
{
	return type == qtype || qtype == DNS_TYPE_ANY || qtype == DNS_TYPE_RRSIG;
}

static bool copy_target(const struct chain_reader *r, const struct chain_record *record,
			uint8_t *target)
{
	size_t end;

	return name_follow(target, r->msg, r->n, record->data_at, &end) > 0;
}

/* The name with the owner of the DNAME replaced by its target. False: it is too long. */
static bool make_target(struct step *s, const uint8_t *name)
{
	size_t front = name_bytes(name) - name_bytes(s->dname);
	size_t back = name_bytes(s->dname_target);

	if (front + back > DNS_NAME_MAX)
		return false;
	memcpy(s->target, name, front);
	memcpy(s->target + front, s->dname_target, back);
	return true;
}

/* What the answer section says about the name. */
static void read_step(struct step *s, const uint8_t *msg, size_t n, const uint8_t *name,
		      uint16_t qtype)
{
	struct chain_record record;
	struct chain_reader r;
	bool has_cname = false;

	*s = (struct step){ .kind = STEP_OPEN };
	begin_reading(&r, msg, n);
	while (next_answer(&r, &record)) {
		if (name_equal(record.owner, name)) {
			if (is_forward_chain_wanted(record.type, qtype))
				s->kind = STEP_END;
			if (record.type == DNS_TYPE_CNAME && !has_cname)
				has_cname = copy_target(&r, &record, s->target);
		} else if (record.type == DNS_TYPE_DNAME && !s->has_dname &&
			   name_is_under(name, record.owner) &&
			   copy_target(&r, &record, s->dname_target)) {
			s->has_dname = true;
			s->dname_ttl = record.ttl;
			memcpy(s->dname, record.owner, (size_t)record.owner_bytes);
		}
	}
	if (s->kind == STEP_END)
		return;
	if (has_cname)
		s->kind = STEP_ALIAS;
	else if (s->has_dname && make_target(s, name))
		s->kind = STEP_MADE;
}

/* True if a SOA says that the name, or its type, does not exist: RFC 2308 section 2. */
static bool has_soa_of(const uint8_t *msg, size_t n, const uint8_t *name)
{
	struct chain_record record;
	struct chain_reader r;

	begin_reading(&r, msg, n);
	while (next_authority(&r, &record))
		if (record.type == DNS_TYPE_SOA && name_is_under(name, record.owner))
			return true;
	return false;
}

/* --- The chain -------------------------------------------------------------------------------- */

static int reserve_forward_chain(struct forward_chain *c, size_t n)
{
	size_t cap = 2 * (c->n + n);
	uint8_t *bytes;

	if (c->cap - c->n >= n)
		return 0;
	bytes = realloc(c->bytes, cap);
	if (!bytes)
		return -ENOMEM;
	c->bytes = bytes;
	c->cap = cap;
	return 0;
}

static struct forward_chain *begin_chain(const uint8_t *msg)
{
	size_t n = DNS_HEADER_BYTES + name_bytes(msg + DNS_HEADER_BYTES) + DNS_QUESTION_FIXED_BYTES;
	struct forward_chain *c = calloc(1, sizeof(*c));

	if (c && reserve_forward_chain(c, n)) {
		free(c);
		c = NULL;
	}
	if (!c)
		return NULL;
	memcpy(c->bytes, msg, n);
	memset(c->bytes + DNS_ANCOUNT_AT, 0, DNS_HEADER_BYTES - DNS_ANCOUNT_AT);
	c->n = c->answers_end = n;
	return c;
}

void forward_chain_free(struct forward_chain *chain)
{
	if (!chain)
		return;
	free(chain->bytes);
	free(chain);
}

int forward_chain_append(struct forward_chain *chain, const uint8_t *msg, size_t n)
{
	if (reserve_forward_chain(chain, n))
		return -ENOMEM;
	memcpy(chain->bytes + chain->n, msg, n);
	chain->n += n;
	return 0;
}

struct chain_data {
	const uint8_t *owner;
	uint16_t type;
	uint32_t ttl;
	const uint8_t *data;
	size_t n_data;
};

/* Adds a record to the end of its section. */
static int add_forward_chain_record(struct forward_chain *c, const struct chain_data *d,
				    bool in_answer)
{
	size_t count_at = in_answer ? DNS_ANCOUNT_AT : DNS_NSCOUNT_AT;
	size_t n = name_bytes(d->owner) + DNS_RR_FIXED_BYTES + d->n_data;
	size_t at = in_answer ? c->answers_end : c->n;
	struct wire_writer w;

	if (c->n + n > DNS_MESSAGE_MAX)
		return ERR_LIMIT;
	if (reserve_forward_chain(c, n))
		return -ENOMEM;
	memmove(c->bytes + at + n, c->bytes + at, c->n - at);
	wire_writer_init(&w, c->bytes + at, n);
	wire_write_bytes(&w, d->owner, name_bytes(d->owner));
	wire_write_be16(&w, d->type);
	wire_write_be16(&w, DNS_CLASS_IN);
	wire_write_be32(&w, d->ttl);
	wire_write_be16(&w, (uint16_t)d->n_data);
	wire_write_bytes(&w, d->data, d->n_data);
	c->n += n;
	c->answers_end += in_answer ? n : 0;
	wire_store_be16(c->bytes + count_at, (uint16_t)(wire_load_be16(c->bytes + count_at) + 1));
	return 0;
}

static int add_alias(struct forward_chain *c, const uint8_t *owner, uint16_t type, uint32_t ttl,
		     const uint8_t *target)
{
	const struct chain_data d = { owner, type, ttl, target, name_bytes(target) };

	return add_forward_chain_record(c, &d, true);
}

/* Adds a record whose data has at most one name, at name_at. One with a compressed name is left
 * out. */
static int add_plain(struct forward_chain *c, const struct chain_reader *r,
		     const struct chain_record *record, size_t name_at, bool in_answer)
{
	const uint8_t *data = r->msg + record->data_at;
	const struct chain_data d = { record->owner, record->type, record->ttl, data,
				      record->n_data };

	if (record->n_data < name_at || name_check(data + name_at, record->n_data - name_at) < 0)
		return 0;
	return add_forward_chain_record(c, &d, in_answer);
}

static int add_forward_chain_signatures(struct forward_chain *c, const uint8_t *msg, size_t n,
					const uint8_t *owner, uint16_t covered)
{
	struct chain_record record;
	struct chain_reader r;
	int code = 0;

	begin_reading(&r, msg, n);
	while (!code && next_answer(&r, &record))
		if (record.covered == covered && name_equal(record.owner, owner))
			code = add_plain(c, &r, &record, SIGNER_AT, true);
	return code;
}

static uint32_t ttl_of_cname(const uint8_t *msg, size_t n, const uint8_t *name)
{
	struct chain_record record;
	struct chain_reader r;

	begin_reading(&r, msg, n);
	while (next_answer(&r, &record))
		if (record.type == DNS_TYPE_CNAME && name_equal(record.owner, name))
			return record.ttl;
	return 0;
}

static int add_step(struct forward_chain *c, const uint8_t *msg, size_t n, const struct step *s,
		    const uint8_t *name)
{
	uint32_t ttl = s->kind == STEP_MADE ? s->dname_ttl : ttl_of_cname(msg, n, name);
	int code = 0;

	if (s->has_dname)
		code = add_alias(c, s->dname, DNS_TYPE_DNAME, s->dname_ttl, s->dname_target);
	if (!code && s->has_dname)
		code = add_forward_chain_signatures(c, msg, n, s->dname, DNS_TYPE_DNAME);
	if (!code)
		code = add_alias(c, name, DNS_TYPE_CNAME, ttl, s->target);
	return code ? code : add_forward_chain_signatures(c, msg, n, name, DNS_TYPE_CNAME);
}

/* Proofs that belong to aliases of wildcards: RFC 4035 section 3.1.3.3. */
static int add_proofs(struct forward_chain *c, const uint8_t *msg, size_t n)
{
	struct chain_record record;
	struct chain_reader r;
	int code = 0;

	begin_reading(&r, msg, n);
	while (!code && next_authority(&r, &record)) {
		if (record.type == DNS_TYPE_NSEC)
			code = add_plain(c, &r, &record, 0, false);
		else if (record.covered == DNS_TYPE_NSEC || record.covered == DNS_TYPE_NSEC3)
			code = add_plain(c, &r, &record, SIGNER_AT, false);
		else if (record.type == DNS_TYPE_NSEC3)
			code = add_forward_chain_record(
				c,
				&(struct chain_data){ record.owner, record.type, record.ttl,
						      msg + record.data_at, record.n_data },
				false);
	}
	return code;
}

/* True if the chain has been at this name. */
static bool has_been_at(const struct forward_chain *c, const uint8_t *name)
{
	struct chain_record record;
	struct chain_reader r;

	begin_reading(&r, c->bytes, c->n);
	while (next_answer(&r, &record))
		if (record.type == DNS_TYPE_CNAME && name_equal(record.owner, name))
			return true;
	return false;
}

/* --- All of it -------------------------------------------------------------------------------- */

struct chain_walk {
	uint8_t name[NAME_FOLDED_BYTES]; /* where it ends */
	unsigned int n_steps;
	bool is_made; /* a CNAME is missing */
	enum step_kind last;
};

/* Walks from the name to the end of its aliases in this message. With c, adds them to it. */
static int walk_aliases(struct chain_walk *w, struct forward_chain *c, const uint8_t *msg, size_t n,
			const uint8_t *name, uint16_t qtype)
{
	struct step s;
	int code = 0;

	*w = (struct chain_walk){ .last = STEP_END };
	memcpy(w->name, name, name_bytes(name));
	while (!code && w->n_steps <= FORWARD_CHAIN_STEPS) {
		read_step(&s, msg, n, w->name, qtype);
		w->last = s.kind;
		if (s.kind == STEP_END || s.kind == STEP_OPEN)
			return 0;
		if (c)
			code = add_step(c, msg, n, &s, w->name);
		w->is_made |= s.kind == STEP_MADE;
		w->n_steps++;
		name_fold(w->name, s.target, name_bytes(s.target));
		if (s.kind == STEP_MADE && is_forward_chain_wanted(DNS_TYPE_CNAME, qtype))
			break;
	}
	w->last = STEP_ALIAS; /* a loop, or the CNAME was asked for */
	return code;
}

/*
 * True if the target has to be asked for: the message says nothing about it, or contradicts itself
 * by records of the target and NXDOMAIN, which is about the target as well (RFC 6604 section 3).
 */
static bool is_forward_chain_open(const struct chain_walk *w, const uint8_t *msg, size_t n)
{
	unsigned int rcode = wire_load_be16(msg + DNS_FLAGS_AT) & DNS_RCODE_MASK;

	if (!w->n_steps)
		return false;
	if (w->last == STEP_END)
		return rcode == DNS_RCODE_NXDOMAIN;
	return w->last == STEP_OPEN && rcode == DNS_RCODE_NOERROR && !has_soa_of(msg, n, w->name);
}

static unsigned int n_records(const uint8_t *msg)
{
	return (unsigned int)wire_load_be16(msg + DNS_ANCOUNT_AT) +
	       wire_load_be16(msg + DNS_NSCOUNT_AT);
}

enum forward_chain_state forward_chain_add(struct forward_chain **chain, const uint8_t *msg,
					   size_t n, const uint8_t *name, uint16_t qtype)
{
	struct forward_chain *c = *chain;
	struct chain_walk w;
	bool open;

	if (n_records(msg) > FORWARD_CHAIN_RECORDS)
		return FORWARD_CHAIN_WHOLE;
	(void)walk_aliases(&w, NULL, msg, n, name, qtype);
	open = is_forward_chain_open(&w, msg, n);
	if (w.n_steps > FORWARD_CHAIN_STEPS || (!open && !w.is_made))
		return FORWARD_CHAIN_WHOLE;
	if (c && c->n_asked == FORWARD_CHAIN_ASKED)
		return FORWARD_CHAIN_FAILED;
	if (!c)
		c = *chain = begin_chain(msg);
	if (!c || walk_aliases(&w, c, msg, n, name, qtype) || add_proofs(c, msg, n))
		return FORWARD_CHAIN_FAILED;
	c->is_all = !open && is_forward_chain_wanted(DNS_TYPE_CNAME, qtype);
	if (!open)
		return FORWARD_CHAIN_WHOLE;
	if (has_been_at(c, w.name))
		return FORWARD_CHAIN_FAILED;
	memcpy(c->target, w.name, sizeof(c->target));
	c->n_asked++;
	return FORWARD_CHAIN_OPEN;
}
