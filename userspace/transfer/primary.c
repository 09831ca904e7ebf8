/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/primary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "dns/name.h"
#include "engine/engine.h"
#include "transfer/peer_request.h"
#include "transfer/primary_state.h"
#include "transfer/rules.h"
#include "transfer/transfer_out.h"

/* ---- From the workers ------------------------------------------------------------------------ */

static void handle_message(struct transfer *t, struct handover_item *item)
{
	struct peer_request request = {
		.t = t,
		.msg = item->bytes,
		.n = item->n_bytes,
		.client = { .addr = peer_request_addr(item->family, item->peer, item->peer_port),
			    .is_tls = item->transport >= HANDOVER_TLS,
			    .is_xot = item->transport == HANDOVER_TLS13 },
		.cap = item->reply_cap < DNS_MESSAGE_MAX ? item->reply_cap : DNS_MESSAGE_MAX,
		.is_stream = item->transport != HANDOVER_UDP,
		.item = item,
	};

	if (item->is_first)
		transfer_count(t, connections);
	peer_dispatch(&request);
}

void primary_handle(struct transfer *t, struct handover_item *item, enum handover_event event)
{
	struct peer_task *task = item->user;

	if (event == HANDOVER_MESSAGE)
		handle_message(t, item);
	else if (task)
		task->tell(t, task, event);
}

static void on_handover(evutil_socket_t fd, short events, void *user)
{
	struct transfer *t = user;
	struct handover_item *item;
	enum handover_event event;

	(void)fd, (void)events;
	loop_wake(t);
	while ((item = handover_take(t->env.handover, &event)))
		primary_handle(t, item, event);
}

/* ---- Settings -------------------------------------------------------------------------------- */

static int copy_keys(struct primary_settings *s, const struct config *config)
{
	s->keys = calloc(config->n_keys ? config->n_keys : 1, sizeof(uint8_t *));
	if (!s->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < config->n_keys; i++) {
		const char *text = config->keys[i].name;
		uint8_t *name = malloc(NAME_FOLDED_BYTES);
		int n;

		if (!name)
			return -ENOMEM;
		s->keys[s->n_keys++] = name;
		n = name_from_text(name, DNS_NAME_MAX, text, strlen(text));
		if (n < 0)
			return n;
		name_fold(name, name, (size_t)n);
	}
	return 0;
}

int primary_prepare(struct primary_settings **out, struct transfer *t, const struct config *config,
		    char *err, size_t err_cap)
{
	struct primary_settings *s = calloc(1, sizeof(*s));
	int code;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	code = copy_keys(s, config);
	if (!code)
		code = server_tls_open(&s->tls, &t->tls_kept, config, t->env.intake, err, err_cap);
	if (code)
		primary_discard(s);
	else
		*out = s;
	return code;
}

void primary_discard(struct primary_settings *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_keys; i++)
		free(s->keys[i]);
	free(s->keys);
	server_tls_close(s->tls);
	free(s);
}

void primary_configure(struct transfer *t, struct primary_settings *settings)
{
	struct primary *p = t->primary;

	if (settings->tls && p->settings && p->settings->tls)
		server_tls_inherit(settings->tls, p->settings->tls);
	primary_discard(p->settings);
	p->settings = settings;
	if (settings->tls && server_tls_start(settings->tls, t))
		log_error("DNS over TLS is not served: %s", err_text(-ENOMEM));
	rules_change(t);
	transfer_out_next(t);
}

/* ---- Zones ----------------------------------------------------------------------------------- */

void primary_put_zone(struct transfer *t, struct transfer_zone *zone)
{
	notifier_put_zone(t, zone);
	rules_change(t);
}

void primary_drop_zone(struct transfer *t, struct transfer_zone *zone)
{
	notifier_drop_zone(t, zone);
	transfer_out_forget_zone(t, zone);
	rules_change(t);
}

void primary_notify(struct transfer *t, struct transfer_zone *zone)
{
	notifier_notify(t, zone);
}

void primary_answer(struct transfer *t, void *request, unsigned int rcode)
{
	updates_answer(t, request, rcode);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static int open_handover(struct transfer *t)
{
	struct primary *p = t->primary;

	if (!t->env.handover)
		return 0;
	p->on_handover = event_new(t->base, handover_fd(t->env.handover), EV_READ | EV_PERSIST,
				   on_handover, t);
	return p->on_handover && !event_add(p->on_handover, NULL) ? 0 : -ENOMEM;
}

int primary_open(struct transfer *t)
{
	struct primary *p = calloc(1, sizeof(*p));
	int code;

	if (!p)
		return -ENOMEM;
	t->primary = p;
	CDS_INIT_LIST_HEAD(&p->transfers);
	CDS_INIT_LIST_HEAD(&p->transfers_waiting);
	CDS_INIT_LIST_HEAD(&p->updates);
	CDS_INIT_LIST_HEAD(&p->questions);
	code = engine_new(&p->engine, t->env.engine_config, NULL, t->env.published);
	code = code ? code : rules_open(t);
	code = code ? code : transfer_out_open(t);
	code = code ? code : notifier_open(t);
	return code ? code : open_handover(t);
}

void primary_close(struct transfer *t)
{
	struct primary *p = t->primary;

	if (!p)
		return;
	rules_close(t);
	if (p->on_handover)
		event_free(p->on_handover);
	transfer_out_close(t);
	questions_close(t);
	updates_close(t);
	notifier_close(t);
	primary_discard(p->settings);
	engine_free(p->engine);
	free(p);
	t->primary = NULL;
}
