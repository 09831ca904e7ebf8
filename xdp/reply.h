/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the query's frame to the answer's, in place.
 *
 *   query   │ Ethernet, VLAN │ IP │ UDP │ DNS header │ question │ OPT, padding
 *   answer  │ Ethernet, VLAN │ IP │ UDP │ DNS header │ question │ body │ OPT
 *             swapped          swapped    from entry   kept       copied
 *
 * A tunnel's header (tunnel.h) is removed: the rest moves to its place.
 *
 * For a small body the frame grows at its head, and all up to the question moves there. For a large
 * one it grows at its tail. If the network driver refuses the one, the program tries the other; if
 * it refuses both, the query goes up unchanged. A frame that a socket sent over veth has little
 * room behind it, so in labs and between containers large answers come from a worker.
 */
#ifndef VOLLEY_XDP_REPLY_H
#define VOLLEY_XDP_REPLY_H

#include "xdp/abi.h"
#include "xdp/age.h"
#include "xdp/choose.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/shared.h"
#include "xdp/sum.h"
#include "xdp/tunnel.h"

#define REPLY_TTL      64
#define COPY_WORDS_MAX 16
#define IPV4_DF        0x4000
#define UDP_DNS_BYTES  (8 + DNS_HEADER)
#define HEAD_FIRST_MAX 192

/* Whole words of the longest question. */
#define QUESTION_WORDS_MAX ((DNS_NAME_MAX + 4) / 8)

/*
 * Makes the frame `grow` octets longer (or shorter). Its content then lies cpu->moved octets behind
 * its place in the answer, but headers before a tunnel only cpu->grown. Small answers grow at the
 * head: the kernel clears room that it adds at the tail, which costs more than to move the
 * question. -1, or a reason to go up.
 */
static __always_inline int reply_resize(struct xdp_md *ctx, struct volley_cpu *cpu, int grow)
{
	int small = grow > 0 && grow <= HEAD_FIRST_MAX;

	cpu->moved = cpu->tunnel_bytes;
	cpu->grown = 0;
	if (!grow || (!small && !bpf_xdp_adjust_tail(ctx, grow)))
		return -1;
	if (grow > 0 && !bpf_xdp_adjust_head(ctx, -grow)) {
		cpu->moved += (__u32)grow;
		cpu->grown = (__u32)grow;
		return -1;
	}
	return small && !bpf_xdp_adjust_tail(ctx, grow) ? -1 : VOLLEY_UP_NO_ROOM;
}

/* A part of the frame: its place in the answer, and the query's part. */
struct part {
	void *to;
	const void *from;
	const void *end; /* of the frame */
};

/*
 * The part of `bytes` octets at `offset`. Parts are written in the order of the frame, and each is
 * read before it is overwritten. -1 or a reason.
 */
static __always_inline int part_at(struct part *p, struct xdp_md *ctx, __u32 offset, __u32 moved,
				   __u32 bytes)
{
	void *data = (void *)(long)ctx->data;

	p->end = (void *)(long)ctx->data_end;
	p->to = data + bounded(offset, HEAD_MASK);
	p->from = data + bounded(offset + moved, FRAME_MASK);
	one_copy(p->to); /* else clang adds twice: to compare and to use */
	one_copy(p->from);
	if (p->to + bytes > p->end || p->from + bytes > p->end)
		return VOLLEY_DROP_EDIT;
	return -1;
}

/* Swaps the Ethernet addresses; VLAN tags and EtherType stay. */
static __always_inline int reply_ethernet(struct xdp_md *ctx, const struct volley_cpu *cpu)
{
	__u32 first, second, third, i, l3 = cpu->l3_offset;
	const __u32 *from;
	struct part p;
	__u32 *to;

	if (part_at(&p, ctx, 0, cpu->grown, sizeof(struct ethhdr)) >= 0)
		return VOLLEY_DROP_EDIT;
	from = p.from;
	to = p.to;
	first = from[0];
	second = from[1];
	third = from[2];
	to[0] = second >> 16 | third << 16;
	to[1] = third >> 16 | first << 16;
	to[2] = first >> 16 | second << 16;
	for (i = 2 * ETH_ALEN; i < L2_BYTES_MAX && i < l3; i += 2) {
		if (p.from + i + 2 > p.end || p.to + i + 2 > p.end)
			return VOLLEY_DROP_EDIT;
		*(__u16 *)(p.to + i) = *(const __u16 *)(p.from + i);
	}
	return -1;
}

