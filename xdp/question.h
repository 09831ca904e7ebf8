/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accepts DNS messages that the driver fully understands, and makes the query's key.
 *
 * It accepts opcode QUERY with one question of class IN, and no other record than one OPT of
 * version 0. Like the engine it does not look at other bits of the header, at the upper bits of a
 * response code in OPT, and at octets behind the last record. It reads everything in the frame: a
 * helper call to copy it would cost more.
 *
 * Each step loads pointers and lengths anew (forget_bounds() in verifier.h), so the verifier walks
 * it once, not once for each path that leads there.
 */
#ifndef VOLLEY_XDP_QUESTION_H
#define VOLLEY_XDP_QUESTION_H

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/options.h"
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
#define DNS_NAME_MAX    255
#define EDNS_DO         0x8000
#define LABELS_MAX      127
#define LABEL_BYTES_MAX 63
#define OPTIONS_MAX     8
#define FRAME_HEAD_MAX  (DNS_OFFSET_MAX + DNS_HEADER + DNS_NAME_MAX + 4) /* with the question */
#define HEAD_MASK       511

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

/* The parts of the message, in the frame. */
struct message {
	void *dns;
	void *end; /* of the frame */
};

/* Loads the place of the message from memory: the verifier then knows nothing of earlier
 * pointers. */
static __always_inline int message_at(struct message *m, struct xdp_md *ctx,
				      const struct volley_cpu *cpu)
{
	m->end = (void *)(long)ctx->data_end;
	m->dns = (void *)(long)ctx->data + bounded(cpu->dns_offset, OFFSET_MASK);
	if (m->dns + DNS_HEADER > m->end)
		return VOLLEY_PASS_RUNT;
	return -1;
}

/* A reason or -1. */
static __always_inline int question_header(const struct dns_header *h)
{
	if (h->flags & bpf_htons(DNS_QR | DNS_OPCODE))
		return h->flags & bpf_htons(DNS_QR) ? VOLLEY_PASS_RESPONSE : VOLLEY_UP_OPCODE;
	if (h->qdcount != bpf_htons(1) || (h->ancount | h->nscount) ||
	    (h->arcount & (__be16)~bpf_htons(1)))
		return VOLLEY_UP_COUNTS;
	return -1;
}

/* Checks the header and sets cpu->name_bytes, with the root label; 0: the name is malformed,
 * compressed or cut short. */
static __always_inline int question_name(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	struct message m;
	const __u8 *label;
	__u32 bytes = 0;
	int i, reason = message_at(&m, ctx, cpu);

	if (reason < 0)
		reason = question_header(m.dns);
	if (reason >= 0)
		return reason;
	cpu->name_bytes = 0;
	label = m.dns + DNS_HEADER;
	for (i = 0; i <= LABELS_MAX; i++) {
		__u32 length;

		if ((void *)(label + 1) > m.end)
			break;
		length = *label;
		if (length > LABEL_BYTES_MAX)
			break;
		label += length + 1;
		bytes += length + 1;
		if (!length) {
			cpu->name_bytes = bytes;
			break;
		}
	}
	forget_bounds();
	return -1;
}

/* Reads type and class into the key word; OPT adds to its flags later. */
static __always_inline int question_key(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	__u32 bytes = cpu->name_bytes;
	struct volley_key key = {};
	const __be16 *type_class;
	struct message m;
	int reason = message_at(&m, ctx, cpu);

	if (reason >= 0)
		return reason;
	if (!bytes || bytes > DNS_NAME_MAX)
		return VOLLEY_UP_NAME;
	type_class = m.dns + DNS_HEADER + bounded(bytes, DNS_NAME_MAX);
	if ((void *)(type_class + 2) > m.end || DNS_HEADER + bytes + 4 > cpu->dns_bytes)
		return VOLLEY_UP_TAIL;
	if (type_class[1] != bpf_htons(DNS_CLASS_IN))
		return VOLLEY_UP_CLASS;
	key.qtype = type_class[0];
	key.qclass = type_class[1];
	key.name_bytes = (__u8)bytes;
	if (((struct dns_header *)m.dns)->flags & bpf_htons(DNS_CD))
		key.flags = VOLLEY_KEY_CD;
	__builtin_memcpy(&cpu->folded[0], &key, sizeof(key));
	forget_bounds();
	return -1;
}

int question_many_options(struct xdp_md *ctx, struct volley_cpu *cpu,
			  const struct volley_state *state, __u32 at, __u32 left);

