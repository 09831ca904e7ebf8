/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/secondary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/wire.h"
#include "transfer/transfer_events.h"

#define JITTER_PARTS   10 /* a time is shortened by up to a tenth */
#define N_TRANSFERS    10 /* until there is a configuration */
#define BACKOFF_MAX_S  3600
#define QUIET_FIRST_NS (250 * CLOCK_NS_PER_MS)
#define QUIET_DOUBLED  8
/* the longest timer, whatever the stored state says */
#define FAR_S (100ull * 365 * 86400)

static void begin_round(struct secondary_zone *s);

/* A primary that is down may have a hundred thousand zones. */
static void log_other_failures(void *user)
{
	struct secondary *all = user;

	if (all->n_failures > SECONDARY_LOGGED)
		log_warn("zones: %u more zones could not be refreshed: volleyctl zone status says "
			 "why",
			 all->n_failures - SECONDARY_LOGGED);
	all->n_failures = 0;
}

static void log_failure(const struct secondary_zone *s)
{
	struct secondary *all = s->t->secondary;
	char name[NAME_TEXT_MAX];

	if (!all->n_failures++)
		loop_set(s->t, &all->failures, CLOCK_NS_PER_S);
	if (all->n_failures > SECONDARY_LOGGED)
		return;
	(void)name_to_text(name, sizeof(name), s->zone->apex);
	log_warn("zone %s: %s", name, sentence_text(&s->error));
}

int secondary_open(struct transfer *t)
{
	struct secondary *all = calloc(1, sizeof(*all));
	int code;

	t->secondary = all;
	if (!all)
		return -ENOMEM;
	code = timer_init(&all->failures, &t->timers, log_other_failures, all);
	if (!code)
		code = slots_open(&all->checks, t->base, SECONDARY_CHECKS);
	if (!code)
		code = slots_open(&all->stream_checks, t->base, SECONDARY_STREAM_CHECKS);
	if (!code)
		code = slots_open(&all->transfers, t->base, N_TRANSFERS);
	return code;
}

void secondary_close(struct transfer *t)
{
	if (!t->secondary)
		return;
	slots_close(&t->secondary->checks);
	slots_close(&t->secondary->stream_checks);
	slots_close(&t->secondary->transfers);
	log_other_failures(t->secondary);
	timer_fini(&t->secondary->failures);
	free(t->secondary);
	t->secondary = NULL;
}

void secondary_configured(struct transfer *t)
{
	slots_set_limit(&t->secondary->transfers,
			t->remotes->n_transfers ? t->remotes->n_transfers : N_TRANSFERS);
}

uint32_t secondary_bound(uint32_t seconds, uint32_t min, uint32_t max)
{
	if (max && seconds > max)
		seconds = max;
	return seconds < min ? min : seconds;
}

bool secondary_times(const struct secondary_zone *s, struct soa_times *times)
{
	const struct config_zone *c = s->zone->config;
	struct zone *served = served_get(s->t, s->zone);
	struct zone_rdata soa;
	const uint8_t *at;

	if (!served)
		return false;
	zone_rdata_next(zone_rrset_first(served, zone_soa(served)), &soa);
	at = soa.bytes + soa.len -
	     16; /* refresh, retry, expire, minimum: RFC 1035 section 3.3.13 */
	times->refresh_s = secondary_bound(wire_load_be32(at), c->refresh_min_s, c->refresh_max_s);
	times->retry_s = secondary_bound(wire_load_be32(at + 4), c->retry_min_s, c->retry_max_s);
	times->expire_s = secondary_bound(wire_load_be32(at + 8), c->expire_min_s, c->expire_max_s);
	zone_unref(served);
	return true;
}

static bool is_settling(const struct secondary_zone *s)
{
	return s->state == SECONDARY_SETTLING_ZONE || s->state == SECONDARY_SETTLING_CHANGES;
}

/* Control serves a new version a moment before it settles it: then the later expiry counts. */
static uint64_t expires_at(const struct secondary_zone *s)
{
	return is_settling(s) && s->settles_expires_s > s->expires_wall_s ? s->settles_expires_s :
									    s->expires_wall_s;
}

