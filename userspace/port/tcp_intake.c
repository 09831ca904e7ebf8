/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_intake.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "port/tcp_tls.h"

#define GROWS_BY 16u

struct tcp_intake {
	pthread_mutex_t lock; /* of all fields below, and of those of the ports except `newest` */
	struct tcp_arrivals **ports;
	unsigned int n, cap;
	unsigned int next;         /* the port whose turn it is, modulo n */
	struct tcp_arrival *early; /* they came before the first port */
	unsigned int n_early;
	bool has_begun; /* a port has joined */
};

int tcp_intake_new(struct tcp_intake **out)
{
	struct tcp_intake *intake = calloc(1, sizeof(*intake));

	if (!intake)
		return -ENOMEM;
	pthread_mutex_init(&intake->lock, NULL);
	*out = intake;
	return 0;
}

void tcp_intake_free(struct tcp_intake *intake)
{
	struct tcp_arrival *next;

	if (!intake)
		return;
	for (struct tcp_arrival *a = intake->early; a; a = next) {
		next = a->next;
		tcp_arrival_drop(a);
	}
	pthread_mutex_destroy(&intake->lock);
	free(intake->ports);
	free(intake);
}

/* The port takes arrivals without the lock, and may have freed this one right after the exchange.
 * If another arrival was waiting, the port has been woken already. */
static void add_tcp_arrival(struct tcp_arrivals *port, struct tcp_arrival *arrival)
{
	struct tcp_arrival *before = __atomic_load_n(&port->newest, __ATOMIC_RELAXED);

	do {
		arrival->next = before;
	} while (!__atomic_compare_exchange_n(&port->newest, &before, arrival, false,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	port->is_to_wake |= !before;
}

/* Called after the last add_tcp_arrival(): else a port on this processor would run after each. */
static void wake_tcp_arrival(struct tcp_arrivals *port)
{
	if (port->is_to_wake)
		(void)eventfd_write(port->fd, 1);
	port->is_to_wake = false;
}

/* All functions from here on to tcp_intake_put() are called with the lock. */

static void deal(struct tcp_intake *intake, struct tcp_arrival *arrivals)
{
	struct tcp_arrival *next;

	for (; arrivals; arrivals = next) {
		next = arrivals->next;
		add_tcp_arrival(intake->ports[intake->next++ % intake->n], arrivals);
	}
	for (unsigned int i = 0; i < intake->n; i++)
		wake_tcp_arrival(intake->ports[i]);
}

/* Keeps them for the first port. False: it has come and gone, or too many wait. */
static bool keep_early(struct tcp_intake *intake, struct tcp_arrival *arrivals)
{
	struct tcp_arrival **end = &arrivals;
	unsigned int n = 0;

	for (; *end; end = &(*end)->next)
		n++;
	if (intake->has_begun || intake->n_early + n > TCP_INTAKE_EARLY)
		return false;
	*end = intake->early;
	intake->early = arrivals;
	intake->n_early += n;
	return true;
}

bool tcp_intake_put(struct tcp_intake *intake, struct tcp_arrival *arrivals)
{
	bool is_taken = true;

	pthread_mutex_lock(&intake->lock);
	if (intake->n)
		deal(intake, arrivals);
	else
		is_taken = keep_early(intake, arrivals);
	pthread_mutex_unlock(&intake->lock);
	return is_taken;
}

int tcp_intake_join(struct tcp_intake *intake, struct tcp_arrivals *port)
{
	struct tcp_arrivals **ports;
	int err = 0;

	pthread_mutex_lock(&intake->lock);
	if (intake->n == intake->cap) {
		ports = realloc(intake->ports,
				(intake->cap + GROWS_BY) * sizeof(struct tcp_arrivals *));
		if (ports) {
			intake->ports = ports;
			intake->cap += GROWS_BY;
		}
		err = ports ? 0 : -ENOMEM;
	}
	if (!err) {
		intake->ports[intake->n++] = port;
		intake->has_begun = true;
		deal(intake, intake->early);
		intake->early = NULL;
		intake->n_early = 0;
	}
	pthread_mutex_unlock(&intake->lock);
	return err;
}

void tcp_intake_leave(struct tcp_intake *intake, const struct tcp_arrivals *port)
{
	pthread_mutex_lock(&intake->lock);
	for (unsigned int i = 0; i < intake->n; i++) {
		if (intake->ports[i] != port)
			continue;
		intake->ports[i] = intake->ports[--intake->n];
		break;
	}
	pthread_mutex_unlock(&intake->lock);
}

struct tcp_arrival *tcp_intake_take(struct tcp_arrivals *port)
{
	struct tcp_arrival *newest, *next, *oldest = NULL;
	eventfd_t n;

	/* Clear the fd first: an arrival that is added from here on makes it readable again. */
	(void)eventfd_read(port->fd, &n);
	newest = __atomic_exchange_n(&port->newest, NULL, __ATOMIC_ACQUIRE);
	for (; newest; newest = next) {
		next = newest->next;
		newest->next = oldest;
		oldest = newest;
	}
	return oldest;
}

void tcp_arrival_drop(struct tcp_arrival *arrival)
{
	tcp_tls_end(arrival->ssl);
	close(arrival->fd);
	free(arrival);
}
