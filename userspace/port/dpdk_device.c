/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds or creates a DPDK device, sets up its queues with a pool of mbufs each, and starts it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/err.h"
#include "base/log.h"
#include "port/dpdk_device.h"
#include "port/dpdk_port.h"

#define DESCS_DEFAULT   1024
#define N_MBUFS_DEFAULT 8191 /* best: a power of two less one */
#define MBUF_CACHE      256
#define RSS_WANTED      (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)

/* --- Found or made ---------------------------------------------------------------------------- */

/* The name is the text before the first comma. */
static void read_dpdk_device_name(struct dpdk_device *d, const char *words)
{
	snprintf(d->name, sizeof(d->name), "%.*s", (int)strcspn(words, ","), words);
}

static int find_or_make(struct dpdk_device *d, const char *words)
{
	int err;

	read_dpdk_device_name(d, words);
	if (!rte_eth_dev_get_port_by_name(d->name, &d->id))
		return 0;
	err = rte_dev_probe(words);
	if (err)
		return err < 0 ? err : -ENODEV;
	d->is_made = true;
	return rte_eth_dev_get_port_by_name(d->name, &d->id) ? -ENODEV : 0;
}

static void remove_device(struct dpdk_device *d)
{
	struct rte_eth_dev_info info;

	if (!d->is_made || rte_eth_dev_info_get(d->id, &info))
		return;
	(void)rte_dev_remove(info.device);
}

/* --- Set up ----------------------------------------------------------------------------------- */

static struct rte_eth_conf make_conf(const struct dpdk_device *d,
				     const struct rte_eth_dev_info *info)
{
	struct rte_eth_conf conf = { .rxmode = { .mq_mode = RTE_ETH_MQ_RX_NONE } };
	uint64_t hashes = info->flow_type_rss_offloads & RSS_WANTED;

	if (d->n_queues > 1 && hashes) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = hashes;
	}
	/* MBUF_FAST_FREE needs one pool for each queue, and that no mbuf is kept elsewhere. */
	conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	return conf;
}

static int make_pool(struct dpdk_device *d, uint16_t queue, uint32_t n)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	int socket = rte_eth_dev_socket_id(d->id);

	snprintf(name, sizeof(name), "v%u-%u", d->id, queue);
	d->pools[queue] = rte_pktmbuf_pool_create(name, n ? n : N_MBUFS_DEFAULT, MBUF_CACHE, 0,
						  RTE_MBUF_DEFAULT_BUF_SIZE, socket);
	return d->pools[queue] ? 0 : -rte_errno;
}

static int set_up_queue(struct dpdk_device *d, uint16_t queue, const struct dpdk_config *config,
			uint16_t rx_descs, uint16_t tx_descs)
{
	unsigned int socket = (unsigned int)rte_eth_dev_socket_id(d->id);
	int err = make_pool(d, queue, config->n_mbufs);

	if (!err)
		err = rte_eth_rx_queue_setup(d->id, queue, rx_descs, socket, NULL, d->pools[queue]);
	if (!err)
		err = rte_eth_tx_queue_setup(d->id, queue, tx_descs, socket, NULL);
	return err;
}

static void choose_queues(struct dpdk_device *d, const struct rte_eth_dev_info *info,
			  uint16_t n_wanted)
{
	uint16_t n = n_wanted ? n_wanted : DPDK_QUEUES_MAX;

	if (n > info->max_rx_queues)
		n = info->max_rx_queues;
	if (n > info->max_tx_queues)
		n = info->max_tx_queues;
	d->n_queues = n > DPDK_QUEUES_MAX ? DPDK_QUEUES_MAX : n;
}

/* Neighbour solicitations go to groups and must reach the kernel. */
static void hear_groups(const struct dpdk_device *d)
{
	if (rte_eth_allmulticast_enable(d->id) && rte_eth_promiscuous_enable(d->id))
		log_notice("%s: receives no multicast: IPv6 neighbours may not find it", d->name);
}

