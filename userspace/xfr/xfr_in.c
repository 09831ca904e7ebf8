/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A state machine with six states. It takes one record at a time:
 *
 *      FIRST ── SOA ─► SECOND ─┬─ any other record ─► WHOLE ── the SOA again ──────────────► END
 *                              └─ SOA of our serial ─► REMOVED ◄── SOA ──► ADDED ── last ──► END
 *
 * An AXFR goes to WHOLE at once.
 */
#include "xfr/xfr_in.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/rdata.h"

enum state { FIRST, SECOND, WHOLE, REMOVED, ADDED, END };

static const char *const texts[] = {
#define TEXT(name, words) words,
	XFR_IN_RESULTS(TEXT)
#undef TEXT
};

const char *xfr_in_text(enum xfr_in_result result)
{
	return texts[result];
}

void xfr_in_init(struct xfr_in *in, const struct xfr_in_config *config)
{
	memset(in, 0, offsetof(struct xfr_in, record));
	in->config = *config;
	in->state = FIRST;
	in->at_serial = config->serial;
	in->zone_bytes = (unsigned int)name_bytes(config->zone);
	name_fold(in->zone, config->zone, in->zone_bytes);
	in->config.zone = in->zone;
	changeset_init(&in->set);
}

void xfr_in_fini(struct xfr_in *in)
{
	changeset_fini(&in->set);
}

static enum xfr_in_result sink_result(struct xfr_in *in, int code)
{
	in->error = code;
	return code ? XFR_IN_SINK : XFR_IN_MORE;
}

/* ---- A whole zone ---------------------------------------------------------------------------- */

static enum xfr_in_result give_xfr_in(struct xfr_in *in, const uint8_t *owner,
				      unsigned int owner_bytes, uint16_t type, uint32_t ttl,
				      const uint8_t *rdata, uint16_t rdata_bytes)
{
	const struct xfr_in_sink *sink = &in->config.sink;

	return sink_result(in, sink->record(sink->user, owner, owner_bytes, type, ttl, rdata,
					    rdata_bytes));
}

static bool is_first_soa(const struct xfr_in *in, const struct xfr_record *r)
{
	return !rdata_cmp(DNS_TYPE_SOA, in->soa, in->soa_bytes, r->rdata, r->rdata_bytes);
}

static enum xfr_in_result begin_whole(struct xfr_in *in)
{
	const struct xfr_in_sink *sink = &in->config.sink;
	int code = sink->begin(sink->user, in->new_serial);

	in->state = WHOLE;
	in->is_whole = true;
	if (code)
		return sink_result(in, code);
	return give_xfr_in(in, in->zone, in->zone_bytes, DNS_TYPE_SOA, in->soa_ttl, in->soa,
			   in->soa_bytes);
}

/* RFC 5936 section 2.2: a zone ends with the same SOA with which it began. */
static enum xfr_in_result take_whole(struct xfr_in *in, const struct xfr_record *r)
{
	if (r->type != DNS_TYPE_SOA)
		return give_xfr_in(in, r->owner, r->owner_bytes, r->type, r->ttl, r->rdata,
				   r->rdata_bytes);
	if (!is_first_soa(in, r))
		return XFR_IN_SOA_INSIDE;
	in->state = END;
	return XFR_IN_MORE;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static enum xfr_in_result put_xfr_in(struct xfr_in *in, const struct xfr_record *r,
				     enum changeset_op op)
{
	const struct changeset_record record = {
		.owner = r->owner,
		.rdata = r->rdata,
		.ttl = r->ttl,
		.type = r->type,
		.rdata_bytes = r->rdata_bytes,
		.op = (uint8_t)op,
	};
	uint64_t max = in->config.limits.n_changes;

	if (max && in->n_changes >= max)
		return XFR_IN_LIMIT_CHANGES;
	in->n_changes++;
	return sink_result(in, changeset_put(&in->set, &record));
}

static enum xfr_in_result begin_sequence(struct xfr_in *in, const struct xfr_record *r)
{
	if (xfr_soa_serial(r->rdata, r->rdata_bytes) != in->at_serial)
		return XFR_IN_CHAIN;
	in->state = REMOVED;
	return put_xfr_in(in, r, CHANGESET_REMOVE);
}

static enum xfr_in_result take_removed(struct xfr_in *in, const struct xfr_record *r)
{
	if (r->type != DNS_TYPE_SOA)
		return put_xfr_in(in, r, CHANGESET_REMOVE);
	if (!xfr_serial_newer(xfr_soa_serial(r->rdata, r->rdata_bytes), in->at_serial))
		return XFR_IN_CHAIN;
	in->state = ADDED;
	return put_xfr_in(in, r, CHANGESET_ADD);
}

/* A sequence is complete. It is the last one if it ends at the serial number of the first SOA. */
static enum xfr_in_result end_sequence(struct xfr_in *in, const struct xfr_record *r)
{
	const struct xfr_in_sink *sink = &in->config.sink;
	int code;

