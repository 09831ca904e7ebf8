/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/taps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "broker/maps.h"
#include "rpz/rpz.h"

static void copy_taps_text(char *to, size_t cap, const char *text)
{
	snprintf(to, cap, "%s", text ? text : "");
}

static struct tap_prefix prefix_of_taps(const struct config_tap *tap)
{
	return (struct tap_prefix){ tap->bits4, tap->bits6 };
}

static void make_dnstap(const struct config_dnstap *from, struct dnstap_config *to)
{
	memset(to, 0, sizeof(*to));
	to->to = from->socket ? DNSTAP_TO_SOCKET : from->file ? DNSTAP_TO_FILE : DNSTAP_TO_TCP;
	copy_taps_text(to->path, sizeof(to->path), from->socket ? from->socket : from->file);
	to->family = (uint8_t)from->tcp.family;
	to->port = from->tcp.net_port;
	to->scope_id = from->tcp.scope_id;
	memcpy(to->address, from->tcp.addr, sizeof(to->address));
	copy_taps_text(to->identity, sizeof(to->identity), from->identity);
	copy_taps_text(to->version, sizeof(to->version), from->version);
	to->messages = from->messages;
	to->every = from->tap.sample;
	to->prefix = prefix_of_taps(&from->tap);
}

static int copy_zones(char *const *from, struct querylog_config *to)
{
	size_t n = 0;

	while (from && from[n])
		n++;
	to->zones = calloc(n + 1, sizeof(*to->zones));
	if (!to->zones)
		return -ENOMEM;
	for (; to->n_zones < n; to->n_zones++) {
		const char *text = from[to->n_zones];
		int code = name_from_text(to->zones[to->n_zones], NAME_FOLDED_BYTES, text,
					  strlen(text));

		if (code < 0)
			return code;
	}
	return 0;
}

static int copy_clients(const struct config_query_log *from, struct querylog_config *to)
{
	to->clients = calloc(from->n_clients + 1, sizeof(*to->clients));
	if (!to->clients)
		return -ENOMEM;
	for (; to->n_clients < from->n_clients; to->n_clients++) {
		const struct config_prefix *prefix = &from->clients[to->n_clients];
		struct querylog_net *net = &to->clients[to->n_clients];

		net->family = (uint8_t)prefix->family;
		net->bits = prefix->bits;
		memcpy(net->address, prefix->addr, sizeof(net->address));
	}
	return 0;
}

/* Control's thread or the tap's thread. Both are registered with liburcu, and offline. */
static bool judge_taps(void *ctx, const struct tap_event *e, struct querylog_rpz *out)
{
	struct engine_data *published = ctx;
	const struct rpz_client client = { e->family, e->peer };
	struct rpz_said said = { 0 };
	const struct rpz *rpz;
	bool is_changed = false;

	rcu_thread_online();
	rpz = rcu_dereference(published->rpz);
	if (rpz)
		is_changed = rpz_said(rpz, &client, tap_event_reply(e), e->n_reply, &said);
	rcu_thread_offline();
	if (is_changed)
		memcpy(out->list, said.list, sizeof(out->list));
	out->is_local_data = said.is_local_data;
	out->action = said.action;
	return is_changed;
}

static int make_log(const struct config_query_log *from, struct engine_data *published,
		    struct querylog_config *to)
{
	int err;

	*to = (struct querylog_config){ .is_json = from->is_json,
					.every = from->tap.sample,
					.prefix = prefix_of_taps(&from->tap),
					.judge = judge_taps,
					.judge_ctx = published,
					.rcodes = from->rcodes };
	err = copy_zones(from->zones, to);
	if (!err)
		err = copy_clients(from, to);
	if (!err && from->file) {
		to->path = strdup(from->file);
		err = to->path ? 0 : -ENOMEM;
	}
	if (err)
		querylog_config_fini(to);
	return err;
}

/* FILE may be NULL: the receiver writes to none. */
static void put_off(char text[TAPS_ERROR_CAP], const char *what, const char *file, int code)
{
	snprintf(text, TAPS_ERROR_CAP, "%s: %s%s%s: it is off", what, file ? file : "",
		 file ? ": " : "", err_text(code));
}

