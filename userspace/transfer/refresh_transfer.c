/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives a transfer: records go into a builder, changes into a list. When it is complete and its
 * signatures are right, it goes to control. Until then it has no effect.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "transfer/secondary.h"
#include "transfer/transfer_events.h"

/* Changes may have so many records more than the zone: then the whole zone, which is read in other
 * threads than control's, takes less work. */
#define CHANGES_MORE 10000u

void refresh_round_drop_content(struct refresh_round *r)
{
	if (r->in)
		xfr_in_fini(r->in);
	free(r->in);
	r->in = NULL;
	zone_builder_free(r->builder);
	r->builder = NULL;
	for (size_t i = 0; i < r->n_sets; i++)
		changeset_fini(&r->sets[i]);
	free(r->sets);
	r->sets = NULL;
	r->n_sets = r->sets_cap = 0;
	timer_cancel(&r->deadline);
}

static int on_begin(void *user, uint32_t serial)
{
	struct refresh_round *r = user;

	(void)serial;
	return zone_builder_new(&r->builder, r->s->zone->apex);
}

static void note_expire(struct refresh_round *r, const uint8_t *rdata, size_t n)
{
	const struct config_zone *c = r->s->zone->config;

	r->soa_expire_s =
		secondary_bound(wire_load_be32(rdata + n - 8), c->expire_min_s, c->expire_max_s);
}

static int on_record(void *user, const uint8_t *owner, unsigned int owner_bytes, uint16_t type,
		     uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes)
{
	struct refresh_round *r = user;
	const struct zone_builder_record record = {
		.owner = owner,
		.owner_bytes = owner_bytes,
		.type = type,
		.ttl = ttl,
		.rdata = rdata,
		.rdata_bytes = rdata_bytes,
		.is_checked = true,
	};

	if (type == DNS_TYPE_SOA)
		note_expire(r, rdata, rdata_bytes);
	return zone_builder_add(r->builder, &record, &r->builder_error);
}

/* Notes the expire value of the new SOA of a change set. */
static void note_expire_of(struct refresh_round *r, const struct changeset *set)
{
	struct changeset_record record;
	size_t at = 0;

	while (changeset_next(set, &at, &record)) {
		if (record.op == CHANGESET_ADD && record.type == DNS_TYPE_SOA)
			note_expire(r, record.rdata, record.rdata_bytes);
	}
}

static int on_changes(void *user, struct changeset *set)
{
	struct refresh_round *r = user;

	if (r->n_sets == r->sets_cap) {
		size_t cap = r->sets_cap ? 2 * r->sets_cap : 4;
		struct changeset *sets = realloc(r->sets, cap * sizeof(*sets));

		if (!sets)
			return -ENOMEM;
		r->sets = sets;
		r->sets_cap = cap;
	}
	note_expire_of(r, set);
	changeset_init(&r->sets[r->n_sets]);
	changeset_move(&r->sets[r->n_sets++], set);
	return 0;
}

static void make_room_for_others(struct refresh_round *r)
{
	struct secondary *all = r->s->t->secondary;

	if (r->in->n_bytes > SECONDARY_SMALL_BYTES || all->n_small == SECONDARY_SMALL_MAX ||
	    all->n_small_bytes + r->in->n_bytes > SECONDARY_SMALL_ALL)
		return;
	r->n_small_bytes = r->in->n_bytes;
	all->n_small_bytes += r->n_small_bytes;
	all->n_small++;
	slots_leave(r->s->place);
}

static void report_left_out(const struct refresh_round *r)
{
	char name[NAME_TEXT_MAX];

	if (!r->in->n_left_out)
		return;
	(void)name_to_text(name, sizeof(name), r->s->zone->apex);
	log_warn("zone %s: %s: records that are left out: %" PRIu64 "; the first: %s", name,
		 sentence_text(&r->s->remote), r->in->n_left_out, r->in->left_out);
}