/* Both return the sum of the pseudo header without length and protocol. */
static __always_inline __u64 reply_ipv4(__be32 *to, const struct iphdr *from, __u32 udp_bytes)
{
	__be32 source = from->daddr;
	__be32 destination = from->saddr;
	__be32 first = bpf_htonl(0x45000000 | ((__u32)sizeof(*from) + udp_bytes));
	__be32 second = bpf_htonl(IPV4_DF);
	__be32 third = bpf_htons(REPLY_TTL << 8 | IPPROTO_UDP);
	__u64 addresses = (__u64)source + destination;

	to[0] = first;
	to[1] = second;
	to[2] = third | ~sum_fold(addresses + first + second + third) << 16;
	to[3] = source;
	to[4] = destination;
	return addresses;
}

static __always_inline __u64 reply_ipv6(__be32 *to, const struct ipv6hdr *from, __u32 udp_bytes)
{
	struct in6_addr source = from->daddr;
	struct in6_addr destination = from->saddr;
	__u64 sum = 0;
	int i;

	to[0] = bpf_htonl(0x60000000);
	to[1] = bpf_htonl(udp_bytes << 16 | IPPROTO_UDP << 8 | REPLY_TTL);
#pragma unroll
	for (i = 0; i < 4; i++) {
		to[2 + i] = source.in6_u.u6_addr32[i];
		to[6 + i] = destination.in6_u.u6_addr32[i];
		sum += (__u64)source.in6_u.u6_addr32[i] + destination.in6_u.u6_addr32[i];
	}
	return sum;
}

static __always_inline int reply_ip(struct xdp_md *ctx, const struct volley_cpu *cpu,
				    __u32 udp_bytes, __u64 *sum)
{
	__u32 at = cpu->l3_offset, moved = cpu->moved;
	struct part p;

	if (cpu->ipv6) {
		if (part_at(&p, ctx, at, moved, sizeof(struct ipv6hdr)) >= 0)
			return VOLLEY_DROP_EDIT;
		*sum = reply_ipv6(p.to, p.from, udp_bytes);
	} else {
		if (part_at(&p, ctx, at, moved, sizeof(struct iphdr)) >= 0)
			return VOLLEY_DROP_EDIT;
		*sum = reply_ipv4(p.to, p.from, udp_bytes);
	}
	return -1;
}

/*
 * Moves name, type and class, by words. The last word ends with them, and may begin in the header,
 * which is written later.
 */
static __always_inline int reply_question(const struct part *header, __u32 bytes)
{
	const void *from = header->from + UDP_DNS_BYTES;
	void *to = header->to + UDP_DNS_BYTES;
	const void *last_from;
	void *last_to;
	__u64 last;
	__u32 i;

	last_from = from - 8 + bounded(bytes, HEAD_MASK);
	last_to = to - 8 + bounded(bytes, HEAD_MASK);
	if (last_from + 8 > header->end || last_to + 8 > header->end)
		return VOLLEY_DROP_EDIT;
	last = *(const __u64 *)last_from;
	for (i = 0; i < QUESTION_WORDS_MAX && i < bytes / 8; i++) {
		const __u64 *word = from + i * 8;

		if ((const void *)(word + 1) > header->end || to + i * 8 + 8 > header->end)
			return VOLLEY_DROP_EDIT;
		*(__u64 *)(to + i * 8) = *word;
	}
	*(__u64 *)last_to = last;
	return -1;
}

