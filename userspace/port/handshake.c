/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread has a list of its handshakes and a line of connections that wait for a place, both in
 * the order of their deadlines. Only that thread uses them; new connections come through a mailbox.
 */
#include "port/handshake.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>
#include <urcu/list.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/kernel.h"
#include "base/limits.h"
#include "base/sandbox.h"
#include "port/tcp_tls.h"

#define OVER_MAX   8  /* ended handshakes that are handed over together */
#define EVENTS_CAP 16 /* each may need a signature; then the mailbox is read */
#define PREFIX4    24
#define PREFIX6    48
#define WAIT_MS    250 /* longest wait for an event, so that deadlines are kept */
/* the same while connections wait for a place, which the other thread may free */
#define LINE_MS 10
#define LINE_S  30 /* longest wait in line */
#define TRIES   32 /* checks for silent clients in one pass along the line */

/* How long a silent client keeps its place while others wait: a client that has sent nothing, and a
 * client that has begun. */
#define MUTE_NS  (250 * CLOCK_NS_PER_MS)
#define BEGUN_NS (2 * CLOCK_NS_PER_S)

/* A handshake that waits in line or runs. */
struct shake {
	struct handshake is; /* first */
	struct cds_list_head link;
	SSL_CTX *ctx;              /* a reference; NULL once the SSL is made */
	struct limits_place place; /* the same in `fresh` and in `limits` */
	bool has_begun;            /* the client has sent something */
	uint32_t events;           /* the epoll events that the thread waits for */
	uint64_t since_ns;         /* when all that the client had sent was last read */
	uint64_t end_ns;           /* deadline of its wait in line, then of the handshake */
};

struct shaker {
	struct handshakes *owner;
	pthread_t thread;
	bool is_running;
	int epoll_fd;
	struct mailbox inbox;
	struct cds_list_head shakes;
	struct cds_list_head line;
	uint32_t n_line;
	struct tcp_arrival *over, **over_end; /* oldest first */
	unsigned int n_over;
};

struct handshakes {
	struct shaker shakers[HANDSHAKE_THREADS];
	unsigned int n; /* number of threads */
	struct tcp_intake *intake;
	struct limits fresh;  /* connections in inboxes and lines */
	struct limits limits; /* handshakes that run; same key as `fresh` */
	struct mailbox done;
	bool is_stopping;  /* atomic */
	unsigned int next; /* the thread that gets the next connection */
};

/* ---- One handshake: its thread --------------------------------------------------------------- */

static void forget_handshake(struct shaker *s, struct shake *k)
{
	limits_give(&s->owner->limits, &k->place);
	cds_list_del(&k->link);
}

/* The loop's thread counts the failure. */
static void fail_handshake(struct shaker *s, struct shake *k)
{
	SSL_free(k->is.conn.ssl);
	SSL_CTX_free(k->ctx);
	(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, k->is.conn.fd,
			NULL); /* see drop_client() of control/ctl.c */
	close(k->is.conn.fd);
	k->is.conn.ssl = NULL;
	mailbox_put(&s->owner->done, &k->is.post);
}

static void give_up_handshake(struct shaker *s, struct shake *k)
{
	forget_handshake(s, k);
	fail_handshake(s, k);
}

static int watch_handshake(struct shaker *s, int op, struct shake *k, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = k };

	if (events == k->events)
		return 0;
	k->events = events;
	return epoll_ctl(s->epoll_fd, op, k->is.conn.fd, &event);
}

/* Hands over several at once, so that a worker is woken less often. */
static void hand_over_handshake(struct shaker *s)
{
	struct tcp_arrival *a = s->over, *next;

	s->over = NULL;
	s->over_end = &s->over;
	s->n_over = 0;
	if (!a || (s->owner->intake && tcp_intake_put(s->owner->intake, a)))
		return;
	for (; a; a = next) {
		next = a->next;
		tcp_arrival_drop(a);
	}
}

static void end_handshake(struct shaker *s, struct shake *k)
{
	(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, k->is.conn.fd, NULL);
	forget_handshake(s, k);
	k->is.conn.next = NULL;
	*s->over_end = &k->is.conn;
	s->over_end = &k->is.conn.next;
	if (++s->n_over == OVER_MAX)
		hand_over_handshake(s);
}

