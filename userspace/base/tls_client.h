/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS towards another server (RFC 7858, RFC 9103): over the caller's non-blocking socket, for the
 * code that sends messages.
 *
 * A session that the server's certificate authenticated is resumed for TLS_CLIENT_RESUME_NS. No
 * data goes with the first packets (0-RTT), because it could be replayed.
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

/* What is kept of the last connections to a server. All 0 at first; it outlives its streams. */
struct tls_session {
	struct ssl_session_st *last; /* or NULL */
	/* when a certificate last authenticated the server */
	uint64_t authenticated_ns;
};

/* A connection. All 0: closed. */
struct tls_stream {
	SSL *ssl; /* NULL: closed */
	struct tls_session *session;
	bool is_broken; /* nothing can be sent any more, not even a close alert */
};

struct tls_client_options {
	int min_version;    /* TLS1_2_VERSION and so on */
	bool wants_dot;     /* ALPN "dot": RFC 9103 section 7.1 */
	bool verifies;      /* the certificate must be for the name, and by one of bundle */
	const char *bundle; /* a file in PEM; NULL: the system's */
};

/* 0, -ENOMEM, or ERR_CONFIG with a message in err of cap octets. SSL_CTX_free() frees it. */
int tls_client_new(SSL_CTX **out, const struct tls_client_options *options, char *err, size_t cap)
	__attribute__((warn_unused_result));

/* Forgets the session. Any thread. */
void tls_session_fini(struct tls_session *session);

/* A new connection on this socket to the server of this name. The name is sent unless it is an
 * address (RFC 6066 section 3); NULL if the context does not verify. False: no memory. */
bool tls_stream_open(struct tls_stream *s, SSL_CTX *ctx, int fd, const char *name,
		     struct tls_session *session) __attribute__((warn_unused_result));

/* Sends a close alert if possible, and closes the connection, not its socket. May be closed. */
void tls_stream_close(struct tls_stream *s);

/* Continues the handshake. 1: it is done, and the server is authenticated. -1 with errno EAGAIN; or
 * EPROTO, or EACCES for its certificate, with words in why of cap octets (NULL is allowed). */
int tls_stream_handshake(struct tls_stream *s, char *why, size_t cap);

/* After the handshake: is this the SHA-256 of the server's public key (RFC 7858 section 4.2)? */
bool tls_stream_has_pin(const struct tls_stream *s, const uint8_t pin[static 32]);

/* As recv() and send() without flags; errors other than EAGAIN are EPROTO. */
ssize_t tls_stream_receive(struct tls_stream *s, void *bytes, size_t n);
ssize_t tls_stream_send(struct tls_stream *s, const void *bytes, size_t n);

/* True if octets were read from the socket but not received yet: then the socket may not become
 * readable again. */
bool tls_stream_has_more(const struct tls_stream *s);

/* True if the operation that failed with EAGAIN waits until the socket is writable. */
bool tls_stream_wants_write(const struct tls_stream *s);

#endif
