/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A refresh round: asks the primaries in turn, all addresses of each, until one has nothing newer
 * or gives a newer version. Handlers only note the next step: refresh_round_step() lets the loop
 * run it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "transfer/secondary.h"

static const struct refresh_known nothing_known = { .expire_left_s = UINT32_MAX };

static void ask_next(struct refresh_round *r);
static void ask_soa(struct refresh_round *r);

static void on_round_step(evutil_socket_t fd, short what, void *user)
{
	struct refresh_round *r = user;

	(void)fd, (void)what;
	loop_wake(r->s->t);
	r->do_step(r);
}

void refresh_round_step(struct refresh_round *r, void (*do_step)(struct refresh_round *r))
{
	const struct timeval at_once = { 0 };

	r->do_step = do_step;
	(void)evtimer_add(r->step, &at_once); /* it was added before, so there is memory */
}

void refresh_round_hang_up(struct refresh_round *r)
{
	udp_query_abort(r->query);
	r->query = NULL;
	exchange_abort(r->exchange);
	r->exchange = NULL;
	refresh_round_drop_content(r);
	tsig_fini(&r->tsig);
}

static void free_round(struct refresh_round *r)
{
	if (!r)
		return;
	refresh_round_hang_up(r);
	r->s->t->secondary->n_small -= r->n_small_bytes > 0;
	r->s->t->secondary->n_small_bytes -= r->n_small_bytes;
	if (r->step)
		event_free(r->step);
	timer_fini(&r->deadline);
	remotes_put(r->remotes);
	free(r);
}

void refresh_round_end(struct secondary_zone *s)
{
	free_round(s->round);
	s->round = NULL;
	if (s->place)
		slots_leave(s->place);
	free(s->place);
	s->place = NULL;
}

static void note_round_error(struct refresh_round *r, const char *format, va_list args)
{
	char text[PORT_ADDR_TEXT_CAP], why[256];

	vsnprintf(why, sizeof(why), format, args);
	sentence_set(&r->s->error, "%s %s: %s", r->remote->name,
		     port_addr_text(&r->peer->addr, text), why);
}

void refresh_round_next(struct refresh_round *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note_round_error(r, format, args);
	va_end(args);
	refresh_round_hang_up(r);
	r->primaries[r->at_primary].has_failed = true;
	r->known = nothing_known;
	r->at_address++;
	refresh_round_step(r, ask_next);
}

static void end_round_current(struct refresh_round *r)
{
	secondary_ended(r->s, REFRESH_CURRENT);
}

void refresh_round_is_current(struct refresh_round *r)
{
	char text[PORT_ADDR_TEXT_CAP];

	r->was_current = true;
	if (r->known.expire_left_s > r->current_expire_left_s)
		r->current_expire_left_s = r->known.expire_left_s;
	r->known = nothing_known;
	sentence_set(&r->s->remote, "%s %s", r->remote->name, port_addr_text(&r->peer->addr, text));
	peer_is_alive(r->peer);
	refresh_round_hang_up(r);
	if (secondary_is_notified_of_newer(r->s)) { /* another primary may have it */
		r->at_primary++;
		r->at_address = 0;
		refresh_round_step(r, ask_next);
		return;
	}
	refresh_round_step(r, end_round_current);
}

static enum slot_rank rank_of_round(const struct secondary_zone *s)
{
	if (s->round ? s->round->is_asked : s->is_asked_next)
		return SLOT_ASKED;
	return s->is_prompted ? SLOT_PROMPTED : SLOT_OTHER;
}

static int enter_round(struct secondary_zone *s, struct slots *slots, const char *name)
{
	slots_leave(s->place);
	return slots_enter(slots, s->place, name, rank_of_round(s));
}

static bool is_by_stream(const struct refresh_round *r)
{
	return r->s->place->slots == &r->s->t->secondary->stream_checks;
}

static bool is_transferring(const struct refresh_round *r)
{
	return r->s->place->slots == &r->s->t->secondary->transfers;
}

static void transfer_in_turn(struct refresh_round *r)
{
	refresh_round_hang_up(r);
	if (enter_round(r->s, &r->s->t->secondary->transfers, r->remote->name))
		refresh_round_next(r, "%s", err_text(-ENOMEM));
}

/* RFC 6891 section 7, and what servers without EDNS answer in its place. */
static bool is_opt_refused(const struct refresh_round *r, uint16_t rcode)
{
	return !r->known.is_plain && (rcode == DNS_RCODE_FORMERR || rcode == DNS_RCODE_NOTIMP ||
				      rcode == DNS_RCODE_BADVERS);
}

