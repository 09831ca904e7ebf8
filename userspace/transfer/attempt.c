/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A round of asking: the primaries in turn, of each all addresses, until one is current or gives what is
 * newer. Handlers only note what is to be done next: attempt_step() does it, from the loop.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "transfer/secondary.h"

static const struct attempt_known nothing_known = { .expire_left_s = UINT32_MAX };

static void ask_next(struct attempt *a);

static void on_step(evutil_socket_t fd, short what, void *user)
{
	struct attempt *a = user;

	(void)fd, (void)what;
	loop_wake(a->s->t);
	a->do_step(a);
}

void attempt_step(struct attempt *a, void (*do_step)(struct attempt *a))
{
	const struct timeval at_once = { 0 };

	a->do_step = do_step;
	(void)evtimer_add(a->step, &at_once); /* it was added before, so there is memory */
}

void attempt_hang_up(struct attempt *a)
{
	ask_abort(a->ask);
	a->ask = NULL;
	exchange_abort(a->exchange);
	a->exchange = NULL;
	attempt_drop_content(a);
	tsig_fini(&a->tsig);
}

void attempt_free(struct attempt *a)
{
	if (!a)
		return;
	attempt_hang_up(a);
	lane_leave(&a->place);
	a->s->t->secondary->n_small -= a->is_small;
	if (a->step)
		event_free(a->step);
	timer_fini(&a->deadline);
	book_put(a->book);
	free(a);
}

/* "hidden 192.0.2.1@53" */
static void name_peer(const struct attempt *a, char *out, size_t cap)
{
	char text[PORT_ADDR_TEXT_CAP];

	snprintf(out, cap, "%s %s", a->remote->name, port_addr_text(&a->peer->addr, text));
}

static void note_error(struct attempt *a, const char *format, va_list args)
{
	char *at = a->s->error;
	size_t n, cap = sizeof(a->s->error);

	name_peer(a, at, cap);
	n = strlen(at);
	n += (size_t)snprintf(at + n, cap - n, ": ");
	if (n < cap)
		vsnprintf(at + n, cap - n, format, args);
}

void attempt_next(struct attempt *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note_error(a, format, args);
	va_end(args);
	attempt_hang_up(a);
	a->primaries[a->at_primary].has_failed = true;
	a->known = nothing_known;
	a->at_address++;
	attempt_step(a, ask_next);
}

static void end_current(struct attempt *a)
{
	secondary_ended(a->s, ATTEMPT_CURRENT);
}

void attempt_is_current(struct attempt *a)
{
	a->was_current = true;
	if (a->known.expire_left_s > a->current_expire_left_s)
		a->current_expire_left_s = a->known.expire_left_s;
	a->known = nothing_known;
	name_peer(a, a->s->remote, sizeof(a->s->remote));
	peer_is_alive(a->peer);
	attempt_hang_up(a);
	if (secondary_is_told_of_newer(a->s)) { /* another one has it, perhaps */
		a->at_primary++;
		a->at_address = 0;
		attempt_step(a, ask_next);
		return;
	}
	attempt_step(a, end_current);
}

static void failed_to_answer(struct attempt *a, int code)
{
	peer_is_dead(a->peer, a->s->t->now.ns);
	attempt_next(a, "%s", code == -ETIMEDOUT ? "no answer" : err_text(code));
}

static void has_place(void *user)
{
	attempt_step(user, ask_next);
}

static int enter(struct attempt *a, struct lane *lane, const char *name)
{
	lane_leave(&a->place);
	return lane_enter(lane, &a->place, name);
}

static bool is_transferring(const struct attempt *a)
{
	return a->place.lane == &a->s->t->secondary->transfers;
}

static void take_newer(struct attempt *a)
{
	attempt_hang_up(a);
	a->known.is_promised = true;
	if (enter(a, &a->s->t->secondary->transfers, a->remote->name))
		attempt_next(a, "%s", err_text(-ENOMEM));
}

