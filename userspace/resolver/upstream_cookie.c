/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/upstream_cookie.h"

#include <string.h>

#define CLIENT_BYTES     UPSTREAM_COOKIE_CLIENT_BYTES
#define SERVER_BYTES_MIN 8 /* RFC 7873 section 4 */

void upstream_cookie_init(struct upstream_cookie *cookie, uint64_t client)
{
	*cookie = (struct upstream_cookie){ .n_bytes = CLIENT_BYTES };
	memcpy(cookie->bytes, &client, CLIENT_BYTES);
}

bool upstream_cookie_is_on(const struct upstream_cookie *cookie, uint64_t now_ns)
{
	return now_ns >= cookie->off_until_ns;
}

bool upstream_cookie_is_proven(const struct upstream_cookie *cookie)
{
	return cookie->n_bytes > CLIENT_BYTES;
}

static enum upstream_cookie_verdict judge_wrong(struct upstream_cookie *cookie, bool is_tcp,
						uint64_t now_ns)
{
	if (!is_tcp)
		return upstream_cookie_is_proven(cookie) ? UPSTREAM_COOKIE_WRONG :
							   UPSTREAM_COOKIE_FOREIGN;
	cookie->n_bytes = CLIENT_BYTES;
	cookie->off_until_ns = now_ns + UPSTREAM_COOKIE_LAX_NS;
	return UPSTREAM_COOKIE_GOOD;
}

static enum upstream_cookie_verdict judge_missing(struct upstream_cookie *cookie, bool is_tcp,
						  uint64_t now_ns)
{
	bool is_expected = upstream_cookie_is_proven(cookie) && now_ns >= cookie->lax_until_ns;

	if (!is_expected)
		return UPSTREAM_COOKIE_GOOD;
	if (!is_tcp)
		return UPSTREAM_COOKIE_MISSING;
	cookie->n_bytes = CLIENT_BYTES;
	cookie->lax_until_ns = now_ns + UPSTREAM_COOKIE_LAX_NS;
	return UPSTREAM_COOKIE_GOOD;
}

enum upstream_cookie_verdict upstream_cookie_judge(struct upstream_cookie *cookie,
						   const uint8_t *option, size_t n, bool is_tcp,
						   uint64_t now_ns)
{
	if (!option)
		return judge_missing(cookie, is_tcp, now_ns);
	if (n > UPSTREAM_COOKIE_MAX || (n < CLIENT_BYTES + SERVER_BYTES_MIN && n != CLIENT_BYTES) ||
	    memcmp(option, cookie->bytes, CLIENT_BYTES) != 0)
		return judge_wrong(cookie, is_tcp, now_ns);
	if (n > CLIENT_BYTES) {
		memcpy(cookie->bytes, option, n);
		cookie->n_bytes = (uint8_t)n;
	}
	return UPSTREAM_COOKIE_GOOD;
}

void upstream_cookie_refused(struct upstream_cookie *cookie, uint64_t now_ns)
{
	cookie->n_bytes = CLIENT_BYTES;
	cookie->off_until_ns = now_ns + UPSTREAM_COOKIE_OFF_NS;
}
