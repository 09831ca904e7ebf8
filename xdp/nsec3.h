/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The NSEC3 hash of a name (RFC 5155 section 5), without further iterations (RFC 9276 section 3.1):
 * SHA-1 (FIPS 180-4) of the name and the salt. xdp/intervals.h takes its first 64 bits.
 *
 *      cpu->sha1_message, 1 to 5 blocks of 64 octets:
 *
 *      | suffix of the folded name | salt, 0 to 8 octets | 80 | 00 ... | bits, 8 octets |
 *
 * The code that writes the octets behind the name has no branch. Each block is one call of a global
 * function without branches, so the verifier walks the rounds once. The rounds are unrolled, and
 * the words of the schedule overwrite the block's message.
 */
#ifndef VOLLEY_XDP_NSEC3_H
#define VOLLEY_XDP_NSEC3_H

#include "xdp/abi.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/verifier.h"

#define SHA1_BLOCK_BYTES 64
#define SHA1_TAIL_BYTES  9 /* of each message: 0x80, and its length */
#define SHA1_BLOCKS_MAX  5 /* 255 octets of name, 8 of salt, and the tail */

int nsec3_block(struct volley_cpu *cpu, __u32 number);
int nsec3_point(struct volley_cpu *cpu, __u32 from);

struct sha1 {
	__u32 a, b, c, d, e;
};

static __always_inline __u32 sha1_rotate(__u32 v, __u32 bits)
{
	return v << bits | v >> (32 - bits);
}

/* Word t of the schedule. The last 16 are kept, in memory: the stack has no room for them. */
static __always_inline __u32 sha1_word(volatile __u32 *words, __u32 t)
{
	__u32 w = words[t & 15];

	if (t < 16)
		w = bpf_ntohl(w);
	else
		w = sha1_rotate(
			w ^ words[(t + 2) & 15] ^ words[(t + 8) & 15] ^ words[(t + 13) & 15], 1);
	words[t & 15] = w;
	return w;
}

static __always_inline void sha1_round(struct sha1 *s, __u32 f, __u32 k_and_word)
{
	__u32 a = sha1_rotate(s->a, 5) + f + s->e + k_and_word;

	s->e = s->d;
	s->d = s->c;
	s->c = sha1_rotate(s->b, 30);
	s->b = s->a;
	s->a = a;
}

static __always_inline void sha1_rounds(struct sha1 *s, volatile __u32 *words)
{
	__u32 t;

#if defined(__bpf__)
#pragma unroll
#endif
	for (t = 0; t < 20; t++)
		sha1_round(s, s->d ^ (s->b & (s->c ^ s->d)), 0x5a827999 + sha1_word(words, t));
#if defined(__bpf__)
#pragma unroll
#endif
	for (t = 20; t < 40; t++)
		sha1_round(s, s->b ^ s->c ^ s->d, 0x6ed9eba1 + sha1_word(words, t));
#if defined(__bpf__)
#pragma unroll
#endif
	for (t = 40; t < 60; t++)
		sha1_round(s, (s->b & s->c) + (s->d & (s->b ^ s->c)),
			   0x8f1bbcdc + sha1_word(words, t));
#if defined(__bpf__)
#pragma unroll
#endif
	for (t = 60; t < 80; t++)
		sha1_round(s, s->b ^ s->c ^ s->d, 0xca62c1d6 + sha1_word(words, t));
}

/* Adds a block of the message to the hash. Returns 0. */
__noinline int nsec3_block(struct volley_cpu *cpu, __u32 number)
{
	struct sha1 s;
	volatile __u32 *words;

	if (!cpu)
		return 0;
	words = (void *)cpu->sha1_message + bounded(number, 7) * SHA1_BLOCK_BYTES;
	s.a = cpu->sha1[0];
	s.b = cpu->sha1[1];
	s.c = cpu->sha1[2];
	s.d = cpu->sha1[3];
	s.e = cpu->sha1[4];
	sha1_rounds(&s, words);
	cpu->sha1[0] += s.a;
	cpu->sha1[1] += s.b;
	cpu->sha1[2] += s.c;
	cpu->sha1[3] += s.d;
	cpu->sha1[4] += s.e;
	return 0;
}

static __always_inline void nsec3_begin(struct volley_cpu *cpu)
{
	cpu->sha1[0] = 0x67452301;
	cpu->sha1[1] = 0xefcdab89;
	cpu->sha1[2] = 0x98badcfe;
	cpu->sha1[3] = 0x10325476;
	cpu->sha1[4] = 0xc3d2e1f0;
}

/*
 * Lays out the message of a name of n octets: copies all 256 octets that a name may have, then
 * overwrites those behind the name, to the end of a block at most. Returns the number of blocks.
 */
static __always_inline __u32 nsec3_fill(struct volley_cpu *cpu, __u32 from, __u32 n)
{
	const __u8 *name = (const __u8 *)&cpu->folded[1] + bounded(from, DNS_NAME_MAX);
	__u32 bytes = n + cpu->nsec3_salt_bytes, i;
	__u32 blocks = (bytes + SHA1_TAIL_BYTES + SHA1_BLOCK_BYTES - 1) / SHA1_BLOCK_BYTES;
	__u8 *message = (__u8 *)cpu->sha1_message, *tail = message + bounded(n, DNS_NAME_MAX);

#if defined(__bpf__)
#pragma unroll
#endif
	for (i = 0; i < VOLLEY_NAME_WORDS; i++)
		cpu->sha1_message[i] = *(const __u64 *)(name + i * 8);
	*(__u64 *)tail = cpu->nsec3_salt;
#if defined(__bpf__)
#pragma unroll
#endif
	for (i = 1; i <= SHA1_BLOCK_BYTES / 8; i++)
		*(__u64 *)(tail + i * 8) = 0;
	message[bounded(bytes, 511)] = 0x80;
	*(__u64 *)(message + bounded((blocks - 1) * SHA1_BLOCK_BYTES, 511) + SHA1_BLOCK_BYTES - 8) =
		(__u64)bpf_htonl(bytes * 8) << 32;
	return blocks;
}

/*
 * Hashes the suffix of the folded name that begins at octet `from`, with cpu->nsec3_salt. 0: the
 * first 64 bits are in cpu->interval_point. 1: there is no such suffix, or the salt is too long.
 */
__noinline int nsec3_point(struct volley_cpu *cpu, __u32 from)
{
	__u32 blocks, i;

	if (!cpu || from >= cpu->name_bytes || cpu->nsec3_salt_bytes > sizeof(cpu->nsec3_salt))
		return 1;
	nsec3_begin(cpu);
	blocks = nsec3_fill(cpu, from, cpu->name_bytes - from);
	for (i = 0; i < SHA1_BLOCKS_MAX && i < blocks; i++)
		nsec3_block(cpu, i);
	cpu->interval_point = (__u64)cpu->sha1[0] << 32 | cpu->sha1[1];
	return 0;
}

#endif
