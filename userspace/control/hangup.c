/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/ctl_request.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sandbox.h"

struct hangup {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int fds[HANGUP_CAP]; /* oldest first; the thread closes the first one */
	unsigned int n;
	bool has_thread;
	bool is_over; /* the thread frees this */
};

static void free_hangup(struct hangup *h)
{
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* The connection keeps its place until it is closed. */
static void close_first(struct hangup *h)
{
	const int fd = h->fds[0];

	pthread_mutex_unlock(&h->lock);
	close(fd);
	pthread_mutex_lock(&h->lock);
	h->n--;
	for (unsigned int i = 0; i < h->n; i++)
		h->fds[i] = h->fds[i + 1];
}

static void *run_hangup(void *user)
{
	struct hangup *h = user;

	sandbox_enter(SANDBOX_QUIET);
	pthread_mutex_lock(&h->lock);
	while (h->n || !h->is_over) {
		if (h->n)
			close_first(h);
		else
			pthread_cond_wait(&h->more, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	free_hangup(h);
	return NULL;
}

/* At the first need: nearly no daemon ever needs it. */
static void start_thread(struct hangup *h)
{
	pthread_t thread;

	if (h->has_thread || pthread_create(&thread, NULL, run_hangup, h))
		return;
	h->has_thread = true;
	pthread_setname_np(thread, "hangup");
	pthread_detach(thread);
}

int hangup_new(struct hangup **out)
{
	struct hangup *h = calloc(1, sizeof(*h));

	*out = h;
	if (!h)
		return -ENOMEM;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->more, NULL);
	return 0;
}

void hangup_free(struct hangup *h)
{
	bool has_thread;

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	has_thread = h->has_thread;
	h->is_over = true;
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->lock);
	if (!has_thread)
		free_hangup(h);
}

/* Without a place, or a thread, the caller's thread has to close it. */
static bool give_to_thread(struct hangup *h, int fd)
{
	bool is_given;

	pthread_mutex_lock(&h->lock);
	start_thread(h);
	is_given = h->has_thread && h->n < HANGUP_CAP;
	if (is_given)
		h->fds[h->n++] = fd;
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->lock);
	return is_given;
}

void hangup_prepare(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
}

ssize_t hangup_receive(int fd, void *octets, size_t n)
{
	struct iovec to = { octets, n };
	struct msghdr msg = { .msg_iov = &to, .msg_iovlen = 1 };
	ssize_t got = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_PEEK);

	if (got <= 0)
		return got ? -errno : 0;
	if (msg.msg_flags & MSG_CTRUNC)
		return -EPERM;
	got = recv(fd, octets, (size_t)got, MSG_DONTWAIT); /* the same octets */
	return got < 0 ? -errno : got;
}

/* Reads until the end, which shutdown() has set. False: a descriptor is in the way. */
static bool drain_hangup(int fd)
{
	char octets[4096];
	ssize_t got;

	while ((got = hangup_receive(fd, octets, sizeof(octets))) > 0)
		;
	return got != -EPERM;
}

void hangup_close(struct hangup *h, int fd)
{
	(void)shutdown(fd, SHUT_RDWR); /* an error: the peer has gone, and sends nothing either */
	if (drain_hangup(fd) || !give_to_thread(h, fd))
		close(fd);
}

bool hangup_is_behind(struct hangup *h, unsigned int n)
{
	bool is_behind;

	pthread_mutex_lock(&h->lock);
	is_behind = h->n + n > HANGUP_CAP;
	pthread_mutex_unlock(&h->lock);
	return is_behind;
}
