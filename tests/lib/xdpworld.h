/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For cmocka: the XDP program with a small cache, sent frames by test run, each judged.
 *
 *   frame ─► BPF_PROG_TEST_RUN ─► action, frame   and the one counter that moved
 *
 * A group opens one world and each test takes it with xdp_world_take(), which skips the test where
 * the privilege is missing, and finds it as new: empty cache, no clients, both lab addresses
 * served, driver answers on. Whatever fails here fails the test.
 */
#ifndef VOLLEY_TESTS_LIB_XDPWORLD_H
#define VOLLEY_TESTS_LIB_XDPWORLD_H

#include "tests/lib/bpfmaps.h"
#include "tests/lib/entry.h"
#include "tests/lib/packet.h"

#define XDP_WORLD_BUCKETS  64u
#define XDP_WORLD_SEGMENTS 8u
#define XDP_WORLD_ZONES    16u
#define XDP_WORLD_MAX_UDP  1232u

struct xdp_world {
	struct bpfmaps maps;
	uint32_t next; /* location of the next entry */
	struct volley_cpu counted;
};

/* What came out. */
struct xdp_result {
	int action; /* XDP_* */
	int reason; /* VOLLEY_* */
	size_t bytes;
	uint8_t frame[PKT_FRAME_MAX];
};

/* Setup and teardown of a group. */
int xdp_world_open(void **state);
int xdp_world_open_frags(void **state); /* the program takes frames in several buffers */
int xdp_world_close(void **state);

/*
 * The same for a test that opens maps and engines of its own: its thread may call engines, and
 * *state is NULL where this process may not load programs.
 */
int xdp_engines_open(void **state);
int xdp_engines_close(void **state);

/* The program answers for the addresses to which pkt_ipv4 and pkt_ipv6 go. The cache is set up
 * already. */
void xdp_serve(struct volley_state *state);

struct xdp_world *xdp_world_take(void **state);

/* The same with one answer in the cache, of 40 octets, 20 of them short, for this name in wire
 * form. */
struct xdp_world *xdp_world_take_with(void **state, const uint8_t *name);

/* Puts an answer into the cache, into a free slot of its first bucket. Its entry. */
struct volley_entry *xdp_world_put(struct xdp_world *w, const struct entry *e);

/* The reason that was counted since the last look; fails if not exactly one frame was. */
int xdp_world_counted(struct xdp_world *w);

/* One frame; fails if not exactly one reason was counted. */
void xdp_world_run(struct xdp_world *w, const uint8_t *frame, size_t n, struct xdp_result *r);

/* The frame must come out as it went in, with XDP_PASS and this reason. `what` names the case. */
void xdp_expect_unchanged(struct xdp_world *w, const char *what, const uint8_t *frame, size_t n,
			  int reason);

/* The frame must be answered, and rightly so (pkt_check_answer), with this reason. */
void xdp_expect_answer(struct xdp_world *w, const char *what, const uint8_t *frame, size_t n,
		       int reason, struct xdp_result *r, struct pkt_answer *a);

/* The clock that the program reads, once a jiffy: nanoseconds. */
uint64_t xdp_coarse_ns(void);

/*
 * Its second, once two hundredths of that are over: the program may be a jiffy behind, since a
 * processor may see the kernel's jiffies before the clock that they move.
 */
uint32_t xdp_coarse_s(void);

/* The same of another clock, which is `ahead_ns` ahead of this one, modulo 2^64: its second, modulo
 * 2^32. */
uint32_t xdp_ahead_s(uint64_t ahead_ns);

const char *xdp_reason_name(int reason);

#endif
