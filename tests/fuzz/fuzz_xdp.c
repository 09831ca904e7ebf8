/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole XDP program, built natively (xdp/native.h), over any frame.
 *
 *   6 octets of control │ frame │ 13 octets of control of a shared answer, if there is one
 *                                 (fuzz_xdp_shared.h)
 *
 * Control chooses the room around the frame, its repairs (lengths, the destination), the cache's
 * answer to its question (length, view, TTLs, age, damage), and how far a worker is behind. Then:
 * only packets that no worker would reach are dropped; packets that pass or go up are unchanged;
 * each answer is right (tests/lib/packet.h) and has the entry's aged body; the counters balance;
 * and nothing depends on the content that an earlier packet left in the program's room.
 *
 * Tunnels are removed. The expectation for a frame in a tunnel is that for the frame that the
 * worker makes of it (port/frame.h), so the two parsers are compared all the time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dns/query.h"
#include "port/frame.h"
#include "tests/lib/entry.h"
#include "tests/lib/packet.h"

#include "xdp/native.h"

static void *lookup(const void *map, const void *key); /* fuzz_xdp_shared.h */
#define native_lookup       bpf_map_lookup_elem
#define bpf_map_lookup_elem lookup

#include "xdp/volley.bpf.c"

#undef bpf_map_lookup_elem

#include "shield/name_filter.h"
#include "zone/nsec3_chain.h"

/* after the program, which accesses the table in its own way (xdp/block.h) */
#include "limits/block_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define N_BUCKETS     64u
#define N_SEGMENTS    1u
#define N_ZONES       16u
#define NOW_S         10000u
#define ROOM_MAX      2048u
#define FRAME_MAX     4096u
#define LOCATION      (sizeof(struct volley_segment) / VOLLEY_UNIT_BYTES) /* of the entry */
#define CONTROL_BYTES 6

enum {
	REPAIR_LENGTHS = 0x01,
	REPAIR_TO = 0x02, /* to our address and port */
	NO_ANSWERS = 0x04,
	NO_ENTRY = 0x08,
	STALE = 0x10,
	EXPIRED = 0x20,
	OTHER_MAC = 0x40,
	HAS_SOCKET = 0x80,
};

/* Bits of the sixth octet of control; the low bits are the age. */
enum {
	AGE_MASK = 0x1f,
	CUT_TTL = 0x20, /* the last TTL does not end with the body */
	REFRESH = 0x40,
	NO_CLIENTS = 0x80,
};

#define AGE_UNIT_S  40u
#define TTL_STEP    5u /* octets between the offsets of two TTLs: odd ones and even ones */
#define N_TTLS_MAX  63u
#define REFRESH_S   10u
#define N_CLIENTS   3u
#define KIND_SHIFT  5 /* with NO_ENTRY, CUT_TTL and REFRESH choose the shared answer */
#define KIND_MASK   3
#define VIEW_BIT(v) (1u << (v))
#define CLIENTS_MAP 6 /* in native_maps */
#define SOCKETS_MAP 7
#define LIMIT       64u
#define NAMES_ID    0x12345u
#define GUE_PORT    6080
#define IFINDEX     3u

static struct volley_state state;
static struct volley_link the_link;
static struct volley_cpu cpu;
static struct volley_queue queues[VOLLEY_QUEUES];
static struct volley_shares shares;
static struct volley_cookies cookies;
static struct volley_near near;
static struct volley_rrl rrl;
static struct volley_rrl_line loads[VOLLEY_RRL_LINES];
static struct volley_blocked blocked;
static uint8_t block_map; /* its address stands for the inner map of volley_blocks */
static uint8_t block_chunks[(VOLLEY_BLOCK_HEAD + 1) * VOLLEY_BLOCK_CHUNK_BYTES]
	__attribute__((aligned(64)));
