/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/cookie.h"

#include <assert.h>
#include <string.h>

/* `addr` in the words of xdp/cookie.h. */
static struct volley_cookie_client client_words(const void *addr, size_t addr_bytes)
{
	struct volley_cookie_client words = { .is_ipv6 = addr_bytes == 16 };

	assert(addr_bytes == 4 || addr_bytes == 16);
	memcpy(words.address, addr, addr_bytes);
	return words;
}

void cookie_make(uint8_t out[COOKIE_BYTES], const uint8_t client[COOKIE_CLIENT_BYTES],
		 const void *addr, size_t addr_bytes, uint32_t now_s,
		 const uint8_t secret[SIPHASH_KEY_BYTES])
{
	const struct volley_cookie_client from = client_words(addr, addr_bytes);
	__u64 value[3], words[2];

	memcpy(words, secret, sizeof(words));
	memcpy(value, client, COOKIE_CLIENT_BYTES);
	volley_cookie_make(value, words, &from, now_s);
	memcpy(out, value, COOKIE_BYTES);
}

bool cookie_secrets_have(const struct cookie_secrets *secrets, const uint8_t key[SIPHASH_KEY_BYTES])
{
	uint32_t i = 0;

	while (i < secrets->n && memcmp(secrets->keys[i], key, SIPHASH_KEY_BYTES) != 0)
		i++;
	return i < secrets->n;
}

enum cookie_verdict cookie_check(const struct cookie_secrets *secrets,
				 const uint8_t client[COOKIE_CLIENT_BYTES], const uint8_t *server,
				 size_t server_bytes, const void *addr, size_t addr_bytes,
				 uint32_t now_s)
{
	const struct volley_cookie_client from = client_words(addr, addr_bytes);
	__u64 value[3], words[COOKIE_SECRETS_MAX][2];

	if (server_bytes != COOKIE_SERVER_BYTES)
		return COOKIE_BAD;
	memcpy(value, client, COOKIE_CLIENT_BYTES);
	memcpy(value + 1, server, COOKIE_SERVER_BYTES);
	memcpy(words, secrets->keys, sizeof(words));
	return (enum cookie_verdict)volley_cookie_judge(value, words, secrets->n, &from, now_s);
}