static int set_up_dpdk_device(struct dpdk_device *d, const struct dpdk_config *config)
{
	uint16_t rx_descs = config->rx_descs ? config->rx_descs : DESCS_DEFAULT;
	uint16_t tx_descs = config->tx_descs ? config->tx_descs : DESCS_DEFAULT;
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	struct rte_eth_conf conf;
	int err = rte_eth_dev_info_get(d->id, &info);

	if (err)
		return err;
	snprintf(d->driver, sizeof(d->driver), "%s", info.driver_name);
	choose_queues(d, &info, config->n_queues);
	conf = make_conf(d, &info);
	err = rte_eth_dev_configure(d->id, d->n_queues, d->n_queues, &conf);
	if (!err)
		err = rte_eth_dev_adjust_nb_rx_tx_desc(d->id, &rx_descs, &tx_descs);
	for (uint16_t queue = 0; !err && queue < d->n_queues; queue++)
		err = set_up_queue(d, queue, config, rx_descs, tx_descs);
	if (!err)
		err = rte_eth_dev_start(d->id);
	if (err)
		return err;
	d->is_started = true;
	d->rx_descs = rx_descs;
	if (rte_eth_dev_get_mtu(d->id, &d->mtu) || !d->mtu)
		d->mtu = RTE_ETHER_MTU;
	if (!rte_eth_macaddr_get(d->id, &mac))
		memcpy(d->mac, mac.addr_bytes, sizeof(d->mac));
	if (*d->tap)
		hear_groups(d);
	return 0;
}

void dpdk_device_set_mtu(struct dpdk_device *d, uint32_t mtu)
{
	if (mtu)
		__atomic_store_n(&d->mtu, (uint16_t)(mtu < UINT16_MAX ? mtu : UINT16_MAX),
				 __ATOMIC_RELAXED);
}

int dpdk_device_open(struct dpdk_device **out, const struct dpdk_config *config, char *err,
		     size_t err_cap)
{
	struct dpdk_device *d = calloc(1, sizeof(*d));
	int code;

	if (!d)
		return -ENOMEM;
	d->services = config->services;
	d->busy_poll = config->busy_poll;
	if (config->tap)
		snprintf(d->tap, sizeof(d->tap), "%s", config->tap);
	code = find_or_make(d, config->device);
	if (code) {
		snprintf(err, err_cap, "DPDK has no device %s: %s", d->name, err_text(code));
		free(d);
		return code;
	}
	code = set_up_dpdk_device(d, config);
	if (code) {
		snprintf(err, err_cap, "DPDK device %s: %s; the log says more", d->name,
			 err_text(code));
		dpdk_device_close(d);
		return code;
	}
	*out = d;
	return 0;
}

/* Frees the pools last: the device has mbufs of them until it is closed. */
void dpdk_device_close(struct dpdk_device *d)
{
	if (!d)
		return;
	if (d->is_started)
		(void)rte_eth_dev_stop(d->id);
	remove_device(d);
	for (uint16_t queue = 0; queue < d->n_queues; queue++)
		rte_mempool_free(d->pools[queue]);
	free(d);
}

uint16_t dpdk_device_queues(const struct dpdk_device *d)
{
	return d->n_queues;
}

const char *dpdk_device_driver(const struct dpdk_device *d)
{
	return d->driver;
}

void dpdk_device_counters(const struct dpdk_device *d, struct dpdk_counters *out)
{
	struct rte_eth_stats stats = { 0 };

	(void)rte_eth_stats_get(d->id, &stats);
	*out = (struct dpdk_counters){
		.ipackets = stats.ipackets,
		.opackets = stats.opackets,
		.imissed = stats.imissed,
		.ierrors = stats.ierrors,
		.oerrors = stats.oerrors,
		.rx_nombuf = stats.rx_nombuf,
	};
}