static __u32 sockets[VOLLEY_QUEUES];
static struct bucket index_buckets[N_BUCKETS];
static struct volley_zone zones[N_ZONES];
static struct client_pair {
	struct volley_client client;
	__u32 views;
} client_pairs[N_CLIENTS] = {
	{ { 121, { [10] = 0xff, 0xff, 192, 0, 2, 0 } }, VIEW_BIT(VOLLEY_VIEW_RECURSIVE) },
	{ { 37, { 0x20, 0x01, 0x0d, 0xb8 } }, VIEW_BIT(VOLLEY_VIEW_PRIVATE) },
	{ { 127, { 0x20, 0x01, 0x0d, 0xb8 } }, VIEW_BIT(VOLLEY_VIEW_RECURSIVE) }, /* ::0, ::1 */
};
static uint8_t store[N_SEGMENTS * VOLLEY_SEGMENT_BYTES] __attribute__((aligned(64)));
static const struct cache_memory memory = {
	.state = &state,
	.index = (uint64_t *)index_buckets,
	.store = store,
	.zones = zones,
	.sizes = { .n_segments = N_SEGMENTS, .n_buckets = N_BUCKETS, .n_zones = N_ZONES },
};

static void fail(const char *what)
{
	fprintf(stderr, "fuzz_xdp: %s\n", what);
	abort();
}

static void must(int holds, const char *what)
{
	if (!holds)
		fail(what);
}

#include "tests/fuzz/fuzz_xdp_shared.h"

/* Adds the address of `p` with this port, as a service or as an end of tunnels. */
static void serve(const struct pkt *p, __be16 port, uint8_t mark)
{
	struct volley_service s = { .port = port, .family = mark | (p->ipv6 ? 6 : 4) };
	struct volley_services *t = &state.services[0];
	__u32 slot;

	memcpy(s.address, p->to, p->ipv6 ? 16 : 4);
	slot = volley_service_place(t, &s);
	while (t->slots[slot % VOLLEY_SERVICE_SLOTS].family)
		slot++;
	t->slots[slot % VOLLEY_SERVICE_SLOTS] = s;
}

/* Sets the filter's keys; it has no names. */
static void begin_filter(void)
{
	state.names.id = NAMES_ID;
	state.names.n_lines = FILTER_LINES;
	for (size_t i = 0; i < VOLLEY_NAME_BYTES; i++) /* any keys, the same in each run */
		state.names.keys[i] = volley_hash_mix(i + 1);
}

/* Adds blocks of each kind. Each query looks for them, but they allow it, so they change no
 * result. */
