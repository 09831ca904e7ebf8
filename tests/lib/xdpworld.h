/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For cmocka: the XDP program with a small cache; frames are sent by test run, and each result is
 * checked.
 *
 *   frame ─► BPF_PROG_TEST_RUN ─► action, frame   and the one counter that moved
 *
 * A group opens one world. Each test gets it with xdp_world_take(), which skips the test without
 * the privilege. The world is then as new: empty cache, no clients, both lab addresses served,
 * driver answers on. A failure here fails the test.
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

/* The result of a run. */
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
 * The same for a test that opens its own maps and engines: its thread may call engines. *state is
 * NULL if this process may not load programs.
 */
int xdp_engines_open(void **state);
int xdp_engines_close(void **state);

/* Adds the destinations of pkt_ipv4 and pkt_ipv6 as service addresses. The cache must be set up. */
void xdp_serve(struct volley_state *state);

struct xdp_world *xdp_world_take(void **state);

/* The same with one answer of 40 octets in the cache, 20 in its short body, for this name in wire
 * form. */
struct xdp_world *xdp_world_take_with(void **state, const uint8_t *name);

/* Puts an answer into the cache, in a free slot of its first bucket. Returns its entry. */
struct volley_entry *xdp_world_put(struct xdp_world *w, const struct entry *e);

/* The reason of the one frame since the last call; fails unless exactly one was counted. */
int xdp_world_counted(struct xdp_world *w);

/* Sends one frame; fails unless exactly one reason was counted. */
void xdp_world_run(struct xdp_world *w, const uint8_t *frame, size_t n, struct xdp_result *r);

/* The frame must pass unchanged (XDP_PASS), with this reason. `what` names the case. */
void xdp_expect_unchanged(struct xdp_world *w, const char *what, const uint8_t *frame, size_t n,
			  int reason);

/* The frame must get a right answer (pkt_check_answer), with this reason. */
void xdp_expect_answer(struct xdp_world *w, const char *what, const uint8_t *frame, size_t n,
		       int reason, struct xdp_result *r, struct pkt_answer *a);

/* The clock that the program reads once a jiffy, in nanoseconds. */
uint64_t xdp_coarse_ns(void);

/*
 * Its second, after waiting until two hundredths of it are over: the program may be a jiffy behind,
 * since a processor may see the kernel's jiffies before the clock that they move.
 */
uint32_t xdp_coarse_s(void);

/* The same for a clock that is `ahead_ns` ahead of this one, modulo 2^64: its second, modulo
 * 2^32. */
uint32_t xdp_ahead_s(uint64_t ahead_ns);

const char *xdp_reason_name(int reason);

#endif