bool secondary_expire_left(struct transfer *t, const struct transfer_zone *zone, uint32_t *seconds)
{
	uint64_t now_s = t->now.wall_s, end_s = zone->secondary ? expires_at(zone->secondary) : 0;
	struct zone *served = served_get(t, zone);
	struct zone_rdata soa;

	if (!served)
		return false;
	zone_rdata_next(zone_rrset_first(served, zone_soa(served)), &soa);
	*seconds = wire_load_be32(soa.bytes + soa.len - 8);
	if (end_s)
		*seconds = end_s > now_s ? (uint32_t)(end_s - now_s) : 0;
	zone_unref(served);
	return true;
}

/* Early by up to a tenth, so that zones of the same age are not asked for at the same time. */
static void set_next_ms(struct secondary_zone *s, uint64_t ms)
{
	uint64_t early_ms = ms / JITTER_PARTS * random_u16(&s->t->random) / 65536;

	ms -= early_ms;
	s->next_wall_s = s->t->now.wall_s + ms / 1000;
	loop_set(s->t, &s->next, ms * CLOCK_NS_PER_MS);
}

static void set_next(struct secondary_zone *s, uint32_t seconds)
{
	set_next_ms(s, 1000 * (uint64_t)(seconds ? seconds : 1));
}

static void set_expiry(struct secondary_zone *s, uint64_t expires_wall_s)
{
	uint64_t now_s = s->t->now.wall_s;
	uint64_t left_s = expires_wall_s > now_s ? expires_wall_s - now_s : 0;

	s->expires_wall_s = expires_wall_s;
	loop_set(s->t, &s->expiry, (left_s < FAR_S ? left_s : FAR_S) * CLOCK_NS_PER_S);
}

static void on_expiry(void *user)
{
	struct secondary_zone *s = user;
	const struct transfer_event event = {
		.kind = TRANSFER_EXPIRED,
		.apex = s->zone->apex,
		.apex_len = s->zone->apex_len,
		.remote = sentence_text(&s->remote),
	};

	if (transfer_emit(s->t, &event))
		set_expiry(s, s->t->now.wall_s + 1);
}

static void on_next(void *user)
{
	begin_round(user);
}

/* After a failed round: the retry time (RFC 1035). A zone that never came is asked for less and
 * less often. */
static void set_secondary_retry(struct secondary_zone *s)
{
	const struct config_zone *c = s->zone->config;
	uint32_t max_s = secondary_bound(BACKOFF_MAX_S, c->retry_min_s, c->retry_max_s);
	uint64_t wait_s = c->retry_min_s ? c->retry_min_s : 1;
	struct soa_times times;

	s->n_failed++;
	if (secondary_times(s, &times)) {
		set_next(s, times.retry_s);
		return;
	}
	for (uint32_t i = 1; i < s->n_failed && wait_s < max_s; i++)
		wait_s *= 2;
	set_next(s, wait_s < max_s ? (uint32_t)wait_s : max_s);
}

static void begin_round(struct secondary_zone *s)
{
	timer_cancel(&s->next);
	if (refresh_round_begin(s)) {
		s->state = SECONDARY_IDLE;
		set_next(s, 1); /* there was no memory */
		return;
	}
	s->state = SECONDARY_ASKING;
	s->is_again = false;
}

/* Begins a round for a NOTIFY: at once, or later if earlier ones led to nothing newer. */
static void begin_notified_round(struct secondary_zone *s)
{
	uint64_t now_ns = s->t->now.ns;
	uint64_t quiet_ms =
		now_ns < s->quiet_until_ns ? (s->quiet_until_ns - now_ns) / CLOCK_NS_PER_MS + 1 : 0;

	s->is_prompted = true;
	if (!quiet_ms)
		begin_round(s);
	else if (s->t->now.wall_s + quiet_ms / 1000 < s->next_wall_s)
		set_next_ms(s, quiet_ms);
}

/* The round has not begun, because all slots are taken. */
static bool is_waiting(const struct secondary_zone *s)
{
	return s->state == SECONDARY_ASKING && !s->round;
}

/* The round that waits is for this NOTIFY, too, and comes before others. */
static void prompt_waiting(struct secondary_zone *s)
{
	if (s->is_prompted || s->t->now.ns < s->quiet_until_ns)
		return;
	s->is_prompted = true;
	begin_round(s);
}

bool secondary_is_notified_of_newer(const struct secondary_zone *s)
{
	uint32_t serial;

	return s->is_notified && (!served_serial(s->t, s->zone, &serial) ||
				  xfr_serial_newer(s->notified_serial, serial));
}