	in->at_serial = in->set.serial_to;
	code = sink->changes(sink->user, &in->set);
	changeset_fini(&in->set);
	if (code)
		return sink_result(in, code);
	if (in->at_serial != in->new_serial)
		return begin_sequence(in, r);
	if (!is_first_soa(in, r))
		return XFR_IN_CHAIN;
	in->state = END;
	return XFR_IN_MORE;
}

static enum xfr_in_result take_added(struct xfr_in *in, const struct xfr_record *r)
{
	return r->type == DNS_TYPE_SOA ? end_sequence(in, r) : put_xfr_in(in, r, CHANGESET_ADD);
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* XFR_IN_MORE if the primary's version is to be transferred. */
static enum xfr_in_result compare_serials(const struct xfr_in *in)
{
	const struct xfr_in_config *c = &in->config;

	if (!c->has_serial || c->takes_older)
		return XFR_IN_MORE;
	if (in->new_serial == c->serial)
		return XFR_IN_CURRENT;
	return xfr_serial_newer(in->new_serial, c->serial) ? XFR_IN_MORE : XFR_IN_OLDER;
}

static enum xfr_in_result take_xfr_in_first(struct xfr_in *in, const struct xfr_record *r)
{
	enum xfr_in_result result;

	if (r->type != DNS_TYPE_SOA)
		return XFR_IN_NO_SOA;
	memcpy(in->soa, r->rdata, r->rdata_bytes);
	in->soa_bytes = r->rdata_bytes;
	in->soa_ttl = r->ttl;
	in->new_serial = xfr_soa_serial(r->rdata, r->rdata_bytes);
	result = compare_serials(in);
	if (result != XFR_IN_MORE)
		return result;
	if (in->config.type == DNS_TYPE_AXFR)
		return begin_whole(in);
	in->state = SECOND;
	return XFR_IN_MORE;
}

/* RFC 1995 section 4: a SOA of our version begins changes, any other record a whole zone. */
static enum xfr_in_result take_second(struct xfr_in *in, const struct xfr_record *r)
{
	enum xfr_in_result result;

	if (r->type == DNS_TYPE_SOA && !is_first_soa(in, r))
		return begin_sequence(in, r);
	result = begin_whole(in);
	return result == XFR_IN_MORE ? take_whole(in, r) : result;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* "OWNER TYPE: why" */
static void describe_xfr_in(const struct xfr_record *r, const char *why,
			    char out[XFR_IN_RECORD_MAX])
{
	char owner[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];

	(void)name_to_text(owner, sizeof(owner), r->owner);
	proto_type_to_text(type, r->type);
	snprintf(out, XFR_IN_RECORD_MAX, "%.200s %s: %s", owner, type, why);
}

/* Why no answer of this zone could have the record; NULL: one could. */
static const char *reason_to_leave_out(const struct xfr_in *in, const struct xfr_record *r,
				       bool same_owner)
{
	if (r->class != DNS_CLASS_IN)
		return "it is not of class IN";
	if (!same_owner && !name_is_under(r->owner, in->zone))
		return "it lies outside the zone";
	if (rdata_is_meta(r->type))
		return "no zone has this type";
	if (r->type == DNS_TYPE_SOA && r->owner_bytes != in->zone_bytes)
		return "this SOA is of another zone, below this one";
	return NULL;
}

static enum xfr_in_result check_xfr_in_record(struct xfr_in *in, struct xfr_record *r)
{
	const char *fault = rdata_fault_foreign(r->type, r->rdata, r->rdata_bytes);

