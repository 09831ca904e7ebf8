/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether what is given to send leaves: judged by numbers that are looked at about once a second,
 * and when to try again what did not. Pure: iface_guard.c reads the numbers and acts.
 *
 *      of an AF_XDP socket   stuck: frames wait in its TX ring, and the kernel takes none of them for a
 *                            second; or it took half a ring and completes none. Fewer prove
 *                            nothing: drivers may complete many at a time, much later.
 *      of hits               in two rounds in a row, of at least LEAVING_HITS hits each, the driver drops
 *                            a tenth: some are lost. Many at a time may be too many for any card,
 *                            so all count as lost only with nine tenths, or where there are fewer
 *                            than LEAVING_SLOW a second.
 *
 *      FLOWS ── stuck or lost ──► BARRED ── the pause is over, or the link has changed ──► FLOWS
 *
 * Each pause is twice the one before, from LEAVING_PAUSE_MIN_S on; what has worked for as long as
 * the longest begins anew. A link that is down, or without carrier, is not judged.
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

/* When what did not work may be tried again. */
struct leaving_pause {
	uint64_t until_ns; /* 0: it is not barred */
	uint64_t tried_ns; /* when it was tried last */
	uint32_t s;        /* the last pause */
};

struct leaving_queue {
	struct xsk_sent last;
	uint64_t since_ns; /* frames have been waiting, and nothing has moved; 0: no */
	struct leaving_pause pause;
};

enum leaving_verdict { LEAVING_WELL, LEAVING_SOME_LOST, LEAVING_ALL_LOST };

struct leaving_hits {
	uint64_t n_hits, n_lost; /* at the end of the round before */
	uint64_t round_ns;       /* when that was */
	unsigned int n_good, n_bad,
		n_no; /* rounds in a row: all well, a tenth lost, as good as all */
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

/* Whether it is stuck, by its ring's numbers of now. It is barred then. */
bool leaving_is_stuck(struct leaving_queue *q, const struct xsk_sent *sent, uint64_t now_ns);

/* The link cannot send anyway: what waits proves nothing. */
void leaving_excuse(struct leaving_queue *q);

/* Hits are counted from here on. */
void leaving_begin_hits(struct leaving_hits *h, uint64_t n_hits, uint64_t n_lost, uint64_t now_ns);

/* Whether hits leave, by counters that only grow. With LEAVING_ALL_LOST they are barred. */
enum leaving_verdict leaving_judge_hits(struct leaving_hits *h, uint64_t n_hits, uint64_t n_lost,
					uint64_t now_ns);

/* Whether it is too early to try again. */
bool leaving_is_barred(const struct leaving_pause *pause, uint64_t now_ns);

/* The link has changed: everything may be tried at once. */
void leaving_forgive(struct leaving *leaving);

#endif