/* Whether an option of this code may change the answer. */
static __always_inline int is_option_noted(const struct volley_state *state, __u32 code)
{
	return code < 64 && (state->option_up_mask >> code & 1);
}

/* A walk over the options that are too many for question_options(). */
struct options_walk {
	struct xdp_md *ctx;
	struct volley_cpu *cpu;
	const struct volley_state *state;
	__u32 at; /* in the message */
	__u32 left;
	int reason;
};

/* Reads the next option. 1: the walk has ended. */
static long question_next_option(__u32 number, struct options_walk *walk)
{
	struct volley_cpu *cpu = walk->cpu;
	__be16 head[2] = {};
	__u32 code, bytes;

	(void)number;
	walk->reason = VOLLEY_UP_OPTIONS;
	if (walk->left < sizeof(head) ||
	    bpf_xdp_load_bytes(walk->ctx, cpu->dns_offset + walk->at, head, sizeof(head)))
		return 1;
	code = bpf_ntohs(head[0]);
	bytes = (__u32)sizeof(head) + bpf_ntohs(head[1]);
	if (bytes > walk->left)
		return 1;
	if (is_option_noted(walk->state, code) &&
	    options_note(cpu, walk->state, code, walk->at + 4, bytes - 4) >= 0) {
		walk->reason = VOLLEY_UP_OPTION;
		return 1;
	}
	walk->at += bytes;
	walk->left -= bytes;
	walk->reason = -1;
	return !walk->left;
}

/* Reads the options in the last `left` octets of OPT, at `at` in the message. -1 or a reason. */
__noinline int question_many_options(struct xdp_md *ctx, struct volley_cpu *cpu,
				     const struct volley_state *state, __u32 at, __u32 left)
{
	struct options_walk walk = { .ctx = ctx, .cpu = cpu, .state = state };

	if (!cpu || !state)
		return VOLLEY_UP_OPTIONS;
	walk.at = at;
	walk.left = left;
	bpf_loop(VOLLEY_QUERY_MAX / 4, question_next_option, &walk, 0);
	return walk.reason;
}

/* Reads the options in the last `left` octets of OPT, which ends at `opt_end` in the message. */
static __always_inline int question_options(const __u8 *option, __u32 left, const void *end,
					    __u32 opt_end, struct xdp_md *ctx,
					    struct volley_cpu *cpu,
					    const struct volley_state *state)
{
	int i;

	for (i = 0; i < OPTIONS_MAX; i++) {
		const __be16 *head = (const void *)option;
		__u32 code, bytes;

		if (!left)
			return -1;
		if (left < 4 || (const void *)(head + 2) > end)
			return VOLLEY_UP_OPTIONS;
		code = bpf_ntohs(head[0]);
		bytes = 4u + bpf_ntohs(head[1]);
		if (bytes > left || bytes > VOLLEY_QUERY_MAX)
			return VOLLEY_UP_OPTIONS;
		if (is_option_noted(state, code) &&
		    options_note(cpu, state, code, opt_end - left + 4, bytes - 4) >= 0)
			return VOLLEY_UP_OPTION;
		option += bounded(bytes, OPTION_MASK);
		left -= bytes;
	}
	return left ? question_many_options(ctx, cpu, state, opt_end - left, left) : -1;
}

/* Reads an OPT record. */
static __always_inline int question_opt(const struct message *m, struct xdp_md *ctx,
					struct volley_cpu *cpu, const struct volley_state *state,
					__u32 offset)
{
	const struct dns_opt *opt = m->dns + bounded(offset, HEAD_MASK);
	struct volley_key *key = (void *)&cpu->folded[0];
	__u32 limit, end;

	if ((const void *)(opt + 1) > m->end || offset + EDNS_OPT_BYTES > cpu->dns_bytes)
		return VOLLEY_UP_TAIL;
	if (opt->root || opt->type != bpf_htons(DNS_TYPE_OPT) || opt->version)
		return VOLLEY_UP_EDNS;
	end = offset + EDNS_OPT_BYTES + bpf_ntohs(opt->rdlen);
	if (end > cpu->dns_bytes)
		return VOLLEY_UP_TAIL;
	limit = bpf_ntohs(opt->udp_size);
	if (limit > state->max_udp_bytes)
		limit = state->max_udp_bytes;
	if (limit > DNS_UDP_MIN)
		cpu->reply_limit = limit;
	if (opt->flags & bpf_htons(EDNS_DO))
		key->flags |= VOLLEY_KEY_DO;
	cpu->edns = 1;
	cpu->opt_bytes = EDNS_OPT_BYTES;
	if (!opt->rdlen)
		return -1;
	cpu->options_at = (__u8)state->options_at;
	return question_options((const void *)(opt + 1), bpf_ntohs(opt->rdlen), m->end, end, ctx,
				cpu, state);
}

