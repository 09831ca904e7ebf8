/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control's calls to the transfer thread.
 */
#include "transfer/transfer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "tap/tap.h"
#include "transfer/transfer_thread.h"
#include "transfer/primary.h"
#include "transfer/remotes.h"
#include "transfer/secondary.h"
#include "port/tls_listener.h"
#include "transfer/primary_state.h"

/* The main thread handles all signals: the new thread inherits a mask that blocks them. */
static int start_transfer(struct transfer *t)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&t->pthread, NULL, loop_run, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -err;
	pthread_setname_np(t->pthread, "volley-xfr");
	t->is_running = true;
	return 0;
}

int transfer_new(struct transfer **out, const struct transfer_env *env, transfer_event_fn *event,
		 void *user)
{
	struct transfer *t = calloc(1, sizeof(*t));
	int code;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->env = *env;
	t->event = event;
	t->user = user;
	t->read_clock = clock_read;
	code = loop_open(t);
	if (!code)
		code = start_transfer(t);
	if (code) {
		transfer_stop(t);
		transfer_free(t);
		return code;
	}
	*out = t;
	return 0;
}

void transfer_stop(struct transfer *t)
{
	if (t->is_running) {
		__atomic_store_n(&t->is_stopping, true, __ATOMIC_RELEASE);
		mailbox_wake(&t->to_loop);
		pthread_join(t->pthread, NULL);
		t->is_running = false;
	}
	loop_close(t);
	tap_producer_free(t->env.tap, t->tap);
	t->tap = NULL;
	/* Otherwise the kernel would give some connections to these sockets, which nothing accepts
	 * from, instead of those of the next volleyd. */
	tls_listener_forget(t->tls_kept);
	t->tls_kept = NULL;
	transfer_drop_events(t);
}

void transfer_free(struct transfer *t)
{
	if (!t)
		return;
	mailbox_close(&t->to_loop);
	mailbox_close(&t->to_control);
	free(t);
}

struct call_configure {
	struct call call;
	struct remotes *remotes;
	struct primary_settings *settings;
};

static void run_configure(struct transfer *t, struct call *call)
{
	struct call_configure *c = (struct call_configure *)call;
	struct remotes *old = t->remotes;

	t->remotes = c->remotes;
	primary_configure(t, c->settings);
	secondary_configured(t);
	remotes_put(old);
}

int transfer_configure(struct transfer *t, const struct config *config, char *err, size_t err_cap)
{
	struct call_configure c = { .call.run = run_configure };
	int code = remotes_new(&c.remotes, config, err, err_cap);

	if (code)
		return code;
	code = primary_prepare(&c.settings, t, config, err, err_cap);
	if (code) {
		remotes_put(c.remotes);
		return code;
	}
	call_post(t, &c.call, sizeof(c));
	return 0;
}

int transfer_check(const struct config *config, char *err, size_t err_cap)
{
	struct remotes *remotes;
	int code = remotes_new(&remotes, config, err, err_cap);

	if (code)
		return code;
	remotes_put(remotes);
	return server_tls_check(config, err, err_cap);
}

struct call_zone {
	struct call call;
	struct transfer_zone *zone;
	struct transfer_past past;
};

static void run_put_zone(struct transfer *t, struct call *call)
{
	struct call_zone *c = (struct call_zone *)call;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, c->zone->apex);

	if (zone) {
		transfer_zone_adopt(zone, c->zone);
	} else {
		zone = c->zone;
		if (transfer_zones_insert(&t->zones, zone)) {
			transfer_zone_free(zone);
			return;
		}
	}
	secondary_put_zone(t, zone, &c->past);
	primary_put_zone(t, zone);
}

int transfer_put_zone(struct transfer *t, const uint8_t *apex, const struct config_zone *zone,
		      const struct transfer_past *past)
{
	struct call_zone c = { .call.run = run_put_zone };

	c.zone = transfer_zone_new(apex, zone);
	if (!c.zone)
		return -ENOMEM;
	if (past)
		c.past = *past;
	call_post(t, &c.call, sizeof(c));
	return 0;
}

/* The place in the table, the rounding of malloc(), and the name of the last remote. */
size_t transfer_zone_bytes(unsigned int apex_len, bool is_secondary)
{
	const size_t zone = sizeof(struct transfer_zone) + apex_len + 2 * sizeof(void *) + 16;

	return is_secondary ? zone + sizeof(struct secondary_zone) + 2 * sizeof(void *) + 64 : zone;
}

/* A call about one zone. */
struct call_word {
	struct call call;
	uint8_t apex[DNS_NAME_MAX];
	int value;
	int *result;
};