/*
 * True if octets of a question have come with the client's last flight. SSL_has_pending() does not
 * tell that since OpenSSL 3.2: what follows the last record of the handshake is in another layer.
 */
static bool has_question(SSL *ssl)
{
	uint8_t octet;
	int n = SSL_peek(ssl, &octet, 1);

	ERR_clear_error();
	return n == 1;
}

static void go_on_handshake(struct shaker *s, struct shake *k)
{
	SSL *ssl = k->is.conn.ssl;
	bool is_asked, is_sent;
	int result, why;

	ERR_clear_error();
	tls_bio_hold(ssl, true);
	result = SSL_accept(ssl);
	why = SSL_get_error(ssl, result);
	is_asked = result == 1 && has_question(ssl);
	tls_bio_hold(ssl, false);
	/*
	 * If a question has already come, the session tickets are sent with its reply. Otherwise
	 * they are sent at once: the client's kernel may hold back the question until our next
	 * segment acknowledges the client's last flight (RFC 896).
	 */
	is_sent = is_asked || tls_bio_flush(ssl);
	if (result == 1) {
		end_handshake(s, k);
		return;
	}
	if ((why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) ||
	    watch_handshake(s, EPOLL_CTL_MOD, k,
			    why == SSL_ERROR_WANT_READ && is_sent ? EPOLLIN : EPOLLOUT)) {
		give_up_handshake(s, k);
		return;
	}
	k->has_begun = true;
	k->since_ns = clock_ns();
}

/* ---- All of a thread ------------------------------------------------------------------------- */

static bool is_handshake_of(const struct shake *k, const struct limits_place *client)
{
	return k->place.cell[0] == client->cell[0] && k->place.cell[1] == client->cell[1];
}

