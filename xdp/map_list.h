/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program's maps. xdp/abi.h says what each of them holds; blocked.h, tap.h and options.h have
 * four more, beside the functions that use them.
 *
 *   map             written by                               entries, octets
 *   volley_abi_10   control, heartbeat                       1 of 101520
 *   volley_index    writers, keeper                          buckets of 64
 *   volley_store    writers, keeper; freq: every reader      segments of 256 KiB
 *   volley_zones    control                                  zones of 64
 *   volley_clients  control                                  up to 65,536 of 24
 *   volley_refresh  program                                  a ring of 64 KiB
 *   volley_rrl      control; its list: program, workers      1 of 57800
 *   volley_loads    program, workers                         65,536 of 64
 *   volley_blocks   control                                  1: an array of chunks of 2 MiB
 *   volley_blocked  program                                  1 of 2048 for each CPU
 *   volley_taps     program                                  16 rings of 4 MiB, if any is used
 *   volley_names    control                                  cache.names and cache.intervals, in
 *                                                            lines of 64; at least 1024
 *   volley_link     control; next hops: program              1 of 792
 *   volley_cpu      program                                  5 of 16240 for each CPU
 *   xsks_map        libxdp                                   64 queues
 *   volley_queues   program, workers                         64 of 128
 *   volley_near     program                                  1 of 32768 for each CPU
 *   volley_shares   program                                  1 of 32768 for each CPU
 *   volley_cookies  program                                  1 of 24576 for each CPU
 *
 * The first twelve are one for all interfaces; the last seven belong to the program of one
 * interface. The first four are the cache. They are mapped into the daemon, so publishing is a
 * memory write, and their sizes follow cache.size (userspace/cache/sizes.c). volley_cpu has rooms 1
 * to 4 for real-time kernels (docs/decisions/0027). No map is pinned: maps live as long as a
 * program or a daemon holds them. Without BPF the same code runs over anonymous memory
 * (userspace/cache/memory.c).
 */
#ifndef VOLLEY_XDP_MAP_LIST_H
#define VOLLEY_XDP_MAP_LIST_H

#include "xdp/abi.h"
#include "xdp/lookup.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_state);
} volley_abi_10 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_BUCKETS);
	__type(key, __u32);
	__type(value, struct bucket);
} volley_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_SEGMENTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, VOLLEY_SEGMENT_BYTES);
} volley_store SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_ZONES);
	__type(key, __u32);
	__type(value, struct volley_zone);
} volley_zones SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, VOLLEY_CLIENTS_MAX);
	__type(key, struct volley_client);
	__type(value, __u32);
} volley_clients SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, VOLLEY_REFRESH_BYTES);
} volley_refresh SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_rrl);
} volley_rrl SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_RRL_LINES);
	__type(key, __u32);
	__type(value, struct volley_rrl_line);
} volley_loads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_DEFAULT_NAMES_LINES);
	__type(key, __u32);
	__type(value, struct volley_names_line);
} volley_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_link);
} volley_link SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VOLLEY_ROOMS);
	__type(key, __u32);
	__type(value, struct volley_cpu);
} volley_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, VOLLEY_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, VOLLEY_QUEUES);
	__type(key, __u32);
	__type(value, struct volley_queue);
} volley_queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_near);
} volley_near SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct volley_shares);
} volley_shares SEC(".maps");

#endif
