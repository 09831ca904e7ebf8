/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/xdpdrops.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/ethtool.h"

#define STATS_MAX 65536u

_Static_assert(XDPDROPS_NAME_BYTES == ETH_GSTRING_LEN, "the kernel's length of a name");

/* The names are from Linux 6.1 to 6.18, below drivers/net/. If queues are added up, the driver's
 * own sums are left out. */
static const struct xdpdrops_driver drivers[] = {
	/* virtio_net.c, virtnet_sq_stats_desc: tx_queue_0_xdp_tx_drops, from 6.9 on
	 * tx0_xdp_tx_drops. */
	{ "virtio_net",
	  { "tx_queue_[0-9]*_xdp_tx_drops", "tx[0-9]*_xdp_tx_drops" },
	  1,
	  "say zero-copy: off for it" },
	/* veth.c, veth_rq_stats_desc: rx_queue_0_xdp_tx_errors; veth_xdp_xmit() needs NAPI at the
	 * other end. */
	{ "veth",
	  { "rx_queue_[0-9]*_xdp_tx_errors", NULL },
	  1,
	  "its other end wants an XDP program" },
	/* ethernet/mellanox/mlx5/core/en_stats.c, sw_stats_desc; slow, as it asks the card. */
	{ "mlx5_core", { "rx_xdp_tx_full", "rx_xdp_tx_err" }, 10, "" },
	/* ethernet/mellanox/mlx4/en_ethtool.c, main_strings. */
	{ "mlx4_en", { "rx_xdp_tx_full", NULL }, 10, "" },
	/* ethernet/google/gve/gve_ethtool.c, gve_gstrings_rx_stats: rx_xdp_tx_errors[0]. */
	{ "gve", { "rx_xdp_tx_errors*", NULL }, 10, "" },
	/* ethernet/marvell/mvneta.c and mvpp2/mvpp2_main.c. */
	{ "mvneta", { "rx_xdp_tx_errors", NULL }, 10, "" },
	{ "mvpp2", { "rx_xdp_tx_errors", NULL }, 10, "" },
	/* ethernet/freescale/fec_main.c, fec_xdp_stat_strs. */
	{ "fec", { "rx_xdp_tx_errors", NULL }, 10, "" },
	{ NULL, { NULL, NULL }, 0, NULL },
};

const struct xdpdrops_driver *xdpdrops_find(const char *name)
{
	const struct xdpdrops_driver *driver;

	for (driver = drivers; driver->name; driver++)
		if (!strcmp(driver->name, name))
			return driver;
	return NULL;
}

bool xdpdrops_is_one(const struct xdpdrops_driver *driver, const char *name)
{
	char text[XDPDROPS_NAME_BYTES + 1];

	snprintf(text, sizeof(text), "%.*s", XDPDROPS_NAME_BYTES, name);
	for (size_t i = 0; i < 2 && driver->patterns[i]; i++)
		if (!fnmatch(driver->patterns[i], text, 0))
			return true;
	return false;
}

/* --- ethtool ---------------------------------------------------------------------------------- */

static int add_up(const struct xdpdrops_driver *driver, const struct ethtool_gstrings *names,
		  const struct ethtool_stats *values, uint64_t *n_lost)
{
	uint32_t n = names->len < values->n_stats ? names->len : values->n_stats;
	bool any = false;

	*n_lost = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!xdpdrops_is_one(driver,
				     (const char *)names->data + (size_t)i * ETH_GSTRING_LEN))
			continue;
		any = true;
		*n_lost += values->data[i];
	}
	return any ? 0 : -ENOENT;
}

int xdpdrops_read(const struct xdpdrops_driver *driver, const char *ifname, uint64_t *n_lost)
{
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
	int err = ethtool_names(ifname, ETH_SS_STATS, STATS_MAX, &names);

	if (err)
		return err;
	values = calloc(1, sizeof(*values) + names->len * sizeof(uint64_t));
	err = values ? 0 : -ENOMEM;
	if (!err) {
		values->cmd = ETHTOOL_GSTATS;
		values->n_stats = names->len;
		err = ethtool_ask(ifname, values);
	}
	if (!err)
		err = add_up(driver, names, values, n_lost);
	free(names);
	free(values);
	return err;
}