static void block_nothing(void)
{
	static struct volley_block_head secrets;
	static const uint8_t nobody[16] = { 255, 255, 255, 255 };
	static struct block_table table;
	struct volley_block_key keys[4];

	for (size_t i = 0; i < sizeof(secrets) / 8; i++) /* any keys, the same in each run */
		((uint64_t *)(void *)&secrets)[i] = volley_hash_mix(i + 1);
	must(!block_table_init(&table, block_chunks, BLOCK_TABLE_MIN, &secrets), "no memory");
	keys[0] = block_key_prefix(false, nobody, 32);
	keys[1] = block_key_prefix(true, nobody, 120);
	keys[2] = block_key_name(&secrets, (const uint8_t *)"\6nobody\4test", 13);
	keys[3] = block_key_type(0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		must(!block_table_set(&table, &keys[i],
				      volley_block_rule(VOLLEY_NEVER, keys[i].kind_bits,
							VOLLEY_BLOCK_ALLOW, 0)),
		     "a block has no room");
	state.block_kinds = block_table_kinds(&table);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct native_map maps[] = {
		{ &volley_abi_10, &state, sizeof(state), 1, 0 },
		{ &volley_index, index_buckets, sizeof(index_buckets[0]), N_BUCKETS, 0 },
		{ &volley_store, store, VOLLEY_SEGMENT_BYTES, N_SEGMENTS, 0 },
		{ &volley_zones, zones, sizeof(zones[0]), N_ZONES, 0 },
		{ &volley_link, &the_link, sizeof(the_link), 1, 0 },
		{ &volley_cpu, &cpu, sizeof(cpu), 1, 0 },
		{ &volley_clients, client_pairs, sizeof(__u32), N_CLIENTS,
		  sizeof(struct volley_client) },
		{ &xsks_map, sockets, sizeof(sockets[0]), VOLLEY_QUEUES, 0 },
		{ &volley_queues, queues, sizeof(queues[0]), VOLLEY_QUEUES, 0 },
		{ &volley_shares, &shares, sizeof(shares), 1, 0 },
		{ &volley_cookies, &cookies, sizeof(cookies), 1, 0 },
		{ &volley_near, &near, sizeof(near), 1, 0 },
		{ &volley_rrl, &rrl, sizeof(rrl), 1, 0 },
		{ &volley_loads, loads, sizeof(loads[0]), VOLLEY_RRL_LINES, 0 },
		{ &volley_blocks, &block_map, sizeof(block_map), 1, 0 },
		{ &block_map, block_chunks, VOLLEY_BLOCK_CHUNK_BYTES, VOLLEY_BLOCK_HEAD + 1, 0 },
		{ &volley_blocked, &blocked, sizeof(blocked), 1, 0 },
		{ &volley_names, names_lines, sizeof(names_lines[0]), ALL_LINES, 0 },
	};

	(void)argc;
	(void)argv;
	memcpy(native_maps, maps, sizeof(maps));
	block_nothing();
	begin_filter();
	native_now_ns = NOW_S * 1000000000ull;
	native_jiffies = NOW_S; /* any value except the room's filler */
	entry_set_up(&memory);
	state.option_up_mask = 1u << 10 | 1u << 3 | 1u << 9;
	state.options[0] = (struct volley_options){ .n_secrets = 2,
						    .nsid_bytes = 7,
						    .secrets = { { 1, 2 }, { 3, 4 } },
						    .nsid = "\0\3\0\3ns1" };
	state.options[0].nsid_sum = (0x0300ull + 0x0300) + ('n' | 's' << 8) + '1';
	serve(&pkt_ipv4, bpf_htons(53), 0);
	serve(&pkt_ipv6, bpf_htons(53), 0);
	serve(&pkt_ipv4, 0, VOLLEY_TUNNEL_END);
	serve(&pkt_ipv6, 0, VOLLEY_TUNNEL_END);
	return 0;
}

struct input {
	uint8_t switches;
	size_t head, tail; /* room */
	uint16_t full_bytes, short_bytes;
	struct volley_shared denial; /* with NO_ENTRY */
	struct shared_input shared;  /* or this, if the kind is not ROOT_DENIAL */
	uint8_t view;
	uint16_t n_ttls;
	uint16_t ttls[N_TTLS_MAX];
	uint8_t more;   /* AGE_MASK, CUT_TTL, ... */
	uint8_t behind; /* packets on their way, of LIMIT */
	bool fib, is_routed;
	size_t n;
	uint8_t frame[FRAME_MAX];
	size_t tunnel_bytes; /* 0: none */
	size_t plain_n;
	uint8_t plain[FRAME_MAX]; /* the frame for the worker */
	/* offsets that the repair has found; 0: none */
	size_t ip_at, dns_at;
};

static void store_be16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static size_t find_ip(const struct input *in)
{
	size_t at = PKT_ETH_BYTES;

	while (at + 4 <= in->n && at < PKT_ETH_BYTES + 8 &&
	       ((in->frame[at - 2] == 0x81 && in->frame[at - 1] == 0) ||
		(in->frame[at - 2] == 0x88 && in->frame[at - 1] == 0xa8)))
		at += 4;
	return at;
}

/* The frame without its tunnel, if it has one. */
static void unwrap(struct input *in)
{
	static const struct frame_tunnels tunnels = {
		.kinds = VOLLEY_TUNNEL_IPIP | VOLLEY_TUNNEL_GUE,
		.gue_port = (__be16)(GUE_PORT >> 8 | (GUE_PORT & 0xff) << 8),
	};
	uint32_t len = (uint32_t)in->n;

	memcpy(in->plain, in->frame, in->n);
	in->tunnel_bytes = frame_decap(&tunnels, in->plain, &len);
	in->plain_n = len;
	memmove(in->plain, in->plain + in->tunnel_bytes, len);
}

/* Makes the tunnel end at our address and the inner packet ask our service. */
static void repair_tunnel(struct input *in, size_t at, int outer6, int ipv6)
{
	const struct pkt *outer = outer6 ? &pkt_ipv6 : &pkt_ipv4, *p = ipv6 ? &pkt_ipv6 : &pkt_ipv4;
	size_t udp_at = at + in->tunnel_bytes + (ipv6 ? 40 : 20);

	if (in->n < udp_at + 8)
		return;
	in->ip_at = at;
	in->dns_at = at + (ipv6 ? 40 : 20) + 8;
	if (!(in->switches & REPAIR_TO))
		return;
	memcpy(in->frame + at + (outer6 ? 24 : 16), outer->to, outer6 ? 16 : 4);
	memcpy(in->frame + udp_at - (ipv6 ? 16 : 4), p->to, ipv6 ? 16 : 4);
	store_be16(in->frame + udp_at + 2, p->to_port);
}

static void repair_ip(struct input *in, size_t at, int ipv6)
{
	const struct pkt *p = ipv6 ? &pkt_ipv6 : &pkt_ipv4;
	size_t address_bytes = ipv6 ? 16 : 4;
	size_t udp_at = at + (ipv6 ? 40 : 20);

	if (in->n < udp_at + 8)
		return;
	if (in->switches & REPAIR_LENGTHS) {
		store_be16(in->frame + at + (ipv6 ? 4 : 2), in->n - (ipv6 ? udp_at : at));
		store_be16(in->frame + udp_at + 4, in->n - udp_at);
	}
	if (in->switches & REPAIR_TO) {
		memcpy(in->frame + udp_at - address_bytes, p->to, address_bytes);
		store_be16(in->frame + udp_at + 2, p->to_port);
	}
	in->ip_at = at;
	in->dns_at = udp_at + 8;
}

static uint32_t age_of_input(const struct input *in)
{
	return (in->more & AGE_MASK) * AGE_UNIT_S;
}

/* Spreads TTLs over the body. */
static void read_ttls(struct input *in, unsigned int wanted)
{
	uint16_t at = (uint16_t)(wanted & 1);

	in->n_ttls = 0;
	while (in->n_ttls < wanted && at + 4u <= in->full_bytes) {
		in->ttls[in->n_ttls++] = at;
		at = (uint16_t)(at + TTL_STEP);
	}
	if (in->n_ttls && in->more & CUT_TTL)
		in->ttls[in->n_ttls - 1] = (uint16_t)(in->full_bytes - 1);
}

/* Makes the repairs that control asks for, from offset `at` on. */
static void repair(struct input *in, size_t at)
{
	if (in->tunnel_bytes)
		repair_tunnel(in, at, in->frame[at - 2] == 0x86, in->plain[at - 2] == 0x86);
	else if (at <= in->n && in->n >= PKT_ETH_BYTES && in->frame[at - 2] == 8 &&
		 in->frame[at - 1] == 0)
		repair_ip(in, at, 0);
	else if (at <= in->n && in->n >= PKT_ETH_BYTES && in->frame[at - 2] == 0x86 &&
		 in->frame[at - 1] == 0xdd)
		repair_ip(in, at, 1);
}

/* Reads the control of a shared answer, if there is one; returns its octets. */
static size_t read_shared(struct input *in, const uint8_t *data, size_t size)
{
	uint8_t kind = in->more >> KIND_SHIFT & KIND_MASK;

	in->shared.kind = ROOT_DENIAL;
	if (!(in->switches & NO_ENTRY) || !kind || size < CONTROL_BYTES + SHARED_CONTROL_BYTES)
		return 0;
	shared_read(&in->shared, data + size - SHARED_CONTROL_BYTES, kind);
	return SHARED_CONTROL_BYTES;
}

static int input_read(struct input *in, const uint8_t *data, size_t size)
{
	size_t at, shared_bytes;
	bool is_tunnel;

	if (size < CONTROL_BYTES || size - CONTROL_BYTES > FRAME_MAX)
		return 0;
	in->switches = data[0];
	in->head = (data[1] & 15u) * 32 + 2; /* so that the IP header is aligned, as NICs do */
	in->tail = (data[1] >> 4) * 128u;
	in->full_bytes = (uint16_t)(data[2] * 6);
	in->short_bytes = (uint16_t)(in->full_bytes * data[3] / 255);
	in->denial.n_pointers =
		(uint16_t)(data[3] == 0xff ? VOLLEY_SHARED_POINTERS + 1 : data[3] >> 6);
	in->denial.name_min = 1;
	in->denial.name_max = (uint8_t)(UINT8_MAX - 60 * (data[5] & 3));
	in->denial.pointers[0] = data[3];
	in->denial.pointers[1] = (uint16_t)(data[3] + 2 + data[4]);
	in->denial.pointers[2] = (uint16_t)(data[3] + 4 + data[4] + data[5]);
	in->view = data[4] >> 6;
	in->more = data[5];
	in->behind = data[3] % (LIMIT + 1);
	in->fib = data[3] % 4 == 3;
	in->is_routed = data[3] & 4;
	read_ttls(in, data[4] & 63);
	shared_bytes = read_shared(in, data, size);
	in->n = size - CONTROL_BYTES - shared_bytes;
	in->ip_at = in->dns_at = 0;
	memcpy(in->frame, data + CONTROL_BYTES, in->n);
	unwrap(in);
	at = find_ip(in);
	is_tunnel = in->tunnel_bytes;
	repair(in, at);
	unwrap(in);
	if (!is_tunnel && in->tunnel_bytes) /* with its new lengths */
		repair(in, at);
	unwrap(in);
	return 1;
}

/* Publishes an answer for the frame's question, if that can be read; the query is in `q`. */
static void publish(const struct input *in, const struct query *q)
{
	const struct entry e = {
		.name = q->qname,
		.qtype = q->qtype,
		.qclass = q->qclass,
		.view = in->view,
		.key_flags = (uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) |
				       (q->cd ? VOLLEY_KEY_CD : 0)),
		.ancount = 3,
		.nscount = 2,
		.arcount_full = 5,
		.arcount_short = 1,
		.flags = PKT_AA | PKT_AD,
		.full_bytes = in->full_bytes,
		.short_bytes = in->short_bytes,
		.zone_gen = in->switches & STALE ? ENTRY_ZONE_GEN + 1 : 0,
		.expires_s = in->switches & EXPIRED ? NOW_S : NOW_S + 1,
		.born_s = NOW_S - age_of_input(in),
		.ttls = in->ttls,
		.n_ttls = in->n_ttls,
		.refresh_s = in->more & REFRESH ? REFRESH_S : 0,
	};
	uint32_t next;
	uint64_t hash = entry_hash(&memory, &e);

	*entry_slot(&memory, hash, hash & 1, hash >> 1 & 7) =
		entry_write(&memory, &e, LOCATION, &next);
}

