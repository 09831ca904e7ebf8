/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_peers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

struct tcp_peers {
	uint32_t n_max, n;    /* n: atomic */
	pthread_mutex_t lock; /* of the fields below */
	uint32_t n_ports, n_ports_max;
	struct tcp_peers_port *ports[];
};

int tcp_peers_new(struct tcp_peers **out, uint32_t n_max, uint32_t n_ports)
{
	struct tcp_peers *peers = calloc(1, sizeof(*peers) + n_ports * sizeof(peers->ports[0]));

	if (!peers)
		return -ENOMEM;
	peers->n_max = n_max;
	peers->n_ports_max = n_ports;
	pthread_mutex_init(&peers->lock, NULL);
	*out = peers;
	return 0;
}

void tcp_peers_free(struct tcp_peers *peers)
{
	if (!peers)
		return;
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

uint32_t tcp_peers_cap(const struct tcp_peers *peers)
{
	return peers->n_max + peers->n_ports_max;
}

int tcp_peers_join(struct tcp_peers *peers, struct tcp_peers_port *port)
{
	bool is_full;

	pthread_mutex_lock(&peers->lock);
	is_full = peers->n_ports == peers->n_ports_max;
	if (!is_full)
		peers->ports[peers->n_ports++] = port;
	pthread_mutex_unlock(&peers->lock);
	return is_full ? -ENOSPC : 0;
}

void tcp_peers_leave(struct tcp_peers *peers, struct tcp_peers_port *port)
{
	pthread_mutex_lock(&peers->lock);
	for (uint32_t i = 0; i < peers->n_ports; i++) {
		if (peers->ports[i] != port)
			continue;
		peers->ports[i] = peers->ports[--peers->n_ports];
		break;
	}
	pthread_mutex_unlock(&peers->lock);
}

bool tcp_peers_take(struct tcp_peers *peers)
{
	if (__atomic_add_fetch(&peers->n, 1, __ATOMIC_RELAXED) <= tcp_peers_cap(peers))
		return true;
	tcp_peers_give(peers);
	return false;
}

void tcp_peers_give(struct tcp_peers *peers)
{
	__atomic_sub_fetch(&peers->n, 1, __ATOMIC_RELAXED);
}

bool tcp_peers_is_over(const struct tcp_peers *peers)
{
	return __atomic_load_n(&peers->n, __ATOMIC_RELAXED) > peers->n_max;
}

bool tcp_peers_wish(struct tcp_peers *peers, const struct tcp_peers_port *own)
{
	struct tcp_peers_port *lowest = NULL;
	uint64_t rank = __atomic_load_n(&own->rank, __ATOMIC_RELAXED);

	pthread_mutex_lock(&peers->lock);
	for (uint32_t i = 0; i < peers->n_ports; i++) {
		uint64_t other = __atomic_load_n(&peers->ports[i]->rank, __ATOMIC_RELAXED);

		if (peers->ports[i] == own || other >= rank)
			continue;
		rank = other;
		lowest = peers->ports[i];
	}
	if (lowest) {
		__atomic_add_fetch(&lowest->n_wishes, 1, __ATOMIC_RELAXED);
		(void)eventfd_write(lowest->wake_fd, 1);
	}
	pthread_mutex_unlock(&peers->lock);
	return lowest;
}

uint32_t tcp_peers_take_wishes(struct tcp_peers_port *port)
{
	/* Called at each receive: without a wish the line is only read. */
	if (!__atomic_load_n(&port->n_wishes, __ATOMIC_RELAXED))
		return 0;
	return __atomic_exchange_n(&port->n_wishes, 0, __ATOMIC_RELAXED);
}
