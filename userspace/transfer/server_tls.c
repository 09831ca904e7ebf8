/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/primary_state.h"

#include <errno.h>
#include <stdlib.h>

#include "config/addresses.h"
#include "port/tls_listener.h"

#define PAUSE_MS 100 /* after the system had no descriptor for a connection */

struct acceptor {
	struct server_tls *owner;
	struct event *event;
	struct event *on_resume; /* ends a pause of accepting */
	uint32_t number;
};

struct server_tls {
	struct transfer *t;
	struct tls_listener *listener;
	struct event *on_failed;
	uint32_t n;
	struct acceptor acceptors[];
};

/* NULL: no memory. The caller frees it. */
static struct port_addr *copy_addrs(const struct config *config)
{
	struct port_addr *addrs = calloc(config->n_tls_listen + 1, sizeof(*addrs));

	for (uint32_t i = 0; addrs && i < config->n_tls_listen; i++)
		addrs[i] = config_port_addr(&config->tls_listen[i]);
	return addrs;
}

static struct tls_listener_config listener_config(const struct config *config,
						  const struct port_addr *addrs)
{
	return (struct tls_listener_config){
		.addrs = addrs,
		.n = config->n_tls_listen,
		.certificate = config->tls_certificate,
		.key = config->tls_key,
		.ticket_keys = config->tls_ticket_keys,
		.has_tls12 = config->tls_min == CONFIG_TLS_1_2,
	};
}

int server_tls_check(const struct config *config, char *err, size_t err_cap)
{
	const struct tls_listener_config listener = listener_config(config, NULL);
	int code = tls_listener_check(&listener, err, err_cap);

	if (code)
		config_locate(config, err, err_cap);
	return code;
}

static int open_server_tls_listeners(struct tls_listener **out, struct tls_listener_kept **kept,
				     const struct config *config, struct tcp_intake *intake,
				     char *err, size_t err_cap)
{
	struct port_addr *addrs = copy_addrs(config);
	struct tls_listener_config listener = listener_config(config, addrs);
	int code = -ENOMEM;

	listener.intake = intake;
	if (addrs)
		code = tls_listener_open(out, kept, &listener, err, err_cap);
	if (code)
		config_locate(config, err, err_cap);
	free(addrs);
	return code;
}

int server_tls_open(struct server_tls **out, struct tls_listener_kept **kept,
		    const struct config *config, struct tcp_intake *intake, char *err,
		    size_t err_cap)
{
	const uint32_t n = config->n_tls_listen;
	struct server_tls *tls = calloc(1, sizeof(*tls) + n * sizeof(tls->acceptors[0]));
	int code = -ENOMEM;

	*out = NULL;
	if (tls)
		code = open_server_tls_listeners(&tls->listener, kept, config, intake, err,
						 err_cap);
	if (code || !tls->listener) {
		free(tls);
		return code;
	}
	tls->n = n;
	for (uint32_t i = 0; i < n; i++)
		tls->acceptors[i] = (struct acceptor){ .owner = tls, .number = i };
	*out = tls;
	return 0;
}

void server_tls_inherit(struct server_tls *tls, struct server_tls *before)
{
	tls_listener_inherit(tls->listener, before->listener);
}

static void free_event_of(struct event *event)
{
	if (event)
		event_free(event);
}

void server_tls_close(struct server_tls *tls)
{
	if (!tls)
		return;
	for (uint32_t i = 0; i < tls->n; i++) {
		free_event_of(tls->acceptors[i].event);
		free_event_of(tls->acceptors[i].on_resume);
	}
	free_event_of(tls->on_failed);
	tls_listener_close(tls->listener);
	free(tls);
}

static void count_failed(struct server_tls *tls, uint32_t n)
{
	while (n--)
		transfer_count(tls->t, tls_failed);
}

static void on_handshakes_failed(evutil_socket_t fd, short events, void *user)
{
	struct server_tls *tls = user;

	(void)fd, (void)events;
	count_failed(tls, tls_listener_take_failed(tls->listener));
}

/* Without a pause the event would come again at once, and accept() would fail again. */
static void pause_acceptor(struct acceptor *a)
{
	const struct timeval pause = { .tv_usec = PAUSE_MS * 1000 };

	if (!event_add(a->on_resume, &pause))
		(void)event_del(a->event);
}

static void on_resume(evutil_socket_t fd, short events, void *user)
{
	struct acceptor *a = user;

	(void)fd, (void)events;
	(void)event_add(a->event, NULL);
}

static void on_accept(evutil_socket_t fd, short events, void *user)
{
	struct acceptor *a = user;
	uint32_t n_failed;

	(void)fd, (void)events;
	if (!tls_listener_accept(a->owner->listener, a->number, &n_failed))
		pause_acceptor(a);
	count_failed(a->owner, n_failed);
}

static int start_acceptor(struct acceptor *a, struct event_base *base)
{
	a->event = event_new(base, tls_listener_fd(a->owner->listener, a->number),
			     EV_READ | EV_PERSIST, on_accept, a);
	a->on_resume = evtimer_new(base, on_resume, a);
	return a->event && a->on_resume && !event_add(a->event, NULL) ? 0 : -ENOMEM;
}

int server_tls_start(struct server_tls *tls, struct transfer *t)
{
	int code = 0;

	tls->t = t;
	tls->on_failed = event_new(t->base, tls_listener_failed_fd(tls->listener),
				   EV_READ | EV_PERSIST, on_handshakes_failed, tls);
	if (!tls->on_failed || event_add(tls->on_failed, NULL))
		return -ENOMEM;
	for (uint32_t i = 0; i < tls->n && !code; i++)
		code = start_acceptor(&tls->acceptors[i], t->base);
	return code;
}