/* The transfer is complete: control owns it from now on. */
static void deliver(struct refresh_round *r)
{
	struct secondary_zone *s = r->s;
	enum refresh_end end = r->in->is_whole ? REFRESH_SENT_ZONE : REFRESH_SENT_CHANGES;
	uint32_t expire_s = r->soa_expire_s;
	char text[PORT_ADDR_TEXT_CAP];
	struct transfer_event event = {
		.kind = r->in->is_whole ? TRANSFER_ZONE : TRANSFER_CHANGES,
		.apex = s->zone->apex,
		.apex_len = s->zone->apex_len,
		.builder = r->builder,
		.serial = r->in->new_serial,
		.sets = r->sets,
		.n_sets = r->n_sets,
		.checked_wall_s = s->t->now.wall_s,
	};

	/* The primary may itself be a secondary: RFC 7314 section 4. */
	if (r->known.expire_left_s < expire_s)
		expire_s = r->known.expire_left_s;
	event.expires_wall_s = event.checked_wall_s + expire_s;
	sentence_set(&s->remote, "%s %s", r->remote->name, port_addr_text(&r->peer->addr, text));
	event.remote = sentence_text(&s->remote);
	report_left_out(r);
	s->settles_checked_s = event.checked_wall_s;
	s->settles_expires_s = event.expires_wall_s;
	if (r->in->is_whole)
		transfer_count(s->t, axfr_in);
	else
		transfer_count(s->t, ixfr_in);
	r->builder = NULL;
	r->sets = NULL;
	r->n_sets = 0;
	make_room_for_others(r);
	secondary_ended(s, transfer_emit(s->t, &event) ? REFRESH_FAILED : end);
}

/* Whether a failed transfer may be the fault of the OPT record in our request. */
enum opt_doubt { OPT_UNDERSTOOD, OPT_PERHAPS, OPT_REFUSED };

/* Asks the same address without OPT, or for the whole zone. False: both were tried. */
static bool ask_round_transfer_otherwise(struct refresh_round *r, enum opt_doubt doubt)
{
	if (doubt == OPT_REFUSED && !r->known.is_plain)
		r->known.is_plain = true;
	else if (r->in->config.type == DNS_TYPE_IXFR)
		r->known.is_whole = true;
	else if (doubt == OPT_PERHAPS && !r->known.is_plain)
		r->known.is_plain = true;
	else
		return false;
	refresh_round_hang_up(r);
	refresh_round_step(r, refresh_round_transfer);
	return true;
}

/* A limit or a lack of memory would end another transfer, too; so would an older version. */
static bool may_ask_otherwise(enum xfr_in_result result)
{
	return result != XFR_IN_OLDER && result != XFR_IN_LIMIT_BYTES &&
	       result != XFR_IN_LIMIT_MESSAGES && result != XFR_IN_LIMIT_RECORDS &&
	       result != XFR_IN_SINK;
}

/* RFC 6891 section 7. */
static enum opt_doubt doubt_opt(const struct refresh_round *r, enum xfr_in_result result)
{
	if (result != XFR_IN_RCODE)
		return OPT_UNDERSTOOD;
	if (r->in->rcode == DNS_RCODE_FORMERR || r->in->rcode == DNS_RCODE_BADVERS)
		return OPT_REFUSED;
	return r->in->rcode == DNS_RCODE_NOTIMP ? OPT_PERHAPS : OPT_UNDERSTOOD;
}