static void take_soa(struct attempt *a, const struct xfr_request_soa *soa)
{
	char rcode[PROTO_TEXT_MAX];
	uint32_t serial;

	peer_is_alive(a->peer);
	a->known.expire_left_s = soa->has_expire ? soa->expire_left_s : UINT32_MAX;
	if (soa->rcode) {
		proto_rcode_to_text(rcode, soa->rcode);
		attempt_next(a, "the SOA query was answered %s", rcode);
	} else if (!soa->has_soa || !soa->is_authority) {
		attempt_next(a, "it has no authority for the zone");
	} else if (!served_serial(a->s->t, a->s->zone, &serial) ||
		   xfr_serial_newer(soa->serial, serial)) {
		take_newer(a);
	} else if (soa->serial == serial) {
		attempt_is_current(a);
	} else {
		attempt_next(a, "its serial number %u is lower than ours, %u", soa->serial, serial);
	}
}

/* A message as it is sent on a stream; returns its length or an error. */
static int build_soa_query(struct attempt *a, uint8_t *out, size_t cap, bool is_tls)
{
	const struct xfr_request request = {
		.zone = a->s->zone->apex,
		.id = a->id,
		.type = DNS_TYPE_SOA,
		.udp_size = ASK_MESSAGE_MAX,
		.wants_expire = true,
		.pads = is_tls,
		.pad_room = is_tls ? tsig_room(&a->tsig) : 0,
	};

	return xfr_request_build(out, cap, &request);
}

static int on_soa_message(void *user, const uint8_t *msg, size_t n)
{
	struct attempt *a = user;
	enum tsig_verdict verdict = tsig_verify(&a->tsig, msg, n, a->s->t->now.wall_s, NULL);
	struct xfr_request_soa soa;

	a->exchange = NULL;
	if (verdict != TSIG_OK) {
		transfer_count(a->s->t, tsig_bad);
		attempt_next(a, "%s", tsig_verdict_text(verdict, a->tsig.remote_error));
		return ERR_TSIG;
	}
	if (xfr_request_read_soa(&soa, msg, n, a->id, a->s->zone->apex) || soa.is_truncated) {
		attempt_next(a, "the reply to the SOA query is malformed");
		return ERR_FORMAT;
	}
	take_soa(a, &soa);
	return EXCHANGE_DONE;
}

static void on_soa_failed(void *user, int code, const char *why)
{
	struct attempt *a = user;

	a->exchange = NULL;
	(void)code;
	peer_is_dead(a->peer, a->s->t->now.ns);
	attempt_next(a, "%s", why);
}

static void ask_soa_by_stream(struct attempt *a)
{
	static const struct exchange_handlers handlers = { on_soa_message, on_soa_failed };
	uint8_t msg[XFR_REQUEST_MAX + TSIG_MAX];
	int n;

	a->id = random_u16(&a->s->t->random);
	tsig_init(&a->tsig, a->remote->key);
	n = build_soa_query(a, msg, XFR_REQUEST_MAX, a->remote->tls_ctx);
	if (n > 0)
		n = tsig_sign(&a->tsig, msg, (size_t)n, sizeof(msg), a->s->t->now.wall_s);
	if (n > 0)
		n = exchange_begin(&a->exchange, a->s->t, a->remote, a->peer, msg, (size_t)n,
				   &handlers, a);
	if (n)
		attempt_next(a, "%s", err_text(n));
}

static void on_soa_reply(void *user, int code, const uint8_t *msg, size_t n)
{
	struct attempt *a = user;
	const char *bad_tsig = ask_bad_tsig(a->ask);
	struct xfr_request_soa soa;

	a->ask = NULL;
	if (code == ERR_TSIG) {
		attempt_next(a, "%s", bad_tsig);
		return;
	}
	if (code) {
		failed_to_answer(a, code);
		return;
	}
	code = xfr_request_read_soa(&soa, msg, n, wire_load_be16(msg + DNS_ID_AT),
				    a->s->zone->apex);
	if (code)
		attempt_next(a, "the reply to the SOA query is malformed");
	else if (soa.is_truncated)
		attempt_step(a, ask_soa_by_stream);
	else
		take_soa(a, &soa);
}

