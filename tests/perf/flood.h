/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by floodgen and flood.bpf.c: one frame of the flood, which gets a new forged source each
 * time, and frames of honest clients, which are sent unchanged, each in a class. Numbers are in
 * host order unless a type says otherwise.
 */
#ifndef VOLLEY_TESTS_PERF_FLOOD_H
#define VOLLEY_TESTS_PERF_FLOOD_H

#include <linux/types.h>

#define FLOOD_FRAMES_CAP  4096
#define FLOOD_FRAME_BYTES 128

enum flood_class { FLOOD_FORGED, FLOOD_PLAIN, FLOOD_COOKIE, FLOOD_CLASSES };

/*
 * An IPv4 frame with id 0, source port 0 and whole checksums; the flood's has source 0.0.0.0 too.
 * The file that floodgen reads is an array of these, the flood's first.
 */
struct flood_frame {
	__u32 bytes;
	__u32 class;
	__u8 frame[FLOOD_FRAME_BYTES];
};

/* Set before the program is loaded. */
struct flood_config {
	__u32 n_frames; /* with the one of the flood */
	__u32 ifindex;
	__u32 burst;
	__u32 honest_every; /* one query in so many is an honest one; 1: all are */
	__u32 net;          /* prefix of the forged sources */
	__u32 mask;
	__u32 in_turn; /* not 0: each source once before one repeats; else random */
	__u64 ns_per_burst;
};

struct flood_sums {
	__u64 sent;
	__u64 sent_dns_octets;
	__u64 sent_ip_octets;
	__u64 replies;
	__u64 dns_octets;
	__u64 ip_octets;
	__u64 whole; /* replies with NOERROR and an answer */
	__u64 truncated;
	__u64 badcookie;
};

/* The counters of one CPU. */
struct flood_counters {
	struct flood_sums classes[FLOOD_CLASSES];
	__u64 late;
};

#endif
