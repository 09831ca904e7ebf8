/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many frames that an XDP program answered (XDP_TX) a driver dropped instead of sending:
 * statistics of `ethtool -S`, whose names each driver chooses. xdpdrops.c has the table; drivers
 * that are not in it do not tell (igb, ixgbe, i40e and ice count no such thing, and netlink's
 * statistics of queues neither).
 */
#ifndef VOLLEY_IFACE_XDPDROPS_H
#define VOLLEY_IFACE_XDPDROPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XDPDROPS_NAME_BYTES 32 /* ETH_GSTRING_LEN: a name may fill it, without a NUL */

struct xdpdrops_driver {
	const char *name;
	const char *patterns[2]; /* of the statistics to be added up, as fnmatch(3) has them */
	unsigned int every_s;    /* how often the driver may be asked */
	const char *hint;        /* what else to do where it drops them; "": nothing is known */
};

/* NULL: the driver does not tell. Static. */
const struct xdpdrops_driver *xdpdrops_find(const char *driver);

/* Whether a statistic is one of those; name has XDPDROPS_NAME_BYTES. */
bool xdpdrops_is_one(const struct xdpdrops_driver *driver, const char *name);

/* The sum of them, in *n_lost. 0, -ENOENT (this kernel's driver has none), or -errno. */
int xdpdrops_read(const struct xdpdrops_driver *driver, const char *ifname, uint64_t *n_lost)
	__attribute__((warn_unused_result));

#endif
