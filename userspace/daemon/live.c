/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json_put.h"
#include "control/ctl_command.h"
#include "report/answers.h"
#include "census/frequent.h"
#include "daemon/taps.h"
#include "dns/name.h"
#include "report/report_view.h"

#define TOP_DEFAULT 20u
#define TOP_MAX     1000u
#define EVERY_FIRST 256u /* until the load is known, which takes a second at most */
#define EVENTS_MANY (2 * LIVE_EVENTS_PER_S) /* between two ticks: N is far too low */
#define TICK_MIN_S  0.01                    /* a growing load is noticed after this time */
#define TICK_S      0.5                     /* a falling load after this time */
#define EVERY_MAX   (1u << 20)
#define PREFIX_TEXT (INET6_ADDRSTRLEN + 4)

enum by { BY_CLIENT, BY_NAME, N_BY };

struct live {
	/* Control's. */
	struct taps *taps;
	struct report_source reports;
	bool is_on;
	bool is_settled; /* N has been set by the load */
	uint64_t until_ns;
	uint64_t tick_ns;
	int fd; /* an eventfd: the tap's thread writes */
	/* Both threads', under the lock. */
	pthread_mutex_t lock;
	uint32_t every;
	uint64_t n_events;         /* since the last tick */
	struct frequent *by[N_BY]; /* NULL: no client watches */
};

struct live *live_new(struct taps *taps, const struct report_source *reports)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->taps = taps;
	live->reports = *reports;
	live->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (live->fd < 0) {
		free(live);
		return NULL;
	}
	pthread_mutex_init(&live->lock, NULL);
	return live;
}

int live_fd(const struct live *live)
{
	return live->fd;
}

static void free_counts(struct live *live)
{
	for (int by = 0; by < N_BY; by++) {
		frequent_free(live->by[by]);
		live->by[by] = NULL;
	}
}

void live_free(struct live *live)
{
	if (!live)
		return;
	free_counts(live);
	close(live->fd);
	pthread_mutex_destroy(&live->lock);
	free(live);
}

/* --- Counting: the tap's thread --------------------------------------------------------------- */

/* The family and the octets of the prefix. */
static size_t prefix_key(uint8_t key[1 + LIVE_PREFIX6 / 8], const struct tap_event *e)
{
	size_t bytes = (e->family == AF_INET ? LIVE_PREFIX4 : LIVE_PREFIX6) / 8;

	key[0] = e->family;
	memcpy(key + 1, e->peer, bytes);
	return 1 + bytes;
}

/* The name asked for, folded; 0: the message has none. */
static size_t name_key(uint8_t folded[NAME_FOLDED_BYTES], const struct tap_event *e)
{
	const uint8_t *msg = e->n_reply ? tap_event_reply(e) : tap_event_query(e);
	size_t n = e->n_reply ? e->n_reply : e->n_query;
	int bytes;

	if (n <= DNS_HEADER_BYTES || (!msg[DNS_QDCOUNT_AT] && !msg[DNS_QDCOUNT_AT + 1]))
		return 0;
	bytes = name_check(msg + DNS_HEADER_BYTES, n - DNS_HEADER_BYTES);
	if (bytes < 0)
		return 0;
	name_fold(folded, msg + DNS_HEADER_BYTES, (size_t)bytes);
	return (size_t)bytes;
}

void live_note(void *ctx, const struct tap_event *e)
{
	uint8_t prefix[1 + LIVE_PREFIX6 / 8], name[NAME_FOLDED_BYTES];
	struct live *live = ctx;
	size_t prefix_bytes, name_bytes;

	if (e->way == TAP_FORWARDER) /* a question of Volley itself */
		return;
	prefix_bytes = prefix_key(prefix, e);
	name_bytes = name_key(name, e);
	pthread_mutex_lock(&live->lock);
	if (++live->n_events % EVENTS_MANY == 0)
		(void)eventfd_write(live->fd, 1); /* cannot be full */
	if (live->by[BY_CLIENT])
		frequent_add(live->by[BY_CLIENT], prefix, prefix_bytes, live->every);
	if (live->by[BY_NAME] && name_bytes)
		frequent_add(live->by[BY_NAME], name, name_bytes, live->every);
	pthread_mutex_unlock(&live->lock);
}

/* --- When ------------------------------------------------------------------------------------- */

uint32_t live_every(double answers_per_s)
{
	double every = ceil(answers_per_s / LIVE_EVENTS_PER_S);

	return every < 1 ? 1 : every > EVERY_MAX ? EVERY_MAX : (uint32_t)every;
}

static int observe(struct live *live, uint32_t every)
{
	return taps_observe(live->taps, TAP_TOP, every, live_note, live);
}

static int begin_live(struct live *live, uint64_t now_ns)
{
	int err = 0;

	for (int by = 0; by < N_BY; by++) {
		live->by[by] = frequent_new();
		err = live->by[by] ? err : -ENOMEM;
	}
	live->every = EVERY_FIRST;
	live->n_events = 0;
	live->tick_ns = now_ns;
	live->is_settled = false;
	if (!err)
		err = observe(live, EVERY_FIRST);
	if (err)
		free_counts(live);
	live->is_on = !err;
	return err;
}

static void end_daemon_live(struct live *live)
{
	(void)observe(live, 0); /* does not fail: it starts no thread */
	free_counts(live);
	live->is_on = false;
}

/*
 * Events of the earlier N are counted by now. The first N was a guess, and its few samples would
 * weigh too much, so the counts begin anew.
 */