/* Makes the driver's rings at their first use; they stay. */
static void open_taps_rings(struct taps *t)
{
	int err;

	if (t->rings || t->cache->is_anonymous || !tap_every(t->tap))
		return;
	err = maps_make_rings(&t->rings, t->cache->maps.taps_fd);
	if (err)
		log_warn("dnstap, query-log, top: %s: answers of the driver are not reported",
			 err_text(err));
	else
		tap_set_source(t->tap, tap_rings_drain, t->rings);
}

void taps_configure(struct taps *t, const struct config *config)
{
	struct dnstap_config *dnstap = NULL;
	struct querylog_config log;
	const char *what = "query-log";
	bool has_log = config->query_log.tap.is_on;
	int err = has_log ? make_log(&config->query_log, t->published, &log) : 0;

	has_log = has_log && !err;
	if (config->dnstap.tap.is_on) {
		dnstap = malloc(sizeof(*dnstap));
		if (dnstap)
			make_dnstap(&config->dnstap, dnstap);
		else
			err = -ENOMEM;
	}
	*t->error = '\0';
	if (!err)
		err = tap_configure(t->tap, dnstap, has_log ? &log : NULL, &what);
	else if (has_log)
		querylog_config_fini(&log);
	free(dnstap);
	free(t->dnstap_file);
	t->dnstap_file = config->dnstap.file ? strdup(config->dnstap.file) : NULL;
	if (err) {
		put_off(t->error, what, *what == 'q' ? config->query_log.file : NULL, err);
		log_error("%s", t->error);
	}
	open_taps_rings(t);
	taps_tell_driver(t);
}

/* dnstap opens its file in a thread of its own, once a second until it succeeds. */
static void check_dnstap_file(const char *file, char text[TAPS_ERROR_CAP])
{
	int code = file ? writable_check(file) : 0;

	*text = '\0';
	if (code)
		snprintf(text, TAPS_ERROR_CAP,
			 "dnstap: %s: %s: messages are lost until it can be opened", file,
			 err_text(code));
}

void taps_check(const struct config *config, char text[TAPS_ERROR_CAP])
{
	const char *file = config->query_log.file;
	int code = file ? writable_check(file) : 0;

	if (code)
		put_off(text, "query-log", file, code);
	else
		check_dnstap_file(config->dnstap.file, text);
}

void taps_error(const struct taps *t, char text[TAPS_ERROR_CAP])
{
	struct tap_counters counters = { 0 };

	snprintf(text, TAPS_ERROR_CAP, "%s", t->error);
	if (*text || !t->tap)
		return;
	tap_counters_read(t->tap, &counters);
	if (!counters.is_connected)
		check_dnstap_file(t->dnstap_file, text);
}

int taps_reopen(struct taps *t, const struct config *config)
{
	int err;

	if (!t->tap)
		return 0;
	if (*t->error)
		taps_configure(t, config);
	err = *t->error ? -EIO : tap_reopen(t->tap);
	if (!err || *t->error)
		return err;
	snprintf(t->error, sizeof(t->error),
		 "query-log: %s: %s: lines go on to the file that had this name",
		 config->query_log.file, err_text(err));
	log_error("%s", t->error);
	return err;
}

static void tell_taps(const struct taps *t, struct volley_state *state)
{
	uint32_t every = t->rings ? tap_every(t->tap) : 0;

	if (state)
		__atomic_store_n(&state->tap_every, every, __ATOMIC_RELEASE);
}

void taps_tell_driver(const struct taps *t)
{
	tell_taps(t, t->cache->memory.state);
	tell_taps(t, t->heartbeat->states[1]);
}

int taps_observe(struct taps *t, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		 void *ctx)
{
	int err = tap_observe(t->tap, who, every, fn, ctx);

	if (!err)
		open_taps_rings(t);
	taps_tell_driver(t);
	return err;
}

int taps_open(struct taps *t, const struct config *config)
{
	int err = tap_new(&t->tap);

	if (err) {
		log_error("start: dnstap, query-log: %s", err_text(err));
		return err;
	}
	taps_configure(t, config);
	return 0;
}

void taps_close(struct taps *t)
{
	struct volley_state *state = t->cache->memory.state;

	free(t->dnstap_file);
	t->dnstap_file = NULL;
	if (!t->tap)
		return;
	if (state)
		__atomic_store_n(&state->tap_every, 0, __ATOMIC_RELEASE);
	tap_set_source(t->tap, NULL, NULL);
	tap_rings_close(t->rings);
	tap_free(t->tap);
}
