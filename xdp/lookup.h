/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds a key's entry: at most two buckets with eight tags each, then the full key is compared.
 * Checks whether the entry is valid, and whether the client may read it.
 *
 * Each word is read once, and that value decides even if a writer changes it meanwhile (abi.h).
 */
#ifndef VOLLEY_XDP_LOOKUP_H
#define VOLLEY_XDP_LOOKUP_H

#include "xdp/abi.h"
#include "xdp/key.h"
#include "xdp/packet.h"

#define KEY_VIEW (0xffull << offsetof(struct volley_key, view) * 8) /* in the key as a word */

struct bucket {
	__u64 words[VOLLEY_BUCKET_SLOTS];
};

/* The entry at a location, or NULL if no entry can lie there. */
static __always_inline struct volley_entry *entry_at(void *store, __u32 location)
{
	__u32 segment = location / VOLLEY_SEGMENT_UNITS;
	__u64 offset = bounded(location % VOLLEY_SEGMENT_UNITS * VOLLEY_UNIT_BYTES,
			       VOLLEY_SEGMENT_BYTES - 1);
	void *base = bpf_map_lookup_elem(store, &segment);

	if (!base || offset > VOLLEY_START_MAX)
		return NULL;
	return base + offset;
}

/* Compares the key word without its view, and the name, word by word. */
static __always_inline int is_key_of(const struct volley_entry *e, const __u64 *words,
				     __u32 name_bytes)
{
	const __u64 *theirs = (const void *)&e->key;
	__u32 n = 1 + (name_bytes + 7) / 8;
	__u32 i;

	if ((theirs[0] ^ words[0]) & ~KEY_VIEW)
		return 0;
	for (i = 1; i <= VOLLEY_NAME_WORDS; i++) {
		if (i >= n)
			return 1;
		if (theirs[i] != words[i])
			return 0;
	}
	return 1;
}

/* VOLLEY_HIT_FULL: the entry is valid, and cpu->zone_counter is set. Else why it is not valid. */
static __always_inline int entry_check(struct volley_cpu *cpu, const struct volley_entry *e,
				       void *zones)
{
	__u32 slot = e->zone_slot;
	const struct volley_zone *zone = bpf_map_lookup_elem(zones, &slot);

	if (!zone || !zone->gen || zone->gen != e->zone_gen)
		return VOLLEY_UP_STALE;
	if (cpu->now_s >= e->expires_s)
		return VOLLEY_UP_EXPIRED;
	cpu->zone_counter = zone->counter;
	return VOLLEY_HIT_FULL;
}

/* The packet's source as a key of volley_clients: cpu->client. -1 or a reason. */
static __always_inline int client_of(struct xdp_md *ctx, struct volley_cpu *cpu)
{
	struct volley_client *client = &cpu->client;
	struct in6_addr *to = (void *)client->address;
	const void *end = (void *)(long)ctx->data_end;
	const void *l3 = (void *)(long)ctx->data + bounded(cpu->l3_offset, OFFSET_MASK);

	if (l3 + sizeof(struct ipv6hdr) > end)
		return VOLLEY_PASS_RUNT; /* never: with UDP and DNS, an IPv4 packet is as long */
	client->prefix_bits = 128;
	if (cpu->ipv6) {
		*to = ((const struct ipv6hdr *)l3)->saddr;
	} else {
		to->in6_u.u6_addr32[0] = to->in6_u.u6_addr32[1] = 0;
		to->in6_u.u6_addr32[2] = bpf_htonl(0xffff);
		to->in6_u.u6_addr32[3] = ((const struct iphdr *)l3)->saddr;
	}
	return -1;
}

/* Whether the client may read this view: -1, or VOLLEY_UP_VIEW. */
static __always_inline int client_check(struct xdp_md *ctx, struct volley_cpu *cpu, __u8 view,
					void *clients)
{
	const __u32 *views;
	int reason = client_of(ctx, cpu);

	if (reason >= 0)
		return reason;
	views = bpf_map_lookup_elem(clients, &cpu->client);
	if (!views || view >= VOLLEY_N_VIEWS || !(*views >> view & 1))
		return VOLLEY_UP_VIEW;
	return -1;
}

#ifdef __BYTE_ORDER__
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "KEY_VIEW is little endian");
#endif

#endif