/* The body of a denial: the pattern with pointers in it, if they have room. */
static void denial_body(const struct input *in, uint8_t *body, unsigned int longer)
{
	for (size_t i = 0; i < in->full_bytes; i++)
		body[i] = entry_pattern(i);
	for (unsigned int i = 0; i < in->denial.n_pointers && i < VOLLEY_SHARED_POINTERS; i++)
		if (in->denial.pointers[i] + 2u <= in->full_bytes)
			store_be16(body + in->denial.pointers[i], 0xc00c + longer);
}

/* Publishes the denial of the root, which denies every name, in place of the question's entry. */
static void publish_denial(const struct input *in, const struct entry *e)
{
	static uint8_t body[UINT8_MAX * 6 + sizeof(in->denial)];
	struct entry denial = *e;
	uint32_t location = LOCATION;

	know_root();
	denial_body(in, body, 0);
	memcpy(body + in->full_bytes, &in->denial, sizeof(in->denial));
	denial.body = body;
	denial.full_bytes = (uint16_t)(in->full_bytes + sizeof(in->denial));
	denial.short_bytes = in->full_bytes;
	shared_put(&denial, &location);
}

/* Publishes a shared answer. */
static void publish_shared(struct input *in, const struct query *q)
{
	const struct entry e = {
		.name = (const uint8_t *)"",
		.qclass = VOLLEY_SHARED_CLASS(NAMES_ID),
		.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_DENIAL, NAMES_ID),
		.view = in->view,
		.key_flags = (uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) |
				       (q->cd ? VOLLEY_KEY_CD : 0)),
		.nscount = 1,
		.flags = PKT_AA | PKT_AD | 3,
		.zone_gen = in->switches & STALE ? ENTRY_ZONE_GEN + 1 : 0,
		.expires_s = in->switches & EXPIRED ? NOW_S : NOW_S + 1,
	};

	if (in->shared.kind == ROOT_DENIAL)
		publish_denial(in, &e);
	else
		shared_publish_all(&in->shared, q, e, in->full_bytes, LOCATION);
}

