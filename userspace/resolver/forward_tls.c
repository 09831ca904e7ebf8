/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver/forward_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

/* A server's session has come: with TLS 1.3 after the handshake. 1: it is kept. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct forward_stream *s = SSL_get_app_data(ssl);

	SSL_SESSION_free(s->session);
	s->session = session;
	return 1;
}

static int load(SSL_CTX *ctx, const char *bundle, char *err, size_t cap)
{
	const char *wrong = NULL;

	if (access(bundle, R_OK))
		wrong = err_text(-errno);
	else if (!SSL_CTX_load_verify_file(ctx, bundle))
		wrong = "these are not certificates in PEM";
	ERR_clear_error();
	if (!wrong)
		return 0;
	snprintf(err, cap, "%s: %s", bundle, wrong);
	return ERR_CONFIG;
}

static void set_options(SSL_CTX *ctx)
{
	(void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	/* Messages have their lengths, so nobody gains by cutting the connection. */
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					 SSL_OP_IGNORE_UNEXPECTED_EOF);
	/* What is to be sent moves, and grows, before it is tried again. */
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, on_session);
}

int forward_tls_new(SSL_CTX **out, const char *bundle, char *err, size_t cap)
{
	SSL_CTX *ctx;
	int code;

	if (!bundle) {
		snprintf(err, cap, "TLS: the file of certificates that are trusted is missing");
		return ERR_CONFIG;
	}
	ctx = SSL_CTX_new(TLS_client_method());
	if (!ctx)
		return -ENOMEM;
	code = load(ctx, bundle, err, cap);
	if (code) {
		SSL_CTX_free(ctx);
		return code;
	}
	set_options(ctx);
	*out = ctx;
	return 0;
}

static bool is_address(const char *name)
{
	struct in6_addr any;

	return inet_pton(AF_INET, name, &any) == 1 || inet_pton(AF_INET6, name, &any) == 1;
}

/* The name in the certificate; it is sent too, but not where it is an address (RFC 6066 section 3). */
static bool set_name(SSL *ssl, const char *name)
{
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, name) &&
	       (is_address(name) || SSL_set_tlsext_host_name(ssl, name));
}

bool forward_tls_open(struct forward_stream *s, SSL_CTX *ctx, int fd, const char *name)
{
	SSL *ssl = SSL_new(ctx);

	if (!ssl || !SSL_set_app_data(ssl, s) || !set_name(ssl, name) || !SSL_set_fd(ssl, fd)) {
		SSL_free(ssl);
		ERR_clear_error();
		return false;
	}
	if (s->session && clock_ns() - s->authenticated_ns < FORWARD_TLS_RESUME_NS)
		(void)SSL_set_session(ssl, s->session);
	SSL_set_connect_state(ssl);
	s->ssl = ssl;
	s->is_broken = false;
	return true;
}

void forward_tls_close(struct forward_stream *s)
{
	if (!s->ssl)
		return;
	if (!s->is_broken && SSL_is_init_finished(s->ssl)) {
		(void)SSL_shutdown(s->ssl); /* else the session could not be resumed */
		ERR_clear_error();
	}
	SSL_free(s->ssl);
	s->ssl = NULL;
}

void forward_tls_fini(struct forward_stream *s)
{
	SSL_free(s->ssl);
	s->ssl = NULL;
	SSL_SESSION_free(s->session);
	s->session = NULL;
}

/* What an operation that returned code comes to, as of a socket. */
static int outcome(struct forward_stream *s, int code)
{
	switch (SSL_get_error(s->ssl, code)) {
	case SSL_ERROR_NONE:
		return code;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_SYSCALL:
		/* A reset is no word against the session; without this it could not be resumed. */
		SSL_set_shutdown(s->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
		/* fallthrough */
	default:
		s->is_broken = true;
		ERR_clear_error();
		errno = EPROTO;
		return -1;
	}
}

int forward_tls_handshake(struct forward_stream *s)
{
	int code;

	ERR_clear_error();
	code = outcome(s, SSL_do_handshake(s->ssl));
	if (!code) { /* the other side ended it */
		errno = EPROTO;
		return -1;
	}
	if (code > 0 && !SSL_session_reused(s->ssl))
		s->authenticated_ns = clock_ns();
	if (code < 0 && errno != EAGAIN) {
		SSL_SESSION_free(s->session);
		s->session = NULL;
	}
	return code;
}

static int at_most_int(size_t n)
{
	return n < INT_MAX ? (int)n : INT_MAX;
}

ssize_t forward_tls_receive(struct forward_stream *s, void *bytes, size_t n)
{
	ERR_clear_error();
	return outcome(s, SSL_read(s->ssl, bytes, at_most_int(n)));
}

ssize_t forward_tls_send(struct forward_stream *s, const void *bytes, size_t n)
{
	ERR_clear_error();
	return outcome(s, SSL_write(s->ssl, bytes, at_most_int(n)));
}

bool forward_tls_has_more(const struct forward_stream *s)
{
	return SSL_has_pending(s->ssl);
}

bool forward_tls_wants_write(const struct forward_stream *s)
{
	return SSL_want_write(s->ssl);
}
