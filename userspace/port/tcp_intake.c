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
	pthread_mutex_t lock; /* of all that follows */
	struct tcp_arrivals **ports;
	unsigned int n, cap;
	unsigned int next; /* whose turn it is, modulo n */
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
	if (!intake)
		return;
	pthread_mutex_destroy(&intake->lock);
	free(intake->ports);
	free(intake);
}

/* Where something waits already, the port was woken. */
static void add(struct tcp_arrivals *port, struct tcp_arrival *arrival)
{
	bool is_first = !port->first;

	arrival->next = NULL;
	if (is_first)
		port->first = arrival;
	else
		port->last->next = arrival;
	port->last = arrival;
	if (is_first)
		(void)eventfd_write(port->fd, 1);
}

bool tcp_intake_put(struct tcp_intake *intake, struct tcp_arrival *arrival)
{
	bool is_put;

	pthread_mutex_lock(&intake->lock);
	is_put = intake->n > 0;
	if (is_put)
		add(intake->ports[intake->next++ % intake->n], arrival);
	pthread_mutex_unlock(&intake->lock);
	return is_put;
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
	if (!err)
		intake->ports[intake->n++] = port;
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

struct tcp_arrival *tcp_intake_take(struct tcp_intake *intake, struct tcp_arrivals *port)
{
	struct tcp_arrival *all;
	eventfd_t n;

	pthread_mutex_lock(&intake->lock);
	(void)eventfd_read(port->fd, &n);
	all = port->first;
	port->first = port->last = NULL;
	pthread_mutex_unlock(&intake->lock);
	return all;
}

void tcp_arrival_drop(struct tcp_arrival *arrival)
{
	tcp_tls_end(arrival->ssl);
	close(arrival->fd);
	free(arrival);
}
