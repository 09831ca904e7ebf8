/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by xdpgen and gen.bpf.c. Numbers are in host order unless a type says otherwise. */
#ifndef VOLLEY_TESTS_PERF_GEN_H
#define VOLLEY_TESTS_PERF_GEN_H

#include <linux/types.h>

#define GEN_QUERIES_CAP 262144
#define GEN_FRAME_BYTES 116 /* longer queries are left out of a list */
#define GEN_TICK_SHIFT  10  /* ids and latencies are in ticks of 1,024 ns, and wrap after 67 ms */
#define GEN_TICKS       65536
#define GEN_LETTERS     8 /* of a random label */

/* A frame with id 0 and source port 0, and the sum that its UDP checksum covers. */
struct gen_query {
	__u32 bytes;
	__u32 sum;
	__u8 frame[GEN_FRAME_BYTES + 4];
};

/* Set before the program is loaded. */
struct gen_config {
	__u32 n_queries;
	__u32 ifindex;
	__u32 udp_offset;
	__u32 burst;        /* queries sent at once, at least 1 */
	__u64 ns_per_burst; /* 0: as fast as possible */
	__u32 draw;         /* not 0: the first label is a number below this (front_label()) */
	__u32 name_offset;  /* of that label, in the frame; even */
	__u32 once;         /* not 0: nothing is sent after the last query of the list */
	__u32 fresh;        /* not 0: names one after the other, put into the first frame */
	__u32 fresh_first;  /* the number of the first of them */
	/* with fresh: one in so many queries is of the list, which follows the first frame; 0:
	 * none */
	__u32 listed_every;
	__u32 random_n;     /* so many of random_of queries have a random first label */
	__u32 random_of;    /* 0: none has */
	__u32 random_first; /* the number of the first query's label */
	__u32 latency;      /* not 0: the latency of each reply is counted */
	__u32 echo;         /* not 0: a reply need not have QR */
};

/* The counters of one CPU. */
struct gen_counters {
	__u64 sent;
	__u64 late; /* bursts that were skipped since the generator could not keep the pace */
	__u64 replies;
	__u64 reply_bytes; /* of frames */
	__u64 truncated;
	__u64 listed_sent; /* with names of the list: all, unless fresh or random is set */
	__u64 listed_replies;
	__u64 rcodes[16];
};

_Static_assert(sizeof(struct gen_query) == 128, "two cache lines");

#endif
