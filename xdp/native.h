/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's side for a native build of the XDP program: a frame in memory with room before and
 * behind it, the helpers that the program calls, and maps in memory. So the same code runs under
 * sanitizers and a fuzzer (tests/fuzz/fuzz_xdp.c). They find faults that the verifier does not:
 * loads that are in bounds but not aligned, overflows, reads of bytes that were never written.
 *
 *   room_start          data                data_end           room_end
 *       │  head room      │      frame          │    tail room    │
 *
 * A source file includes this first, then volley.bpf.c or some of its headers; linux/bpf.h,
 * bpf_helpers.h and bpf_endian.h are then empty. For one thread. The memory outside the frame is
 * poisoned for AddressSanitizer: exactly behind the frame, to within 8 octets before it.
 */
#ifndef VOLLEY_XDP_NATIVE_H
#define VOLLEY_XDP_NATIVE_H

#if defined(__LINUX_BPF_H__) || defined(__BPF_HELPERS__)
#error "native.h comes before linux/bpf.h and bpf_helpers.h"
#endif
#define __LINUX_BPF_H__
#define __BPF_HELPERS__
#define __BPF_ENDIAN__

#include <errno.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define NATIVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NATIVE_ASAN 1
#endif
#endif
#ifdef NATIVE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(addr, size)   ((void)(addr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#endif

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* unroll, clang's */
#endif

enum xdp_action { XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT };

enum native_map_types {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_XSKMAP = 17,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_RB_NO_WAKEUP = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_F_INNER_MAP = 4096,
};

/* Here addresses have all their bits, not 32. */
struct xdp_md {
	uintptr_t data;
	uintptr_t data_end;
	__u32 rx_queue_index;
	__u32 ingress_ifindex;
	uint8_t *room_start;
	uint8_t *room_end;
};

/* The fields of linux/bpf.h that are used. */
struct bpf_fib_lookup {
	__u8 family;
	__u8 l4_protocol;
	__be16 sport;
	__be16 dport;
	__u16 tot_len;
	__u32 ifindex;
	__be32 flowinfo;
	union {
		__be32 ipv4_src;
		__u32 ipv6_src[4];
	};
	union {
		__be32 ipv4_dst;
		__u32 ipv6_dst[4];
	};
	__be16 h_vlan_proto;
	__be16 h_vlan_TCI;
	__u8 smac[6];
	__u8 dmac[6];
};

#define SEC(name)
#undef __noinline
#define __noinline __attribute__((noinline, no_sanitize("alignment")))
/*
 * A frame that grew at its head by an odd number begins at an odd address. The program is made for
 * x86 and arm64, which allow loads from there.
 */
#undef __always_inline
#define __always_inline    inline __attribute__((always_inline, no_sanitize("alignment")))
#define __uint(name, val)  int(*name)[val]
#define __type(name, val)  typeof(val) *name
#define __array(name, val) typeof(val) *name[]

static inline __u16 bpf_htons(__u16 host)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(host) : host;
}

static inline __u32 bpf_htonl(__u32 host)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(host) : host;
}

static inline __u64 bpf_cpu_to_be64(__u64 host)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(host) : host;
}

#define bpf_ntohs       bpf_htons
#define bpf_ntohl       bpf_htonl
#define bpf_be64_to_cpu bpf_cpu_to_be64

/*
 * A declared map and its memory. An array is its values in order. A trie is pairs of a key (length
 * of the prefix in bits, __u32 in host order, then octets) and a value. An inner map is a value of
 * the outer one, and its address is the inner map's.
 */
struct native_map {
	const void *map; /* address of the variable in SEC(".maps") */
	void *memory;
	size_t value_bytes;
	__u32 n_values;
	size_t key_bytes; /* of a trie; 0: an array */
};

#define NATIVE_MAPS_MAX   24
#define NATIVE_RECORD_MAX 64
static struct native_map native_maps[NATIVE_MAPS_MAX];
static uint8_t native_record[NATIVE_RECORD_MAX]; /* the last one put into a ring */
static unsigned int native_n_records;
static long native_fib_result;
static struct bpf_fib_lookup native_fib; /* the result of the routing table */
static __u64 native_now_ns;
static __u64 native_jiffies;
static int native_has_socket; /* of every queue */

static inline void native_poison(const struct xdp_md *ctx)
{
	uint8_t *data = (uint8_t *)ctx->data;
	uint8_t *end = (uint8_t *)ctx->data_end;

	ASAN_POISON_MEMORY_REGION(ctx->room_start, (size_t)(ctx->room_end - ctx->room_start));
	ASAN_UNPOISON_MEMORY_REGION(data, (size_t)(end - data));
}

/* Puts n octets into `room`, with `head` octets before and `tail` behind. Unpoison the room
 * afterwards. */
static inline void native_frame(struct xdp_md *ctx, uint8_t *room, size_t head, size_t tail,
				const uint8_t *frame, size_t n)
{
	ASAN_UNPOISON_MEMORY_REGION(room, head + n + tail);
	memset(room, 0xa5, head + n + tail);
	if (n)
		memcpy(room + head, frame, n);
	*ctx = (struct xdp_md){
		.data = (uintptr_t)(room + head),
		.data_end = (uintptr_t)(room + head + n),
		.room_start = room,
		.room_end = room + head + n + tail,
	};
	native_poison(ctx);
}

