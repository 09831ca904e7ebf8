/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS towards another server (RFC 7858, RFC 9103), above a socket that does not block and is the
 * caller's, below whoever sends messages.
 *
 * A session that was made with the server's certificate is resumed for TLS_CLIENT_RESUME_NS; no
 * data goes with the first packets (0-RTT), for those can be replayed.
 *
 * One thread for each context and its streams. It has to block SIGPIPE.
 */
#ifndef VOLLEY_BASE_TLS_CLIENT_H
#define VOLLEY_BASE_TLS_CLIENT_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TLS_CLIENT_RESUME_NS 3600000000000ULL

/* What the last connections to a server left. All 0 at first; it outlives its streams. */
struct tls_session {
	struct ssl_session_st *last; /* or NULL */
	uint64_t authenticated_ns;   /* by its certificate, it and those that it goes back to */
};

/* A connection. All 0: closed. */
struct tls_stream {
	SSL *ssl; /* NULL: closed */
	struct tls_session *session;
	bool is_broken; /* nothing can be said any more, not even the end */
};

struct tls_client_options {
	int min_version;    /* TLS1_2_VERSION and so on */
	bool wants_dot;     /* ALPN "dot": RFC 9103 section 7.1 */
	bool verifies;      /* that the certificate is for the name, and by one of: */
	const char *bundle; /* a file in PEM; NULL: the system's */
};

/* 0, -ENOMEM, or ERR_CONFIG with a sentence in err of cap octets. SSL_CTX_free() frees it. */
int tls_client_new(SSL_CTX **out, const struct tls_client_options *options, char *err, size_t cap)
	__attribute__((warn_unused_result));

/* Forgets it. Any thread. */
void tls_session_fini(struct tls_session *session);

/*
 * A new connection on this socket, to the server of this name, which is sent unless it is an
 * address (RFC 6066 section 3); NULL where the context does not verify. False: no memory.
 */
bool tls_stream_open(struct tls_stream *s, SSL_CTX *ctx, int fd, const char *name,
		     struct tls_session *session) __attribute__((warn_unused_result));

/* Says the end where that can be said, and closes the connection, not its socket; also a closed
 * one. */
void tls_stream_close(struct tls_stream *s);

/*
 * The handshake, as far as it goes. 1: it is done, and the server is who it should be. -1 with
 * errno EAGAIN; or EPROTO, or EACCES for its certificate, and words in why of cap octets (NULL is
 * allowed).
 */
int tls_stream_handshake(struct tls_stream *s, char *why, size_t cap);

/* After that: is the SHA-256 of its public key (RFC 7858 section 4.2) this one? */
bool tls_stream_has_pin(const struct tls_stream *s, const uint8_t pin[static 32]);

/* As recv() and send() without flags; errors other than EAGAIN are EPROTO. */
ssize_t tls_stream_receive(struct tls_stream *s, void *bytes, size_t n);
ssize_t tls_stream_send(struct tls_stream *s, const void *bytes, size_t n);

/* Whether octets were read from the socket, and not received yet: it does not say so again. */
bool tls_stream_has_more(const struct tls_stream *s);

/* Whether what said EAGAIN last waits until the socket can be written to. */
bool tls_stream_wants_write(const struct tls_stream *s);

#endif
