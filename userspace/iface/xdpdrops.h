/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many answers of an XDP program (XDP_TX) a network driver dropped instead of sending:
 * statistics of `ethtool -S`, whose names each driver chooses. xdpdrops.c has the table. Other
 * drivers do not report it: igb, ixgbe, i40e and ice have no such counter, nor has netlink.
 */
#ifndef VOLLEY_IFACE_XDPDROPS_H
#define VOLLEY_IFACE_XDPDROPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XDPDROPS_NAME_BYTES 32 /* ETH_GSTRING_LEN: a name may fill it, without a NUL */

struct xdpdrops_driver {
	const char *name;
	const char *patterns[2]; /* of the statistics to add up, for fnmatch(3) */
	unsigned int every_s;    /* the shortest time between two reads */
	const char *hint;        /* what else to do if it drops answers; "": nothing is known */
};

/* NULL: the driver does not report drops. Static. */
const struct xdpdrops_driver *xdpdrops_find(const char *driver);

/* True if a statistic counts such drops; name has XDPDROPS_NAME_BYTES. */
bool xdpdrops_is_one(const struct xdpdrops_driver *driver, const char *name);

/* Adds these statistics up in *n_lost. 0, -ENOENT (this kernel's driver has none), or -errno. */
int xdpdrops_read(const struct xdpdrops_driver *driver, const char *ifname, uint64_t *n_lost)
	__attribute__((warn_unused_result));

#endif
