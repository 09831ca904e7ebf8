/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the query's frame to the answer's, in place.
 *
 *   query   │ Ethernet, VLAN │ IP │ UDP │ DNS header │ question │ OPT, padding
 *   answer  │ Ethernet, VLAN │ IP │ UDP │ DNS header │ question │ body │ OPT
 *             swapped          swapped    from entry   kept       copied
 *
 * Room for the body is made at the tail. Where the driver refuses that, all up to the question
 * moves towards the head.
 */
#ifndef VOLLEY_XDP_REPLY_H
#define VOLLEY_XDP_REPLY_H

#include "xdp/abi.h"
#include "xdp/packet.h"
#include "xdp/question.h"
#include "xdp/sum.h"

#define REPLY_TTL      64
#define COPY_WORDS_MAX 16
#define FRAME_HEAD_MAX (DNS_OFFSET_MAX + DNS_HEADER + DNS_NAME_MAX + 4)
#define IPV4_DF        0x4000

/* The answer for this query: which part of the entry, and what the header says. */
struct reply {
	int reason;           /* VOLLEY_HIT_* */
	__u32 question_bytes; /* name, type, class */
	__u32 body_bytes;
	__u32 body_sum;
	__u32 dns_bytes; /* the whole message */
	__be16 flags;
	__be16 ancount;
	__be16 nscount;
	__be16 arcount; /* with OPT */
};

/* The whole, else the short body, else none and TC=1: whichever the client takes. */
static __always_inline void reply_choose(struct reply *r, const struct volley_cpu *cpu,
					 const struct volley_entry *e)
{
	__u32 opt = cpu->edns ? EDNS_OPT_BYTES : 0;
	__u32 fixed;

	r->question_bytes = cpu->name_bytes + 4;
	fixed = DNS_HEADER + r->question_bytes + opt;
	r->flags = e->flags;
	r->ancount = e->ancount;
	r->nscount = e->nscount;
	if (fixed + e->full_bytes <= cpu->reply_limit) {
		r->reason = VOLLEY_HIT_FULL;
		r->body_bytes = e->full_bytes;
		r->body_sum = e->full_sum;
		r->arcount = e->arcount_full;
	} else if (fixed + e->short_bytes <= cpu->reply_limit) {
		r->reason = VOLLEY_HIT_SHORT;
		r->body_bytes = e->short_bytes;
		r->body_sum = e->short_sum;
		r->arcount = e->arcount_short;
	} else {
		r->reason = VOLLEY_HIT_TRUNCATED;
		r->body_bytes = 0;
		r->body_sum = 0;
		r->flags |= bpf_htons(DNS_TC);
		r->ancount = 0;
		r->nscount = 0;
		r->arcount = 0;
	}
	r->dns_bytes = fixed + r->body_bytes;
	if (cpu->edns)
		r->arcount = bpf_htons((__u16)(bpf_ntohs(r->arcount) + 1));
}

/* Makes the frame `grow` octets longer (or shorter). 0, a reason to go up, or to drop. */
static __always_inline int reply_resize(struct xdp_md *ctx, struct volley_cpu *cpu,
					const struct reply *r, int grow)
{
	__u32 keep;

	if (!grow || !bpf_xdp_adjust_tail(ctx, grow))
		return -1;
	keep = cpu->dns_offset + DNS_HEADER + r->question_bytes;
	if (grow < 0 || keep > sizeof(cpu->frame) || !keep)
		return VOLLEY_UP_NO_ROOM;
	if (bpf_xdp_load_bytes(ctx, 0, cpu->frame, keep))
		return VOLLEY_UP_NO_ROOM;
	if (bpf_xdp_adjust_head(ctx, -grow))
		return VOLLEY_UP_NO_ROOM;
	if (bpf_xdp_store_bytes(ctx, 0, cpu->frame, keep))
		return VOLLEY_DROP_EDIT;
	return -1;
}