static void take_round_soa(struct refresh_round *r, const struct xfr_request_soa *soa)
{
	uint32_t serial;

	peer_is_alive(r->peer);
	r->known.expire_left_s = soa->has_expire ? soa->expire_left_s : UINT32_MAX;
	if (is_opt_refused(r, soa->rcode)) {
		r->known.is_plain = true;
		refresh_round_hang_up(r);
		refresh_round_step(r, ask_soa);
	} else if (soa->rcode || !soa->has_soa || !soa->is_authority) {
		/* Some servers give a zone to us and its SOA to nobody. */
		transfer_in_turn(r);
	} else if (!served_serial(r->s->t, r->s->zone, &serial) ||
		   xfr_serial_newer(soa->serial, serial)) {
		r->known.is_promised = true;
		transfer_in_turn(r);
	} else if (soa->serial == serial) {
		refresh_round_is_current(r);
	} else {
		refresh_round_next(r, "its serial number %u is lower than ours, %u", soa->serial,
				   serial);
	}
}

/* Writes the SOA query; returns its length or an error. */
static int build_soa_query(struct refresh_round *r, uint8_t *out, size_t cap, bool is_tls)
{
	const struct xfr_request request = {
		.zone = r->s->zone->apex,
		.id = r->id,
		.type = DNS_TYPE_SOA,
		.udp_size = r->known.is_plain ? 0 : UDP_QUERY_MAX,
		.wants_expire = true,
		.pads = is_tls,
		.pad_room = is_tls ? tsig_room(&r->tsig) : 0,
	};

	return xfr_request_build(out, cap, &request);
}

static int on_soa_message(void *user, const uint8_t *msg, size_t n)
{
	struct refresh_round *r = user;
	enum tsig_verdict verdict = tsig_verify(&r->tsig, msg, n, r->s->t->now.wall_s, NULL);
	struct xfr_request_soa soa;

	r->exchange = NULL;
	if (verdict != TSIG_OK) {
		transfer_count(r->s->t, tsig_bad);
		transfer_in_turn(r);
		return ERR_TSIG;
	}
	if (xfr_request_read_soa(&soa, msg, n, r->id, r->s->zone->apex) || soa.is_truncated) {
		transfer_in_turn(r);
		return ERR_FORMAT;
	}
	take_round_soa(r, &soa);
	return EXCHANGE_DONE;
}

static void on_soa_failed(void *user, int code, const char *why)
{
	struct refresh_round *r = user;
	bool was_closed = exchange_is_sent(r->exchange) && code != -ETIMEDOUT;

	r->exchange = NULL;
	if (was_closed) {
		transfer_in_turn(r);
		return;
	}
	peer_is_dead(r->peer, r->s->t->now.ns);
	refresh_round_next(r, "%s", why);
}

static void send_soa_by_stream(struct refresh_round *r)
{
	static const struct exchange_handlers handlers = { on_soa_message, on_soa_failed };
	uint8_t msg[XFR_REQUEST_MAX + TSIG_MAX];
	int n;

	transfer_count(r->s->t, soa_asked);
	r->id = random_u16(&r->s->t->random);
	tsig_init(&r->tsig, r->remote->key);
	n = build_soa_query(r, msg, XFR_REQUEST_MAX, r->remote->tls_ctx);
	if (n > 0)
		n = tsig_sign(&r->tsig, msg, (size_t)n, sizeof(msg), r->s->t->now.wall_s);
	if (n > 0)
		n = exchange_begin(&r->exchange, r->s->t, r->remote, r->peer, msg, (size_t)n,
				   &handlers, r);
	if (n)
		refresh_round_next(r, "%s", err_text(n));
}

/* Each connection needs a slot for connections. */
static void ask_soa_by_stream(struct refresh_round *r)
{
	if (is_by_stream(r))
		send_soa_by_stream(r);
	else if (enter_round(r->s, &r->s->t->secondary->stream_checks, r->remote->name))
		refresh_round_next(r, "%s", err_text(-ENOMEM));
}

static void on_soa_reply(void *user, int code, const uint8_t *msg, size_t n)
{
	struct refresh_round *r = user;
	const char *bad_tsig = udp_query_bad_tsig(r->query);
	struct xfr_request_soa soa;

	r->query = NULL;
	if (code == ERR_TSIG) {
		refresh_round_next(r, "%s", bad_tsig);
		return;
	}
	if (!code)
		code = xfr_request_read_soa(&soa, msg, n, wire_load_be16(msg + DNS_ID_AT),
					    r->s->zone->apex);
	if (code)
		peer_is_by_stream(r->peer, r->s->t->now.ns);
	if (code || soa.is_truncated)
		r->known.way = REFRESH_BY_STREAM;
	if (r->known.way == REFRESH_BY_STREAM)
		refresh_round_step(r, ask_soa_by_stream);
	else
		take_round_soa(r, &soa);
}

static void ask_soa(struct refresh_round *r)
{
	uint8_t msg[XFR_REQUEST_MAX];
	int n;

	if (r->known.way == REFRESH_BY_STREAM || r->remote->tls_ctx ||
	    peer_wants_stream(r->peer, r->s->t->now.ns)) {
		ask_soa_by_stream(r);
		return;
	}
	transfer_count(r->s->t, soa_asked);
	n = build_soa_query(r, msg, sizeof(msg), false);
	if (n > 0)
		n = udp_query_start(&r->query, r->s->t, r->remote, r->peer, msg, (size_t)n,
				    on_soa_reply, r);
	if (!n)
		return;
	peer_is_dead(r->peer, r->s->t->now.ns);
	refresh_round_next(r, "%s", err_text(n));
}