/* The first 8 octets of OPT, 00 00 29 size size 00 00 flags; the other 3 are 0. 0: without OPT. */
static __always_inline __u64 reply_opt_word(const struct volley_cpu *cpu,
					    const struct volley_state *state)
{
	const struct volley_key *key = (const void *)&cpu->folded[0];
	__u64 size = bpf_htons((__u16)state->max_udp_bytes);
	__u64 flags = key->flags & VOLLEY_KEY_DO ? EDNS_DO >> 8 : 0;

	__u64 rcode = cpu->opt_rcode;

	return ((__u64)DNS_TYPE_OPT << 16 | size << 24 | rcode << 40 | flags << 56) * cpu->edns;
}

/* Writes the headers of UDP and DNS, and the question. `sum` is that of the addresses. */
static __always_inline int reply_headers(struct xdp_md *ctx, const struct volley_cpu *cpu,
					 __u32 udp_bytes, __u64 opt, __u64 sum)
{
	__u32 offset = cpu->dns_offset - (__u32)sizeof(struct udphdr);
	__u32 question_bytes = cpu->name_bytes + 4;
	__be16 length = bpf_htons((__u16)udp_bytes);
	const struct dns_header *query;
	__be16 source, destination;
	const struct udphdr *from;
	struct dns_header h;
	struct udphdr *udp;
	struct part p;
	__u16 check;

	if (part_at(&p, ctx, offset, cpu->moved, UDP_DNS_BYTES) >= 0)
		return VOLLEY_DROP_EDIT;
	from = p.from;
	source = from->dest;
	destination = from->source;
	query = (const void *)(from + 1);
	h.id = query->id;
	h.flags = reply_flags(cpu, query->flags);
	h.qdcount = bpf_htons(1);
	h.ancount = cpu->ancount;
	h.nscount = cpu->nscount;
	h.arcount = cpu->arcount;
	if (cpu->moved && reply_question(&p, question_bytes) >= 0)
		return VOLLEY_DROP_EDIT;
	sum += (__u64)h.id + h.flags + h.qdcount + h.ancount + h.nscount + h.arcount;
	sum += cpu->question_sum + cpu->body_sum;
	sum += sum_at((opt & 0xffffffff) + (opt >> 32), question_bytes + cpu->body_bytes);
	sum += (__u64)source + destination + length + length + bpf_htons(IPPROTO_UDP);
	check = (__u16)~sum_fold(sum);
	udp = p.to;
	udp->source = source;
	udp->dest = destination;
	udp->len = length;
	udp->check = check ? check : 0xffff; /* RFC 768: 0 would be "no checksum" */
	*(struct dns_header *)(udp + 1) = h;
	return -1;
}

static __always_inline int reply_opt(struct xdp_md *ctx, __u64 word, __u32 offset)
{
	const void *end = (void *)(long)ctx->data_end;
	void *opt = (void *)(long)ctx->data + bounded(offset, FRAME_MASK);

	if (!word)
		return -1;
	if (opt + EDNS_OPT_BYTES > end)
		return VOLLEY_DROP_EDIT;
	*(__u64 *)opt = word;
	*(__u16 *)(opt + 8) = 0;
	*(__u8 *)(opt + 10) = 0;
	return -1;
}

/*
 * Copies a body of 8 octets and more word by word, the last word so that it ends with the body. The
 * bpf_xdp_store_bytes() helper costs more than up to COPY_WORDS_MAX of these.
 */
static __always_inline int reply_copy_words(struct xdp_md *ctx, __u32 offset, const void *body,
					    __u32 bytes)
{
	void *end = (void *)(long)ctx->data_end;
	void *to = (void *)(long)ctx->data + bounded(offset, HEAD_MASK);
	__u64 last = bounded(bytes - 8, COPY_WORDS_MAX * 8 - 1);
	__u64 n_words = bounded(bytes / 8, 2 * COPY_WORDS_MAX - 1);
	__u32 i;

	for (i = 0; i < COPY_WORDS_MAX && i < n_words; i++) {
		if (to + i * 8 + 8 > end)
			return VOLLEY_DROP_EDIT;
		*(__u64 *)(to + i * 8) = *(const __u64 *)(body + i * 8);
	}
	to += last;
	if (to + 8 > end)
		return VOLLEY_DROP_EDIT;
	*(__u64 *)to = *(const __u64 *)(body + last);
	return -1;
}

