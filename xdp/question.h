/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is this DNS message a query that the driver fully understands, and what is its key?
 *
 * One question of class IN, opcode QUERY, no other record than one OPT of version 0 with nothing
 * behind it. The message lies in cpu->query (a copy, padded), so offsets need no look at the frame.
 */
#ifndef VOLLEY_XDP_QUESTION_H
#define VOLLEY_XDP_QUESTION_H

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/packet.h"
#include "xdp/sum.h"

#define DNS_QR          0x8000
#define DNS_OPCODE      0x7800
#define DNS_AA          0x0400
#define DNS_TC          0x0200
#define DNS_RD          0x0100
#define DNS_AD          0x0020
#define DNS_CD          0x0010
#define DNS_CLASS_IN    1
#define DNS_TYPE_OPT    41
#define DNS_UDP_MIN     512
#define EDNS_DO         0x8000
#define EDNS_OPT_BYTES  11
#define LABELS_MAX      127
#define LABEL_BYTES_MAX 63
#define OPTIONS_MAX     8

#define QUERY_MASK (VOLLEY_QUERY_MAX - 1)
_Static_assert((VOLLEY_QUERY_MAX & QUERY_MASK) == 0, "a power of two");

struct dns_header {
	__be16 id;
	__be16 flags;
	__be16 qdcount;
	__be16 ancount;
	__be16 nscount;
	__be16 arcount;
};

struct dns_opt {
	__u8 root;
	__be16 type;
	__be16 udp_size;
	__u8 rcode;
	__u8 version;
	__be16 flags;
	__be16 rdlen;
} __attribute__((packed));

_Static_assert(sizeof(struct dns_opt) == EDNS_OPT_BYTES, "as on the wire");

/* Verified once and for itself, not once for each state in which it is called. */
#ifndef GLOBAL_FUNC
#define GLOBAL_FUNC __attribute__((noinline))
#endif

/* Room for unaligned loads from a copied message: x86 and arm64 do them, the verifier allows them. */
struct unaligned16 {
	__be16 v;
} __attribute__((packed));

static __always_inline __be16 query_be16(const struct volley_cpu *cpu, __u32 offset)
{
	return ((const struct unaligned16 *)&cpu->query[offset & QUERY_MASK])->v;
}

/* A reason or -1. */
static __always_inline int question_header(const struct volley_cpu *cpu)
{
	const struct dns_header *h = (const void *)cpu->query;
	const __be16 usual = bpf_htons(DNS_RD | DNS_AD | DNS_CD);

	if (h->flags & (__be16)~usual) {
		if (h->flags & bpf_htons(DNS_QR))
			return VOLLEY_PASS_RESPONSE;
		if (h->flags & bpf_htons(DNS_OPCODE))
			return VOLLEY_UP_OPCODE;
		return VOLLEY_UP_HEADER;
	}
	if (h->qdcount != bpf_htons(1) || (h->ancount | h->nscount) ||
	    (h->arcount & (__be16)~bpf_htons(1)))
		return VOLLEY_UP_COUNTS;
	return -1;
}

/* Walks the labels: cpu->name_bytes with the root label, or 0 when malformed. */
static __always_inline void question_name(struct volley_cpu *cpu)
{
	__u32 offset = DNS_HEADER;
	__u32 found = 0;
	int i;

	for (i = 0; i <= LABELS_MAX; i++) {
		__u8 length = cpu->query[offset & QUERY_MASK];

		if (length > LABEL_BYTES_MAX)
			break;
		offset += length + 1u;
		if (!length) {
			found = offset - DNS_HEADER;
			break;
		}
		if (offset > DNS_HEADER + 255)
			break;
	}
	cpu->name_bytes = found <= 255 ? found : 0;
	forget_bounds();
}

struct hash_sums {
	__u64 nh;  /* of the hash */
	__u64 raw; /* of the checksum */
};

static __always_inline void hash_word(struct volley_cpu *cpu, const struct volley_state *state,
				      struct hash_sums *sums, __u32 i, __u64 word)
{
	i &= VOLLEY_NAME_WORDS - 1;
	sums->raw += (word & 0xffffffff) + (word >> 32);
	word = volley_fold_word(word);
	cpu->folded[1 + i] = word;
	sums->nh += volley_hash_word(word, state->hash_keys[1 + i]);
}

static __always_inline __u64 query_word(const struct volley_cpu *cpu, __u32 i)
{
	return *(const __u64 *)&cpu->query[DNS_HEADER + (i & (VOLLEY_NAME_WORDS - 1)) * 8];
}

/*
 * Folds the name into cpu->folded[1..], hashes it with the key word cpu->folded[0] and sums the
 * question for the checksum.
 */
