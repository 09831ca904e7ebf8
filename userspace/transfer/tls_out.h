/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef VOLLEY_TRANSFER_TLS_OUT_H
#define VOLLEY_TRANSFER_TLS_OUT_H

#include "base/tls_client.h"
#include "config/config.h"

/* 0; -ENOMEM; ERR_CONFIG with a sentence in @err. SSL_CTX_free() frees it. */
int tls_out_new(SSL_CTX **out, const struct config_remote *remote, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* As tls_stream_handshake(): 1 if the other side has proved its identity; -EAGAIN; or another code
 * with the reason in @why. @pin: the SHA-256 of its public key; NULL: any key. */
int tls_out_handshake(struct tls_stream *stream, const uint8_t *pin, char *why, size_t cap);

#endif