static inline int native_begins_with(const uint8_t *octets, const uint8_t *prefix, __u32 bits)
{
	uint8_t last = (uint8_t)(0xff00 >> bits % 8); /* mask of the bits in the last octet */

	return !memcmp(octets, prefix, bits / 8) &&
	       (!last || !((octets[bits / 8] ^ prefix[bits / 8]) & last));
}

/* Not inlined: else the compiler warns that an array's key is read as a prefix. */
static __attribute__((noinline, unused)) void *native_longest(const struct native_map *m,
							      const void *key)
{
	uint8_t *pair = m->memory, *best = NULL;
	__u32 i, bits, best_bits = 0;

	for (i = 0; i < m->n_values; i++, pair += m->key_bytes + m->value_bytes) {
		memcpy(&bits, pair, sizeof(bits));
		if ((best && bits <= best_bits) ||
		    !native_begins_with((const uint8_t *)key + sizeof(bits), pair + sizeof(bits),
					bits))
			continue;
		best = pair + m->key_bytes;
		best_bits = bits;
	}
	return best;
}

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	const struct native_map *m = native_maps;
	__u32 i;

	while (m < native_maps + NATIVE_MAPS_MAX && m->map != map)
		m++;
	if (m == native_maps + NATIVE_MAPS_MAX)
		return NULL;
	if (m->key_bytes)
		return native_longest(m, key);
	memcpy(&i, key, sizeof(i));
	return i < m->n_values ? (uint8_t *)m->memory + i * m->value_bytes : NULL;
}

/* A record that nobody reads. */
static inline void *bpf_ringbuf_reserve(const void *map, __u64 n, __u64 flags)
{
	static __u64 record[512];

	(void)map;
	(void)flags;
	return n <= sizeof(record) ? record : NULL;
}

static inline void bpf_ringbuf_submit(const void *record, __u64 flags)
{
	(void)record;
	(void)flags;
}

static inline long bpf_ringbuf_output(const void *map, const void *data, __u64 n, __u64 flags)
{
	(void)map;
	(void)flags;
	if (n > sizeof(native_record))
		return -EINVAL;
	memcpy(native_record, data, n);
	native_n_records++;
	return 0;
}

static inline long bpf_redirect_map(const void *map, __u64 key, __u64 flags)
{
	(void)map;
	(void)key;
	return native_has_socket ? XDP_REDIRECT : (long)flags;
}

static inline long bpf_fib_lookup(struct xdp_md *ctx, struct bpf_fib_lookup *fib, int n,
				  __u32 flags)
{
	(void)ctx;
	(void)n;
	(void)flags;
	fib->ifindex = native_fib.ifindex;
	memcpy(fib->dmac, native_fib.dmac, sizeof(fib->dmac));
	return native_fib_result;
}

static inline __u64 bpf_xdp_get_buff_len(struct xdp_md *ctx)
{
	return ctx->data_end - ctx->data;
}

static inline __u64 bpf_ktime_get_ns(void)
{
	return native_now_ns;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static inline __u64 bpf_ktime_get_coarse_ns(void)
{
	return native_now_ns;
}

static inline __u64 bpf_jiffies64(void)
{
	return native_jiffies;
}

/* Any number will do: the choice of the hits to note changes no answer. */
static inline __u32 bpf_get_prandom_u32(void)
{
	static __u32 number;

	return number++;
}

/* `each` is long (*)(__u32, TYPE *), called with `context`. */
#define bpf_loop(n, each, context, flags)                                \
	({                                                               \
		__u32 loop_n_ = (n), loop_i_ = 0;                        \
		while (loop_i_ < loop_n_ && !(each)(loop_i_, (context))) \
			loop_i_++;                                       \
		(void)(flags);                                           \
	})

#define NATIVE_ETH_BYTES 14 /* a frame does not become shorter than this */

static inline long bpf_xdp_adjust_tail(struct xdp_md *ctx, int delta)
{
	intptr_t end = (intptr_t)ctx->data_end + delta;

	if (end > (intptr_t)ctx->room_end || end < (intptr_t)ctx->data + NATIVE_ETH_BYTES)
		return -EINVAL;
	ASAN_UNPOISON_MEMORY_REGION((uint8_t *)ctx->data_end, delta > 0 ? (size_t)delta : 0);
	if (delta > 0)
		memset((uint8_t *)ctx->data_end, 0, (size_t)delta);
	ctx->data_end = (uintptr_t)end;
	native_poison(ctx);
	return 0;
}

static inline long bpf_xdp_adjust_head(struct xdp_md *ctx, int delta)
{
	intptr_t data = (intptr_t)ctx->data + delta;

	if (data < (intptr_t)ctx->room_start || data > (intptr_t)ctx->data_end - NATIVE_ETH_BYTES)
		return -EINVAL;
	ctx->data = (uintptr_t)data;
	native_poison(ctx);
	return 0;
}

static inline int native_is_inside(const struct xdp_md *ctx, __u32 offset, __u32 n)
{
	return n && (size_t)offset + n <= ctx->data_end - ctx->data;
}

static inline long bpf_xdp_load_bytes(struct xdp_md *ctx, __u32 offset, void *to, __u32 n)
{
	if (!native_is_inside(ctx, offset, n))
		return -EINVAL;
	memcpy(to, (uint8_t *)ctx->data + offset, n);
	return 0;
}

static inline long bpf_xdp_store_bytes(struct xdp_md *ctx, __u32 offset, const void *from, __u32 n)
{
	if (!native_is_inside(ctx, offset, n))
		return -EINVAL;
	memcpy((uint8_t *)ctx->data + offset, from, n);
	return 0;
}

int volley(struct xdp_md *ctx);

#endif
