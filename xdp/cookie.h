/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DNS server cookies (RFC 7873, RFC 9018), the same in the driver and in userspace.
 *
 * 	 0               8     9       12        16                24
 * 	 | client cookie | ver | 0 0 0 | seconds | SipHash-2-4     |
 *
 * A value is three words as they lie on the wire. The hash covers the first two words and the
 * client's address of 4 or 16 octets, so only an IPv4 address ends in half a word.
 */
#ifndef VOLLEY_XDP_COOKIE_H
#define VOLLEY_XDP_COOKIE_H

#include <linux/types.h>

#define VOLLEY_COOKIE_INLINE static inline __attribute__((always_inline))

#define VOLLEY_COOKIE_SECRETS 4u /* in use at a time; new cookies are made with the first */
#define VOLLEY_COOKIE_VERSION 1u

#define VOLLEY_COOKIE_MIX 0x9e3779b97f4a7c15ull /* odd, its bits are spread */

/* RFC 9018 section 4.3 */
#define VOLLEY_COOKIE_PAST_MAX_S   3600
#define VOLLEY_COOKIE_FUTURE_MAX_S 300
#define VOLLEY_COOKIE_RENEW_S      1800

enum volley_cookie {
	VOLLEY_COOKIE_BAD,   /* not ours, or too old: handled like a client cookie alone */
	VOLLEY_COOKIE_GOOD,  /* the same server cookie goes back */
	VOLLEY_COOKIE_RENEW, /* good, but it is time for a new one */
};

/* An address as it lies in memory; IPv4: the lower half of the first word, the rest 0. */
struct volley_cookie_client {
	__u64 address[2];
	__u32 is_ipv6;
};

struct volley_sip {
	__u64 v0, v1, v2, v3;
};

VOLLEY_COOKIE_INLINE __u64 volley_rotate(__u64 v, __u32 bits)
{
	return v << bits | v >> (64 - bits);
}

/* SipRound (Aumasson and Bernstein, INDOCRYPT 2012, section 2). */
VOLLEY_COOKIE_INLINE void volley_sip_round(struct volley_sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = volley_rotate(s->v1, 13) ^ s->v0;
	s->v3 = volley_rotate(s->v3, 16) ^ s->v2;
	s->v0 = volley_rotate(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = volley_rotate(s->v1, 17) ^ s->v2;
	s->v3 = volley_rotate(s->v3, 21) ^ s->v0;
	s->v2 = volley_rotate(s->v2, 32);
}

VOLLEY_COOKIE_INLINE void volley_sip_word(struct volley_sip *s, __u64 word)
{
	s->v3 ^= word;
	volley_sip_round(s);
	volley_sip_round(s);
	s->v0 ^= word;
}

/* The third word of a cookie with this head (two words). RFC 9018 section 4.4. */
VOLLEY_COOKIE_INLINE __u64 volley_cookie_hash(const __u64 secret[2], const __u64 head[2],
					      const struct volley_cookie_client *client)
{
	struct volley_sip s = { secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d,
				secret[0] ^ 0x6c7967656e657261, secret[1] ^ 0x7465646279746573 };
	__u64 last = 20ull << 56 | client->address[0];
	int i;

	volley_sip_word(&s, head[0]);
	volley_sip_word(&s, head[1]);
	if (client->is_ipv6) {
		volley_sip_word(&s, client->address[0]);
		volley_sip_word(&s, client->address[1]);
		last = 32ull << 56;
	}
	volley_sip_word(&s, last);
	s.v2 ^= 0xff;
	for (i = 0; i < 4; i++)
		volley_sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* Puts a new server cookie behind the client's, value[0]. now_s: wall seconds modulo 2^32. */
VOLLEY_COOKIE_INLINE void volley_cookie_make(__u64 value[3], const __u64 secret[2],
					     const struct volley_cookie_client *client, __u32 now_s)
{
	value[1] = VOLLEY_COOKIE_VERSION | (__u64)__builtin_bswap32(now_s) << 32;
	value[2] = volley_cookie_hash(secret, value, client);
}

/* The slot of this client's cookie in volley_cookies: 9 bits. */
VOLLEY_COOKIE_INLINE __u32 volley_cookie_slot(const __u64 value[3],
					      const struct volley_cookie_client *client)
{
	__u64 sum = value[0] ^ client->address[0] ^ client->address[1];

	return (__u32)(sum * VOLLEY_COOKIE_MIX >> 55);
}

/* Seconds since it was made, in serial arithmetic (RFC 1982). */
VOLLEY_COOKIE_INLINE __s32 volley_cookie_age_s(const __u64 value[3], __u32 now_s)
{
	return (__s32)(now_s - __builtin_bswap32((__u32)(value[1] >> 32)));
}

/* Neither from the future nor due for renewal. */
VOLLEY_COOKIE_INLINE int volley_cookie_is_fresh(const __u64 value[3], __u32 now_s)
{
	__s32 age_s = volley_cookie_age_s(value, now_s);

	return age_s <= VOLLEY_COOKIE_RENEW_S && age_s >= -VOLLEY_COOKIE_FUTURE_MAX_S;
}

/*
 * Checks a cookie of 24 octets. If another of the n secrets than the first has made it, it is at
 * best VOLLEY_COOKIE_RENEW.
 */
VOLLEY_COOKIE_INLINE enum volley_cookie
volley_cookie_judge(const __u64 value[3], const __u64 (*secrets)[2], __u32 n,
		    const struct volley_cookie_client *client, __u32 now_s)
{
	__s32 age_s = volley_cookie_age_s(value, now_s);
	__u32 i;

	if ((value[1] & 0xff) != VOLLEY_COOKIE_VERSION || age_s > VOLLEY_COOKIE_PAST_MAX_S ||
	    age_s < -VOLLEY_COOKIE_FUTURE_MAX_S)
		return VOLLEY_COOKIE_BAD;
	for (i = 0; i < VOLLEY_COOKIE_SECRETS && i < n; i++) {
		if (volley_cookie_hash(secrets[i], value, client) == value[2])
			return i || age_s > VOLLEY_COOKIE_RENEW_S ? VOLLEY_COOKIE_RENEW :
								    VOLLEY_COOKIE_GOOD;
	}
	return VOLLEY_COOKIE_BAD;
}

#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of a cookie are little endian");
#endif

#endif
