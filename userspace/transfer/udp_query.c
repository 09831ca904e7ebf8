/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urcu/list.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "port/privileged.h"
#include "transfer/peer.h"
#include "transfer/remotes.h"
#include "transfer/transfer_thread.h"
#include "xfr/xfr_message.h"

#define TRIES 3

/* The waits after each try; after the last one the query ends. */
static const uint16_t waits_ms[TRIES] = { 700, 1500, 3000 };

/* A connected socket: the kernel drops packets from other addresses and ports, and chooses our port
 * at random. */
struct udp_query_socket {
	struct peer_socket open; /* first */
	struct transfer *t;
	struct event *io;
	struct cds_list_head queries; /* those that wait for their replies */
	uint32_t n_taken;             /* queries so far */
	int error;                    /* that ends them in the next turn of the loop; 0: none */
	bool is_reading;
	int fd;
};

struct udp_query {
	struct cds_list_head node; /* in the queries of its socket */
	struct udp_query_socket *socket;
	struct transfer *t;
	udp_query_done_fn *done;
	void *user;
	struct timer wait;
	struct tsig tsig;
	const struct tsig_key *key;
	unsigned int n_tries;
	uint16_t id;
	const char *bad_tsig; /* what was wrong with the last signature, or NULL */
	size_t n_msg;
	uint8_t msg[UDP_QUERY_MAX]; /* without its TSIG */
};

/* --- Sockets ---------------------------------------------------------------------------------- */