void secondary_notified(struct transfer *t, struct transfer_zone *zone,
			const struct port_addr *from, const uint32_t *serial)
{
	struct secondary_zone *s = zone->secondary;
	uint32_t ours;

	if (!s)
		return;
	if (serial && served_serial(t, zone, &ours) && !xfr_serial_newer(*serial, ours))
		return;
	s->notified_by = *from;
	if (serial && (!s->is_notified || xfr_serial_newer(*serial, s->notified_serial))) {
		s->is_notified = true;
		s->notified_serial = *serial;
	}
	if (s->state == SECONDARY_IDLE)
		begin_notified_round(s);
	else if (is_waiting(s))
		prompt_waiting(s);
	else
		s->is_again = true;
}

static void forget_round(struct secondary_zone *s)
{
	refresh_round_end(s);
	s->state = SECONDARY_IDLE;
	s->is_prompted = false;
	s->notified_by.family = 0;
}

/* A NOTIFY led to nothing newer: rounds for the next ones wait, twice as long each time. */
static void be_quiet(struct secondary_zone *s)
{
	s->quiet_until_ns = s->t->now.ns + (QUIET_FIRST_NS << s->n_futile);
	if (s->n_futile < QUIET_DOUBLED)
		s->n_futile++;
}

static void end_secondary_current(struct secondary_zone *s)
{
	struct transfer_event event = {
		.kind = TRANSFER_CHECKED,
		.apex = s->zone->apex,
		.apex_len = s->zone->apex_len,
		.remote = sentence_text(&s->remote),
		.checked_wall_s = s->t->now.wall_s,
	};
	struct soa_times times;

	if (!secondary_times(s, &times)) {
		set_secondary_retry(s); /* the zone has expired meanwhile, or was removed */
		return;
	}
	if (s->round->current_expire_left_s < times.expire_s)
		times.expire_s = s->round->current_expire_left_s;
	event.expires_wall_s = event.checked_wall_s + times.expire_s;
	if (event.expires_wall_s < s->expires_wall_s) /* RFC 7314 section 4: never shorter */
		event.expires_wall_s = s->expires_wall_s;
	s->checked_wall_s = event.checked_wall_s;
	s->n_failed = 0;
	sentence_clear(&s->error);
	if (s->is_prompted)
		be_quiet(s);
	set_expiry(s, event.expires_wall_s);
	set_next(s, times.refresh_s);
	if (transfer_emit(s->t, &event))
		set_next(s, 1); /* tries again: there was no memory */
}

static void end_failed(struct secondary_zone *s)
{
	for (uint32_t i = 0; s->round && i < s->round->n_primaries; i++) {
		if (s->round->primaries[i].has_failed)
			sentence_set(&s->last_failed, "%s", s->round->primaries[i].remote->name);
	}
	if (!sentence_is_set(&s->error))
		sentence_set(&s->error, "no primary is left to ask");
	if (!s->n_failed)
		log_failure(s);
	set_secondary_retry(s);
}

void secondary_ended(struct secondary_zone *s, enum refresh_end end)
{
	if (end == REFRESH_SENT_ZONE || end == REFRESH_SENT_CHANGES) {
		refresh_round_hang_up(s->round);
		s->state = end == REFRESH_SENT_ZONE ? SECONDARY_SETTLING_ZONE :
						      SECONDARY_SETTLING_CHANGES;
		return;
	}
	if (end == REFRESH_CURRENT)
		end_secondary_current(s);
	else
		end_failed(s);
	forget_round(s);
	/* A NOTIFY came during the round, which did not find its version: one more round follows,
	 * and no further one for this NOTIFY. */
	if (s->is_again) {
		s->is_again = false;
		begin_notified_round(s);
	} else {
		s->is_notified = false;
	}
}

static void settle_secondary(struct secondary_zone *s)
{
	struct soa_times times = { 0 };

	s->n_failed = 0;
	s->n_futile = 0;
	s->quiet_until_ns = 0;
	sentence_clear(&s->last_failed);
	sentence_clear(&s->error);
	s->checked_wall_s = s->settles_checked_s;
	set_expiry(s, s->settles_expires_s);
	if (secondary_times(s, &times))
		set_next(s, times.refresh_s);
	else
		set_secondary_retry(s);
}

