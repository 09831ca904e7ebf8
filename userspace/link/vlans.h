/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLANs on an interface, and whether its card strips their tags from received frames (ethtool -k:
 * rx-vlan-offload). A stripped tag is kept beside the frame, for the kernel's stack alone. An XDP
 * program in native mode and an AF_XDP socket in either mode get the frame without it, so a reply
 * leaves untagged. A reply that a generic program sends keeps the tag.
 *
 * Only VLANs that the kernel knows are looked for: the card's filter drops the frames of others.
 */
#ifndef VOLLEY_LINK_VLANS_H
#define VOLLEY_LINK_VLANS_H

#include <net/if.h>
#include <stdbool.h>

#include "link/link.h"

/*
 * True if a VLAN of this network namespace is on the link, or on the link's bridge or bond; writes
 * its name. False if the kernel does not answer. Any thread.
 */
bool vlans_find(const struct link *link, char name[IF_NAMESIZE]);

/* True if a message of an RTM_GETLINK dump describes such a VLAN. */
bool vlans_is_on(const struct link *link, const struct nlmsghdr *message);

/*
 * True if tags are stripped from the link's frames; for a bond, by any of its members. On a veth
 * the tags are where its peer has put them. False if the kernel does not answer. Any thread.
 */
bool vlans_are_taken_out(const struct link *link, const char *ifname);

#endif
