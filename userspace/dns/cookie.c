/* SPDX-License-Identifier: GPL-2.0-only */
#include "dns/cookie.h"

#include <assert.h>
#include <string.h>

#include "base/wire.h"

#define ADDR_MAX   16
#define HASH_AT    16 /* in the option's value */
#define HASH_BYTES 8
#define SECONDS_AT 12
#define VERSION_AT 8

/* Write the hash over head and address, little-endian (RFC 9018 section 4.4). */
static void put_hash(uint8_t out[HASH_BYTES], const uint8_t head[HASH_AT], const void *addr,
		     size_t addr_bytes, const uint8_t secret[SIPHASH_KEY_BYTES])
{
	uint8_t input[HASH_AT + ADDR_MAX];
	uint64_t hash;

	assert(addr_bytes == 4 || addr_bytes == ADDR_MAX);
	memcpy(input, head, HASH_AT);
	memcpy(input + HASH_AT, addr, addr_bytes);
	hash = siphash24(secret, input, HASH_AT + addr_bytes);
	for (unsigned int i = 0; i < HASH_BYTES; i++)
		out[i] = (uint8_t)(hash >> (8 * i));
}

void cookie_make(uint8_t out[COOKIE_BYTES], const uint8_t client[COOKIE_CLIENT_BYTES],
		 const void *addr, size_t addr_bytes, uint32_t now_s,
		 const uint8_t secret[SIPHASH_KEY_BYTES])
{
	memmove(out, client, COOKIE_CLIENT_BYTES);
	memset(out + VERSION_AT, 0, SECONDS_AT - VERSION_AT);
	out[VERSION_AT] = COOKIE_VERSION;
	wire_store_be32(out + SECONDS_AT, now_s);
	put_hash(out + HASH_AT, out, addr, addr_bytes, secret);
}

/* Compared without a branch on the bytes, so that time tells nothing about them. */
static bool is_made_with(const uint8_t value[COOKIE_BYTES], const void *addr, size_t addr_bytes,
			 const uint8_t secret[SIPHASH_KEY_BYTES])
{
	uint8_t hash[HASH_BYTES], differ = 0;

	put_hash(hash, value, addr, addr_bytes, secret);
	for (unsigned int i = 0; i < HASH_BYTES; i++)
		differ |= hash[i] ^ value[HASH_AT + i];
	return !differ;
}

enum cookie_verdict cookie_check(const struct cookie_secrets *secrets,
				 const uint8_t client[COOKIE_CLIENT_BYTES], const uint8_t *server,
				 size_t server_bytes, const void *addr, size_t addr_bytes,
				 uint32_t now_s)
{
	uint8_t value[COOKIE_BYTES];
	int32_t age_s;

	if (server_bytes != COOKIE_SERVER_BYTES || server[0] != COOKIE_VERSION)
		return COOKIE_BAD;
	memcpy(value, client, COOKIE_CLIENT_BYTES);
	memcpy(value + COOKIE_CLIENT_BYTES, server, COOKIE_SERVER_BYTES);
	age_s = (int32_t)(now_s - wire_load_be32(value + SECONDS_AT));
	if (age_s > COOKIE_PAST_MAX_S || age_s < -COOKIE_FUTURE_MAX_S)
		return COOKIE_BAD;
	if (is_made_with(value, addr, addr_bytes, secrets->active))
		return age_s > COOKIE_RENEW_S ? COOKIE_RENEW : COOKIE_GOOD;
	if (secrets->has_previous && is_made_with(value, addr, addr_bytes, secrets->previous))
		return COOKIE_RENEW;
	return COOKIE_BAD;
}