static enum query_verdict prepare(struct input *in, struct query *q)
{
	enum query_verdict verdict = QUERY_IGNORE;

	memset(index_buckets, 0, sizeof(index_buckets));
	state.names.id = NAMES_ID;
	know_root();
	the_link = (struct volley_link){
		.driver_answers = !(in->switches & NO_ANSWERS),
		.tunnels = VOLLEY_TUNNEL_IPIP | VOLLEY_TUNNEL_GUE,
		.gue_port = bpf_htons(GUE_PORT),
		.return_fib = in->fib,
	};
	native_fib = (struct bpf_fib_lookup){ .ifindex = IFINDEX };
	native_fib_result = !in->is_routed;
	if (in->n >= PKT_ETH_BYTES) /* then nothing changes it */
		memcpy(native_fib.dmac, in->frame + 6, sizeof(native_fib.dmac));
	if (in->switches & OTHER_MAC)
		memcpy(the_link.mac, pkt_ipv4.to_mac, sizeof(the_link.mac));
	native_has_socket = in->switches & HAS_SOCKET;
	native_maps[SOCKETS_MAP].n_values = native_has_socket ? VOLLEY_QUEUES : 0;
	native_n_records = 0;
	native_maps[CLIENTS_MAP].n_values = in->more & NO_CLIENTS ? 0 : N_CLIENTS;
	if (in->dns_at && in->dns_at < in->plain_n)
		verdict = query_parse(q, in->plain + in->dns_at, in->plain_n - in->dns_at);
	if (verdict == QUERY_OK && in->switches & NO_ENTRY)
		publish_shared(in, q);
	else if (verdict == QUERY_OK)
		publish(in, q);
	return verdict;
}