/* The transfer has failed: asks the same address in another way, or the next one. */
static void refuse_round_transfer(struct refresh_round *r, enum xfr_in_result result)
{
	char rcode[PROTO_TEXT_MAX];
	struct xfr_in *in = r->in;

	if (result == XFR_IN_TSIG)
		transfer_count(r->s->t, tsig_bad);
	if (may_ask_otherwise(result) && ask_round_transfer_otherwise(r, doubt_opt(r, result)))
		return;
	transfer_count(r->s->t, in_failed);
	if (result == XFR_IN_RCODE) {
		proto_rcode_to_text(rcode, in->rcode);
		refresh_round_next(r, "the transfer was answered %s", rcode);
	} else if (result == XFR_IN_TSIG) {
		refresh_round_next(r, "%s", tsig_verdict_text(in->verdict, r->tsig.remote_error));
	} else if (result == XFR_IN_SINK && in->error == ERR_ZONE) {
		refresh_round_next(r, "%s", r->builder_error.sentence);
	} else if (result == XFR_IN_SINK) {
		refresh_round_next(r, "%s", err_text(in->error));
	} else if (result == XFR_IN_RDATA) {
		refresh_round_next(r, "%s: %s", xfr_in_text(result), in->refused);
	} else {
		refresh_round_next(r, "%s", xfr_in_text(result));
	}
}

static void transfer_anew(struct refresh_round *r)
{
	peer_close_idle(r->peer);
	refresh_round_transfer(r);
}

/* A server that starts another process when its zones change (nsd) may answer with the old process
 * as long as our connection lasts. */
static bool is_stale(const struct refresh_round *r, enum xfr_in_result result)
{
	return (result == XFR_IN_CURRENT || result == XFR_IN_OLDER) &&
	       !r->known.has_new_connection && exchange_is_reused(r->exchange) &&
	       (r->known.is_promised || secondary_is_notified_of_newer(r->s));
}

static int on_round_transfer_message(void *user, const uint8_t *msg, size_t n)
{
	struct refresh_round *r = user;
	bool was_ixfr = r->in->config.type == DNS_TYPE_IXFR;
	enum xfr_in_result result = xfr_in_message(r->in, msg, n, r->s->t->now.wall_s);
	bool is_old;

	if (result == XFR_IN_MORE)
		return EXCHANGE_MORE;
	is_old = is_stale(r, result);
	r->exchange = NULL; /* it is freed after this call */
	peer_is_alive(r->peer);
	if (r->in->has_expire)
		r->known.expire_left_s = r->in->expire_left_s;
	if (is_old) {
		r->known.has_new_connection = true;
		refresh_round_hang_up(r);
		refresh_round_step(r, transfer_anew);
		return ERR_CLOSED;
	}
	if (result == XFR_IN_DONE) {
		timer_cancel(&r->deadline);
		refresh_round_step(r, deliver);
		return EXCHANGE_DONE;
	}
	if (result == XFR_IN_CURRENT) {
		refresh_round_is_current(r);
		return was_ixfr ? EXCHANGE_DONE : ERR_CLOSED; /* the rest of an AXFR would follow */
	}
	refuse_round_transfer(r, result);
	return result == XFR_IN_RCODE ? EXCHANGE_DONE : ERR_FORMAT;
}

static void on_round_transfer_failed(void *user, int code, const char *why)
{
	struct refresh_round *r = user;
	bool is_sent = exchange_is_sent(r->exchange);
	bool is_closed = code != -ETIMEDOUT && !r->in->n_messages;

	r->exchange = NULL;
	if (is_sent && ask_round_transfer_otherwise(r, is_closed ? OPT_PERHAPS : OPT_UNDERSTOOD))
		return;
	transfer_count(r->s->t, in_failed);
	if (!r->in->n_messages)
		peer_is_dead(r->peer, r->s->t->now.ns);
	if (r->in->n_messages)
		refresh_round_next(r, "the transfer broke off: %s", why);
	else
		refresh_round_next(r, "%s", why);
}

/* Sets the deadline to the end of the time of the transfer, or of the time in which
 * SECONDARY_WATCH_BYTES have to come, whichever is earlier. */
static void watch_transfer(struct refresh_round *r)
{
	uint64_t watch_ns = SECONDARY_WATCH_S * CLOCK_NS_PER_S;
	uint64_t left_ns = r->ends_ns - r->s->t->now.ns;

	r->n_bytes_watched = r->in->n_bytes;
	loop_set(r->s->t, &r->deadline, left_ns < watch_ns ? left_ns : watch_ns);
}

