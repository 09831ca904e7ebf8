/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limits/block_lookup.h"

#include <string.h>
#include <sys/socket.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "limits/block_table.h"
#include "xdp/names.h"

#define LABELS_MAX 128

/* The verdict of this key's block, if it has not expired. */
static struct blocks_verdict probe_block(const struct blocks *b, const struct volley_block_key *key,
					 uint32_t now_s)
{
	const struct volley_block_head *head = block_chunk(b->table, VOLLEY_BLOCK_HEAD);
	struct blocks_verdict v = { .block = volley_block_find(b->table, head, key) };
	uint64_t rule;

	if (!v.block)
		return v;
	rule = load_once(&v.block->rule);
	if (volley_block_is_alive(rule, now_s))
		v.action = (enum volley_block_action)volley_block_action(rule);
	return v;
}

void blocks_count(const struct blocks *b, struct volley_block *block)
{
	uint32_t list = volley_block_list(load_once(&block->rule));

	__atomic_fetch_add(list ? &b->met->of[list] : &block->met, 1, __ATOMIC_RELAXED);
}

/* The prefix lengths of an address that the filter leaves. */
struct lengths {
	const void *filter;
	uint8_t masks[VOLLEY_BLOCK_GROUPS6];
	__u64 hashes[VOLLEY_BLOCK_GROUPS6];
};

/* The verdict of the longest prefix of a group. */
static struct blocks_verdict probe_lengths(const struct blocks *b, const struct lengths *l,
					   uint32_t group, const struct volley_block_key *whole,
					   uint32_t now_s)
{
	const struct volley_block_head *head = block_chunk(b->table, VOLLEY_BLOCK_HEAD);
	const uint64_t hash = l->hashes[group];
	const uint64_t next = volley_block_octet(whole->high, whole->low, group & 15);
	struct blocks_verdict v = { 0 };

	for (uint32_t n = 8; n-- > 0 && !v.action;) {
		const uint32_t bits = group * 8 + n;
		const struct volley_block_key key = {
			.high = volley_block_high(whole->high, bits),
			.low = volley_block_low(whole->low, bits),
			.kind_bits = (whole->kind_bits & 0xff) | bits << 8,
		};

		if (l->masks[group] >> n & 1 &&
		    volley_block_is_fine(head, l->filter, hash, volley_block_fine(hash, next, n)))
			v = probe_block(b, &key, now_s);
	}
	return v;
}

struct blocks_verdict blocks_client(const struct blocks *b, uint8_t family, const uint8_t *address,
				    uint32_t now_s)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct volley_block_head *head = block_chunk(b->table, VOLLEY_BLOCK_HEAD);
	struct blocks_verdict v = { 0 };
	bool is_ipv6 = family == AF_INET6;
	struct volley_block_key whole;
	struct lengths l;
	uint32_t any;

	if (!(b->kinds & VOLLEY_BLOCKS_PREFIXES))
		return v;
	if (is_ipv6 && !memcmp(address, mapped, sizeof(mapped))) {
		is_ipv6 = false;
		address += sizeof(mapped);
	}
	whole = block_key_prefix(is_ipv6, address, is_ipv6 ? 128 : 32);
	l.filter = block_chunk(b->table, is_ipv6);
	any = is_ipv6 ? volley_block_masks(head, l.filter, 1, whole.high, whole.low, l.masks,
					   l.hashes) :
			volley_block_masks(head, l.filter, 0, whole.high, 0, l.masks, l.hashes);
	if (!any)
		return v;
	for (uint32_t group = is_ipv6 ? VOLLEY_BLOCK_GROUPS6 : VOLLEY_BLOCK_GROUPS4;
	     group-- > 0 && !v.action;)
		if (l.masks[group])
			v = probe_lengths(b, &l, group, &whole, now_s);
	v.is_client = true;
	return v;
}

/* The verdict of the longest suffix that has one: the first from the left. */
static struct blocks_verdict probe_name(const struct blocks *b, const uint8_t *folded,
					unsigned int bytes, uint32_t now_s)
{
	const struct volley_block_head *head = block_chunk(b->table, VOLLEY_BLOCK_HEAD);
	struct blocks_verdict v = { 0 };
	uint64_t before[LABELS_MAX], sum = 0;
	unsigned int at[LABELS_MAX], n = 0, next = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		if (i == next && n < LABELS_MAX) {
			before[n] = sum;
			at[n++] = i;
			next = i + 1u + folded[i];
		}
		sum += volley_names_part(head->name_keys, folded[i], bytes - 1 - i);
	}
	for (unsigned int i = 0; i < n && !v.action; i++) {
		const struct volley_block_key key = {
			.high = volley_hash_mix(sum - before[i]),
			.kind_bits = VOLLEY_BLOCK_NAME | (bytes - at[i]) << 8,
		};

		if (volley_block_filtered(head, block_chunk(b->table, 1), key.high) &
		    VOLLEY_BLOCK_BIT(key.high))
			v = probe_block(b, &key, now_s);
	}
	return v;
}

struct blocks_verdict blocks_question(const struct blocks *b, const uint8_t *folded,
				      unsigned int bytes, uint16_t qtype, uint32_t now_s)
{
	const struct volley_block_key type = block_key_type(qtype);
	struct blocks_verdict of_name = { 0 }, of_type = { 0 };

	if (b->kinds & VOLLEY_BLOCKS_NAMES)
		of_name = probe_name(b, folded, bytes, now_s);
	if (!blocks_lets_through(&of_name))
		return of_name;
	if (b->kinds & VOLLEY_BLOCKS_TYPES)
		of_type = probe_block(b, &type, now_s);
	return of_type.action ? of_type : of_name;
}

struct blocks_verdict blocks_judge(const struct blocks *b, uint8_t family, const uint8_t *address,
				   const struct query *q, uint32_t now_s)
{
	struct blocks_verdict v = blocks_client(b, family, address, now_s);

	if (!blocks_lets_through(&v) || !q)
		return v;
	return blocks_question(b, q->folded, q->qname_bytes, q->qtype, now_s);
}