static int counted_reason(void)
{
	int reason = -1;

	must(cpu.received == 1, "not counted as received");
	for (int i = 0; i < VOLLEY_N_REASONS; i++) {
		if (!cpu.reasons[i])
			continue;
		must(cpu.reasons[i] == 1 && reason < 0, "more than one reason");
		reason = i;
	}
	must(reason >= 0, "no reason");
	return reason;
}

static enum volley_class class_of(int reason)
{
	static const enum volley_class classes[] = {
#define CLASS_OF(name, class, words) VOLLEY_CLASS_##class,
		VOLLEY_REASONS(CLASS_OF)
	};

	return classes[reason];
}

/* The pattern, with each whole TTL reduced by the age. */
static void expected_body(const struct input *in, uint8_t *body, size_t n)
{
	uint32_t age_s = age_of_input(in);

	for (size_t i = 0; i < n; i++)
		body[i] = entry_pattern(i);
	for (size_t i = 0; i < in->n_ttls && in->ttls[i] + 4u <= n; i++) {
		uint8_t *at = body + in->ttls[i];
		uint32_t ttl = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
			       (uint32_t)at[2] << 8 | at[3];

		ttl = ttl > age_s ? ttl - age_s : 0;
		store_be16(at, ttl >> 16);
		store_be16(at + 2, ttl & 0xffff);
	}
}