static __always_inline void reply_ethernet(struct ethhdr *eth)
{
	__u16 *to = (void *)eth->h_dest;
	__u16 *from = (void *)eth->h_source;
	int i;

#pragma unroll
	for (i = 0; i < ETH_ALEN / 2; i++) {
		__u16 word = to[i];

		to[i] = from[i];
		from[i] = word;
	}
}

/* Writes the IPv4 header; the sum of the pseudo header but length and protocol. */
static __always_inline __u64 reply_ipv4(struct iphdr *ip, __u32 udp_bytes)
{
	__be32 from = ip->daddr;
	__be32 to = ip->saddr;
	__u64 addresses = (__u64)from + to;

	ip->tos = 0;
	ip->tot_len = bpf_htons((__u16)(sizeof(*ip) + udp_bytes));
	ip->id = 0;
	ip->frag_off = bpf_htons(IPV4_DF);
	ip->ttl = REPLY_TTL;
	ip->saddr = from;
	ip->daddr = to;
	ip->check = (__u16)~sum_fold(addresses + bpf_htons(0x4500) + ip->tot_len +
				     bpf_htons(IPV4_DF) + bpf_htons(REPLY_TTL << 8 | IPPROTO_UDP));
	return addresses;
}

static __always_inline __u64 reply_ipv6(struct ipv6hdr *ip, __u32 udp_bytes)
{
	struct in6_addr from = ip->daddr;
	const __u32 *word;
	__u64 sum = 0;
	int i;

	*(__be32 *)ip = bpf_htonl(0x60000000);
	ip->payload_len = bpf_htons((__u16)udp_bytes);
	ip->hop_limit = REPLY_TTL;
	ip->daddr = ip->saddr;
	ip->saddr = from;
	word = ip->saddr.in6_u.u6_addr32;
#pragma unroll
	for (i = 0; i < 8; i++)
		sum += word[i];
	return sum;
}

static __always_inline void reply_dns(struct dns_header *h, const struct reply *r)
{
	h->flags = r->flags | (h->flags & bpf_htons(DNS_RD | DNS_CD));
	h->ancount = r->ancount;
	h->nscount = r->nscount;
	h->arcount = r->arcount;
}

/* The OPT record of an answer, as a sum at `offset` of the message. */
static __always_inline __u32 reply_opt_sum(__be16 udp_size, __be16 edns_flags, __u32 offset)
{
	/* Octets: 00 00 | 29 size_high | size_low 00 | 00 do | 00 00 | 00 */
	__u16 size = bpf_ntohs(udp_size);
	__u32 sum = (__u32)bpf_htons((__u16)(DNS_TYPE_OPT << 8 | size >> 8)) +
		    bpf_htons((__u16)(size << 8)) + bpf_htons(bpf_ntohs(edns_flags) >> 8);

	return sum_at(sum_fold(sum), offset);
}

static __always_inline void reply_opt(struct dns_opt *opt, __be16 udp_size, __be16 edns_flags)
{
	opt->root = 0;
	opt->type = bpf_htons(DNS_TYPE_OPT);
	opt->udp_size = udp_size;
	opt->rcode = 0;
	opt->version = 0;
	opt->flags = edns_flags;
	opt->rdlen = 0;
}

/* The UDP header, when all else is known. `sum`: of addresses, DNS header, question, body, OPT. */
static __always_inline void reply_udp(struct udphdr *udp, __u32 udp_bytes, __u64 sum)
{
	__be16 from = udp->dest;
	__be16 length = bpf_htons((__u16)udp_bytes);
	__u16 check;

	udp->dest = udp->source;
	udp->source = from;
	udp->len = length;
	sum += (__u64)udp->dest + from + length + length + bpf_htons(IPPROTO_UDP);
	check = (__u16)~sum_fold(sum);
	udp->check = check ? check : 0xffff; /* RFC 768: 0 would be "no checksum" */
}

static __always_inline __u64 reply_dns_sum(const struct dns_header *h)
{
	return (__u64)h->id + h->flags + h->qdcount + h->ancount + h->nscount + h->arcount;
}

