/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/tls_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/tls_files.h"

/* ---- The context ----------------------------------------------------------------------------- */

/* Called for a new session; with TLS 1.3 after the handshake. Returns 1: we keep it. */
static int on_session(SSL *ssl, SSL_SESSION *last)
{
	struct tls_session *session = SSL_get_app_data(ssl);

	SSL_SESSION_free(session->last);
	session->last = last;
	return 1;
}

static int load_tls(SSL_CTX *ctx, const char *bundle, char *err, size_t cap)
{
	const char *wrong = NULL;
	int code = bundle ? tls_files_trust(ctx, bundle) : 0;

	if (!bundle)
		wrong = SSL_CTX_set_default_verify_paths(ctx) ? NULL : "cannot be read";
	else if (code)
		wrong = code == ERR_FORMAT ? "it has no certificates in PEM form" : err_text(code);
	ERR_clear_error();
	if (!wrong)
		return 0;
	snprintf(err, cap, "%s: %s", bundle ? bundle : "the system's certificates", wrong);
	return ERR_CONFIG;
}

static int set_tls_options(SSL_CTX *ctx, const struct tls_client_options *options)
{
	static const uint8_t dot[] = { 3, 'd', 'o', 't' };

	/* Messages carry their length, so an attacker gains nothing by cutting the connection. */
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					 SSL_OP_IGNORE_UNEXPECTED_EOF);
	/* The bytes to send may move and grow before a retry. */
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, on_session);
	if (options->verifies)
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (!SSL_CTX_set_min_proto_version(ctx, options->min_version) ||
	    (options->wants_dot && SSL_CTX_set_alpn_protos(ctx, dot, sizeof(dot))))
		return -ENOMEM;
	return 0;
}

int tls_client_new(SSL_CTX **out, const struct tls_client_options *options, char *err, size_t cap)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	int code = ctx ? set_tls_options(ctx, options) : -ENOMEM;

	if (!code && options->verifies)
		code = load_tls(ctx, options->bundle, err, cap);
	if (code)
		SSL_CTX_free(ctx);
	else
		*out = ctx;
	return code;
}

/* ---- A connection ---------------------------------------------------------------------------- */

void tls_session_fini(struct tls_session *session)
{
	SSL_SESSION_free(session->last);
	session->last = NULL;
}

static bool is_tls_address(const char *name)
{
	struct in6_addr any;

	return inet_pton(AF_INET, name, &any) == 1 || inet_pton(AF_INET6, name, &any) == 1;
}

static bool set_tls_name(SSL *ssl, const char *name)
{
	if (!name)
		return true;
	if (!is_tls_address(name) && !SSL_set_tlsext_host_name(ssl, name))
		return false;
	if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE)
		return true;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, name);
}

bool tls_stream_open(struct tls_stream *s, SSL_CTX *ctx, int fd, const char *name,
		     struct tls_session *session)
{
	SSL *ssl = SSL_new(ctx);

	if (!ssl || !SSL_set_app_data(ssl, session) || !set_tls_name(ssl, name) ||
	    !SSL_set_fd(ssl, fd)) {
		SSL_free(ssl);
		ERR_clear_error();
		return false;
	}
	if (session->last && clock_ns() - session->authenticated_ns < TLS_CLIENT_RESUME_NS)
		(void)SSL_set_session(ssl, session->last);
	SSL_set_connect_state(ssl);
	*s = (struct tls_stream){ .ssl = ssl, .session = session };
	return true;
}

void tls_stream_close(struct tls_stream *s)
{
	if (!s->ssl)
		return;
	if (!s->is_broken && SSL_is_init_finished(s->ssl)) {
		(void)SSL_shutdown(s->ssl); /* without this the session could not be resumed */
		ERR_clear_error();
	}
	SSL_free(s->ssl);
	s->ssl = NULL;
}

/* Translates an operation's code to the result of a socket call. */
static int outcome(struct tls_stream *s, int code)
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
		/* A reset is no fault of the session; without this it could not be resumed. */
		SSL_set_shutdown(s->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
		/* fallthrough */
	default:
		s->is_broken = true;
		errno = EPROTO;
		return -1;
	}
}

static void explain(const struct tls_stream *s, char *why, size_t cap)
{
	const char *words = ERR_reason_error_string(ERR_peek_last_error());
	long verified = SSL_get_verify_result(s->ssl);

	errno = EPROTO;
	if (verified != X509_V_OK && SSL_get_verify_mode(s->ssl) != SSL_VERIFY_NONE) {
		words = X509_verify_cert_error_string(verified);
		errno = EACCES;
	}
	if (why)
		snprintf(why, cap, "TLS: %s", words ? words : "the connection was closed");
	ERR_clear_error();
}

int tls_stream_handshake(struct tls_stream *s, char *why, size_t cap)
{
	int code;

	ERR_clear_error();
	code = outcome(s, SSL_do_handshake(s->ssl));
	if (code > 0) {
		if (!SSL_session_reused(s->ssl))
			s->session->authenticated_ns = clock_ns();
		return 1;
	}
	if (code < 0 && errno == EAGAIN)
		return -1;
	tls_session_fini(s->session);
	explain(s, why, cap); /* also if the other side has closed it */
	return -1;
}

bool tls_stream_has_pin(const struct tls_stream *s, const uint8_t pin[static 32])
{
	X509 *certificate = SSL_get0_peer_certificate(s->ssl);
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int n = 0;
	uint8_t *der = NULL;
	int der_bytes = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der) : -1;
	bool is_same = der_bytes > 0 &&
		       EVP_Digest(der, (size_t)der_bytes, digest, &n, EVP_sha256(), NULL) &&
		       n == 32 && !memcmp(digest, pin, 32);

	OPENSSL_free(der);
	return is_same;
}

static int at_most_int(size_t n)
{
	return n < INT_MAX ? (int)n : INT_MAX;
}

/* Without this, errors would stay in the thread's queue. */
static ssize_t clean_tls(int code)
{
	int error = errno;

	ERR_clear_error();
	errno = error;
	return code;
}

ssize_t tls_stream_receive(struct tls_stream *s, void *bytes, size_t n)
{
	ERR_clear_error();
	return clean_tls(outcome(s, SSL_read(s->ssl, bytes, at_most_int(n))));
}

ssize_t tls_stream_send(struct tls_stream *s, const void *bytes, size_t n)
{
	ERR_clear_error();
	return clean_tls(outcome(s, SSL_write(s->ssl, bytes, at_most_int(n))));
}

bool tls_stream_has_more(const struct tls_stream *s)
{
	return SSL_has_pending(s->ssl);
}

bool tls_stream_wants_write(const struct tls_stream *s)
{
	return SSL_want_write(s->ssl);
}
