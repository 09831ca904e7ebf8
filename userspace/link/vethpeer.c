/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/vethpeer.h"

#include <errno.h>
#include <stddef.h>

#include "link/link.h"

static int ask_other_end(struct link *other, const struct link *link)
{
	if (link->parent)
		return link_at(other, link->parent, NULL);
	return link->far_parent ? link_at(other, link->far_parent, &link->far_netnsid) : -ENOENT;
}

void vethpeer_look(struct vethpeer *peer, unsigned int ifindex)
{
	struct link link, other;
	int err = link_at(&link, ifindex, NULL);

	*peer = (struct vethpeer){ .kind = err ? VETHPEER_UNSEEN : VETHPEER_NONE, .mtu = -ENOENT };
	if (err || !link_is(&link, "veth"))
		return;
	err = ask_other_end(&other, &link);
	peer->mtu = err ? err : (int)other.mtu;
	if (err)
		peer->kind = VETHPEER_UNSEEN;
	else
		peer->kind = other.has_native_xdp ? VETHPEER_TAKES : VETHPEER_BARE;
}