/* The views of the frame's source, from client_pairs. */
static unsigned int views_of(const struct input *in)
{
	static const uint8_t v4[] = { 192, 0, 2 }, v6[] = { 0x20, 0x01, 0x0d, 0xb8 };
	static const uint8_t zeros[11];
	const uint8_t *ip = in->plain + in->ip_at;

	if (in->more & NO_CLIENTS)
		return 0;
	if (ip[0] >> 4 == 4)
		return !memcmp(ip + 12, v4, 3) && ip[15] < 128 ? VIEW_BIT(VOLLEY_VIEW_RECURSIVE) :
								 0;
	if (memcmp(ip + 8, v6, 4) || ip[12] >= 8)
		return 0;
	return !memcmp(ip + 12, zeros, 11) && ip[23] < 2 ? VIEW_BIT(VOLLEY_VIEW_RECURSIVE) :
							   VIEW_BIT(VOLLEY_VIEW_PRIVATE);
}

/* An answer that is asked for and expires soon is reported once in two runs. */
static void check_refresh(const struct input *in)
{
	struct volley_refresh record;

	if (!(in->more & REFRESH)) {
		must(!native_n_records, "to be fetched anew without need");
		return;
	}
	must(native_n_records == 1, "not said once that it is to be fetched anew");
	memcpy(&record, native_record, sizeof(record));
	must(record.born_s == NOW_S - age_of_input(in), "the record's second of birth");
	must(record.hash == cpu.hash && record.location == LOCATION, "the record's entry");
}

static void check_body(const struct input *in, int reason, const struct pkt_answer *a)
{
	uint8_t body[UINT8_MAX * 6];
	size_t wanted = reason == VOLLEY_HIT_FULL  ? in->full_bytes :
			reason == VOLLEY_HIT_SHORT ? in->short_bytes :
						     0;

	must(a->body_bytes == wanted, "the body's length");
	expected_body(in, body, wanted);
	must(!memcmp(a->body, body, wanted), "the body's octets");
	must(!wanted || in->n_ttls <= VOLLEY_TTLS_MAX, "aged too many TTLs");
	must(!(a->flags & PKT_TC) == (reason != VOLLEY_HIT_TRUNCATED), "TC");
}

static void check_denial(const struct input *in, const struct query *q, const struct pkt_answer *a)
{
	uint8_t body[UINT8_MAX * 6];

	must(q->qname_bytes > 1 && q->qtype != 41, "denied what may exist");
	must(in->denial.n_pointers <= VOLLEY_SHARED_POINTERS, "a damaged denial");
	must(q->qname_bytes <= in->denial.name_max, "denied a name that is too long");
	must(a->body_bytes == in->full_bytes, "the denial's length");
	denial_body(in, body, q->qname_bytes - 1u);
	must(!memcmp(a->body, body, in->full_bytes), "the denial's octets");
	must(a->nscount == 1 && !a->ancount, "the denial's counts");
}

static void check_sent(const struct input *in, int reason, const struct xdp_md *ctx,
		       const struct query *q, enum query_verdict verdict)
{
	struct pkt_answer a;
	const char *wrong = pkt_check_answer(in->plain, in->plain_n, (const uint8_t *)ctx->data,
					     ctx->data_end - ctx->data, state.max_udp_bytes, &a);

	must(!wrong, wrong);
	must(verdict == QUERY_OK, "answered what the engine does not understand");
	must(in->switches & REPAIR_LENGTHS || in->dns_at, "answered what has no IP header");
	must(!(in->switches & (NO_ANSWERS | STALE | EXPIRED)), "answered from nothing");
	must(!(in->switches & NO_ENTRY) ==
		     (reason != VOLLEY_HIT_DENIED && reason != VOLLEY_HIT_WILDCARD),
	     "a shared answer or none");
	must((in->shared.kind == WILDCARD || in->shared.kind == INTERVAL_EXPANDED) ==
		     (reason == VOLLEY_HIT_WILDCARD),
	     "a wildcard's answer or none");
	must(!in->view || VIEW_BIT(in->view) & views_of(in), "answered whom it is not for");
	must(!(a.flags & PKT_AD) == !(q->ad || q->edns.dnssec_ok), "AD");
	if (in->shared.kind != ROOT_DENIAL)
		check_shared(&in->shared, q, &a, in->full_bytes);
	else if (reason == VOLLEY_HIT_DENIED)
		check_denial(in, q, &a);
	else
		check_body(in, reason, &a);
}