	if (fault) {
		describe_xfr_in(r, fault, in->refused);
		return XFR_IN_RDATA;
	}
	if (r->ttl > DNS_TTL_MAX)
		r->ttl = 0;
	return XFR_IN_MORE;
}

static enum xfr_in_result take_xfr_in(struct xfr_in *in, const struct xfr_record *r)
{
	switch ((enum state)in->state) {
	case FIRST:
		return take_xfr_in_first(in, r);
	case SECOND:
		return take_second(in, r);
	case WHOLE:
		return take_whole(in, r);
	case REMOVED:
		return take_removed(in, r);
	case ADDED:
		return take_added(in, r);
	case END:
		break;
	}
	return XFR_IN_BEHIND; /* not reached: take_xfr_in_record() refuses records behind the end */
}

/* A record that is left out is no beginning: a reply about another zone has only such records. */
static enum xfr_in_result leave_out(struct xfr_in *in, const struct xfr_record *r, const char *why)
{
	if (in->state == FIRST)
		return XFR_IN_NO_SOA;
	if (!in->n_left_out++)
		describe_xfr_in(r, why, in->left_out);
	return XFR_IN_MORE;
}

static enum xfr_in_result take_xfr_in_record(struct xfr_in *in, struct xfr_record *r,
					     bool same_owner)
{
	enum xfr_in_result result;
	const char *why;

	if (in->state == END)
		return XFR_IN_BEHIND;
	if (in->config.limits.n_records && in->n_records >= in->config.limits.n_records)
		return XFR_IN_LIMIT_RECORDS;
	in->n_records++;
	why = reason_to_leave_out(in, r, same_owner);
	if (why)
		return leave_out(in, r, why);
	result = check_xfr_in_record(in, r);
	return result == XFR_IN_MORE ? take_xfr_in(in, r) : result;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* RFC 5936 section 2.2.1: the first message has the question; knotd and nsd do not demand it, and
 * the ID and the connection are ours. Later messages may have it. */
static enum xfr_in_result check_question(struct xfr_in *in, struct xfr_message *m)
{
	struct xfr_question q;

	if (m->count[XFR_QUESTION] > 1)
		return XFR_IN_FORMAT;
	if (!m->count[XFR_QUESTION])
		return XFR_IN_MORE;
	if (xfr_message_question(m, &q))
		return XFR_IN_FORMAT;
	if (q.type != in->config.type || q.class != DNS_CLASS_IN || !name_equal(q.name, in->zone))
		return XFR_IN_NOT_REPLY;
	return XFR_IN_MORE;
}

static enum xfr_in_result check_signature(struct xfr_in *in, const uint8_t *msg, size_t len,
					  uint64_t now_s)
{
	in->verdict = in->config.tsig ? tsig_verify(in->config.tsig, msg, len, now_s, NULL) :
					TSIG_OK;
	return in->verdict == TSIG_OK ? XFR_IN_MORE : XFR_IN_TSIG;
}

/* Of a first message without answers: an error such as BADVERS, which the header does not show. */
static uint16_t extended_rcode(struct xfr_in *in, const struct xfr_message *m)
{
	struct xfr_message rest = *m;
	uint16_t rcode = 0;

	while (!in->n_messages && !m->count[XFR_ANSWER] && xfr_message_next(&rest, &in->record))
		rcode |= xfr_extended_rcode(&in->record);
	return rcode;
}

static enum xfr_in_result check_header(struct xfr_in *in, struct xfr_message *m, uint64_t now_s)
{
	enum xfr_in_result result;

	if (!(m->flags & DNS_FLAG_QR) || m->opcode != DNS_OPCODE_QUERY || m->id != in->config.id)
		return XFR_IN_NOT_REPLY;
	result = check_question(in, m);
	if (result == XFR_IN_MORE)
		result = check_signature(in, m->bytes, m->len, now_s);
	if (result != XFR_IN_MORE)
		return result;
	in->rcode = m->rcode | extended_rcode(in, m);
	if (in->rcode)
		return XFR_IN_RCODE;
	return in->n_messages || m->count[XFR_ANSWER] ? XFR_IN_MORE : XFR_IN_NO_SOA;
}

static enum xfr_in_result count_message(struct xfr_in *in, size_t len)
{
	const struct xfr_in_limits *limits = &in->config.limits;

	in->n_bytes += len;
	if (limits->n_bytes && in->n_bytes > limits->n_bytes)
		return XFR_IN_LIMIT_BYTES;
	if (limits->n_messages && in->n_messages >= limits->n_messages)
		return XFR_IN_LIMIT_MESSAGES;
	return XFR_IN_MORE;
}

static enum xfr_in_result take_answers(struct xfr_in *in, struct xfr_message *m)
{
	struct xfr_record *r = &in->record;
	enum xfr_in_result result = XFR_IN_MORE;
	size_t owner_at = XFR_NO_OWNER;
	uint64_t n_left_out;

	while (m->left[XFR_ANSWER] && result == XFR_IN_MORE) {
		if (!xfr_message_next(m, r))
			return XFR_IN_FORMAT;
		n_left_out = in->n_left_out;
		result = take_xfr_in_record(in, r, m->owner_at == owner_at);
		/* The next record may have the owner of this one, which lies in the zone. */
		owner_at = in->n_left_out == n_left_out ? m->owner_at : XFR_NO_OWNER;
	}
	return result;
}

/* Looks for EXPIRE behind the answers of the first message, and ignores all else there. */
static void take_rest(struct xfr_in *in, struct xfr_message *m)
{
	while (!in->n_messages && xfr_message_next(m, &in->record))
		in->has_expire |= xfr_expire_of(&in->record, &in->expire_left_s);
}

/* At the end of a right message: DONE if it is the last, and signatures cover all of them. */
static enum xfr_in_result end_message(struct xfr_in *in)
{
	if (in->state != END)
		return XFR_IN_MORE;
	if (in->config.tsig && !tsig_is_complete(in->config.tsig)) {
		in->verdict = TSIG_UNSIGNED;
		return XFR_IN_TSIG;
	}
	return XFR_IN_DONE;
}

enum xfr_in_result xfr_in_message(struct xfr_in *in, const uint8_t *msg, size_t len, uint64_t now_s)
{
	enum xfr_in_result result = count_message(in, len);
	struct xfr_message m;

	if (result != XFR_IN_MORE)
		return result;
	if (xfr_message_open(&m, msg, len))
		return XFR_IN_FORMAT;
	result = check_header(in, &m, now_s);
	if (result == XFR_IN_MORE)
		result = take_answers(in, &m);
	if (result == XFR_IN_MORE || result == XFR_IN_CURRENT)
		take_rest(in, &m);
	in->n_messages++;
	return result == XFR_IN_MORE ? end_message(in) : result;
}
