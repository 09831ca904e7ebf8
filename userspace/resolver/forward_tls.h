/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TLS on a connection of a forwarder (RFC 7858), below its queries and above its socket, which does
 * not block. TLS 1.2 or later; the upstream's certificate has to be for its name and signed by one of the
 * bundle (the strict profile of RFC 8310 section 5): else nothing is sent or taken.
 *
 * A session that was authenticated is resumed for FORWARD_TLS_RESUME_NS; no data goes with the first
 * packets (0-RTT), for those can be replayed.
 *
 * One thread for each context and its streams. It has to block SIGPIPE, as resolver threads do.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_TLS_H
#define VOLLEY_RESOLVER_FORWARD_TLS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FORWARD_TLS_RESUME_NS 3600000000000ULL

/* What is of one upstream: its connection, if there is one, and what the last one left. All 0 at first. */
struct forward_stream {
	SSL *ssl;                       /* NULL: closed */
	struct ssl_session_st *session; /* of the last one, or NULL */
	uint64_t authenticated_ns; /* by its certificate, the session and those that it goes back to */
	bool is_broken;            /* nothing can be sent any more, not even the end */
};

/*
 * The certificates that are trusted, from a file in PEM. 0, -ENOMEM, or ERR_CONFIG with a sentence in
 * err of cap octets. SSL_CTX_free() frees it.
 */
int forward_tls_new(SSL_CTX **out, const char *bundle, char *err, size_t cap)
	__attribute__((warn_unused_result));

/* Closes it without a word, and forgets the session too. Any thread. */
void forward_tls_fini(struct forward_stream *s);

/* A new connection on this socket, to the server that has a certificate for name. False: no memory. */
bool forward_tls_open(struct forward_stream *s, SSL_CTX *ctx, int fd, const char *name)
	__attribute__((warn_unused_result));

/* Says the end where that can be said, and closes the connection, not its socket; also a closed one. */
void forward_tls_close(struct forward_stream *s);

/*
 * The handshake, as far as it goes. 1: it is done, and the upstream is who it should be. -1 with errno
 * EAGAIN, or EPROTO: it has failed.
 */
int forward_tls_handshake(struct forward_stream *s);

/* As recv() and send() without flags; errors other than EAGAIN are EPROTO. */
ssize_t forward_tls_receive(struct forward_stream *s, void *bytes, size_t n);
ssize_t forward_tls_send(struct forward_stream *s, const void *bytes, size_t n);

/* Whether octets were read from the socket, and not received yet: it does not say so again. */
bool forward_tls_has_more(const struct forward_stream *s);

/* Whether what said EAGAIN last waits until the socket can be written to. */
bool forward_tls_wants_write(const struct forward_stream *s);

#endif
