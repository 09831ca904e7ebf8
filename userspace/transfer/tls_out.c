/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/remotes.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>

int tls_out_new(SSL_CTX **out, const struct config_remote *remote, char *err, size_t err_cap)
{
	const struct tls_client_options options = {
		.min_version = TLS1_3_VERSION,
		.wants_dot = true,
		/* With only a pin, tls_out_handshake() compares the key and nothing verifies the
		 * chain. */
		.verifies = remote->tls == CONFIG_TLS_STRICT && remote->tls_name,
		.bundle = remote->tls_bundle,
	};

	return tls_client_new(out, &options, err, err_cap);
}

int tls_out_handshake(struct tls_stream *stream, const uint8_t *pin, char *why, size_t cap)
{
	if (tls_stream_handshake(stream, why, cap) < 0)
		return -errno;
	if (!pin || tls_stream_has_pin(stream, pin))
		return 1;
	snprintf(why, cap, "TLS: its public key is not the pinned one");
	return -EACCES;
}
