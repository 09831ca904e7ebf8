/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to a network driver by ethtool's ioctl, which works without root and in every kernel;
 * ethtool's netlink does not. See linux/ethtool.h. All functions are for any thread, and ask in the
 * caller's network namespace.
 */
#ifndef VOLLEY_LINK_ETHTOOL_H
#define VOLLEY_LINK_ETHTOOL_H

#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdint.h>

/* Runs `command`, a struct of linux/ethtool.h with its ETHTOOL_* number in `cmd`. 0 or -errno. */
int ethtool_ask(const char *ifname, void *command) __attribute__((warn_unused_result));

/* Channels of an interface. A combined channel receives and sends. */
struct ethtool_queues {
	uint32_t n_rx;     /* in use; at least 1 */
	uint32_t n_rx_max; /* the most that ethtool -L can set, >= n_rx; 0: not known */
	/* in use; 0: not known, because none of them only sends, and XDP may hide combined ones */
	uint32_t n_tx;
};

/* If the driver does not report its channels, there is one that receives. */
void ethtool_count_queues(const char *ifname, struct ethtool_queues *queues);

/* The same from the driver's report. */
void ethtool_take_channels(const struct ethtool_channels *channels, struct ethtool_queues *queues);

/* True if the card strips VLAN tags from received frames. False if the driver does not say. */
bool ethtool_takes_tags_out(const char *ifname);

/*
 * The names of a set (ETH_SS_STATS, ETH_SS_FEATURES), at most `max`: (*names)->len of them, each of
 * ETH_GSTRING_LEN octets, which may have no NUL. The caller frees *names. 0, -ENOENT (the driver
 * has none), -E2BIG (there are more than max), or -errno; then *names is NULL.
 */
int ethtool_names(const char *ifname, uint32_t set, uint32_t max, struct ethtool_gstrings **names)
	__attribute__((warn_unused_result));

#endif
