/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges about once a second, from counters, whether replies really leave, and decides when to try
 * again if not. Pure: iface_guard.c reads the counters and acts.
 *
 *      AF_XDP socket   stuck: frames wait in its TX ring, and for a second the kernel takes none of
 *                      them; or it took half a ring and completes none. Fewer frames prove nothing:
 *                      drivers may complete many at a time, much later.
 *      hits            some are lost: in two rounds in a row, of at least LEAVING_HITS hits each,
 *                      the driver drops a tenth. All are lost: in two such rounds it drops nine
 *                      tenths, or a tenth of fewer than LEAVING_SLOW hits a second. (More hits may
 *                      be too many for any card.)
 *
 *      FLOWS ── stuck or lost ──► BARRED ── the pause is over, or the link has changed ──► FLOWS
 *
 * The first pause is LEAVING_PAUSE_MIN_S, each next pause is twice as long. After
 * LEAVING_PAUSE_MAX_S without a fault the pauses begin anew. A link that is down or has no carrier
 * is not judged.
 */
#ifndef VOLLEY_IFACE_LEAVING_H
#define VOLLEY_IFACE_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

#include "port/xsk.h"
#include "xdp/abi.h"

#define LEAVING_STUCK_NS    1000000000ull
#define LEAVING_HITS        16u
#define LEAVING_SLOW        1000u
#define LEAVING_PAUSE_MIN_S 16u
#define LEAVING_PAUSE_MAX_S 1024u

/* The pause after a fault. */
struct leaving_pause {
	uint64_t until_ns; /* 0: it is not barred */
	uint64_t tried_ns; /* time of the last try */
	uint32_t s;        /* the last pause */
};

struct leaving_queue {
	struct xsk_sent last;
	uint64_t since_ns; /* since when frames wait and none moves; 0: not */
	struct leaving_pause pause;
};

enum leaving_verdict { LEAVING_WELL, LEAVING_SOME_LOST, LEAVING_ALL_LOST };

struct leaving_hits {
	uint64_t n_hits, n_lost;          /* at the end of the round before */
	uint64_t round_ns;                /* when that round ended */
	unsigned int n_good, n_bad, n_no; /* rounds in a row: good, a tenth lost, all lost */
	enum leaving_verdict verdict;
	bool is_begun;
	struct leaving_pause pause;
};

struct leaving {
	struct leaving_queue queues[VOLLEY_QUEUES];
	struct leaving_hits hits;
};

/* A socket was opened on the queue. */
void leaving_open(struct leaving_queue *q, uint64_t now_ns);

/* True if the socket is stuck, by the current counters of its ring. The queue is then barred. */
bool leaving_is_stuck(struct leaving_queue *q, const struct xsk_sent *sent, uint64_t now_ns);

/* The link cannot send now, so waiting frames prove nothing. */
void leaving_excuse(struct leaving_queue *q);

/* Counts hits from here on. */
void leaving_begin_hits(struct leaving_hits *h, uint64_t n_hits, uint64_t n_lost, uint64_t now_ns);

/* Judges whether hits leave, by counters that only grow. With LEAVING_ALL_LOST hits are barred. */
enum leaving_verdict leaving_judge_hits(struct leaving_hits *h, uint64_t n_hits, uint64_t n_lost,
					uint64_t now_ns);

/* True if it is too early to try again. */
bool leaving_is_barred(const struct leaving_pause *pause, uint64_t now_ns);

/* The link has changed: ends all pauses. */
void leaving_forgive(struct leaving *leaving);

#endif
