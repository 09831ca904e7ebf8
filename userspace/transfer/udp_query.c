/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "port/privileged.h"
#include "transfer/remotes.h"
#include "transfer/transfer_thread.h"
#include "xfr/xfr_message.h"

#define TRIES 3

/* The waits after each try; after the last one the query ends. */
static const uint16_t waits_ms[TRIES] = { 700, 1500, 3000 };

struct udp_query {
	struct transfer *t;
	udp_query_done_fn *done;
	void *user;
	struct event *io;
	struct timer wait;
	struct tsig tsig;
	const struct tsig_key *key;
	int fd;
	unsigned int n_tries;
	uint16_t id;
	const char *bad_tsig; /* what was wrong with the last signature, or NULL */
	size_t n_msg;
	uint8_t msg[UDP_QUERY_MAX]; /* without its TSIG */
	uint8_t signed_msg[UDP_QUERY_MAX + TSIG_MAX];
};

void udp_query_abort(struct udp_query *query)
{
	if (!query)
		return;
	if (query->io)
		event_free(query->io);
	timer_fini(&query->wait);
	if (query->fd >= 0)
		close(query->fd);
	tsig_fini(&query->tsig);
	free(query);
}

const char *udp_query_bad_tsig(const struct udp_query *query)
{
	return query->bad_tsig;
}

static void finish_udp_query(struct udp_query *query, int code, const uint8_t *reply, size_t n)
{
	query->done(query->user, code, reply, n);
	udp_query_abort(query);
}

/* All tries have the same ID, so a late reply to an earlier try is accepted, except if it is
 * signed. */
static int send_once(struct udp_query *query)
{
	int n;

	memcpy(query->signed_msg, query->msg, query->n_msg);
	tsig_fini(&query->tsig);
	tsig_init(&query->tsig, query->key);
	n = tsig_sign(&query->tsig, query->signed_msg, query->n_msg, sizeof(query->signed_msg),
		      query->t->now.wall_s);
	if (n < 0)
		return n;
	loop_set(query->t, &query->wait, waits_ms[query->n_tries++] * CLOCK_NS_PER_MS);
	if (send(query->fd, query->signed_msg, (size_t)n, MSG_NOSIGNAL) < 0 && errno != EAGAIN &&
	    errno != ENOBUFS)
		return -errno;
	return 0;
}

/* True if @msg is a reply to the query. */
static bool is_udp_query_reply(const struct udp_query *query, const uint8_t *msg, size_t n)
{
	struct xfr_question mine, theirs;
	struct xfr_message m;

	if (xfr_message_open(&m, query->msg, query->n_msg) || xfr_message_question(&m, &mine))
		return false;
	if (xfr_message_open(&m, msg, n) || !(m.flags & DNS_FLAG_QR) || m.id != query->id ||
	    m.opcode != (wire_load_be16(query->msg + DNS_FLAGS_AT) & DNS_OPCODE_MASK) >>
				DNS_OPCODE_SHIFT)
		return false;
	if (!m.count[XFR_QUESTION]) /* some servers leave the question out of an error */
		return m.rcode != DNS_RCODE_NOERROR;
	return !xfr_message_question(&m, &theirs) && mine.type == theirs.type &&
	       mine.class == theirs.class && name_equal(mine.name, theirs.name);
}

/* True: the query has ended. */
static bool take_udp_query(struct udp_query *query, const uint8_t *msg, size_t n)
{
	struct tsig tsig = query->tsig; /* a copy: a forged reply must not change the query's */
	enum tsig_verdict verdict;
	size_t n_body;

	if (!is_udp_query_reply(query, msg, n))
		return false;
	verdict = tsig_verify(&tsig, msg, n, query->t->now.wall_s, &n_body);
	if (verdict == TSIG_OK)
		query->tsig = tsig; /* keeps the memory that it has allocated */
	if (verdict != TSIG_OK) {
		query->bad_tsig = tsig_verdict_text(verdict, tsig.remote_error);
		return false;
	}
	finish_udp_query(query, 0, msg, n);
	return true;
}

/* No valid reply came in time. */
static void on_silence(void *user)
{
	struct udp_query *query = user;
	int code;

	if (query->bad_tsig)
		transfer_count(query->t, tsig_bad);
	code = query->bad_tsig ? ERR_TSIG : query->n_tries == TRIES ? -ETIMEDOUT : send_once(query);
	if (code)
		finish_udp_query(query, code, NULL, 0);
}

static void on_udp_query_event(evutil_socket_t fd, short what, void *user)
{
	static uint8_t reply[65536]; /* only the loop's thread uses it */
	struct udp_query *query = user;

	(void)what;
	loop_wake(query->t);
	for (;;) {
		ssize_t n = recv(fd, reply, sizeof(reply), 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) { /* ECONNREFUSED and the like come from ICMP */
			finish_udp_query(query, -errno, NULL, 0);
			return;
		}
		if (take_udp_query(query, reply, (size_t)n))
			return;
	}
}

/* A connected socket: the kernel drops packets from other addresses and ports, and chooses our port
 * at random. */
static int open_udp_query_socket(struct udp_query *query, const struct remote *remote,
				 const struct peer *peer)
{
	const struct port_addr *source = remote_source(remote, &peer->addr);
	struct sockaddr_storage ss;
	socklen_t n;
	int err;

	query->fd = socket(peer->addr.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (query->fd < 0)
		return -errno;
	if (source) {
		err = port_bind(query->fd, source);
		if (err)
			return err;
	}
	n = port_addr_to_sockaddr(&peer->addr, &ss);
	return connect(query->fd, (struct sockaddr *)&ss, n) ? -errno : 0;
}

int udp_query_start(struct udp_query **out, struct transfer *t, const struct remote *remote,
		    const struct peer *peer, const uint8_t *msg, size_t n, udp_query_done_fn *done,
		    void *user)
{
	struct udp_query *query = calloc(1, sizeof(*query));
	int code;

	if (!query)
		return -ENOMEM;
	query->t = t;
	query->done = done;
	query->user = user;
	query->key = remote->key;
	query->n_msg = n;
	query->id = random_u16(&t->random);
	memcpy(query->msg, msg, n);
	wire_store_be16(query->msg + DNS_ID_AT, query->id);
	code = open_udp_query_socket(query, remote, peer);
	if (!code) {
		query->io = event_new(t->base, query->fd, EV_READ | EV_PERSIST, on_udp_query_event,
				      query);
		code = query->io && !event_add(query->io, NULL) ? 0 : -ENOMEM;
	}
	code = code ? code : timer_init(&query->wait, &t->timers, on_silence, query);
	code = code ? code : send_once(query);
	if (code)
		udp_query_abort(query);
	else
		*out = query;
	return code;
}
