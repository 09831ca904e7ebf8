/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_share.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>

struct tcp_share {
	struct limits limits;
	uint32_t n_conns_max, n_client_max;
	int32_t n_half;
	uint32_t n_wishes;
	pthread_mutex_t lock; /* of the fields below */
	uint32_t n_ports, n_ports_max;
	struct member { /* a port */
		int wake_fd;
		bool has_wish; /* another port is to close a connection of `client` */
		struct limits_place client;
	} ports[];
};

static uint32_t load_tcp_share(const uint32_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

int tcp_share_new(struct tcp_share **out, uint32_t n_conns_max, uint32_t n_client_max,
		  uint32_t n_ports)
{
	struct tcp_share *share = calloc(1, sizeof(*share) + n_ports * sizeof(share->ports[0]));

	if (!share)
		return -ENOMEM;
	if (getrandom(share->limits.key, sizeof(share->limits.key), 0) < 0) {
		free(share);
		return -errno;
	}
	share->n_conns_max = n_conns_max;
	share->n_client_max = n_client_max;
	/* One too many for each port. */
	share->limits.max_total = n_conns_max + n_ports;
	share->limits.max_client = n_client_max ? n_client_max + n_ports : 0;
	share->n_ports_max = n_ports;
	share->limits.prefix4 = TCP_SHARE_PREFIX4;
	share->limits.prefix6 = TCP_SHARE_PREFIX6;
	pthread_mutex_init(&share->lock, NULL);
	*out = share;
	return 0;
}

void tcp_share_free(struct tcp_share *share)
{
	if (!share)
		return;
	pthread_mutex_destroy(&share->lock);
	free(share);
}

uint32_t tcp_share_cap(const struct tcp_share *share)
{
	return share->limits.max_total;
}

int tcp_share_join(struct tcp_share *share, int wake_fd)
{
	bool is_full;

	pthread_mutex_lock(&share->lock);
	is_full = share->n_ports == share->n_ports_max;
	if (!is_full)
		share->ports[share->n_ports++] = (struct member){ .wake_fd = wake_fd };
	pthread_mutex_unlock(&share->lock);
	return is_full ? -ENOSPC : 0;
}

void tcp_share_leave(struct tcp_share *share, int wake_fd)
{
	pthread_mutex_lock(&share->lock);
	for (uint32_t i = 0; i < share->n_ports; i++) {
		if (share->ports[i].wake_fd != wake_fd)
			continue;
		share->ports[i] = share->ports[--share->n_ports];
		break;
	}
	pthread_mutex_unlock(&share->lock);
}

enum limits_verdict tcp_share_take(struct tcp_share *share, const struct port_addr *client,
				   struct limits_place *place)
{
	return limits_take(&share->limits, (uint8_t)client->family, client->bytes, place);
}

void tcp_share_give(struct tcp_share *share, const struct limits_place *place)
{
	limits_give(&share->limits, place);
}

bool tcp_share_is_over(const struct tcp_share *share)
{
	return load_tcp_share(&share->limits.total) > share->n_conns_max;
}

bool tcp_share_client_is_over(const struct tcp_share *share, const struct limits_place *client)
{
	return share->n_client_max && limits_count(&share->limits, client) > share->n_client_max;
}

void tcp_share_count_half(struct tcp_share *share, int n)
{
	__atomic_fetch_add(&share->n_half, n, __ATOMIC_RELAXED);
}

bool tcp_share_has_half(const struct tcp_share *share)
{
	return __atomic_load_n(&share->n_half, __ATOMIC_RELAXED) > 0;
}

/* Call with the lock. */
static void wake_others(const struct tcp_share *share, int own_wake_fd)
{
	for (uint32_t i = 0; i < share->n_ports; i++)
		if (share->ports[i].wake_fd != own_wake_fd)
			(void)eventfd_write(share->ports[i].wake_fd, 1);
}

bool tcp_share_wish(struct tcp_share *share, int own_wake_fd)
{
	bool has_others;

	pthread_mutex_lock(&share->lock);
	has_others = share->n_ports > 1;
	if (has_others)
		__atomic_fetch_add(&share->n_wishes, 1, __ATOMIC_RELAXED);
	wake_others(share, own_wake_fd);
	pthread_mutex_unlock(&share->lock);
	return has_others;
}

bool tcp_share_is_wished(const struct tcp_share *share)
{
	return load_tcp_share(&share->n_wishes) > 0;
}

/* If a connection has ended by itself meanwhile, the wish is removed. */
bool tcp_share_take_wish(struct tcp_share *share)
{
	uint32_t n = load_tcp_share(&share->n_wishes);

	if (!tcp_share_is_over(share)) {
		__atomic_store_n(&share->n_wishes, 0, __ATOMIC_RELAXED);
		return false;
	}
	while (n)
		if (__atomic_compare_exchange_n(&share->n_wishes, &n, n - 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

bool tcp_share_wish_client(struct tcp_share *share, int own_wake_fd,
			   const struct limits_place *client)
{
	bool has_others;

	pthread_mutex_lock(&share->lock);
	has_others = share->n_ports > 1;
	for (uint32_t i = 0; has_others && i < share->n_ports; i++)
		if (share->ports[i].wake_fd == own_wake_fd)
			share->ports[i] = (struct member){ own_wake_fd, true, *client };
	wake_others(share, own_wake_fd);
	pthread_mutex_unlock(&share->lock);
	return has_others;
}

bool tcp_share_next_client_wish(struct tcp_share *share, int own_wake_fd, uint32_t *at,
				struct limits_place *client)
{
	bool found = false;

	pthread_mutex_lock(&share->lock);
	for (; !found && *at < share->n_ports; ++*at) {
		struct member *port = &share->ports[*at];

		/* A connection may have ended by itself meanwhile. */
		port->has_wish &= tcp_share_client_is_over(share, &port->client);
		found = port->has_wish && port->wake_fd != own_wake_fd;
		*client = port->client;
	}
	pthread_mutex_unlock(&share->lock);
	return found;
}

bool tcp_share_take_client_wish(struct tcp_share *share, const struct limits_place *client)
{
	bool found = false;

	pthread_mutex_lock(&share->lock);
	for (uint32_t i = 0; !found && i < share->n_ports; i++) {
		struct member *port = &share->ports[i];

		found = port->has_wish && port->client.client == client->client;
		port->has_wish &= !found;
	}
	pthread_mutex_unlock(&share->lock);
	return found;
}

uint32_t tcp_share_scale(const struct tcp_share *share)
{
	uint64_t total = load_tcp_share(&share->limits.total), cap = share->n_conns_max;
	uint64_t half = cap / 2, scale;

	if (total <= half)
		return TCP_SHARE_SCALE_FULL;
	if (total >= cap)
		return TCP_SHARE_SCALE_MIN;
	scale = TCP_SHARE_SCALE_FULL * (cap - total) / (cap - half);
	return scale > TCP_SHARE_SCALE_MIN ? (uint32_t)scale : TCP_SHARE_SCALE_MIN;
}
