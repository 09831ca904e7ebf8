/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "transfer/book.h"
#include "transfer/transfer_thread.h"
#include "xfr/xfr_message.h"

#define TRIES 3

/* Before it is asked again, and before that is given up. */
static const uint16_t waits_ms[TRIES] = { 700, 1500, 3000 };

struct ask {
	struct transfer *t;
	ask_done_fn *done;
	void *user;
	struct event *io;
	struct timer wait;
	struct tsig tsig;
	const struct tsig_key *key;
	int fd;
	unsigned int n_tries;
	uint16_t id;
	const char *bad_tsig; /* what was wrong, or NULL */
	size_t n_msg;
	uint8_t msg[ASK_MESSAGE_MAX]; /* without its TSIG */
	uint8_t signed_msg[ASK_MESSAGE_MAX + TSIG_MAX];
};

void ask_abort(struct ask *ask)
{
	if (!ask)
		return;
	if (ask->io)
		event_free(ask->io);
	timer_fini(&ask->wait);
	if (ask->fd >= 0)
		close(ask->fd);
	tsig_fini(&ask->tsig);
	free(ask);
}

const char *ask_bad_tsig(const struct ask *ask)
{
	return ask->bad_tsig;
}

static void finish(struct ask *ask, int code, const uint8_t *reply, size_t n)
{
	ask->done(ask->user, code, reply, n);
	ask_abort(ask);
}

/* The same ID each time: a late reply to an earlier try is as good, but for its signature. */
static int send_once(struct ask *ask)
{
	int n;

	memcpy(ask->signed_msg, ask->msg, ask->n_msg);
	tsig_fini(&ask->tsig);
	tsig_init(&ask->tsig, ask->key);
	n = tsig_sign(&ask->tsig, ask->signed_msg, ask->n_msg, sizeof(ask->signed_msg),
		      ask->t->now.wall_s);
	if (n < 0)
		return n;
	loop_set(ask->t, &ask->wait, waits_ms[ask->n_tries++] * CLOCK_NS_PER_MS);
	if (send(ask->fd, ask->signed_msg, (size_t)n, MSG_NOSIGNAL) < 0 && errno != EAGAIN &&
	    errno != ENOBUFS)
		return -errno;
	return 0;
}

/* Is it a reply to what was asked? */
static bool is_reply(const struct ask *ask, const uint8_t *msg, size_t n)
{
	struct xfr_question mine, theirs;
	struct xfr_message m;

	if (xfr_message_open(&m, ask->msg, ask->n_msg) || xfr_message_question(&m, &mine))
		return false;
	if (xfr_message_open(&m, msg, n) || !(m.flags & DNS_FLAG_QR) || m.id != ask->id ||
	    m.opcode !=
		    (wire_load_be16(ask->msg + DNS_FLAGS_AT) & DNS_OPCODE_MASK) >> DNS_OPCODE_SHIFT)
		return false;
	if (!m.count[XFR_QUESTION]) /* some leave it out of an error */
		return m.rcode != DNS_RCODE_NOERROR;
	return !xfr_message_question(&m, &theirs) && mine.type == theirs.type &&
	       mine.class == theirs.class && name_equal(mine.name, theirs.name);
}

/* True: the ask is at its end. */
static bool take(struct ask *ask, const uint8_t *msg, size_t n)
{
	struct tsig tsig = ask->tsig; /* a forged reply must not spoil it */
	enum tsig_verdict verdict;
	size_t n_body;

	if (!is_reply(ask, msg, n))
		return false;
	verdict = tsig_verify(&tsig, msg, n, ask->t->now.wall_s, &n_body);
	if (verdict == TSIG_OK)
		ask->tsig = tsig; /* with what it has allocated */
	if (verdict != TSIG_OK) {
		ask->bad_tsig = tsig_verdict_text(verdict, tsig.remote_error);
		return false;
	}
	finish(ask, 0, msg, n);
	return true;
}

/* There was no good reply in time. */
static void on_silence(void *user)
{
	struct ask *ask = user;
	int code;

	if (ask->bad_tsig)
		transfer_count(ask->t, tsig_bad);
	code = ask->bad_tsig ? ERR_TSIG : ask->n_tries == TRIES ? -ETIMEDOUT : send_once(ask);
	if (code)
		finish(ask, code, NULL, 0);
}

static void on_event(evutil_socket_t fd, short what, void *user)
{
	static uint8_t reply[65536]; /* the loop's thread alone */
	struct ask *ask = user;

	(void)what;
	loop_wake(ask->t);
	for (;;) {
		ssize_t n = recv(fd, reply, sizeof(reply), 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) { /* ECONNREFUSED and the like: by ICMP */
			finish(ask, -errno, NULL, 0);
			return;
		}
		if (take(ask, reply, (size_t)n))
			return;
	}
}

/* Connected: the kernel takes nothing from another address or port, and its choice of ours is random. */
static int open_socket(struct ask *ask, const struct book_remote *remote, const struct peer *peer)
{
	const struct port_addr *source = book_source(remote, &peer->addr);
	struct sockaddr_storage ss;
	socklen_t n;

	ask->fd = socket(peer->addr.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ask->fd < 0)
		return -errno;
	if (source) {
		n = port_addr_to_sockaddr(source, &ss);
		if (bind(ask->fd, (struct sockaddr *)&ss, n))
			return -errno;
	}
	n = port_addr_to_sockaddr(&peer->addr, &ss);
	return connect(ask->fd, (struct sockaddr *)&ss, n) ? -errno : 0;
}

int ask_start(struct ask **out, struct transfer *t, const struct book_remote *remote,
	      const struct peer *peer, const uint8_t *msg, size_t n, ask_done_fn *done, void *user)
{
	struct ask *ask = calloc(1, sizeof(*ask));
	int code;

	if (!ask)
		return -ENOMEM;
	ask->t = t;
	ask->done = done;
	ask->user = user;
	ask->key = remote->key;
	ask->n_msg = n;
	ask->id = random_u16(&t->random);
	memcpy(ask->msg, msg, n);
	wire_store_be16(ask->msg + DNS_ID_AT, ask->id);
	code = open_socket(ask, remote, peer);
	if (!code) {
		ask->io = event_new(t->base, ask->fd, EV_READ | EV_PERSIST, on_event, ask);
		code = ask->io && !event_add(ask->io, NULL) ? 0 : -ENOMEM;
	}
	code = code ? code : timer_init(&ask->wait, &t->timers, on_silence, ask);
	code = code ? code : send_once(ask);
	if (code)
		ask_abort(ask);
	else
		*out = ask;
	return code;
}
