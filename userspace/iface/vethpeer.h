/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other end of a veth pair: whether it takes what an XDP program of this end answers (XDP_TX).
 *
 * The kernel's veth.c puts such a frame into a ring of the other end, and wakes that end only if a
 * native XDP program is there (veth_xdp_flush()). Without one the frame waits until an ordinary
 * frame comes; where the end has no NAPI either (GRO is off), it is dropped (veth_xdp_xmit()),
 * which `xdp_tx_errors` counts. A new pair is like that.
 */
#ifndef VOLLEY_IFACE_VETHPEER_H
#define VOLLEY_IFACE_VETHPEER_H

#include <stdint.h>

enum vethpeer_kind {
	VETHPEER_NONE, /* the link is no veth */
	/* in a network namespace that we may not look into, or the kernel did not answer */
	VETHPEER_UNSEEN,
	VETHPEER_BARE, /* it has no native XDP program */
	VETHPEER_TAKES,
};

struct vethpeer {
	enum vethpeer_kind kind;
	int mtu; /* < 0: not to be seen, -errno */
};

/* Asks rtnetlink, in the network namespace that the caller is in: two questions for a veth. Any
 * thread. */
void vethpeer_look(struct vethpeer *peer, unsigned int ifindex);

#endif
