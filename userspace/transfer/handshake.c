/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each thread has its own list of handshakes, oldest first, which is the order of their deadlines. A thread's
 * handshakes are touched by that thread alone; they come to it through a mailbox.
 */
#include "transfer/handshake.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>
#include <urcu/list.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/privilege.h"

#define EVENTS_CAP 64
#define PREFIX4    24
#define PREFIX6    48
#define WAIT_MS    250 /* at most, so that deadlines are kept */

/* On its way. */
struct shake {
	struct handshake is; /* first */
	struct cds_list_head link;
	SSL_CTX *ctx;              /* a reference; NULL: is.ssl is made */
	struct limits_place place; /* in `fresh`, then in `limits` */
	uint64_t end_ns;
};

struct shaker {
	struct handshakes *owner;
	pthread_t thread;
	bool is_running;
	int epoll_fd;
	struct mailbox inbox;
	struct cds_list_head shakes;
};

struct handshakes {
	struct shaker shakers[HANDSHAKE_THREADS];
	struct limits fresh;  /* those in inboxes */
	struct limits limits; /* those on their way */
	struct mailbox done;
	bool is_stopping;  /* atomic */
	unsigned int next; /* the thread that gets the next one */
};

/* ---- One handshake: its thread ------------------------------------------------------------------ */

static void forget(struct shaker *s, struct shake *k)
{
	limits_give(&s->owner->limits, &k->place);
	cds_list_del(&k->link);
}

/* The loop counts it. */
static void fail(struct shaker *s, struct shake *k)
{
	SSL_free(k->is.ssl);
	SSL_CTX_free(k->ctx);
	(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, k->is.fd,
			NULL); /* see drop_client() of control/ctl.c */
	close(k->is.fd);
	k->is.ssl = NULL;
	mailbox_put(&s->owner->done, &k->is.post);
}

static void give_up(struct shaker *s, struct shake *k)
{
	forget(s, k);
	fail(s, k);
}

static int watch(struct shaker *s, int op, struct shake *k, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = k };

	return epoll_ctl(s->epoll_fd, op, k->is.fd, &event);
}

static void go_on(struct shaker *s, struct shake *k)
{
	int result, why;

	ERR_clear_error();
	result = SSL_accept(k->is.ssl);
	if (result == 1) {
		(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, k->is.fd, NULL);
		forget(s, k);
		mailbox_put(&s->owner->done, &k->is.post);
		return;
	}
	why = SSL_get_error(k->is.ssl, result);
	if ((why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) ||
	    watch(s, EPOLL_CTL_MOD, k, why == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT))
		give_up(s, k);
}

/* ---- All of a thread ----------------------------------------------------------------------------- */

static bool is_of(const struct shake *k, const struct limits_place *client)
{
	return k->place.cell[0] == client->cell[0] && k->place.cell[1] == client->cell[1];
}

/* The oldest, of a client or of all (NULL). False: there is none here. */
static bool give_way(struct shaker *s, const struct limits_place *client)
{
	struct shake *k;

	cds_list_for_each_entry(k, &s->shakes, link)
		if (!client || is_of(k, client)) {
			give_up(s, k);
			return true;
		}
	return false;
}

/* Counts it, in place of another one if need be. */
static bool take_place(struct shaker *s, struct shake *k)
{
	struct limits *limits = &s->owner->limits;
	enum limits_verdict verdict =
		limits_take(limits, k->is.peer.family, k->is.peer.bytes, &k->place);

	if (verdict == LIMITS_TAKEN)
		return true;
	if (!give_way(s, verdict == LIMITS_CLIENT ? &k->place : NULL))
		return false;
	return limits_take(limits, k->is.peer.family, k->is.peer.bytes, &k->place) == LIMITS_TAKEN;
}

static void begin(struct shaker *s, struct shake *k)
{
	limits_give(&s->owner->fresh, &k->place);
	if (!take_place(s, k)) {
		fail(s, k);
		return;
	}
	k->end_ns = clock_ns() + HANDSHAKE_S * CLOCK_NS_PER_S;
	cds_list_add_tail(&k->link, &s->shakes);
	k->is.ssl = SSL_new(k->ctx);
	SSL_CTX_free(k->ctx);
	k->ctx = NULL;
	if (!k->is.ssl || SSL_set_fd(k->is.ssl, k->is.fd) != 1 ||
	    watch(s, EPOLL_CTL_ADD, k, EPOLLIN))
		give_up(s, k);
}

