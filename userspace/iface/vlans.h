/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLANs that stand on an interface, and whether its card takes their tags out of the frames that
 * come in (ethtool -k: rx-vlan-offload). Such a tag is beside the frame, for the kernel's stack
 * alone: an XDP program in native mode and an AF_XDP socket in either mode get the frame without
 * it, so a reply leaves untagged. What a generic program sends itself keeps the tag.
 *
 * A VLAN whose tag a card takes out without a VLAN of the kernel on it is not looked for: the
 * card's filter lets no such frame in.
 */
#ifndef VOLLEY_IFACE_VLANS_H
#define VOLLEY_IFACE_VLANS_H

#include <net/if.h>
#include <stdbool.h>

#include "iface/linkinfo.h"

/*
 * Whether a VLAN of this network namespace stands on the link, or on the bridge or bond that it is
 * a member of; its name. False where the kernel does not say. Any thread.
 */
bool vlans_find(const struct linkinfo *link, char name[IF_NAMESIZE]);

/* Whether a message of an RTM_GETLINK dump is of such a VLAN. */
bool vlans_is_on(const struct linkinfo *link, const struct nlmsghdr *message);

/*
 * Whether tags are taken out of the link's frames; of a bond's, in any of its members. A veth's
 * tags are where its peer has put them. False where the kernel does not say. Any thread.
 */
bool vlans_are_taken_out(const struct linkinfo *link, const char *ifname);

#endif