/* True if this thread has to act next: the client has sent something that is not read yet. */
static bool is_handshake_ours(const struct shake *k)
{
	struct pollfd fd = { .fd = k->is.conn.fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/* How long a silent client keeps its place. When the line is longer than half its limit the time
 * becomes shorter and shorter, so that a flood of silent clients does not stop the line. */
static uint64_t patience_ns(const struct shaker *s, const struct shake *k)
{
	uint64_t full = k->has_begun ? BEGUN_NS : MUTE_NS;
	uint32_t half = s->owner->fresh.max_client / s->owner->n / 2, n = s->n_line;

	return n <= half ? full : n < 2 * half ? full * (2 * half - n) / half : 0;
}

/* Ends the oldest handshake with a silent client, among those of @client or of all (NULL). False:
 * this thread has none. */
static bool give_way(struct shaker *s, const struct limits_place *client, uint64_t now_ns,
		     unsigned int *n_tries)
{
	struct shake *k;

	cds_list_for_each_entry(k, &s->shakes, link) {
		if ((client && !is_handshake_of(k, client)) ||
		    now_ns - k->since_ns < patience_ns(s, k))
			continue;
		if (!*n_tries)
			return false;
		--*n_tries;
		if (is_handshake_ours(k))
			continue;
		give_up_handshake(s, k);
		return true;
	}
	return false;
}

/* Takes a place, if necessary that of another handshake. */
static bool take_handshake_place(struct shaker *s, struct shake *k, uint64_t now_ns,
				 unsigned int *n_tries)
{
	struct limits *limits = &s->owner->limits;
	enum limits_verdict verdict =
		limits_take(limits, k->is.conn.peer.family, k->is.conn.peer.bytes, &k->place);

	if (verdict == LIMITS_TAKEN)
		return true;
	if (!give_way(s, verdict == LIMITS_CLIENT ? &k->place : NULL, now_ns, n_tries))
		return false;
	return limits_take(limits, k->is.conn.peer.family, k->is.conn.peer.bytes, &k->place) ==
	       LIMITS_TAKEN;
}

static void leave_handshake_line(struct shaker *s, struct shake *k)
{
	limits_give(&s->owner->fresh, &k->place);
	cds_list_del(&k->link);
	s->n_line--;
}

/* Begins the handshake, which has a place. */
static void begin_port_handshake(struct shaker *s, struct shake *k, uint64_t now_ns)
{
	leave_handshake_line(s, k);
	k->since_ns = now_ns;
	k->end_ns = now_ns + HANDSHAKE_S * CLOCK_NS_PER_S;
	cds_list_add_tail(&k->link, &s->shakes);
	k->is.conn.ssl = SSL_new(k->ctx);
	SSL_CTX_free(k->ctx);
	k->ctx = NULL;
	if (!k->is.conn.ssl || tls_bio_attach(k->is.conn.ssl, k->is.conn.fd) ||
	    watch_handshake(s, EPOLL_CTL_ADD, k, EPOLLIN))
		give_up_handshake(s, k);
}

static struct shake *of_post(struct post *post)
{
	return (struct shake *)(void *)((char *)post - offsetof(struct shake, is.post));
}

static void take_new(struct shaker *s, uint64_t now_ns)
{
	struct post *post = mailbox_take(&s->inbox), *next;

	for (; post; post = next) {
		struct shake *k = of_post(post);

		next = post->next;
		k->end_ns = now_ns + LINE_S * CLOCK_NS_PER_S;
		cds_list_add_tail(&k->link, &s->line);
		s->n_line++;
	}
}

/* Begins each waiting handshake that gets a place. A client that has used all its places does not
 * delay others behind it. */
static void advance(struct shaker *s, uint64_t now_ns)
{
	unsigned int n_tries = TRIES;
	struct shake *k, *next;

	cds_list_for_each_entry_safe(k, next, &s->line, link) {
		if (take_handshake_place(s, k, now_ns, &n_tries)) {
			begin_port_handshake(s, k, now_ns);
		} else if (k->end_ns <= now_ns) {
			leave_handshake_line(s, k);
			fail_handshake(s, k);
		}
	}
}

/* Ends handshakes after their deadline, except if this thread has yet to read what the client has
 * sent. */
static void expire_handshake(struct shaker *s, uint64_t now_ns)
{
	struct shake *k, *next;

	cds_list_for_each_entry_safe(k, next, &s->shakes, link) {
		if (k->end_ns > now_ns)
			return;
		if (!is_handshake_ours(k))
			give_up_handshake(s, k);
	}
}

static bool is_handshake_stopping(const struct shaker *s)
{
	return __atomic_load_n(&s->owner->is_stopping, __ATOMIC_ACQUIRE);
}

static void *run_handshake(void *user)
{
	struct shaker *s = user;
	struct epoll_event events[EVENTS_CAP];

	(void)!privilege_drop_thread();
	sandbox_enter(SANDBOX_LISTENER);
	(void)!affinity_stand_behind(0); /* after an error it keeps its priority */
	while (!is_handshake_stopping(s)) {
		int n = epoll_wait(s->epoll_fd, events, EVENTS_CAP, s->n_line ? LINE_MS : WAIT_MS);
		uint64_t now_ns;

		for (int i = 0; i < n && !is_handshake_stopping(s); i++)
			if (events[i].data.ptr)
				go_on_handshake(s, events[i].data.ptr);
		hand_over_handshake(s);
		/* After the events: a handshake that gives way or expires may be among them. */
		now_ns = clock_ns();
		expire_handshake(s, now_ns);
		take_new(s, now_ns);
		advance(s, now_ns);
	}
	return NULL;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void close_all_handshake(struct shaker *s)
{
	struct post *post = mailbox_take(&s->inbox), *next_post;
	struct shake *k, *next;

	for (; post; post = next_post) {
		next_post = post->next;
		fail_handshake(s, of_post(post));
	}
	cds_list_for_each_entry_safe(k, next, &s->line, link) {
		leave_handshake_line(s, k);
		fail_handshake(s, k);
	}
	cds_list_for_each_entry_safe(k, next, &s->shakes, link)
		give_up_handshake(s, k);
}

static int start_handshake(struct handshakes *h, struct shaker *s, unsigned int number)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t all, old;
	char name[16];
	int err;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	err = mailbox_open(&s->inbox);
	if (err)
		return err;
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->inbox.fd, &event))
		return -errno;
	s->owner = h;
	/* The main thread handles all signals: the new thread inherits a mask that blocks them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&s->thread, NULL, run_handshake, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -err;
	s->is_running = true;
	snprintf(name, sizeof(name), "volley-tls%u", number % 10000);
	pthread_setname_np(s->thread, name);
	return 0;
}

static void init_limits(struct limits *l, uint32_t max_total, uint32_t max_client)
{
	l->max_total = max_total;
	l->max_client = max_client;
	l->prefix4 = PREFIX4;
	l->prefix6 = PREFIX6;
}

/* Two threads on one processor need a tenth more time than one (docs/decisions/0049). */
static unsigned int n_threads(void)
{
	cpu_set_t cpus;
	int n = pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus) ? HANDSHAKE_THREADS :
									      CPU_COUNT(&cpus);

	return n < HANDSHAKE_THREADS ? 1 : HANDSHAKE_THREADS;
}