static void close_udp_query_socket(struct udp_query_socket *s)
{
	if (s->open.peer)
		peer_drop_socket(s->open.peer);
	if (s->io)
		event_free(s->io);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static int connect_udp_query_socket(struct udp_query_socket *s, const struct remote *remote,
				    const struct port_addr *addr)
{
	const struct port_addr *source = remote_source(remote, addr);
	struct sockaddr_storage ss;
	socklen_t n;
	int err;

	s->fd = socket(addr->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	if (source) {
		err = port_bind(s->fd, source);
		if (err)
			return err;
	}
	n = port_addr_to_sockaddr(addr, &ss);
	return connect(s->fd, (struct sockaddr *)&ss, n) ? -errno : 0;
}

static void on_udp_query_event(evutil_socket_t fd, short what, void *user);

static int open_udp_query_socket(struct udp_query_socket **out, struct transfer *t,
				 const struct remote *remote, struct peer *peer)
{
	struct udp_query_socket *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return -ENOMEM;
	s->t = t;
	CDS_INIT_LIST_HEAD(&s->queries);
	code = connect_udp_query_socket(s, remote, &peer->addr);
	if (!code) {
		s->io = event_new(t->base, s->fd, EV_READ | EV_PERSIST, on_udp_query_event, s);
		code = s->io && !event_add(s->io, NULL) ? 0 : -ENOMEM;
	}
	if (code) {
		close_udp_query_socket(s);
		return code;
	}
	s->open.peer = peer;
	peer->socket = &s->open;
	*out = s;
	return 0;
}

static struct udp_query *find_udp_query(const struct udp_query_socket *s, uint16_t id)
{
	struct udp_query *query;

	cds_list_for_each_entry(query, &s->queries, node)
		if (query->id == id)
			return query;
	return NULL;
}

/* Gives the query a place in a socket to @peer, and a random ID that no other query there has. */
static int join_udp_query_socket(struct udp_query *query, const struct remote *remote,
				 struct peer *peer)
{
	struct udp_query_socket *s = (struct udp_query_socket *)peer->socket;
	int code = 0;

	if (!s)
		code = open_udp_query_socket(&s, query->t, remote, peer);
	if (code)
		return code;
	do
		query->id = random_u16(&query->t->random);
	while (find_udp_query(s, query->id));
	query->socket = s;
	cds_list_add_tail(&query->node, &s->queries);
	if (++s->n_taken == UDP_QUERY_SHARED)
		peer_drop_socket(peer);
	return 0;
}

static void leave_udp_query_socket(struct udp_query *query)
{
	struct udp_query_socket *s = query->socket;

	if (!s)
		return;
	cds_list_del(&query->node);
	query->socket = NULL;
	if (cds_list_empty(&s->queries) && !s->is_reading)
		close_udp_query_socket(s);
}

/* --- Queries ---------------------------------------------------------------------------------- */

void udp_query_abort(struct udp_query *query)
{
	if (!query)
		return;
	leave_udp_query_socket(query);
	timer_fini(&query->wait);
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

/* A socket reports an ICMP error once, perhaps to the send() of a later query. So the error ends
 * all queries of the socket, as if recv() had got it; in the next turn of the loop, because the
 * caller may be at work on one of them. A socket with a single query returns the error. */
static int note_send_error(struct udp_query_socket *s, int code)
{
	if (s->n_taken == 1)
		return code;
	s->error = code;
	event_active(s->io, EV_READ, 0);
	return 0;
}

/* All tries have the same ID, so a late reply to an earlier try is accepted, except if it is
 * signed. */
static int send_once(struct udp_query *query)
{
	uint8_t msg[UDP_QUERY_MAX + TSIG_MAX];
	int n;

	memcpy(msg, query->msg, query->n_msg);
	tsig_fini(&query->tsig);
	tsig_init(&query->tsig, query->key);
	n = tsig_sign(&query->tsig, msg, query->n_msg, sizeof(msg), query->t->now.wall_s);
	if (n < 0)
		return n;
	loop_set(query->t, &query->wait, waits_ms[query->n_tries++] * CLOCK_NS_PER_MS);
	if (send(query->socket->fd, msg, (size_t)n, MSG_NOSIGNAL) < 0 && errno != EAGAIN &&
	    errno != ENOBUFS)
		return note_send_error(query->socket, -errno);
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

static void take_udp_query(struct udp_query *query, const uint8_t *msg, size_t n)
{
	struct tsig tsig = query->tsig; /* a copy: a forged reply must not change the query's */
	enum tsig_verdict verdict;
	size_t n_body;

	if (!is_udp_query_reply(query, msg, n))
		return;
	verdict = tsig_verify(&tsig, msg, n, query->t->now.wall_s, &n_body);
	if (verdict == TSIG_OK)
		query->tsig = tsig; /* keeps the memory that it has allocated */
	if (verdict != TSIG_OK) {
		query->bad_tsig = tsig_verdict_text(verdict, tsig.remote_error);
		return;
	}
	finish_udp_query(query, 0, msg, n);
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

/* ECONNREFUSED and the like come from ICMP: no query of this socket gets a reply. */
static void fail_udp_queries(struct udp_query_socket *s, int code)
{
	struct cds_list_head all;

	CDS_INIT_LIST_HEAD(&all);
	cds_list_splice(&s->queries, &all);
	CDS_INIT_LIST_HEAD(&s->queries);
	if (s->open.peer)
		peer_drop_socket(s->open.peer); /* a query that begins now needs another one */
	while (!cds_list_empty(&all))
		finish_udp_query(cds_list_first_entry(&all, struct udp_query, node), code, NULL, 0);
}

static void read_udp_query_socket(struct udp_query_socket *s)
{
	static uint8_t reply[65536]; /* only the loop's thread uses it */

	for (unsigned int i = 0; i < UDP_QUERY_TURN; i++) {
		ssize_t n = recv(s->fd, reply, sizeof(reply), 0);
		struct udp_query *query;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			fail_udp_queries(s, -errno);
			return;
		}
		query = n >= 2 ? find_udp_query(s, wire_load_be16(reply)) : NULL;
		if (query)
			take_udp_query(query, reply, (size_t)n);
		if (cds_list_empty(&s->queries))
			return;
	}
}

static void on_udp_query_event(evutil_socket_t fd, short what, void *user)
{
	struct udp_query_socket *s = user;

	(void)fd, (void)what;
	loop_wake(s->t);
	s->is_reading = true;
	if (s->error)
		fail_udp_queries(s, s->error);
	else
		read_udp_query_socket(s);
	s->is_reading = false;
	if (cds_list_empty(&s->queries))
		close_udp_query_socket(s);
}

int udp_query_start(struct udp_query **out, struct transfer *t, const struct remote *remote,
		    struct peer *peer, const uint8_t *msg, size_t n, udp_query_done_fn *done,
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
	memcpy(query->msg, msg, n);
	code = join_udp_query_socket(query, remote, peer);
	wire_store_be16(query->msg + DNS_ID_AT, query->id);
	code = code ? code : timer_init(&query->wait, &t->timers, on_silence, query);
	code = code ? code : send_once(query);
	if (code)
		udp_query_abort(query);
	else
		*out = query;
	return code;
}
