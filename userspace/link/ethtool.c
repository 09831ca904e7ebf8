/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/ethtool.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int ethtool_ask(const char *ifname, void *command)
{
	struct ifreq ifr = { .ifr_data = command };
	int err, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	err = ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
	close(fd);
	return err;
}

void ethtool_take_channels(const struct ethtool_channels *channels, struct ethtool_queues *queues)
{
	const uint32_t max = channels->max_combined ? channels->max_combined : channels->max_rx;
	const uint32_t n = channels->combined_count + channels->rx_count;

	*queues = (struct ethtool_queues){
		.n_rx = n ? n : 1,
		.n_rx_max = max && max < n ? n : max,
		.n_tx = channels->tx_count ? channels->combined_count + channels->tx_count : 0,
	};
}

void ethtool_count_queues(const char *ifname, struct ethtool_queues *queues)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };

	if (ethtool_ask(ifname, &channels))
		channels = (struct ethtool_channels){ 0 };
	ethtool_take_channels(&channels, queues);
}

bool ethtool_takes_tags_out(const char *ifname)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };

	return !ethtool_ask(ifname, &flags) && flags.data & ETH_FLAG_RXVLAN;
}

static int count_names(const char *ifname, uint32_t set, uint32_t *n)
{
	union {
		struct ethtool_sset_info head;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(*n)];
	} info = { .head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << set } };
	int err = ethtool_ask(ifname, &info);

	memcpy(n, info.room + sizeof(info.head), sizeof(*n));
	return !err && (!info.head.sset_mask || !*n) ? -ENOENT : err;
}

int ethtool_names(const char *ifname, uint32_t set, uint32_t max, struct ethtool_gstrings **names)
{
	uint32_t n = 0;
	int err = count_names(ifname, set, &n);

	*names = NULL;
	if (!err && n > max)
		err = -E2BIG;
	if (err)
		return err;
	*names = calloc(1, sizeof(**names) + (size_t)n * ETH_GSTRING_LEN);
	if (!*names)
		return -ENOMEM;
	**names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS, .string_set = set, .len = n };
	err = ethtool_ask(ifname, *names);
	if (!err && (*names)->len <= n)
		return 0;
	free(*names);
	*names = NULL;
	return err ? err : -E2BIG;
}