/* A peer that has not answered lately is left out, unless the round is by command or the peer has
 * sent the NOTIFY. */
static bool is_to_be_asked(const struct refresh_round *r, const struct peer *peer, uint64_t now_ns)
{
	return r->is_asked || !peer_is_shunned(peer, now_ns) ||
	       port_addr_same_host(&r->s->notified_by, &peer->addr);
}

/* Finds the next address to ask. False: there is none. */
static bool find_round_next(struct refresh_round *r)
{
	uint64_t now_ns = r->s->t->now.ns;

	for (; r->at_primary < r->n_primaries; r->at_primary++, r->at_address = 0) {
		r->remote = r->primaries[r->at_primary].remote;
		for (; r->at_address < r->remote->n_peers; r->at_address++) {
			r->peer = &r->remote->peers[r->at_address];
			if (is_to_be_asked(r, r->peer, now_ns))
				return true;
			r->primaries[r->at_primary].has_failed = true;
			if (!sentence_is_set(&r->s->error))
				sentence_set(&r->s->error, "%s has not answered lately",
					     r->remote->name);
		}
	}
	return false;
}

static void ask_next(struct refresh_round *r)
{
	if (!find_round_next(r))
		secondary_ended(r->s, r->was_current ? REFRESH_CURRENT : REFRESH_FAILED);
	else if (is_transferring(r))
		refresh_round_transfer(r);
	else
		ask_soa(r);
}

/* 0: the sender of the NOTIFY, asked first; 2: the remote that failed last time, asked last. */
static int place_of_round(const struct secondary_zone *s, const struct remote *remote)
{
	if (s->notified_by.family && remote_has(remote, &s->notified_by))
		return 0;
	return strcmp(remote->name, sentence_text(&s->last_failed)) ? 1 : 2;
}

static void line_up(struct refresh_round *r)
{
	char **names = r->s->zone->config->primaries;

	for (int place = 0; place < 3; place++) {
		for (size_t i = 0; names[i]; i++) {
			struct remote *remote = remotes_find(r->remotes, names[i]);

			if (remote && place_of_round(r->s, remote) == place)
				r->primaries[r->n_primaries++].remote = remote;
		}
	}
}

static int make_round(struct refresh_round **out, struct secondary_zone *s)
{
	struct refresh_round *r;
	size_t n = 0;

	while (s->zone->config->primaries[n])
		n++;
	r = calloc(1, sizeof(*r) + n * sizeof(r->primaries[0]));
	if (!r)
		return -ENOMEM;
	r->s = s;
	r->known = nothing_known;
	r->remotes = remotes_get(s->t->remotes);
	r->step = evtimer_new(s->t->base, on_round_step, r);
	if (!r->step) {
		free_round(r);
		return -ENOMEM;
	}
	line_up(r);
	*out = r;
	return 0;
}

/* What a round that begins now asks for. */
static enum secondary_wants wants_of_round(const struct secondary_zone *s)
{
	uint32_t serial;

	if (s->wants_next == SECONDARY_WANTS_NEWER && !served_serial(s->t, s->zone, &serial))
		return SECONDARY_WANTS_WHOLE;
	return s->wants_next;
}

static void start_round(struct secondary_zone *s)
{
	struct refresh_round *r;

	if (make_round(&r, s)) {
		secondary_ended(s, REFRESH_FAILED); /* without memory */
		return;
	}
	r->is_asked = s->is_asked_next;
	r->wants = wants_of_round(s);
	s->wants_next = SECONDARY_WANTS_NEWER;
	s->is_asked_next = false;
	sentence_clear(&s->error);
	s->round = r;
	refresh_round_step(r, ask_next);
}

/* A slot for the zone: for its first query or, later, for its transfer. */
static void has_round_place(void *user)
{
	struct secondary_zone *s = user;

	if (s->round)
		refresh_round_step(s->round, ask_next);
	else
		start_round(s);
}

/* The remote that a round would ask first; "": there is none. */
static const char *first_of_round(const struct secondary_zone *s)
{
	const char *first = "";
	int best = 3;

	for (char **name = s->zone->config->primaries; *name; name++) {
		const struct remote *remote = remotes_find(s->t->remotes, *name);

		if (remote && place_of_round(s, remote) < best) {
			best = place_of_round(s, remote);
			first = remote->name;
		}
	}
	return first;
}

int refresh_round_begin(struct secondary_zone *s)
{
	struct secondary *all = s->t->secondary;
	/* A NOTIFY with a newer serial number saves the SOA query. */
	bool is_transfer =
		wants_of_round(s) != SECONDARY_WANTS_NEWER ||
		(config_zone_asks_ixfr(s->zone->config) && secondary_is_notified_of_newer(s));
	int code;

	if (!s->place)
		s->place = calloc(1, sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	s->place->go = has_round_place;
	s->place->user = s;
	code = enter_round(s, is_transfer ? &all->transfers : &all->checks, first_of_round(s));
	if (code)
		refresh_round_end(s);
	return code;
}
