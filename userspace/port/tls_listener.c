/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tls_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/tls_files.h"
#include "port/handshake.h"
#include "port/privileged.h"
#include "port/tcp_config.h"
#include "port/ticket_keys.h"

#define ACCEPT_TURN 16

struct tls_listener {
	struct handshakes *handshakes;
	SSL_CTX *ctx;
	uint32_t n;
	int fds[];
};

struct kept_socket {
	struct port_addr addr;
	int fd;
};

struct tls_listener_kept {
	struct ticket_keys *random; /* NULL: none were needed yet */
	uint64_t ends_wall_s;       /* end of the certificate; 0: there is none */
	uint32_t n;
	struct kept_socket sockets[];
};

/* ---- The certificate ------------------------------------------------------------------------- */

static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_bytes,
		       const unsigned char *in, unsigned int in_bytes, void *user)
{
	static const unsigned char dot[] = "\3dot";
	unsigned char *chosen;

	(void)ssl, (void)user;
	if (SSL_select_next_proto(&chosen, out_bytes, dot, sizeof(dot) - 1, in, in_bytes) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* CODE is of tls_files_...(). */
static int say_tls(const char *key, const char *file, int code, char *err, size_t cap)
{
	const char *reason = code == ERR_FORMAT ? ERR_reason_error_string(ERR_peek_last_error()) :
						  err_text(code);

	snprintf(err, cap, "server.tls.%s: %s: %s", key, file, reason ? reason : "cannot be used");
	ERR_clear_error();
	return code == -ENOMEM ? code : ERR_CONFIG;
}

static int say_mismatch(const struct tls_listener_config *config, char *err, size_t cap)
{
	snprintf(err, cap, "server.tls.key: %s is not the key of %s", config->key,
		 config->certificate);
	ERR_clear_error();
	return ERR_CONFIG;
}

/* OpenSSL compares a key of the certificate's algorithm when it reads it; a key of another
 * algorithm fails in the check. */
static int load_key(SSL_CTX *ctx, const struct tls_listener_config *config, char *err, size_t cap)
{
	int code = tls_files_use_key(ctx, config->key);

	if (code == ERR_FORMAT && ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509)
		return say_mismatch(config, err, cap);
	if (code)
		return say_tls("key", config->key, code, err, cap);
	return SSL_CTX_check_private_key(ctx) == 1 ? 0 : say_mismatch(config, err, cap);
}

/*
 * OpenSSL's own order begins with AES-256 and SHA-384. SHA-256 saves a tenth of OpenSSL's time for
 * a resumed handshake (docs/decisions/0049), and every client has TLS_AES_128_GCM_SHA256 (RFC 8446
 * section 9.1). A client that puts ChaCha20 first has no AES in hardware.
 */
static bool choose_ciphers(SSL_CTX *ctx)
{
	/* Of TLS 1.2 those of RFC 9325 section 4.2, in the same order. */
	static const char of_tls12[] = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
				       "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
				       "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384";

	(void)SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
	return SSL_CTX_set_cipher_list(ctx, of_tls12) == 1 &&
	       SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:"
					     "TLS_AES_256_GCM_SHA384") == 1;
}

/* The caller frees *out, also after an error; it may be NULL. */
static int open_ctx(SSL_CTX **out, const struct tls_listener_config *config, char *err, size_t cap)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	int code;

	*out = ctx;
	if (!ctx)
		return -ENOMEM;
	if (!config->certificate || !config->key) {
		snprintf(err, cap, "server.tls: listen needs a certificate and its key");
		return ERR_CONFIG;
	}
	ERR_clear_error();
	(void)SSL_CTX_set_min_proto_version(ctx,
					    config->has_tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
	/* With TLS 1.2 a client could make us compute a handshake again and again. */
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
	if (!choose_ciphers(ctx))
		return -ENOMEM;
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(ctx, 1); /* else each record needs two calls of read() */
	SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, NULL);
	code = tls_files_use_chain(ctx, config->certificate);
	if (code)
		return say_tls("certificate", config->certificate, code, err, cap);
	return load_key(ctx, config, err, cap);
}

/* When the certificate of @ctx ends (without its issuers'), in seconds since 1970; 0: unknown. */
static uint64_t certificate_end(const SSL_CTX *ctx)
{
	const X509 *certificate = SSL_CTX_get0_certificate(ctx);
	struct tm tm;
	time_t end;

	if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm) != 1)
		return 0;
	end = timegm(&tm);
	return end > 0 ? (uint64_t)end : 0;
}