static void on_deadline(void *user)
{
	struct refresh_round *r = user;

	if (r->s->t->now.ns < r->ends_ns &&
	    r->in->n_bytes - r->n_bytes_watched >= SECONDARY_WATCH_BYTES) {
		watch_transfer(r);
		return;
	}
	transfer_count(r->s->t, in_failed);
	if (r->s->t->now.ns < r->ends_ns)
		refresh_round_next(r, "the transfer is too slow: less than %u octets in %u s",
				   SECONDARY_WATCH_BYTES, SECONDARY_WATCH_S);
	else
		refresh_round_next(r, "the transfer took longer than %u s",
				   r->s->zone->config->transfer_s);
}

static int set_deadline(struct refresh_round *r)
{
	struct transfer *t = r->s->t;
	uint32_t transfer_s = r->s->zone->config->transfer_s;

	if (!r->deadline.all && timer_init(&r->deadline, &t->timers, on_deadline, r))
		return -ENOMEM;
	r->ends_ns = transfer_s ? t->now.ns + transfer_s * CLOCK_NS_PER_S : UINT64_MAX;
	watch_transfer(r);
	return 0;
}

/* Writes the request to @out, unsigned. Returns its length or an error. */
static int build_round_transfer(struct refresh_round *r, const struct zone *served, uint16_t type,
				uint8_t *out)
{
	struct xfr_request request = {
		.zone = r->s->zone->apex,
		.id = r->id,
		.type = type,
		.udp_size = r->known.is_plain ? 0 : UDP_QUERY_MAX,
		.wants_expire = true,
		.pads = r->remote->tls_ctx,
		.pad_room = r->remote->tls_ctx ? tsig_room(&r->tsig) : 0,
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

static int open_reader(struct refresh_round *r, const struct zone *served, uint16_t type)
{
	const struct xfr_in_config config = {
		.zone = r->s->zone->apex,
		.id = r->id,
		.type = type,
		.has_serial = served,
		.takes_older = r->wants == SECONDARY_WANTS_ANY,
		.serial = served ? zone_serial(served) : 0,
		.tsig = r->remote->key ? &r->tsig : NULL,
		.limits.n_bytes = r->s->zone->config->transfer_bytes,
		.limits.n_changes = served ? zone_n_records(served) + CHANGES_MORE : 0,
		.sink = { r, on_begin, on_record, on_changes },
	};

	r->in = malloc(sizeof(*r->in));
	if (!r->in)
		return -ENOMEM;
	xfr_in_init(r->in, &config);
	return set_deadline(r);
}

static int begin_round_transfer(struct refresh_round *r, const struct zone *served)
{
	static const struct exchange_handlers handlers = { on_round_transfer_message,
							   on_round_transfer_failed };
	bool is_whole = r->wants != SECONDARY_WANTS_NEWER || r->known.is_whole || !served ||
			!config_zone_asks_ixfr(r->s->zone->config);
	uint16_t type = is_whole ? DNS_TYPE_AXFR : DNS_TYPE_IXFR;
	uint8_t msg[XFR_REQUEST_MAX + TSIG_MAX];
	int n;

	r->id = random_u16(&r->s->t->random);
	tsig_init(&r->tsig, r->remote->key);
	n = open_reader(r, served, type);
	if (!n)
		n = build_round_transfer(r, served, type, msg);
	if (n > 0)
		n = tsig_sign(&r->tsig, msg, (size_t)n, sizeof(msg), r->s->t->now.wall_s);
	if (n > 0)
		n = exchange_begin(&r->exchange, r->s->t, r->remote, r->peer, msg, (size_t)n,
				   &handlers, r);
	return n;
}

void refresh_round_transfer(struct refresh_round *r)
{
	struct zone *served = served_get(r->s->t, r->s->zone);
	int code = begin_round_transfer(r, served);

	zone_unref(served);
	if (!code)
		return;
	transfer_count(r->s->t, in_failed);
	peer_is_dead(r->peer, r->s->t->now.ns);
	refresh_round_next(r, "%s", err_text(code));
}
