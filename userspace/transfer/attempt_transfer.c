/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a primary gives: records go into a builder, changes into a list, and when all of it has come
 * and its signatures hold, to control. Until then nothing of it counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "transfer/secondary.h"
#include "transfer/transfer_events.h"

void attempt_drop_content(struct attempt *a)
{
	if (a->in)
		xfr_in_fini(a->in);
	free(a->in);
	a->in = NULL;
	zone_builder_free(a->builder);
	a->builder = NULL;
	for (size_t i = 0; i < a->n_sets; i++)
		changeset_fini(&a->sets[i]);
	free(a->sets);
	a->sets = NULL;
	a->n_sets = a->sets_cap = 0;
	timer_cancel(&a->deadline);
}

static int on_begin(void *user, uint32_t serial)
{
	struct attempt *a = user;

	(void)serial;
	return zone_builder_new(&a->builder, a->s->zone->apex);
}

static void note_expire(struct attempt *a, const uint8_t *rdata, size_t n)
{
	const struct config_zone *c = &a->s->zone->config;

	a->soa_expire_s =
		secondary_bound(wire_load_be32(rdata + n - 8), c->expire_min_s, c->expire_max_s);
}

static int on_record(void *user, const uint8_t *owner, unsigned int owner_bytes, uint16_t type,
		     uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes)
{
	struct attempt *a = user;
	const struct zone_builder_record record = {
		.owner = owner,
		.owner_bytes = owner_bytes,
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = rdata_bytes,
	};

	if (type == DNS_TYPE_SOA)
		note_expire(a, rdata, rdata_bytes);
	return zone_builder_add(a->builder, &record, &a->builder_error);
}

/* The new SOA of a sequence. */
static void note_expire_of(struct attempt *a, const struct changeset *set)
{
	struct changeset_record record;
	size_t at = 0;

	while (changeset_next(set, &at, &record)) {
		if (record.op == CHANGESET_ADD && record.type == DNS_TYPE_SOA)
			note_expire(a, record.rdata, record.rdata_bytes);
	}
}

static int on_changes(void *user, struct changeset *set)
{
	struct attempt *a = user;

	if (a->n_sets == a->sets_cap) {
		size_t cap = a->sets_cap ? 2 * a->sets_cap : 4;
		struct changeset *sets = realloc(a->sets, cap * sizeof(*sets));

		if (!sets)
			return -ENOMEM;
		a->sets = sets;
		a->sets_cap = cap;
	}
	note_expire_of(a, set);
	changeset_init(&a->sets[a->n_sets]);
	changeset_move(&a->sets[a->n_sets++], set);
	return 0;
}

static void make_room_for_others(struct attempt *a)
{
	struct secondary *all = a->s->t->secondary;

	if (a->in->n_bytes > SECONDARY_SMALL_BYTES || all->n_small == SECONDARY_SMALL_MAX)
		return;
	a->is_small = true;
	all->n_small++;
	lane_leave(&a->place);
}

/* All of it is there, and is control's from now on. */
static void deliver(struct attempt *a)
{
	struct secondary_zone *s = a->s;
	enum attempt_end end = a->in->is_whole ? ATTEMPT_SENT_ZONE : ATTEMPT_SENT_CHANGES;
	uint32_t expire_s = a->soa_expire_s;
	char text[PORT_ADDR_TEXT_CAP];
	struct transfer_event event = {
		.kind = a->in->is_whole ? TRANSFER_ZONE : TRANSFER_CHANGES,
		.apex = s->zone->apex,
		.apex_len = s->zone->apex_len,
		.remote = s->remote,
		.builder = a->builder,
		.serial = a->in->new_serial,
		.sets = a->sets,
		.n_sets = a->n_sets,
		.checked_wall_s = s->t->now.wall_s,
	};

	/* What gave it may be a secondary itself: RFC 7314 section 4. */
	if (a->known.expire_left_s < expire_s)
		expire_s = a->known.expire_left_s;
	event.expires_wall_s = event.checked_wall_s + expire_s;
	snprintf(s->remote, sizeof(s->remote), "%s %s", a->remote->name,
		 port_addr_text(&a->peer->addr, text));
	s->settles_checked_s = event.checked_wall_s;
	s->settles_expires_s = event.expires_wall_s;
	if (a->in->is_whole)
		transfer_count(s->t, axfr_in);
	else
		transfer_count(s->t, ixfr_in);
	a->builder = NULL;
	a->sets = NULL;
	a->n_sets = 0;
	make_room_for_others(a);
	secondary_ended(s, transfer_emit(s->t, &event) ? ATTEMPT_FAILED : end);
}