static void say_transfer(struct transfer *t, const uint8_t *apex, struct call_word *c)
{
	memcpy(c->apex, apex, name_bytes(apex));
	if (c->result)
		call_wait(t, &c->call);
	else
		call_post(t, &c->call, sizeof(*c));
}

static void run_drop_zone(struct transfer *t, struct call *call)
{
	struct transfer_zone *zone =
		transfer_zones_find(&t->zones, ((struct call_word *)call)->apex);

	if (!zone)
		return;
	secondary_drop_zone(zone);
	primary_drop_zone(t, zone);
	transfer_zones_remove(&t->zones, zone);
	transfer_zone_free(zone);
}

void transfer_drop_zone(struct transfer *t, const uint8_t *apex)
{
	struct call_word c = { .call.run = run_drop_zone };

	say_transfer(t, apex, &c);
}

static void run_settled(struct transfer *t, struct call *call)
{
	struct call_word *c = (struct call_word *)call;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, c->apex);

	if (zone)
		secondary_settled(zone, c->value);
}

void transfer_settled(struct transfer *t, const uint8_t *apex, int code)
{
	struct call_word c = { .call.run = run_settled, .value = code };

	say_transfer(t, apex, &c);
}

static void run_published(struct transfer *t, struct call *call)
{
	struct call_word *c = (struct call_word *)call;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, c->apex);

	if (zone)
		primary_notify(t, zone);
}

void transfer_published(struct transfer *t, const uint8_t *apex)
{
	struct call_word c = { .call.run = run_published };

	say_transfer(t, apex, &c);
}

struct call_answer {
	struct call call;
	void *request;
	unsigned int rcode;
};

static void run_answer(struct transfer *t, struct call *call)
{
	struct call_answer *c = (struct call_answer *)call;

	primary_answer(t, c->request, c->rcode);
}

void transfer_answer(struct transfer *t, void *request, unsigned int rcode)
{
	struct call_answer c = {
		.call.run = run_answer,
		.request = request,
		.rcode = rcode,
	};

	if (t->is_running)
		call_post(t, &c.call, sizeof(c));
}

static void run_refresh(struct transfer *t, struct call *call)
{
	struct call_word *c = (struct call_word *)call;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, c->apex);

	*c->result = zone && zone->secondary ? 0 : ERR_NOT_FOUND;
	if (!*c->result)
		secondary_refresh(zone, c->value);
}

int transfer_refresh(struct transfer *t, const uint8_t *apex, bool whole)
{
	int result;
	struct call_word c = { .call.run = run_refresh, .value = whole, .result = &result };

	say_transfer(t, apex, &c);
	return result;
}

static void run_notify(struct transfer *t, struct call *call)
{
	struct call_word *c = (struct call_word *)call;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, c->apex);

	*c->result = zone ? 0 : ERR_NOT_FOUND;
	if (zone)
		primary_notify(t, zone);
}

int transfer_notify(struct transfer *t, const uint8_t *apex)
{
	int result;
	struct call_word c = { .call.run = run_notify, .result = &result };

	say_transfer(t, apex, &c);
	return result;
}

struct call_statuses {
	struct call call;
	const uint8_t *const *apexes;
	struct transfer_status *out;
	size_t n;
};

static void run_statuses(struct transfer *t, struct call *call)
{
	struct call_statuses *c = (struct call_statuses *)call;

	for (size_t i = 0; i < c->n; i++) {
		struct transfer_zone *zone = transfer_zones_find(&t->zones, c->apexes[i]);

		c->out[i] = (struct transfer_status){ .is_known = zone };
		if (zone)
			secondary_status(zone, &c->out[i]);
	}
}

void transfer_statuses(struct transfer *t, const uint8_t *const *apexes,
		       struct transfer_status *out, size_t n)
{
	struct call_statuses c = { .call.run = run_statuses, .apexes = apexes, .out = out, .n = n };

	call_wait(t, &c.call);
}

int transfer_status(struct transfer *t, const uint8_t *apex, struct transfer_status *out)
{
	transfer_statuses(t, &apex, out, 1);
	return out->is_known ? 0 : ERR_NOT_FOUND;
}

void transfer_counters_read(const struct transfer *t, struct transfer_counters *out)
{
	const uint64_t *from = (const uint64_t *)&t->counters;
	uint64_t *to = (uint64_t *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

uint64_t transfer_certificate_end(const struct transfer *t)
{
	return tls_listener_certificate_end(t->tls_kept);
}

void transfer_answers_add(const struct transfer *t, struct engine_answers *sum)
{
	const uint64_t *from = (const uint64_t *)&t->answers;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