static void take_new(struct shaker *s)
{
	struct post *post = mailbox_take(&s->inbox), *next;

	for (; post; post = next) {
		next = post->next;
		begin(s, (struct shake *)(void *)post);
	}
}

static void expire(struct shaker *s, uint64_t now_ns)
{
	struct shake *k, *next;

	cds_list_for_each_entry_safe(k, next, &s->shakes, link) {
		if (k->end_ns > now_ns)
			return;
		give_up(s, k);
	}
}

static bool is_stopping(const struct shaker *s)
{
	return __atomic_load_n(&s->owner->is_stopping, __ATOMIC_ACQUIRE);
}

static void *run(void *user)
{
	struct shaker *s = user;
	struct epoll_event events[EVENTS_CAP];

	(void)!privilege_drop_thread();
	(void)!affinity_stand_behind(0); /* else it has the priority of the others */
	while (!is_stopping(s)) {
		int n = epoll_wait(s->epoll_fd, events, EVENTS_CAP, WAIT_MS);
		bool has_new = false;

		for (int i = 0; i < n && !is_stopping(s); i++) {
			has_new |= !events[i].data.ptr;
			if (events[i].data.ptr)
				go_on(s, events[i].data.ptr);
		}
		/* Behind the others: what gives way may be among these events. */
		if (has_new)
			take_new(s);
		expire(s, clock_ns());
	}
	return NULL;
}

/* ---- The loop ------------------------------------------------------------------------------------ */

static void close_all(struct shaker *s)
{
	struct post *post = mailbox_take(&s->inbox), *next_post;
	struct shake *k, *next;

	for (; post; post = next_post) {
		next_post = post->next;
		fail(s, (struct shake *)(void *)post);
	}
	cds_list_for_each_entry_safe(k, next, &s->shakes, link)
		give_up(s, k);
}

static int start(struct handshakes *h, struct shaker *s, unsigned int number)
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
	/* Signals are the main thread's business: the new thread inherits a full mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -err;
	s->is_running = true;
	snprintf(name, sizeof(name), "volley-tls%u", number);
	pthread_setname_np(s->thread, name);
	return 0;
}

static int init_limits(struct limits *l, uint32_t max_total, uint32_t max_client)
{
	l->max_total = max_total;
	l->max_client = max_client;
	l->prefix4 = PREFIX4;
	l->prefix6 = PREFIX6;
	return getrandom(l->key, sizeof(l->key), 0) < 0 ? -errno : 0;
}

int handshakes_open(struct handshakes **out)
{
	struct handshakes *h = calloc(1, sizeof(*h));
	int err;

	*out = NULL;
	if (!h)
		return -ENOMEM;
	for (unsigned int i = 0; i < HANDSHAKE_THREADS; i++) {
		h->shakers[i].epoll_fd = h->shakers[i].inbox.fd = -1;
		CDS_INIT_LIST_HEAD(&h->shakers[i].shakes);
	}
	h->done.fd = -1;
	err = mailbox_open(&h->done);
	err = err ? err : init_limits(&h->limits, HANDSHAKES_MAX, HANDSHAKES_CLIENT);
	err = err ? err : init_limits(&h->fresh, HANDSHAKES_NEW, HANDSHAKES_NEW_OF);
	for (unsigned int i = 0; !err && i < HANDSHAKE_THREADS; i++)
		err = start(h, &h->shakers[i], i);
	if (err)
		handshakes_close(h);
	else
		*out = h;
	return err;
}

static void stop(struct shaker *s)
{
	if (s->is_running) {
		mailbox_wake(&s->inbox);
		pthread_join(s->thread, NULL);
	}
	if (s->inbox.fd >= 0)
		close_all(s);
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
	for (unsigned int i = 0; i < HANDSHAKE_THREADS; i++)
		stop(&h->shakers[i]);
	for (k = h->done.fd >= 0 ? handshakes_take(h) : NULL; k; k = next) {
		next = (struct handshake *)(void *)k->post.next;
		if (k->ssl) {
			SSL_free(k->ssl);
			close(k->fd);
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
	k->is.fd = fd;
	k->is.peer = *peer;
	k->ctx = ctx;
	k->place = place;
	mailbox_put(&h->shakers[h->next++ % HANDSHAKE_THREADS].inbox, &k->is.post);
	return true;
}

int handshakes_fd(const struct handshakes *h)
{
	return h->done.fd;
}

struct handshake *handshakes_take(struct handshakes *h)
{
	return (struct handshake *)(void *)mailbox_take(&h->done);
}
