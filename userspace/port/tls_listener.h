/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listeners for DNS over TLS (RFC 7858, RFC 9103): TLS 1.3, and 1.2 if the configuration allows
 * it; a client that uses ALPN has to offer "dot". Sessions are resumed by tickets
 * (port/ticket_keys.h).
 *
 *      tls_listener_accept() ─► threads (port/handshake.h) ─► port/tcp_intake.h ─► a worker's port
 *                                  └─► tls_listener_take_failed()
 *
 * A reload without a gap: the new configuration has its own context with certificate and ticket
 * keys. For unchanged addresses it takes over the sockets of the previous configuration, with the
 * connections that wait there. It also takes over the handshakes that run; they end with the
 * certificate that they began with. Open connections keep the context that they were made with.
 *
 * Threads: control's opens it, so that errors are known at once; then it belongs to the thread that
 * accepts.
 */
#ifndef VOLLEY_PORT_TLS_LISTENER_H
#define VOLLEY_PORT_TLS_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/addr.h"

struct tcp_intake;
struct tls_listener;

/*
 * Control's thread keeps this from one configuration to the next: a descriptor of each listening
 * socket, the random ticket keys (so that sessions can be resumed after a reload), and the time
 * when the certificate ends.
 */
struct tls_listener_kept;

/* The keys of server.tls. All of it is borrowed for the call. */
struct tls_listener_config {
	const struct port_addr *addrs;
	uint32_t n; /* 0: nothing listens */
	const char *certificate, *key;
	const char *ticket_keys; /* NULL: random keys */
	bool has_tls12;
	struct tcp_intake *intake; /* as for handshakes_open() */
};

/*
 * Binds the addresses that are not bound yet, and reads the certificate, its key and the file of
 * ticket keys. *out is NULL if there is no address. *kept is NULL at first, and changes only if the
 * result is 0. 0, -ENOMEM, -errno of a socket, or ERR_CONFIG; with a sentence in @err.
 */
int tls_listener_open(struct tls_listener **out, struct tls_listener_kept **kept,
		      const struct tls_listener_config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* NULL is allowed. */
void tls_listener_forget(struct tls_listener_kept *kept);
/* When the certificate in use ends, in seconds since 1970 (notAfter, RFC 5280 section 4.1.2.5); 0:
 * nothing listens. NULL is allowed. Control's thread. */
uint64_t tls_listener_certificate_end(const struct tls_listener_kept *kept);
/* Checks that tls_listener_open() could use the files. 0, -ENOMEM or ERR_CONFIG, with a sentence in
 * @err. */
int tls_listener_check(const struct tls_listener_config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Moves the handshakes of @before to @tls. To be called before tls_listener_accept(). */
void tls_listener_inherit(struct tls_listener *tls, struct tls_listener *before);
/* Open connections stay. NULL is allowed. */
void tls_listener_close(struct tls_listener *tls);

int tls_listener_fd(const struct tls_listener *tls, uint32_t i);
/* Accepts connections that wait at a socket. False: the system has no descriptor for one, so a
 * pause is needed. *n_failed: of these, connections that were closed because too many wait. */
bool tls_listener_accept(struct tls_listener *tls, uint32_t i, uint32_t *n_failed);
/* Readable when handshakes have failed; returns their number. */
int tls_listener_failed_fd(const struct tls_listener *tls);
uint32_t tls_listener_take_failed(struct tls_listener *tls);

#endif