static __always_inline void question_hash(struct volley_cpu *cpu, const struct volley_state *state)
{
	struct hash_sums sums = {};
	const struct volley_key *key;
	__u32 whole, tail, i;

	whole = cpu->name_bytes / 8;
	for (i = 0; i < VOLLEY_NAME_WORDS && i < whole; i++)
		hash_word(cpu, state, &sums, i, query_word(cpu, i));
	forget_bounds();
	whole = cpu->name_bytes / 8;
	tail = cpu->name_bytes % 8;
	if (tail)
		hash_word(cpu, state, &sums, whole,
			  query_word(cpu, whole) & ~0ull >> (64 - 8 * tail));
	key = (const void *)&cpu->folded[0];
	sums.nh += volley_hash_word(cpu->folded[0], state->hash_keys[0]);
	cpu->hash = volley_hash_mix(sums.nh);
	cpu->question_sum = sum_fold(sums.raw) +
			    sum_at(sum_fold((__u32)key->qtype + key->qclass), key->name_bytes);
}

#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the last word's mask is little endian");
#endif

/* The options of an OPT record from `offset` to the end of the message. */
static __always_inline int question_options(const struct volley_cpu *cpu, __u64 up_mask,
					    __u32 offset)
{
	__u32 end = cpu->dns_bytes;
	int i;

	for (i = 0; i < OPTIONS_MAX; i++) {
		__u16 code;

		if (offset == end)
			return -1;
		if (offset + 4 > end)
			return VOLLEY_UP_OPTIONS;
		code = bpf_ntohs(query_be16(cpu, offset));
		if (code < 64 && (up_mask >> code & 1))
			return VOLLEY_UP_OPTION;
		offset += 4u + bpf_ntohs(query_be16(cpu, offset + 2));
		if (offset > end)
			return VOLLEY_UP_OPTIONS;
	}
	return offset == end ? -1 : VOLLEY_UP_OPTIONS;
}

/* The additional record, if any: one OPT that reaches exactly to the end of the message. */
static __always_inline int question_opt(struct volley_cpu *cpu, const struct volley_state *state,
					__u32 offset, __u8 *key_flags)
{
	const struct dns_header *h = (const void *)cpu->query;
	const struct dns_opt *opt = (const void *)&cpu->query[offset & QUERY_MASK];
	__u32 limit;

	cpu->edns = 0;
	cpu->reply_limit = DNS_UDP_MIN;
	if (!h->arcount)
		return offset == cpu->dns_bytes ? -1 : VOLLEY_UP_TAIL;
	if (offset + EDNS_OPT_BYTES > cpu->dns_bytes)
		return VOLLEY_UP_TAIL;
	if (opt->root || opt->type != bpf_htons(DNS_TYPE_OPT) || opt->version || opt->rcode)
		return VOLLEY_UP_EDNS;
	offset += EDNS_OPT_BYTES;
	if (offset + bpf_ntohs(opt->rdlen) != cpu->dns_bytes)
		return VOLLEY_UP_TAIL;
	cpu->edns = 1;
	limit = bpf_ntohs(opt->udp_size);
	if (limit > state->max_udp_bytes)
		limit = state->max_udp_bytes;
	if (limit > DNS_UDP_MIN)
		cpu->reply_limit = limit;
	if (opt->flags & bpf_htons(EDNS_DO))
		*key_flags |= VOLLEY_KEY_DO;
	if (opt->rdlen)
		return question_options(cpu, state->option_up_mask, offset);
	return -1;
}

/*
 * cpu->query, dns_bytes ─► name_bytes, edns, reply_limit, folded, hash, question_sum.
 * A reason, or -1.
 */
GLOBAL_FUNC int question_parse(struct volley_cpu *cpu, const struct volley_state *state)
{
	const struct dns_header *h;
	struct volley_key key = {};
	__u32 end;
	int reason;

	if (!cpu || !state)
		return VOLLEY_DROP_EDIT; /* cannot be, but is verified for any pointer */
	h = (const void *)cpu->query;
	key.view = (__u8)state->view;
	reason = question_header(cpu);
	if (reason >= 0)
		return reason;
	question_name(cpu);
	if (!cpu->name_bytes)
		return VOLLEY_UP_NAME;
	end = DNS_HEADER + cpu->name_bytes + 4;
	if (end > cpu->dns_bytes)
		return VOLLEY_UP_TAIL;
	key.name_bytes = (__u8)cpu->name_bytes;
	key.qtype = query_be16(cpu, end - 4);
	key.qclass = query_be16(cpu, end - 2);
	if (key.qclass != bpf_htons(DNS_CLASS_IN))
		return VOLLEY_UP_CLASS;
	reason = question_opt(cpu, state, end, &key.flags);
	if (reason >= 0)
		return reason;
	if (h->flags & bpf_htons(DNS_CD))
		key.flags |= VOLLEY_KEY_CD;
	__builtin_memcpy(&cpu->folded[0], &key, sizeof(key));
	question_hash(cpu, state);
	return -1;
}

#endif