void secondary_settled(struct transfer_zone *zone, int code)
{
	struct secondary_zone *s = zone->secondary;
	bool was_changes;

	if (!s || !is_settling(s))
		return;
	was_changes = s->state == SECONDARY_SETTLING_CHANGES;
	if (!code) {
		settle_secondary(s);
	} else {
		sentence_set(&s->error, "%s: %s", sentence_text(&s->remote), err_text(code));
		s->round->primaries[s->round->at_primary].has_failed = true;
		end_failed(s);
	}
	forget_round(s);
	if (code == -EBUSY) /* its file is being read */
		set_next(s, 1);
	if (code == ERR_ZONE && was_changes) {
		if (s->wants_next == SECONDARY_WANTS_NEWER)
			s->wants_next = SECONDARY_WANTS_WHOLE;
		begin_round(s);
	} else if (s->is_asked_next) { /* by command */
		begin_round(s);
	} else if (s->is_again && (!s->is_notified || secondary_is_notified_of_newer(s))) {
		begin_notified_round(s);
	} else {
		s->is_again = false;
		s->is_notified = false;
	}
}

void secondary_refresh(struct transfer_zone *zone, bool whole)
{
	struct secondary_zone *s = zone->secondary;

	if (whole)
		s->wants_next = SECONDARY_WANTS_ANY;
	s->is_asked_next = true;
	if (is_settling(s)) {
		s->is_again = true;
		return;
	}
	refresh_round_end(s);
	begin_round(s);
}

/* Restores refresh and expiry times from before a restart. */
static void resume(struct secondary_zone *s, const struct transfer_past *past)
{
	uint64_t now_s = s->t->now.wall_s, due_s;
	struct soa_times times;

	if (!secondary_times(s, &times)) {
		begin_round(s);
		return;
	}
	s->checked_wall_s = past->checked_wall_s;
	set_expiry(s, past->expires_wall_s ? past->expires_wall_s : now_s + times.expire_s);
	due_s = past->checked_wall_s + times.refresh_s;
	if (due_s <= now_s || past->checked_wall_s > now_s)
		begin_round(s);
	else
		set_next(s, (uint32_t)(due_s - now_s));
}

static void add_secondary_zone(struct transfer *t, struct transfer_zone *zone,
			       const struct transfer_past *past)
{
	struct secondary_zone *s = calloc(1, sizeof(*s));

	zone->secondary = s;
	if (!s)
		return;
	s->t = t;
	s->zone = zone;
	if (timer_init(&s->next, &t->timers, on_next, s) ||
	    timer_init(&s->expiry, &t->timers, on_expiry, s)) {
		secondary_drop_zone(zone);
		return;
	}
	resume(s, past);
}

void secondary_put_zone(struct transfer *t, struct transfer_zone *zone,
			const struct transfer_past *past)
{
	struct secondary_zone *s = zone->secondary;
	uint32_t serial;

	if (!zone->config->primaries || !zone->config->primaries[0]) {
		secondary_drop_zone(zone);
		return;
	}
	if (!s)
		add_secondary_zone(t, zone, past);
	else if (s->state == SECONDARY_IDLE && !served_serial(t, zone, &serial))
		begin_round(s);
}

void secondary_drop_zone(struct transfer_zone *zone)
{
	struct secondary_zone *s = zone->secondary;

	if (!s)
		return;
	refresh_round_end(s);
	timer_fini(&s->next);
	timer_fini(&s->expiry);
	sentence_clear(&s->last_failed);
	sentence_clear(&s->error);
	sentence_clear(&s->remote);
	free(s);
	zone->secondary = NULL;
}

void secondary_status(const struct transfer_zone *zone, struct transfer_status *out)
{
	const struct secondary_zone *s = zone->secondary;

	if (!s)
		return;
	out->is_secondary = true;
	out->is_running = s->state != SECONDARY_IDLE;
	out->checked_wall_s = s->checked_wall_s;
	out->refresh_wall_s = s->next_wall_s;
	out->expires_wall_s = s->expires_wall_s;
	if (s->round && s->round->exchange)
		out->n_bytes = exchange_bytes(s->round->exchange);
	snprintf(out->error, sizeof(out->error), "%s", sentence_text(&s->error));
	snprintf(out->remote, sizeof(out->remote), "%s", sentence_text(&s->remote));
}