int handshakes_open(struct handshakes **out, struct tcp_intake *intake)
{
	struct handshakes *h = calloc(1, sizeof(*h));
	int err;

	*out = NULL;
	if (!h)
		return -ENOMEM;
	h->n = n_threads();
	for (unsigned int i = 0; i < h->n; i++) {
		h->shakers[i].epoll_fd = h->shakers[i].inbox.fd = -1;
		h->shakers[i].over_end = &h->shakers[i].over;
		CDS_INIT_LIST_HEAD(&h->shakers[i].shakes);
		CDS_INIT_LIST_HEAD(&h->shakers[i].line);
	}
	h->done.fd = -1;
	h->intake = intake;
	init_limits(&h->limits, HANDSHAKES_MAX, HANDSHAKES_CLIENT);
	init_limits(&h->fresh, HANDSHAKES_NEW, HANDSHAKES_NEW_OF);
	err = getrandom(h->fresh.key, sizeof(h->fresh.key), 0) < 0 ? -errno : 0;
	memcpy(h->limits.key, h->fresh.key, sizeof(h->limits.key));
	err = err ? err : mailbox_open(&h->done);
	for (unsigned int i = 0; !err && i < h->n; i++)
		err = start_handshake(h, &h->shakers[i], i);
	if (err)
		handshakes_close(h);
	else
		*out = h;
	return err;
}

static void stop_handshake(struct shaker *s)
{
	if (s->is_running) {
		mailbox_wake(&s->inbox);
		pthread_join(s->thread, NULL);
	}
	if (s->inbox.fd >= 0)
		close_all_handshake(s);
	mailbox_close(&s->inbox);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
}

void handshakes_close(struct handshakes *h)
{
	struct handshake *k, *next;

	if (!h)
		return;
	__atomic_store_n(&h->is_stopping, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < h->n; i++)
		stop_handshake(&h->shakers[i]);
	for (k = h->done.fd >= 0 ? handshakes_take(h) : NULL; k; k = next) {
		next = handshakes_next(k);
		if (k->conn.ssl) {
			SSL_free(k->conn.ssl);
			close(k->conn.fd);
		}
		free(k);
	}
	mailbox_close(&h->done);
	free(h);
}

bool handshakes_begin(struct handshakes *h, int fd, SSL_CTX *ctx, const struct port_addr *peer)
{
	struct limits_place place;
	struct shake *k = NULL;

	if (limits_take(&h->fresh, peer->family, peer->bytes, &place) == LIMITS_TAKEN) {
		k = calloc(1, sizeof(*k));
		if (!k)
			limits_give(&h->fresh, &place);
	}
	if (!k) {
		close(fd);
		return false;
	}
	(void)SSL_CTX_up_ref(ctx);
	k->is.conn.fd = fd;
	k->is.conn.peer = *peer;
	k->ctx = ctx;
	k->place = place;
	mailbox_put(&h->shakers[h->next++ % h->n].inbox, &k->is.post);
	return true;
}

int handshakes_fd(const struct handshakes *h)
{
	return h->done.fd;
}

static struct handshake *handshake_of_post(struct post *post)
{
	return post ? &of_post(post)->is : NULL;
}

struct handshake *handshakes_take(struct handshakes *h)
{
	return handshake_of_post(mailbox_take(&h->done));
}

struct handshake *handshakes_next(const struct handshake *k)
{
	return handshake_of_post(k->post.next);
}
