/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define HELD_BYTES 1024u /* two tickets have some 550 */

struct pipe {
	int fd;
	bool is_holding;
	bool is_eof;
	uint32_t n_held;
	uint8_t *held; /* HELD_BYTES; NULL: nothing is held */
};

/* ---- Octets ---------------------------------------------------------------------------------- */

static bool is_for_later(void)
{
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
}

/* Removes the first n octets held. */
static void release_bio(struct pipe *p, size_t n)
{
	p->n_held -= (uint32_t)n;
	if (p->n_held) {
		memmove(p->held, p->held + n, p->n_held);
		return;
	}
	free(p->held);
	p->held = NULL;
}

/* Sends the octets held, then `bytes`. Returns how many of `bytes` were taken, or -1 with errno. */
static ssize_t push_bio(struct pipe *p, const void *bytes, size_t n)
{
	struct iovec iov[] = { { p->held, p->n_held }, { (void *)(uintptr_t)bytes, n } };
	struct msghdr hdr = { .msg_iov = iov, .msg_iovlen = 2 };
	size_t first = p->n_held;
	ssize_t done = sendmsg(p->fd, &hdr, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (done < 0)
		return -1;
	if ((size_t)done < first) {
		release_bio(p, (size_t)done);
		errno = EAGAIN;
		return -1;
	}
	if (first)
		release_bio(p, first);
	if (n && (size_t)done == first) {
		errno = EAGAIN;
		return -1;
	}
	return done - (ssize_t)first;
}

static bool hold_bio(struct pipe *p, const void *bytes, size_t n)
{
	if (!p->is_holding || n > HELD_BYTES - p->n_held)
		return false;
	if (!p->held)
		p->held = malloc(HELD_BYTES);
	if (!p->held)
		return false;
	memcpy(p->held + p->n_held, bytes, n);
	p->n_held += (uint32_t)n;
	return true;
}

/* ---- What OpenSSL calls ---------------------------------------------------------------------- */

static int on_write(BIO *bio, const char *bytes, int n)
{
	struct pipe *p = BIO_get_data(bio);
	ssize_t done;

	BIO_clear_retry_flags(bio);
	if (n <= 0)
		return 0;
	if (hold_bio(p, bytes, (size_t)n))
		return n;
	done = push_bio(p, bytes, (size_t)n);
	if (done < 0 && is_for_later())
		BIO_set_retry_write(bio);
	return (int)done;
}

static int on_read(BIO *bio, char *out, int cap)
{
	struct pipe *p = BIO_get_data(bio);
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (cap <= 0)
		return 0;
	n = recv(p->fd, out, (size_t)cap, MSG_DONTWAIT);
	if (n < 0 && is_for_later())
		BIO_set_retry_read(bio);
	p->is_eof |= n == 0;
	return (int)n;
}

static bool flush_bio(struct pipe *p)
{
	return p->is_holding || !p->n_held || !push_bio(p, NULL, 0);
}

/* Answers the controls that OpenSSL and libevent use with a BIO over a socket. */
static long on_ctrl(BIO *bio, int what, long value, void *out)
{
	struct pipe *p = BIO_get_data(bio);

	(void)value;
	switch (what) {
	case BIO_C_GET_FD:
		if (out)
			*(int *)out = p->fd;
		return p->fd;
	case BIO_CTRL_FLUSH:
		BIO_clear_retry_flags(bio);
		if (flush_bio(p))
			return 1;
		if (is_for_later())
			BIO_set_retry_write(bio);
		return -1;
	case BIO_CTRL_EOF:
		return p->is_eof;
	case BIO_CTRL_SET_CLOSE: /* the BIO never closes the descriptor */
	case BIO_CTRL_DUP:
		return 1;
	default:
		return 0;
	}
}

static int on_free(BIO *bio)
{
	struct pipe *p = BIO_get_data(bio);

	if (p)
		free(p->held);
	free(p);
	return 1;
}

static BIO_METHOD *method;
static int type;

static void make_method(void)
{
	BIO_METHOD *m;

	type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR;
	m = BIO_meth_new(type, "socket that gathers");
	if (m && BIO_meth_set_write(m, on_write) && BIO_meth_set_read(m, on_read) &&
	    BIO_meth_set_ctrl(m, on_ctrl) && BIO_meth_set_destroy(m, on_free))
		method = m;
	else
		BIO_meth_free(m);
}

/* ---- A connection ---------------------------------------------------------------------------- */

int tls_bio_attach(SSL *ssl, int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct pipe *p;
	BIO *bio;

	pthread_once(&once, make_method);
	p = method ? calloc(1, sizeof(*p)) : NULL;
	bio = p ? BIO_new(method) : NULL;
	if (!bio) {
		free(p);
		return -ENOMEM;
	}
	p->fd = fd;
	BIO_set_data(bio, p);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	return 0;
}

/* NULL: the SSL has another BIO. */
static struct pipe *pipe_of_ssl(const SSL *ssl)
{
	BIO *bio = SSL_get_rbio(ssl);

	return bio && method && BIO_method_type(bio) == type ? BIO_get_data(bio) : NULL;
}

void tls_bio_hold(SSL *ssl, bool is_on)
{
	struct pipe *p = pipe_of_ssl(ssl);

	if (p)
		p->is_holding = is_on;
}

bool tls_bio_flush(SSL *ssl)
{
	struct pipe *p = pipe_of_ssl(ssl);

	return !p || flush_bio(p);
}
