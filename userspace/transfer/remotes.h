/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remotes: the other name servers and the keys of one configuration. They never change. A new
 * configuration makes new ones; an exchange that runs holds a reference to its remotes.
 *
 * Only their peers change (idle connections, TLS sessions, whether an address answers): they belong
 * to the loop's thread alone.
 *
 * Threads: control's makes them. After that the loop's uses them and counts the references.
 */
#ifndef VOLLEY_TRANSFER_REMOTES_H
#define VOLLEY_TRANSFER_REMOTES_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tls_client.h"
#include "config/config.h"
#include "port/addr.h"
#include "transfer/peer.h"
#include "xfr/tsig_signature.h"

/* Another name server. */
struct remote {
	char *name;
	struct peer *peers; /* one for each address, in order */
	uint32_t n_peers;
	bool has_source4, has_source6;
	struct port_addr source4, source6; /* our addresses; port 0 unless configured */
	const struct tsig_key *key;        /* in remotes.keys, or NULL */
	enum config_tls tls;
	char *tls_name; /* or NULL */
	bool has_pin;
	uint8_t pin[32];
	SSL_CTX *tls_ctx; /* NULL without TLS */
};

struct remotes {
	unsigned int n_refs;
	struct tsig_keys *keys; /* tsig_keys_find() */
	struct remote *list;    /* by name */
	uint32_t n;
	uint32_t n_transfers; /* transfers at a time, in and out */
	uint32_t n_transfers_out;
};

/* Makes remotes with one reference. 0; -ENOMEM; or ERR_CONFIG with a sentence in @err: a key or a
 * file of certificates cannot be used. */
int remotes_new(struct remotes **out, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
struct remotes *remotes_get(struct remotes *remotes); /* adds a reference; returns @remotes */
void remotes_put(struct remotes *remotes);            /* NULL is allowed */

/* By name, as the configuration writes it. NULL: there is none. */
const struct tsig_key *remotes_key(const struct remotes *remotes, const char *name);
struct remote *remotes_find(const struct remotes *remotes, const char *name);

/* True if @addr is one of its addresses. Ports are not compared. */
bool remote_has(const struct remote *remote, const struct port_addr *addr);

/* Our address for messages to this one; NULL: the kernel chooses. */
const struct port_addr *remote_source(const struct remote *remote, const struct port_addr *to);

/*
 * TLS towards other name servers (RFC 9103): TLS 1.3 only, with ALPN "dot".
 *
 *      strict         nothing is sent unless the server meets all that is configured: tls_name, by
 *                     a certificate that an authority of the bundle has signed; tls_pin, the public
 *                     key (RFC 7858 section 4.2)
 *      opportunistic  encrypted, with any server that answers (RFC 9103 section 9.3.1). It never
 *                     falls back to TCP in the clear: if you want that, name a second remote
 *
 * Threads: control's makes contexts; all else is the loop's.
 */

/* 0; -ENOMEM; ERR_CONFIG with a sentence in @err. SSL_CTX_free() frees it. */
int tls_out_new(SSL_CTX **out, const struct config_remote *remote, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* As tls_stream_handshake(): 1 if the other side has proved its identity; -EAGAIN; or another code
 * with the reason in @why. @pin: the SHA-256 of its public key; NULL: any key. */
int tls_out_handshake(struct tls_stream *stream, const uint8_t *pin, char *why, size_t cap);

#endif
