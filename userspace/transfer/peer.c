/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/wire.h"
#include "transfer/internal.h"
#include "transfer/stream.h"

#define DEAD_FIRST_NS (2 * CLOCK_NS_PER_S)
#define DEAD_DOUBLED  5 /* 64 s */

void peer_keep(struct peer *peer, struct stream *s)
{
	if (peer->n_idle == PEER_IDLE_MAX) {
		stream_close(s);
		return;
	}
	*stream_next_idle(s) = peer->idle;
	peer->idle = s;
	peer->n_idle++;
}

void peer_forget(struct peer *peer, struct stream *s)
{
	struct stream **at = &peer->idle;

	while (*at != s)
		at = stream_next_idle(*at);
	*at = *stream_next_idle(s);
	peer->n_idle--;
}

static struct stream *take_idle(struct peer *peer)
{
	struct stream *s = peer->idle;

	if (s)
		peer_forget(peer, s);
	return s;
}

void peer_close_idle(struct peer *peer)
{
	struct stream *s;

	while ((s = take_idle(peer)))
		stream_close(s);
}

void peer_fini(struct peer *peer)
{
	peer_close_idle(peer);
	tls_session_fini(&peer->session);
}

int peer_exchange(struct exchange **out, struct transfer *t, struct book_remote *remote,
		  struct peer *peer, const uint8_t *msg, size_t n,
		  const struct exchange_handlers *handlers, void *user)
{
	struct exchange *e = malloc(sizeof(*e) + 2 + n);
	struct stream *s = take_idle(peer);
	int code = 0;

	if (!e) {
		if (s)
			peer_keep(peer, s);
		return -ENOMEM;
	}
	*e = (struct exchange){
		.t = t,
		.remote = remote,
		.peer = peer,
		.handlers = handlers,
		.user = user,
		.is_reused = s,
		.n_query = 2 + n,
	};
	wire_store_be16(e->query, (uint16_t)n);
	memcpy(e->query + 2, msg, n);
	if (!s)
		code = stream_open(&s, t, remote, peer);
	if (code) {
		free(e);
		return code;
	}
	stream_begin(s, e);
	*out = e;
	return 0;
}

/* A connection that was kept may have been closed just when we asked: RFC 7766 section 6.2.4. */
void exchange_lost(struct exchange *e, int code, const char *why)
{
	struct stream *s;

	e->stream = NULL;
	if (e->is_reused && !e->n_bytes && code != -ETIMEDOUT) {
		e->is_reused = false;
		code = stream_open(&s, e->t, e->remote, e->peer);
		if (!code) {
			stream_begin(s, e);
			return;
		}
		why = err_text(code);
	}
	e->handlers->failed(e->user, code, why);
	free(e);
}

void exchange_abort(struct exchange *e)
{
	if (!e)
		return;
	stream_close(e->stream);
	free(e);
}

uint64_t exchange_bytes(const struct exchange *e)
{
	return e->n_bytes;
}

bool exchange_is_reused(const struct exchange *e)
{
	return e->is_reused;
}

void peer_is_dead(struct peer *peer, uint64_t now_ns)
{
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