static void set_every(struct live *live, uint32_t every)
{
	const bool differs = every < live->every || every > live->every + live->every / 4;

	if (differs && observe(live, every))
		return;
	pthread_mutex_lock(&live->lock);
	if (differs && !live->is_settled)
		for (int by = 0; by < N_BY; by++)
			frequent_clear(live->by[by]);
	if (differs)
		live->every = every;
	pthread_mutex_unlock(&live->lock);
	live->is_settled = true;
}

void live_tick(struct live *live, uint64_t now_ns)
{
	double seconds, factor, per_s;

	if (!live->is_on)
		return;
	if (now_ns >= live->until_ns) {
		end_daemon_live(live);
		return;
	}
	seconds = (double)(now_ns - live->tick_ns) / CLOCK_NS_PER_S;
	if (seconds < TICK_MIN_S)
		return;
	factor = pow(0.5, seconds / LIVE_HALF_LIFE_S);
	pthread_mutex_lock(&live->lock);
	if (seconds < TICK_S && live->n_events < LIVE_EVENTS_PER_S) {
		pthread_mutex_unlock(&live->lock);
		return;
	}
	for (int by = 0; by < N_BY; by++)
		frequent_fade(live->by[by], factor);
	per_s = (double)live->n_events * live->every / seconds;
	live->n_events = 0;
	pthread_mutex_unlock(&live->lock);
	live->tick_ns = now_ns;
	set_every(live, live_every(per_s));
}

void live_poll(struct live *live, uint64_t now_ns)
{
	eventfd_t n;

	if (!eventfd_read(live->fd, &n))
		live_tick(live, now_ns);
}

/* --- The command ------------------------------------------------------------------------------ */

static json_t *prefix_text(const struct frequent_counter *c)
{
	const bool is_ipv4 = c->key[0] == AF_INET;
	uint8_t address[16] = { 0 };
	char text[PREFIX_TEXT];

	memcpy(address, c->key + 1, c->key_bytes - 1u);
	if (!inet_ntop(c->key[0], address, text, INET6_ADDRSTRLEN))
		return json_null(); /* cannot happen: there is room */
	snprintf(text + strlen(text), 5, "/%u", is_ipv4 ? LIVE_PREFIX4 : LIVE_PREFIX6);
	return json_string(text);
}

static json_t *live_name_text(const struct frequent_counter *c)
{
	char text[NAME_TEXT_MAX];

	return name_to_text(text, sizeof(text), c->key) < 0 ? json_null() : json_string(text);
}

/* Under the lock. */
static json_t *report_top(const struct live *live, enum by by, uint64_t n)
{
	const struct frequent_counter *top[TOP_MAX];
	const struct frequent *f = live->by[by];
	size_t found = frequent_top(f, top, n);
	json_t *rows = json_array();

	for (size_t i = 0; i < found; i++) {
		json_t *row = json_object();

		if (by == BY_CLIENT)
			json_object_set_new(row, "prefix", prefix_text(top[i]));
		else
			json_object_set_new(row, "name", live_name_text(top[i]));
		json_put_percent(row, "share_percent", fmin(top[i]->count / frequent_total(f), 1));
		json_put_percent(row, "error_percent", frequent_share_error(f, top[i]));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* Messages that the driver dropped because a worker was behind. */
static uint64_t count_shed(const struct report_view *v)
{
	uint64_t n = 0;

	for (size_t i = 0; i < v->n_ifaces; i++) {
		struct volley_cpu sum;

		if (!v->ifaces[i].program || program_counters(v->ifaces[i].program, &sum))
			continue;
		n += sum.reasons[VOLLEY_DROP_OVERLOAD] + sum.reasons[VOLLEY_DROP_SHARE];
	}
	return n;
}

static json_t *report_live(struct live *live, const struct report_view *v, uint64_t n,
			   uint64_t now_ns)
{
	json_t *o = json_object(),
	       *limited = rate_limits_report_top(v->rate_limits, (unsigned int)n, clock_coarse_s());

	json_put_int(o, "time_ms", now_ns / CLOCK_NS_PER_MS);
	json_object_set_new(o, "answers", answers_report(v));
	pthread_mutex_lock(&live->lock);
	json_put_int(o, "one_in", live->every);
	json_put_int(o, "samples", (uint64_t)(frequent_samples(live->by[BY_CLIENT]) + 0.5));
	json_put_int(o, "half_life_s", LIVE_HALF_LIFE_S);
	json_object_set_new(o, "clients", report_top(live, BY_CLIENT, n));
	json_object_set_new(o, "names", report_top(live, BY_NAME, n));
	pthread_mutex_unlock(&live->lock);
	json_object_set(o, "limited", json_object_get(limited, "top"));
	json_object_set(o, "limited_prefixes", json_object_get(limited, "prefixes_over"));
	json_decref(limited);
	json_put_int(o, "shed", count_shed(v));
	return o;
}

int live_run_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct live *live = user;
	const struct report_view *v = report_view_now(&live->reports);
	uint64_t now_ns = clock_ns(), n = TOP_DEFAULT;
	int code = ctl_read_n(args, TOP_MAX, &n, err, err_cap);

	if (code)
		return code;
	if (!v->workers)
		return ctl_not_ready(err, err_cap);
	code = live->is_on ? 0 : begin_live(live, now_ns);
	if (code)
		return code;
	live->until_ns = now_ns + LIVE_REST_S * CLOCK_NS_PER_S;
	live_tick(live, now_ns);
	*result = report_live(live, v, n, now_ns);
	return *result ? 0 : -ENOMEM;
}