/* Copies by the helper. `bytes` is at least 1, and Linux 6.1 needs a proof of that. */
static __always_inline int reply_store(struct xdp_md *ctx, __u32 offset, void *body, __u32 bytes)
{
	__u64 rest = bounded(bytes - 1, FRAME_MASK);

	if (rest >= VOLLEY_UDP_MAX)
		return VOLLEY_DROP_EDIT;
	return bpf_xdp_store_bytes(ctx, offset, body, (__u32)rest + 1) ? VOLLEY_DROP_EDIT : -1;
}

static __always_inline int reply_body(struct xdp_md *ctx, __u32 offset, void *body, __u32 bytes)
{
	if (!bytes)
		return -1;
	if (bytes >= 8 && bytes <= COPY_WORDS_MAX * 8)
		return reply_copy_words(ctx, offset, body, bytes);
	return reply_store(ctx, offset, body, bytes);
}

/* Turns the frame into the chosen answer. Returns VOLLEY_HIT_* when it is done, else another
 * reason. */
static __always_inline int reply_send(struct xdp_md *ctx, struct volley_cpu *cpu,
				      const struct volley_state *state,
				      const struct volley_entry *e)
{
	__u32 body_offset = e->body_offset, body_bytes = cpu->body_bytes;
	__u32 before = DNS_HEADER + cpu->name_bytes + 4;
	__u32 dns_bytes = before + body_bytes + cpu->opt_bytes;
	__u32 udp_bytes = (__u32)sizeof(struct udphdr) + dns_bytes;
	int grow = (int)(cpu->dns_offset + dns_bytes) - (int)cpu->frame_bytes;
	__u64 sum, opt = reply_opt_word(cpu, state);
	int reason;
	__u32 at;

	if (body_offset > BODY_OFFSET_MAX || body_bytes > VOLLEY_UDP_MAX)
		return VOLLEY_UP_NO_ROOM; /* a damaged entry */
	if (packet_has_more(ctx, cpu))
		return VOLLEY_UP_NO_ROOM;
	if (cpu->tunnel_bytes)
		grow = tunnel_growth(cpu, grow);
	reason = reply_resize(ctx, cpu, grow);
	if (reason < 0 && cpu->tunnel_bytes)
		reason = tunnel_leave(ctx, cpu);
	at = cpu->dns_offset + before;
	if (reason < 0)
		reason = reply_ethernet(ctx, cpu);
	if (reason < 0)
		reason = reply_ip(ctx, cpu, udp_bytes, &sum);
	if (reason < 0)
		reason = reply_headers(ctx, cpu, udp_bytes, opt, sum);
	if (reason < 0)
		reason = reply_body(ctx, at, (void *)e + bounded(body_offset, BODY_MASK),
				    body_bytes);
	if (reason < 0 && e->n_ttls)
		reason = age_write(ctx, cpu, e, at);
	if (reason < 0 && unlikely(cpu->shared))
		reason = shared_write(ctx, cpu, e, at);
	if (reason < 0)
		reason = reply_opt(ctx, opt, at + body_bytes);
	if (reason < 0 && unlikely(cpu->options))
		reason = options_write(ctx, cpu, &state->options[cpu->options_at & 1]);
	if (reason < 0 && cpu->tunnel_bytes)
		reason = tunnel_cut(ctx, cpu->dns_offset + dns_bytes);
	return reason >= 0 ? reason : (int)cpu->reason;
}

_Static_assert(FRAME_HEAD_MAX + VOLLEY_UDP_MAX <= FRAME_MASK, "no bit of an offset is lost");

#endif