static void check_same(const struct input *in, const struct xdp_md *ctx)
{
	must(ctx->data == (uintptr_t)(ctx->room_start + in->head), "the start of the frame moved");
	must(ctx->data_end - ctx->data == in->n, "the length of the frame changed");
	must(!in->n || !memcmp((const void *)ctx->data, in->frame, in->n), "the frame changed");
}

/* The worker can parse each frame that goes up, and finds the same message. */
static void check_worker(const struct input *in)
{
	struct frame f;

	must(!frame_parse(&f, in->plain, (uint32_t)in->plain_n), "not for the worker");
	must(cpu.tunnel_bytes == 0 || cpu.tunnel_bytes == in->tunnel_bytes, "another tunnel");
	must(f.data_off == in->dns_at && (in->switches & REPAIR_LENGTHS || in->dns_at),
	     "another message");
}

static struct volley_names_line before[ALL_LINES]; /* at the beginning and end of each run */

/* One run, in a room filled with `filler`. Returns the reason. */
static int run(const struct input *in, uint8_t filler, struct xdp_md *ctx, uint8_t *room)
{
	static const int actions[] = { XDP_TX, XDP_PASS, XDP_PASS, XDP_DROP };
	int action, reason;

	memset(&cpu, filler, sizeof(cpu));
	cpu.received = cpu.to_worker = 0;
	cpu.fence = 0;
	cpu.n_deniable = 0; /* it lasts from run to run: one in VOLLEY_CHECK_EVERY goes up */
	memset(cpu.reasons, 0, sizeof(cpu.reasons));
	memset(&shares, 0, sizeof(shares));
	queues[0] = (struct volley_queue){ .limit = LIMIT, .handed = in->behind };
	native_frame(ctx, room, in->head, in->tail, in->frame, in->n);
	ctx->ingress_ifindex = IFINDEX;
	running = in->switches & NO_ENTRY && in->shared.kind != ROOT_DENIAL ? &in->shared : NULL;
	n_reads = 0;
	action = volley(ctx);
	memcpy(names_lines, before, sizeof(before));
	reason = counted_reason();
	if (class_of(reason) == VOLLEY_CLASS_UP && native_has_socket)
		must(action == XDP_REDIRECT && cpu.to_worker == 1, "not given to the socket");
	else
		must(action == actions[class_of(reason)], "the action is not the reason's");
	if (class_of(reason) == VOLLEY_CLASS_DROPPED)
		must(reason == VOLLEY_DROP_OVERLOAD && native_has_socket && in->behind == LIMIT,
		     "dropped without need");
	must(queues[0].handed - in->behind == cpu.to_worker, "not counted as handed over");
	return reason;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct input in;
	static uint8_t rooms[2][ROOM_MAX + FRAME_MAX + ROOM_MAX] __attribute__((aligned(16)));
	enum query_verdict verdict;
	struct xdp_md ctx[2];
	struct query q;
	int reason;

	if (!input_read(&in, data, size))
		return 0;
	verdict = prepare(&in, &q);
	memcpy(before, names_lines, sizeof(before));
	reason = run(&in, 0xff, &ctx[0], rooms[0]);
	if (class_of(reason) <= VOLLEY_CLASS_UP)
		check_worker(&in);
	if (class_of(reason) == VOLLEY_CLASS_HIT)
		check_sent(&in, reason, &ctx[0], &q, verdict);
	else
		check_same(&in, &ctx[0]);
	must(run(&in, 0, &ctx[1], rooms[1]) == reason, "another reason next time");
	must(ctx[0].data_end - ctx[0].data == ctx[1].data_end - ctx[1].data &&
		     (ctx[0].data == ctx[0].data_end ||
		      !memcmp((const void *)ctx[0].data, (const void *)ctx[1].data,
			      ctx[0].data_end - ctx[0].data)),
	     "another frame next time");
	if (class_of(reason) == VOLLEY_CLASS_HIT && !(in.switches & NO_ENTRY))
		check_refresh(&in);
	return 0;
}