static bool may_fall_back(enum xfr_in_result result, const struct attempt *a)
{
	switch (result) {
	case XFR_IN_RCODE:
		return a->in->rcode == DNS_RCODE_NOTIMP || a->in->rcode == DNS_RCODE_FORMERR ||
		       a->in->rcode == DNS_RCODE_SERVFAIL;
	case XFR_IN_TSIG:
	case XFR_IN_OLDER:
	case XFR_IN_LIMIT_BYTES:
	case XFR_IN_LIMIT_MESSAGES:
	case XFR_IN_LIMIT_RECORDS:
	case XFR_IN_SINK:
	case XFR_IN_NOT_REPLY:
		return false;
	default:
		return true;
	}
}

/* Who has never heard of OPT says FORMERR: RFC 6891 section 7. */
static bool is_ignorant(const struct attempt *a, enum xfr_in_result result)
{
	return result == XFR_IN_RCODE && a->in->rcode == DNS_RCODE_FORMERR && !a->known.is_plain;
}

/* Not good: the whole zone from the same one, or something from another. */
static void refuse(struct attempt *a, enum xfr_in_result result)
{
	char rcode[PROTO_TEXT_MAX];
	struct xfr_in *in = a->in;

	if (is_ignorant(a, result)) {
		a->known.is_plain = true;
		attempt_hang_up(a);
		attempt_step(a, attempt_transfer);
		return;
	}
	if (in->config.type == DNS_TYPE_IXFR && may_fall_back(result, a)) {
		a->wants = SECONDARY_WANTS_WHOLE;
		attempt_hang_up(a);
		attempt_step(a, attempt_transfer);
		return;
	}
	transfer_count(a->s->t, in_failed);
	if (result == XFR_IN_RCODE) {
		proto_rcode_to_text(rcode, in->rcode);
		attempt_next(a, "the transfer was answered %s", rcode);
	} else if (result == XFR_IN_TSIG) {
		transfer_count(a->s->t, tsig_bad);
		attempt_next(a, "%s", tsig_verdict_text(in->verdict, a->tsig.remote_error));
	} else if (result == XFR_IN_SINK && in->error == ERR_ZONE) {
		attempt_next(a, "%s", a->builder_error.sentence);
	} else if (result == XFR_IN_SINK) {
		attempt_next(a, "%s", err_text(in->error));
	} else {
		attempt_next(a, "%s", xfr_in_text(result));
	}
}

static void transfer_anew(struct attempt *a)
{
	peer_close_idle(a->peer);
	attempt_transfer(a);
}

/*
 * A server that goes on with another process when its zones change (nsd) may leave us with the old
 * one, as long as our connection lasts.
 */
static bool is_stale(const struct attempt *a, enum xfr_in_result result)
{
	return (result == XFR_IN_CURRENT || result == XFR_IN_OLDER) &&
	       !a->known.has_new_connection && exchange_is_reused(a->exchange) &&
	       (a->known.is_promised || secondary_is_told_of_newer(a->s));
}

static int on_message(void *user, const uint8_t *msg, size_t n)
{
	struct attempt *a = user;
	bool was_ixfr = a->in->config.type == DNS_TYPE_IXFR;
	enum xfr_in_result result = xfr_in_message(a->in, msg, n, a->s->t->now.wall_s);
	bool is_old;

	if (result == XFR_IN_MORE)
		return EXCHANGE_MORE;
	is_old = is_stale(a, result);
	a->exchange = NULL; /* it goes behind this call */
	peer_is_alive(a->peer);
	if (a->in->has_expire)
		a->known.expire_left_s = a->in->expire_left_s;
	if (is_old) {
		a->known.has_new_connection = true;
		attempt_hang_up(a);
		attempt_step(a, transfer_anew);
		return ERR_CLOSED;
	}
	if (result == XFR_IN_DONE) {
		timer_cancel(&a->deadline);
		attempt_step(a, deliver);
		return EXCHANGE_DONE;
	}
	if (result == XFR_IN_CURRENT) {
		attempt_is_current(a);
		return was_ixfr ? EXCHANGE_DONE : ERR_CLOSED; /* the rest of an AXFR follows */
	}
	refuse(a, result);
	return result == XFR_IN_RCODE ? EXCHANGE_DONE : ERR_FORMAT;
}