/* Limits the reply to the MTU: the client may accept more, but the link does not. */
static __always_inline void question_limit(struct volley_cpu *cpu, const struct volley_link *link)
{
	__u32 less = cpu->ipv6 ? link->udp_less[1] : link->udp_less[0];
	__u32 limit = VOLLEY_UDP_MAX - less;

	if (cpu->reply_limit > limit)
		cpu->reply_limit = limit;
}

/* Parses the rest behind the question: OPT, if there is one. */
static __always_inline int question_tail(struct xdp_md *ctx, struct volley_cpu *cpu,
					 const struct volley_state *state,
					 const struct volley_link *link)
{
	struct message m;
	int reason = message_at(&m, ctx, cpu);
	__u32 offset = DNS_HEADER + cpu->name_bytes + 4;

	if (reason >= 0)
		return reason;
	cpu->edns = 0;
	cpu->opt_bytes = 0;
	cpu->opt_rcode = 0;
	cpu->options = 0;
	cpu->cookie_good = 0;
	cpu->shared = 0;
	cpu->reply_limit = DNS_UDP_MIN;
	if (((struct dns_header *)m.dns)->arcount)
		reason = question_opt(&m, ctx, cpu, state, offset);
	question_limit(cpu, link);
	forget_bounds();
	return reason;
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

/*
 * Folds the name into cpu->folded[1..], hashes it with the key word cpu->folded[0], and sums the
 * question for the checksum. The last 1 to 8 octets are read as the upper end of a word that ends
 * with them. The DNS header stands before the name, so that word lies in the message.
 */
static __always_inline int question_hash(struct xdp_md *ctx, struct volley_cpu *cpu,
					 const struct volley_state *state)
{
	const struct volley_key *key = (const void *)&cpu->folded[0];
	struct hash_sums sums = {};
	__u32 bytes = cpu->name_bytes;
	__u32 whole, i;
	struct message m;
	void *last;
	int reason = message_at(&m, ctx, cpu);

	if (reason >= 0)
		return reason;
	whole = (bytes - 1) / 8;
	last = m.dns + DNS_HEADER - 8 + bounded(bytes, DNS_NAME_MAX);
	if (last + 8 > m.end)
		return VOLLEY_PASS_RUNT;
	hash_word(cpu, state, &sums, whole, *(__u64 *)last >> ((8 - (bytes - whole * 8)) * 8 & 63));
	for (i = 0; i < VOLLEY_NAME_WORDS && i < whole; i++) {
		const __u64 *word = m.dns + DNS_HEADER + i * 8;

		if ((const void *)(word + 1) > m.end)
			return VOLLEY_PASS_RUNT;
		hash_word(cpu, state, &sums, i, *word);
		one_copy(i); /* else clang keeps two more pointers on the stack */
	}
	sums.nh += volley_hash_word(cpu->folded[0], state->hash_keys[0]);
	cpu->hash = volley_hash_mix(sums.nh);
	cpu->question_sum = sums.raw + sum_at((__u64)key->qtype + key->qclass, bytes);
	forget_bounds();
	return -1;
}

/*
 * The message at cpu->dns_offset ─► name_bytes, edns, reply_limit, folded, hash, question_sum.
 * A reason, or -1.
 */
static __always_inline int question_parse(struct xdp_md *ctx, struct volley_cpu *cpu,
					  const struct volley_state *state,
					  const struct volley_link *link)
{
	int reason;

	if (cpu->dns_bytes > VOLLEY_QUERY_MAX)
		return VOLLEY_UP_LONG_QUERY;
	reason = question_name(ctx, cpu);
	if (reason < 0)
		reason = question_key(ctx, cpu);
	if (reason < 0)
		reason = question_tail(ctx, cpu, state, link);
	if (reason < 0)
		reason = question_hash(ctx, cpu, state);
	return reason;
}

#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the last word's shift is little endian");
#endif
_Static_assert(FRAME_HEAD_MAX <= HEAD_MASK, "no bit of an offset is lost");
_Static_assert(VOLLEY_QUERY_MAX <= OPTION_MASK, "no bit of an option's length is lost");

#endif
