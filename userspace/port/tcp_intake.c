/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_intake.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "port/tcp_tls.h"

#define GROWS_BY 16u

struct tcp_intake {
	pthread_mutex_t lock; /* of all that follows */
	struct inbox **ports;
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

bool tcp_intake_put(struct tcp_intake *intake, struct tcp_arrival *arrival)
{
	struct inbox_chain chain = { 0 };
	bool is_put;

	inbox_chain_add(&chain, &arrival->link);
	pthread_mutex_lock(&intake->lock);
	is_put = intake->n > 0;
	if (is_put)
		inbox_put(intake->ports[intake->next++ % intake->n], &chain);
	pthread_mutex_unlock(&intake->lock);
	return is_put;
}

int tcp_intake_join(struct tcp_intake *intake, struct inbox *inbox)
{
	struct inbox **ports;
	int err = 0;

	pthread_mutex_lock(&intake->lock);
	if (intake->n == intake->cap) {
		ports = realloc(intake->ports, (intake->cap + GROWS_BY) * sizeof(struct inbox *));
		if (ports) {
			intake->ports = ports;
			intake->cap += GROWS_BY;
		}
		err = ports ? 0 : -ENOMEM;
	}
	if (!err)
		intake->ports[intake->n++] = inbox;
	pthread_mutex_unlock(&intake->lock);
	return err;
}

void tcp_intake_leave(struct tcp_intake *intake, const struct inbox *inbox)
{
	pthread_mutex_lock(&intake->lock);
	for (unsigned int i = 0; i < intake->n; i++) {
		if (intake->ports[i] != inbox)
			continue;
		intake->ports[i] = intake->ports[--intake->n];
		break;
	}
	pthread_mutex_unlock(&intake->lock);
}

void tcp_arrival_drop(struct tcp_arrival *arrival)
{
	tcp_tls_end(arrival->ssl);
	close(arrival->fd);
	free(arrival);
}