static void on_failed(void *user, int code, const char *why)
{
	struct attempt *a = user;

	(void)code;
	a->exchange = NULL;
	transfer_count(a->s->t, in_failed);
	if (!a->in->n_messages)
		peer_is_dead(a->peer, a->s->t->now.ns);
	if (a->in->n_messages)
		attempt_next(a, "the transfer broke off: %s", why);
	else
		attempt_next(a, "%s", why);
}

static void on_deadline(void *user)
{
	struct attempt *a = user;

	transfer_count(a->s->t, in_failed);
	attempt_next(a, "the transfer took longer than %u s", a->s->zone->config.transfer_s);
}

static int set_deadline(struct attempt *a)
{
	struct transfer *t = a->s->t;
	uint32_t transfer_s = a->s->zone->config.transfer_s;

	if (!a->deadline.all && timer_init(&a->deadline, &t->timers, on_deadline, a))
		return -ENOMEM;
	if (transfer_s)
		loop_set(t, &a->deadline, transfer_s * CLOCK_NS_PER_S);
	return 0;
}

/* The request, unsigned, to @out; its length or an error. */
static int build(struct attempt *a, const struct zone *served, uint16_t type, uint8_t *out)
{
	struct xfr_request request = {
		.zone = a->s->zone->apex,
		.id = a->id,
		.type = type,
		.udp_size = a->known.is_plain ? 0 : ASK_MESSAGE_MAX,
		.wants_expire = true,
		.pads = a->remote->tls_ctx,
		.pad_room = a->remote->tls_ctx ? tsig_room(&a->tsig) : 0,
	};
	struct zone_rdata soa;

	if (type == DNS_TYPE_IXFR) {
		zone_rdata_next(zone_rrset_first(served, zone_soa(served)), &soa);
		request.soa = soa.bytes;
		request.soa_bytes = soa.len;
		request.soa_ttl = zone_soa(served)->ttl;
	}
	return xfr_request_build(out, XFR_REQUEST_MAX, &request);
}

static int open_reader(struct attempt *a, const struct zone *served, uint16_t type)
{
	const struct xfr_in_config config = {
		.zone = a->s->zone->apex,
		.id = a->id,
		.type = type,
		.has_serial = served,
		.takes_older = a->wants == SECONDARY_WANTS_ANY,
		.serial = served ? zone_serial(served) : 0,
		.tsig = a->remote->key ? &a->tsig : NULL,
		.limits.n_bytes = a->s->zone->config.transfer_bytes,
		.sink = { a, on_begin, on_record, on_changes },
	};

	a->in = malloc(sizeof(*a->in));
	if (!a->in)
		return -ENOMEM;
	xfr_in_init(a->in, &config);
	return set_deadline(a);
}

static int begin(struct attempt *a, const struct zone *served)
{
	static const struct exchange_handlers handlers = { on_message, on_failed };
	bool is_whole = a->wants != SECONDARY_WANTS_NEWER || !served ||
			!config_zone_asks_ixfr(&a->s->zone->config);
	uint16_t type = is_whole ? DNS_TYPE_AXFR : DNS_TYPE_IXFR;
	uint8_t msg[XFR_REQUEST_MAX + TSIG_MAX];
	int n;

	a->id = random_u16(&a->s->t->random);
	tsig_init(&a->tsig, a->remote->key);
	n = open_reader(a, served, type);
	if (!n)
		n = build(a, served, type, msg);
	if (n > 0)
		n = tsig_sign(&a->tsig, msg, (size_t)n, sizeof(msg), a->s->t->now.wall_s);
	if (n > 0)
		n = exchange_begin(&a->exchange, a->s->t, a->remote, a->peer, msg, (size_t)n,
				   &handlers, a);
	return n;
}

void attempt_transfer(struct attempt *a)
{
	struct zone *served = served_get(a->s->t, a->s->zone);
	int code = begin(a, served);

	zone_unref(served);
	if (!code)
		return;
	transfer_count(a->s->t, in_failed);
	peer_is_dead(a->peer, a->s->t->now.ns);
	attempt_next(a, "%s", err_text(code));
}