static void ask_soa(struct attempt *a)
{
	uint8_t msg[XFR_REQUEST_MAX];
	int n;

	transfer_count(a->s->t, soa_asked);
	if (a->remote->tls_ctx) {
		ask_soa_by_stream(a);
		return;
	}
	n = build_soa_query(a, msg, sizeof(msg), false);
	if (n > 0)
		n = ask_start(&a->ask, a->s->t, a->remote, a->peer, msg, (size_t)n, on_soa_reply,
			      a);
	if (n)
		failed_to_answer(a, n);
}

/* Who has not answered lately is left out, but where a person wants it asked or it has told us itself. */
static bool is_to_be_asked(const struct attempt *a, const struct peer *peer, uint64_t now_ns)
{
	return a->is_asked || !peer_is_shunned(peer, now_ns) ||
	       port_addr_same_host(&a->s->teller, &peer->addr);
}

/* False: there is no other. */
static bool find_next(struct attempt *a)
{
	uint64_t now_ns = a->s->t->now.ns;

	for (; a->at_primary < a->n_primaries; a->at_primary++, a->at_address = 0) {
		a->remote = a->primaries[a->at_primary].remote;
		for (; a->at_address < a->remote->n_peers; a->at_address++) {
			a->peer = &a->remote->peers[a->at_address];
			if (is_to_be_asked(a, a->peer, now_ns))
				return true;
			a->primaries[a->at_primary].has_failed = true;
			if (!*a->s->error)
				snprintf(a->s->error, sizeof(a->s->error),
					 "%s has not answered lately", a->remote->name);
		}
	}
	return false;
}

static void ask_next(struct attempt *a)
{
	if (!find_next(a))
		secondary_ended(a->s, a->was_current ? ATTEMPT_CURRENT : ATTEMPT_FAILED);
	else if (is_transferring(a))
		attempt_transfer(a);
	else
		ask_soa(a);
}

/* Who told us is asked first, who failed last time last. */
static int place_of(const struct secondary_zone *s, const struct book_remote *remote)
{
	if (s->teller.family && book_remote_has(remote, &s->teller))
		return 0;
	return strcmp(remote->name, s->last_failed) ? 1 : 2;
}

static void line_up(struct attempt *a)
{
	char **names = a->s->zone->config.primaries;

	for (int place = 0; place < 3; place++) {
		for (size_t i = 0; names[i]; i++) {
			struct book_remote *remote = book_remote(a->book, names[i]);

			if (remote && place_of(a->s, remote) == place)
				a->primaries[a->n_primaries++].remote = remote;
		}
	}
}

static int make(struct attempt **out, struct secondary_zone *s)
{
	struct attempt *a;
	size_t n = 0;

	while (s->zone->config.primaries[n])
		n++;
	a = calloc(1, sizeof(*a) + n * sizeof(a->primaries[0]));
	if (!a)
		return -ENOMEM;
	a->s = s;
	a->known = nothing_known;
	a->book = book_get(s->t->book);
	a->place.go = has_place;
	a->place.user = a;
	a->step = evtimer_new(s->t->base, on_step, a);
	if (!a->step) {
		attempt_free(a);
		return -ENOMEM;
	}
	line_up(a);
	*out = a;
	return 0;
}

int attempt_begin(struct secondary_zone *s)
{
	struct secondary *all = s->t->secondary;
	struct attempt *a;
	uint32_t serial;
	bool is_served = served_serial(s->t, s->zone, &serial);
	int code = make(&a, s);

	if (code)
		return code;
	a->is_asked = s->is_asked_next;
	a->wants = s->wants_next;
	if (!is_served && a->wants == SECONDARY_WANTS_NEWER)
		a->wants = SECONDARY_WANTS_WHOLE;
	/* A NOTIFY with a newer serial number saves the SOA query. */
	if (a->wants != SECONDARY_WANTS_NEWER ||
	    (config_zone_asks_ixfr(&s->zone->config) && secondary_is_told_of_newer(a->s)))
		code = enter(a, &all->transfers,
			     a->n_primaries ? a->primaries[0].remote->name : "");
	else
		code = enter(a, &all->checks, a->n_primaries ? a->primaries[0].remote->name : "");
	if (code) {
		attempt_free(a);
		return code;
	}
	s->wants_next = SECONDARY_WANTS_NEWER;
	s->is_asked_next = false;
	s->error[0] = '\0';
	s->attempt = a;
	return 0;
}