/* Everything but the body, which is in place. The frame has its new length. A reason or -1. */
static __always_inline int reply_headers(struct xdp_md *ctx, struct volley_cpu *cpu,
					 const struct volley_state *state, const struct reply *r)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u32 l3 = cpu->l3_offset;
	__u32 udp_bytes = (__u32)sizeof(struct udphdr) + r->dns_bytes;
	__u32 l3_bytes = cpu->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	struct dns_header *h;
	__u64 sum;

	if (l3 > L2_BYTES_MAX || data + sizeof(struct ethhdr) > end)
		return VOLLEY_DROP_EDIT;
	if (data + l3 + l3_bytes + sizeof(struct udphdr) + sizeof(*h) > end)
		return VOLLEY_DROP_EDIT;
	h = data + l3 + l3_bytes + sizeof(struct udphdr);
	reply_ethernet(data);
	reply_dns(h, r);
	sum = reply_dns_sum(h) + cpu->question_sum + r->body_sum;
	sum += cpu->ipv6 ? reply_ipv6(data + l3, udp_bytes) : reply_ipv4(data + l3, udp_bytes);
	if (cpu->edns) {
		__u32 offset = DNS_HEADER + r->question_bytes + r->body_bytes;
		const struct volley_key *key = (const void *)&cpu->folded[0];
		__be16 size = bpf_htons((__u16)state->max_udp_bytes);
		__be16 flags = key->flags & VOLLEY_KEY_DO ? bpf_htons(EDNS_DO) : 0;
		struct dns_opt *opt;

		if (offset > VOLLEY_READ_MAX)
			return VOLLEY_DROP_EDIT;
		opt = (void *)h + offset;
		if ((void *)(opt + 1) > end)
			return VOLLEY_DROP_EDIT;
		reply_opt(opt, size, flags);
		sum += reply_opt_sum(size, flags, offset);
	}
	reply_udp((void *)h - sizeof(struct udphdr), udp_bytes, sum);
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
	void *to = (void *)(long)ctx->data;
	__u32 i;

	if (offset > FRAME_HEAD_MAX || bytes < 8 || bytes > COPY_WORDS_MAX * 8)
		return VOLLEY_DROP_EDIT;
	to += offset;
	for (i = 0; i < COPY_WORDS_MAX && i < bytes / 8; i++) {
		if (to + i * 8 + 8 > end)
			return VOLLEY_DROP_EDIT;
		*(__u64 *)(to + i * 8) = *(const __u64 *)(body + i * 8);
	}
	to += bytes - 8;
	if (to + 8 > end)
		return VOLLEY_DROP_EDIT;
	*(__u64 *)to = *(const __u64 *)(body + bytes - 8);
	return -1;
}

static __always_inline int reply_body(struct xdp_md *ctx, __u32 offset, void *body, __u32 bytes)
{
	if (!bytes)
		return -1;
	if (bytes >= 8 && bytes <= COPY_WORDS_MAX * 8)
		return reply_copy_words(ctx, offset, body, bytes);
	return bpf_xdp_store_bytes(ctx, offset, body, bytes) ? VOLLEY_DROP_EDIT : -1;
}

/* Turns the frame into the answer that `e` holds. A reason, VOLLEY_HIT_* when it is done. */
static __always_inline int reply_send(struct xdp_md *ctx, struct volley_cpu *cpu,
				      const struct volley_state *state,
				      const struct volley_entry *e)
{
	__u32 body_offset = e->body_offset;
	struct reply r;
	int reason, grow;

	reply_choose(&r, cpu, e);
	if (body_offset > sizeof(*e) + VOLLEY_NAME_BYTES || r.body_bytes > VOLLEY_UDP_MAX)
		return VOLLEY_UP_NO_ROOM;
	grow = (int)(cpu->dns_offset + r.dns_bytes) - (int)cpu->frame_bytes;
	reason = reply_resize(ctx, cpu, &r, grow);
	if (reason < 0)
		reason = reply_body(ctx, cpu->dns_offset + DNS_HEADER + r.question_bytes,
				    (void *)e + body_offset, r.body_bytes);
	if (reason < 0)
		reason = reply_headers(ctx, cpu, state, &r);
	return reason >= 0 ? reason : r.reason;
}

#endif
