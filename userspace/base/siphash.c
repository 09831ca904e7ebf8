/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

static uint64_t load_siphash_word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* Fewer than 8 bytes as a little-endian number. */
static uint64_t load_siphash_tail(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static uint64_t rotate_siphash(uint64_t v, unsigned int bits)
{
	return v << bits | v >> (64 - bits);
}

/* SipRound. The state has to stay in registers: a call would write it to memory. */
static inline __attribute__((always_inline)) void mix(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate_siphash(v[1], 13) ^ v[0];
	v[3] = rotate_siphash(v[3], 16) ^ v[2];
	v[0] = rotate_siphash(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate_siphash(v[1], 17) ^ v[2];
	v[3] = rotate_siphash(v[3], 21) ^ v[0];
	v[2] = rotate_siphash(v[2], 32);
}

static inline __attribute__((always_inline)) void absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v);
	mix(v);
	v[0] ^= word;
}

uint64_t siphash24(const uint8_t key[SIPHASH_KEY_BYTES], const void *data, size_t n_bytes)
{
	uint64_t k0 = load_siphash_word(key), k1 = load_siphash_word(key + 8);
	/* "somepseudorandomlygeneratedbytes" */
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			  k1 ^ 0x7465646279746573 };
	const uint8_t *p = data;
	size_t left = n_bytes;

	for (; left >= 8; left -= 8, p += 8)
		absorb(v, load_siphash_word(p));
	absorb(v, (uint64_t)n_bytes << 56 | load_siphash_tail(p, left));
	v[2] ^= 0xff;
	for (unsigned int i = 0; i < 4; i++)
		mix(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
