/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that the XDP program still sees the frames of its interface. A network driver can lose the
 * program while the kernel still lists it as attached, so only counters of frames show it:
 *
 *      interface's rx_packets      program's `received`      the program
 *      grows                       grows                     sees frames
 *      stands still                -                         cannot be judged
 *      grows, in two looks         stands still              is lost: attached again
 *      still grows after that      stands still              is not run by the driver: a fault
 *
 * vmxnet3 does this (Linux 6.6 to 7.3 at least): whenever it stops the card (link down, new MTU,
 * new rings), vmxnet3_rq_cleanup_all() sets its pointer to the program to NULL.
 *
 * Only native mode is watched: the kernel itself runs a generic program.
 */
#ifndef VOLLEY_IFACE_UNSEEN_H
#define VOLLEY_IFACE_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

enum unseen_state {
	UNSEEN_UNKNOWN, /* too few frames have come in */
	UNSEEN_NONE,    /* the program sees frames */
	UNSEEN_LOST,    /* it sees none, and must be attached again */
	UNSEEN_STILL,   /* it sees none, although it was attached again */
};

struct unseen {
	bool is_begun;
	bool is_renewed; /* UNSEEN_LOST was returned, and no frame was seen since */
	uint64_t looked_at_ns;
	uint64_t n_rx, n_received; /* at that time */
	uint64_t n_frames;         /* that came in since the program last saw one */
	uint32_t n_looks;          /* that found such frames in n_rx */
};

/*
 * Judges the two counters, at most once a second. An earlier call returns UNSEEN_UNKNOWN, as does a
 * call whose counters went backwards. Read n_rx before n_received, so that each frame in the first
 * is also in the second. Initialise the struct with zeros.
 */
enum unseen_state unseen_take(struct unseen *unseen, uint64_t n_rx, uint64_t n_received,
			      uint64_t now_ns);

/* True if unseen_take() would look at the counters now. */
bool unseen_is_due(const struct unseen *unseen, uint64_t now_ns);

#endif