/* Uses the ticket keys of the file; if none is configured, *random, which is made if it is NULL. */
static int use_tickets(SSL_CTX *ctx, struct ticket_keys **random,
		       const struct tls_listener_config *config, char *err, size_t cap)
{
	struct ticket_keys *read = NULL;
	int code = 0;

	if (config->ticket_keys)
		code = ticket_keys_read(&read, config->ticket_keys, err, cap);
	else if (!*random)
		code = ticket_keys_make(random, clock_ns());
	if (!code)
		code = ticket_keys_use(read ? read : *random, ctx);
	ticket_keys_put(read);
	return code;
}

int tls_listener_check(const struct tls_listener_config *config, char *err, size_t err_cap)
{
	struct ticket_keys *random = NULL;
	SSL_CTX *ctx;
	int code;

	if (!config->n)
		return 0;
	code = open_ctx(&ctx, config, err, err_cap);
	if (!code)
		code = use_tickets(ctx, &random, config, err, err_cap);
	SSL_CTX_free(ctx);
	ticket_keys_put(random);
	return code;
}

/* ---- Sockets --------------------------------------------------------------------------------- */

static int set_to(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

static int set_tls_listener(int fd, int level, int option)
{
	return set_to(fd, level, option, 1);
}

/* SO_REUSEPORT: the socket of an earlier volleyd may still be open. */
static int listen_at(int *fd, const struct port_addr *addr)
{
	int err;

	*fd = socket(addr->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	err = set_tls_listener(*fd, SOL_SOCKET, SO_REUSEADDR);
	err = err ? err : set_tls_listener(*fd, SOL_SOCKET, SO_REUSEPORT);
	err = err ? err : set_tls_listener(*fd, IPPROTO_IP, IP_FREEBIND);
	err = err ? err : set_tls_listener(*fd, IPPROTO_TCP, TCP_NODELAY);
	err = err ? err : set_to(*fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)TCP_UNSENT_BYTES);
	if (addr->family == AF_INET6)
		err = err ? err : set_tls_listener(*fd, IPPROTO_IPV6, IPV6_V6ONLY);
	err = err ? err : port_bind(*fd, addr);
	if (err)
		return err;
	return listen(*fd, SOMAXCONN) ? -errno : 0;
}

/* If a socket listens there already, a second descriptor of it is used, and its waiting connections
 * stay. */
static int open_tls_listener(int *fd, const struct port_addr *addr,
			     const struct tls_listener_kept *kept)
{
	for (uint32_t i = 0; kept && i < kept->n; i++) {
		if (!port_addr_is_same(&kept->sockets[i].addr, addr))
			continue;
		*fd = fcntl(kept->sockets[i].fd, F_DUPFD_CLOEXEC, 0);
		return *fd < 0 ? -errno : 0;
	}
	return listen_at(fd, addr);
}

static int open_tls_listener_listeners(struct tls_listener *tls,
				       const struct tls_listener_kept *kept,
				       const struct tls_listener_config *config, char *err,
				       size_t cap)
{
	for (uint32_t i = 0; i < tls->n; i++) {
		const struct port_addr addr = config->addrs[i];
		int code = open_tls_listener(&tls->fds[i], &addr, kept);
		char text[PORT_ADDR_TEXT_CAP];

		if (!code)
			continue;
		snprintf(err, cap, "server.tls: cannot listen at %s: %s",
			 port_addr_text(&addr, text), err_text(code));
		return code;
	}
	return 0;
}

void tls_listener_forget(struct tls_listener_kept *kept)
{
	if (!kept)
		return;
	for (uint32_t i = 0; i < kept->n; i++)
		close(kept->sockets[i].fd);
	ticket_keys_put(kept->random);
	free(kept);
}

uint64_t tls_listener_certificate_end(const struct tls_listener_kept *kept)
{
	return kept ? kept->ends_wall_s : 0;
}

/* Makes what control keeps of @tls (NULL: nothing listens) and of the keys. After an error the
 * caller still owns the keys. */
static int keep_tls_listener(struct tls_listener_kept **out, const struct tls_listener *tls,
			     const struct tls_listener_config *config, struct ticket_keys *random)
{
	uint32_t n = tls ? tls->n : 0;
	struct tls_listener_kept *kept = calloc(1, sizeof(*kept) + n * sizeof(kept->sockets[0]));

	if (!kept)
		return -ENOMEM;
	for (; kept->n < n; kept->n++) {
		struct kept_socket *s = &kept->sockets[kept->n];

		s->addr = config->addrs[kept->n];
		s->fd = fcntl(tls->fds[kept->n], F_DUPFD_CLOEXEC, 0);
		if (s->fd < 0) {
			int code = -errno;

			tls_listener_forget(kept);
			return code;
		}
	}
	kept->random = random;
	kept->ends_wall_s = tls ? certificate_end(tls->ctx) : 0;
	*out = kept;
	return 0;
}

static int open_new_tls_listener(struct tls_listener **out, const struct tls_listener_kept *kept,
				 struct ticket_keys **random,
				 const struct tls_listener_config *config, char *err,
				 size_t err_cap)
{
	struct tls_listener *tls;
	int code;

	*out = NULL;
	if (!config->n)
		return 0;
	tls = calloc(1, sizeof(*tls) + config->n * sizeof(tls->fds[0]));
	if (!tls)
		return -ENOMEM;
	tls->n = config->n;
	for (uint32_t i = 0; i < tls->n; i++)
		tls->fds[i] = -1;
	code = open_ctx(&tls->ctx, config, err, err_cap);
	if (!code)
		code = use_tickets(tls->ctx, random, config, err, err_cap);
	if (!code)
		code = handshakes_open(&tls->handshakes, config->intake);
	if (!code)
		code = open_tls_listener_listeners(tls, kept, config, err, err_cap);
	if (code)
		tls_listener_close(tls);
	else
		*out = tls;
	return code;
}

int tls_listener_open(struct tls_listener **out, struct tls_listener_kept **kept,
		      const struct tls_listener_config *config, char *err, size_t err_cap)
{
	struct ticket_keys *had = *kept ? (*kept)->random : NULL, *random = had;
	struct tls_listener_kept *now = NULL;
	int code = open_new_tls_listener(out, *kept, &random, config, err, err_cap);

	if (!code) {
		code = keep_tls_listener(&now, *out, config, random);
		if (code)
			tls_listener_close(*out);
	}
	if (code) {
		if (random != had)
			ticket_keys_put(random);
		*out = NULL;
		return code;
	}
	if (*kept)
		(*kept)->random = NULL; /* it has moved */
	tls_listener_forget(*kept);
	*kept = now;
	return 0;
}

void tls_listener_inherit(struct tls_listener *tls, struct tls_listener *before)
{
	struct handshakes *unused = tls->handshakes;

	tls->handshakes = before->handshakes;
	before->handshakes = unused;
}

void tls_listener_close(struct tls_listener *tls)
{
	if (!tls)
		return;
	for (uint32_t i = 0; i < tls->n; i++)
		if (tls->fds[i] >= 0)
			close(tls->fds[i]);
	handshakes_close(tls->handshakes);
	SSL_CTX_free(tls->ctx);
	free(tls);
}

/* ---- Connections ----------------------------------------------------------------------------- */

int tls_listener_fd(const struct tls_listener *tls, uint32_t i)
{
	return tls->fds[i];
}

/* False: the connection was closed, because too many wait. */
static bool begin_handshake(struct tls_listener *tls, int fd, const struct sockaddr *from)
{
	struct port_addr addr;

	if (!port_addr_from_sockaddr(&addr, from))
		return handshakes_begin(tls->handshakes, fd, tls->ctx, &addr);
	close(fd);
	return true;
}

bool tls_listener_accept(struct tls_listener *tls, uint32_t i, uint32_t *n_failed)
{
	*n_failed = 0;
	for (unsigned int k = 0; k < ACCEPT_TURN; k++) {
		struct sockaddr_storage ss = { 0 };
		socklen_t len = sizeof(ss);
		int fd = accept4(tls->fds[i], (struct sockaddr *)&ss, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return !err_is_exhausted(-errno);
		*n_failed += !begin_handshake(tls, fd, (struct sockaddr *)&ss);
	}
	return true;
}

int tls_listener_failed_fd(const struct tls_listener *tls)
{
	return handshakes_fd(tls->handshakes);
}

uint32_t tls_listener_take_failed(struct tls_listener *tls)
{
	struct handshake *k = handshakes_take(tls->handshakes), *next;
	uint32_t n = 0;

	for (; k; k = next, n++) {
		next = handshakes_next(k);
		free(k);
	}
	return n;
}
