/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/peer.h"

#include "base/clock.h"

#define DEAD_FIRST_NS (2 * CLOCK_NS_PER_S)
#define DEAD_DOUBLED  5 /* 64 s */
#define BY_STREAM_NS  (3600 * CLOCK_NS_PER_S)

void peer_keep(struct peer *peer, struct peer_connection *connection)
{
	if (peer->n_idle == PEER_IDLE_MAX) {
		connection->close(connection);
		return;
	}
	connection->next = peer->idle;
	peer->idle = connection;
	peer->n_idle++;
}

void peer_forget(struct peer *peer, struct peer_connection *connection)
{
	struct peer_connection **at = &peer->idle;

	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	peer->n_idle--;
}

struct peer_connection *peer_take(struct peer *peer)
{
	struct peer_connection *connection = peer->idle;

	if (connection)
		peer_forget(peer, connection);
	return connection;
}

void peer_close_idle(struct peer *peer)
{
	struct peer_connection *connection;

	while ((connection = peer_take(peer)))
		connection->close(connection);
}

void peer_drop_socket(struct peer *peer)
{
	if (peer->socket)
		peer->socket->peer = NULL;
	peer->socket = NULL;
}

void peer_fini(struct peer *peer)
{
	peer_close_idle(peer);
	peer_drop_socket(peer);
	tls_session_fini(&peer->session);
}

void peer_is_dead(struct peer *peer, uint64_t now_ns)
{
	peer->stream_until_ns = 0;
	if (peer_is_shunned(peer, now_ns))
		return;
	peer->dead_until_ns = now_ns + (DEAD_FIRST_NS << peer->n_dead);
	if (peer->n_dead < DEAD_DOUBLED)
		peer->n_dead++;
}

void peer_is_alive(struct peer *peer)
{
	peer->n_dead = 0;
	peer->dead_until_ns = 0;
}

bool peer_is_shunned(const struct peer *peer, uint64_t now_ns)
{
	return now_ns < peer->dead_until_ns;
}

void peer_is_by_stream(struct peer *peer, uint64_t now_ns)
{
	peer->stream_until_ns = now_ns + BY_STREAM_NS;
}

bool peer_wants_stream(const struct peer *peer, uint64_t now_ns)
{
	return now_ns < peer->stream_until_ns;
}
