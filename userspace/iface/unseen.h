/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the XDP program still sees the frames of its interface. A driver can lose a program that
 * the kernel goes on naming, so nothing but the frames tells:
 *
 *      interface's rx_packets      program's `received`      the program
 *      grows                       grows                     sees frames
 *      stands still                -                         nothing can be said
 *      grows, in two looks         stands still              is lost: attached anew
 *      goes on so after that       stands still              the driver does not run it: said as a fault
 *
 * vmxnet3 is such a driver (Linux 6.6 to 7.3 at least): whenever it stops the card, for a link that
 * goes down, another MTU or other rings, vmxnet3_rq_cleanup_all() sets its pointer to the program
 * to NULL.
 *
 * Native mode alone is watched: a generic program is run by the kernel itself.
 */
#ifndef VOLLEY_IFACE_UNSEEN_H
#define VOLLEY_IFACE_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

enum unseen_state {
	UNSEEN_UNKNOWN, /* nothing has come in, or not enough to judge */
	UNSEEN_NONE,    /* the program sees frames */
	UNSEEN_LOST,    /* it sees none, and has to be attached anew */
	UNSEEN_STILL,   /* it sees none, although it was */
};

struct unseen {
	bool is_begun;
	bool is_renewed; /* UNSEEN_LOST has been said, and no frame was seen since */
	uint64_t looked_at_ns;
	uint64_t n_rx, n_received; /* as they were then */
	uint64_t n_frames;         /* that came in since the program saw one */
	uint32_t n_looks;          /* that found such frames */
};

/*
 * What the two counters say, at most once a second; a call that comes sooner, or whose counters
 * went backwards, says UNSEEN_UNKNOWN. n_rx is read before n_received: a frame that is in the first
 * is then in the second. Zeros are the state before the first call.
 */
enum unseen_state unseen_take(struct unseen *unseen, uint64_t n_rx, uint64_t n_received,
			      uint64_t now_ns);

/* Whether unseen_take() would look at the counters now. */
bool unseen_is_due(const struct unseen *unseen, uint64_t now_ns);

#endif
