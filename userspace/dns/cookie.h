/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stateless DNS server cookies (RFC 7873, RFC 9018): any server of an anycast set that has the same
 * secret accepts another one's cookies.
 *
 * 	 0               8     9       12        16                24
 * 	 | client cookie | ver | 0 0 0 | seconds | SipHash-2-4     |
 * 	                 `----------- server cookie ---------------'
 * 	 hash over the first 16 bytes and the client's address (4 or 16 bytes)
 *
 * Time is an argument: wall seconds modulo 2^32, compared in serial arithmetic (RFC 1982). Pure;
 * any thread.
 */
#ifndef VOLLEY_DNS_COOKIE_H
#define VOLLEY_DNS_COOKIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"
#include "xdp/cookie.h"

#define COOKIE_CLIENT_BYTES 8
#define COOKIE_SERVER_BYTES 16
#define COOKIE_BYTES        (COOKIE_CLIENT_BYTES + COOKIE_SERVER_BYTES)
#define COOKIE_VERSION      VOLLEY_COOKIE_VERSION

/* The driver's verdicts, too (xdp/cookie.h). */
enum cookie_verdict {
	COOKIE_BAD = VOLLEY_COOKIE_BAD,
	COOKIE_GOOD = VOLLEY_COOKIE_GOOD,
	COOKIE_RENEW = VOLLEY_COOKIE_RENEW,
};

#define COOKIE_SECRETS_MAX VOLLEY_COOKIE_SECRETS

/* New cookies are made with the first secret; cookies of all n are accepted: the roll-over of RFC
 * 9018 section 5. */
struct cookie_secrets {
	uint32_t n; /* 1 to COOKIE_SECRETS_MAX */
	uint8_t keys[COOKIE_SECRETS_MAX][SIPHASH_KEY_BYTES];
};

/*
 * Writes the whole option value (client cookie and new server cookie) to out. addr is the client's
 * address in network order; addr_bytes is 16, or 4 for each IPv4 address, also a mapped one. client
 * may be the start of out.
 */
void cookie_make(uint8_t out[COOKIE_BYTES], const uint8_t client[COOKIE_CLIENT_BYTES],
		 const void *addr, size_t addr_bytes, uint32_t now_s,
		 const uint8_t secret[SIPHASH_KEY_BYTES]);

/* True if the key is one of the secrets. */
bool cookie_secrets_have(const struct cookie_secrets *secrets,
			 const uint8_t key[SIPHASH_KEY_BYTES]);

/* Judges a server cookie of server_bytes (any length). COOKIE_RENEW: it was made with another than
 * the first secret. */
enum cookie_verdict cookie_check(const struct cookie_secrets *secrets,
				 const uint8_t client[COOKIE_CLIENT_BYTES], const uint8_t *server,
				 size_t server_bytes, const void *addr, size_t addr_bytes,
				 uint32_t now_s);

#endif
