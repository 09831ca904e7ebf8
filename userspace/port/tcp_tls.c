/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#define RECORD_BYTES 16384u /* RFC 8446 section 5.1 */

/*
 * Without read-ahead a record takes two calls of read(). A record that waits is written again from
 * the pool's memory, so the buffer may move.
 */
void tcp_tls_enter(SSL *ssl)
{
	(void)SSL_set_mode(ssl,
			   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_set_read_ahead(ssl, 1);
}

/* 0: try again; 1: nothing more comes; or -errno. */
static int tcp_tls_failure(SSL *ssl, int result)
{
	int system = errno;
	int why = SSL_get_error(ssl, result);
	int reason = ERR_GET_REASON(ERR_peek_error());

	ERR_clear_error();
	switch (why) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		return 1;
	case SSL_ERROR_SYSCALL:
		return system ? -system : 1;
	default:
		return reason == SSL_R_UNEXPECTED_EOF_WHILE_READING ? 1 : -EPROTO;
	}
}

ssize_t tcp_tls_read(SSL *ssl, uint8_t *out, size_t cap, bool *is_end)
{
	size_t done = 0, n;
	int code;

	do {
		ERR_clear_error();
		errno = 0;
		code = SSL_read_ex(ssl, out + done, cap - done, &n);
		if (code != 1) {
			code = tcp_tls_failure(ssl, code);
			/* The socket may not report the error again: the octets read are answered,
			 * then the connection ends. */
			if (code > 0 || (code && done))
				*is_end = true;
			return done ? (ssize_t)done : code < 0 ? code : 0;
		}
		done += n;
	} while (done < cap && SSL_has_pending(ssl));
	return (ssize_t)done;
}

void tcp_tls_flush(SSL *ssl)
{
	(void)tls_bio_flush(ssl);
}

bool tcp_tls_is_hiding(const SSL *ssl)
{
	return SSL_has_pending(ssl);
}

bool tcp_tls_is_13(const SSL *ssl)
{
	return SSL_version(ssl) >= TLS1_3_VERSION;
}

/* Copies octets for one record, from offset `at` on. Returns their number. */
static size_t gather_tcp_tls(uint8_t *record, const struct iovec *iov, unsigned int n, size_t at)
{
	size_t len = 0;

	for (unsigned int i = 0; i < n && len < RECORD_BYTES; i++) {
		size_t part = iov[i].iov_len;

		if (at >= part) {
			at -= part;
			continue;
		}
		part -= at;
		if (part > RECORD_BYTES - len)
			part = RECORD_BYTES - len;
		memcpy(record + len, (const uint8_t *)iov[i].iov_base + at, part);
		len += part;
		at = 0;
	}
	return len;
}

ssize_t tcp_tls_write(SSL *ssl, const struct iovec *iov, unsigned int n)
{
	uint8_t record[RECORD_BYTES];
	size_t done = 0, len, written;
	int code;

	while ((len = gather_tcp_tls(record, iov, n, done))) {
		ERR_clear_error();
		errno = 0;
		code = SSL_write_ex(ssl, record, len, &written);
		if (code != 1) {
			code = tcp_tls_failure(ssl, code);
			return done ? (ssize_t)done : code > 0 ? -EPIPE : code;
		}
		done += written;
	}
	return (ssize_t)done;
}

/* After an earlier error OpenSSL does nothing here. */
void tcp_tls_shut(SSL *ssl)
{
	ERR_clear_error();
	(void)SSL_shutdown(ssl);
	ERR_clear_error();
}

/* Does not wait for the other side's close_notify. */
void tcp_tls_end(SSL *ssl)
{
	SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
	tcp_tls_shut(ssl);
	SSL_free(ssl);
}
