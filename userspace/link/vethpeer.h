/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other end of a veth pair: does it receive the answers of an XDP program on this end (XDP_TX)?
 *
 * The kernel's veth.c puts such a frame into a ring of the other end, and wakes that end only if it
 * has a native XDP program (veth_xdp_flush()). Without one the frame waits until something else
 * wakes that end, and a full ring may stop the link (bpf/tiny_programs.h). If that end has no NAPI
 * either (GRO is off, as on a new pair), the frame is dropped (veth_xdp_xmit()) and counted in
 * `xdp_tx_errors`.
 */
#ifndef VOLLEY_LINK_VETHPEER_H
#define VOLLEY_LINK_VETHPEER_H

#include <stdint.h>

enum vethpeer_kind {
	VETHPEER_NONE, /* the link is no veth */
	/* in a network namespace that volleyd may not enter, or the kernel did not answer */
	VETHPEER_UNSEEN,
	VETHPEER_BARE, /* it has no native XDP program: answers are lost */
	VETHPEER_TAKES,
};

struct vethpeer {
	enum vethpeer_kind kind;
	int mtu; /* < 0: not known, -errno */
};

/* Asks rtnetlink, in the caller's network namespace: two questions for a veth. Any thread. */
void vethpeer_look(struct vethpeer *peer, unsigned int ifindex);

#endif
