/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses the ioctl and not netlink, because the ioctl works without root and in any kernel. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor/gather.h"
#include "iface/txqueues.h"
#include "xdp/abi.h"

#define DNS_PORT     53
#define RULES_CAP    1024u
#define FEATURES_CAP 256u
#define INDIR_CAP    4096u

struct ask {
	int fd;
	const char *name;
};

/* 0 or -errno. */
static int ask_gather_ethtool(const struct ask *a, void *what)
{
	struct ifreq ifr = { .ifr_data = what };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", a->name);
	return ioctl(a->fd, SIOCETHTOOL, &ifr) ? -errno : 0;
}

static void gather_driver(const struct ask *a, struct doctor_nic *nic)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (ask_gather_ethtool(a, &info))
		return;
	snprintf(nic->driver, sizeof(nic->driver), "%s", info.driver);
	snprintf(nic->version, sizeof(nic->version), "%s", info.version);
	snprintf(nic->bus, sizeof(nic->bus), "%s", info.bus_info);
	if (strcmp(info.fw_version, "N/A"))
		snprintf(nic->firmware, sizeof(nic->firmware), "%s", info.fw_version);
}

static void gather_channels(const struct ask *a, struct doctor_nic *nic)
{
	struct ethtool_channels ch = { .cmd = ETHTOOL_GCHANNELS };
	int err = ask_gather_ethtool(a, &ch);

	/* Like iface/iface.c: 1 if the driver does not report it. */
	nic->n_queues = err ? 1 : (int)(ch.combined_count + ch.rx_count);
	nic->max_queues = err ? err : (int)(ch.max_combined ? ch.max_combined : ch.max_rx);
	if (!nic->n_queues)
		nic->n_queues = 1;
	nic->n_tx_queues = (int)txqueues_count(nic->name, (unsigned int)nic->ifindex);
}

static void gather_rings(const struct ask *a, struct doctor_nic *nic)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };
	int err = ask_gather_ethtool(a, &ring);

	nic->rx_ring = err ? err : (int)ring.rx_pending;
	nic->rx_ring_max = err ? err : (int)ring.rx_max_pending;
	nic->tx_ring = err ? err : (int)ring.tx_pending;
	nic->tx_ring_max = err ? err : (int)ring.tx_max_pending;
}

static void gather_pause(const struct ask *a, struct doctor_nic *nic)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	int err = ask_gather_ethtool(a, &pause);

	nic->pause_tx = err ? err : (int)pause.tx_pause;
}

/* --- Features --------------------------------------------------------------------------------- */

/* The number of features that the kernel names, at most FEATURES_CAP; or -errno. */
static int count_features(const struct ask *a)
{
	union {
		struct ethtool_sset_info head;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} info = { .head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES } };
	int err = ask_gather_ethtool(a, &info);

	if (err)
		return err;
	return info.head.data[0] > FEATURES_CAP ? (int)FEATURES_CAP : (int)info.head.data[0];
}

/* A struct with room for the kernel's answer. */
union feature_names {
	struct ethtool_gstrings head;
	uint8_t room[sizeof(struct ethtool_gstrings) + (size_t)FEATURES_CAP * ETH_GSTRING_LEN];
};

union feature_bits {
	struct ethtool_gfeatures head;
	uint8_t room[sizeof(struct ethtool_gfeatures) +
		     FEATURES_CAP / 32 * sizeof(struct ethtool_get_features_block)];
};

/* 1: on; 0: off; -ENOENT: the kernel has no feature of that name. IS_FIXED may be NULL. */
static int is_on(const union feature_names *names, const union feature_bits *bits, int n,
		 const char *name, int *is_fixed)
{
	for (int i = 0; i < n; i++) {
		const struct ethtool_get_features_block *block = &bits->head.features[i / 32];
		uint32_t bit = 1u << i % 32;

		if (strncmp((const char *)names->head.data + (size_t)i * ETH_GSTRING_LEN, name,
			    ETH_GSTRING_LEN))
			continue;
		if (is_fixed)
			*is_fixed = !(block->available & bit) || block->never_changed & bit;
		return (block->active & bit) != 0;
	}
	return -ENOENT;
}

static void gather_features(const struct ask *a, struct doctor_features *f)
{
	int n = count_features(a);
	union feature_names *names = calloc(1, sizeof(*names));
	union feature_bits bits = { .head = { .cmd = ETHTOOL_GFEATURES } };

	*f = (struct doctor_features){
		.lro = -ENOENT, .gro = -ENOENT, .gro_hw = -ENOENT, .rx_vlan = -ENOENT
	};
	if (n > 0 && names) {
		names->head = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS,
							 .string_set = ETH_SS_FEATURES,
							 .len = (uint32_t)n };
		bits.head.size = ((uint32_t)n + 31) / 32;
		if (!ask_gather_ethtool(a, names) && !ask_gather_ethtool(a, &bits)) {
			f->lro = is_on(names, &bits, n, "rx-lro", NULL);
			f->gro = is_on(names, &bits, n, "rx-gro", NULL);
			f->gro_hw = is_on(names, &bits, n, "rx-gro-hw", &f->gro_hw_fixed);
			f->rx_vlan = is_on(names, &bits, n, "rx-vlan-hw-parse", &f->rx_vlan_fixed);
		}
	}
	free(names);
}

/* --- Receive side scaling --------------------------------------------------------------------- */

static int read_hash(const struct ask *a, uint32_t flow_type)
{
	struct ethtool_rxnfc rx = { .cmd = ETHTOOL_GRXFH, .flow_type = flow_type };
	int err = ask_gather_ethtool(a, &rx);

	return err ? err : (int)(rx.data & INT32_MAX);
}

static void count_table(struct doctor_nic *nic, const uint32_t *table, uint32_t n)
{
	bool is_used[DOCTOR_QUEUES] = { false };

	nic->rss_queues = 0;
	nic->rss_outside = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (table[i] >= (uint32_t)nic->serves || table[i] >= DOCTOR_QUEUES) {
			nic->rss_outside = 1;
			continue;
		}
		nic->rss_queues += !is_used[table[i]];
		is_used[table[i]] = true;
	}
}

static void gather_table(const struct ask *a, struct doctor_nic *nic)
{
	struct ethtool_rxfh_indir size = { .cmd = ETHTOOL_GRXFHINDIR };
	struct ethtool_rxfh_indir *table;
	int err = ask_gather_ethtool(a, &size);

	nic->rss_queues = err ? err : -ENOENT;
	nic->rss_outside = -ENOENT;
	if (err || !size.size || size.size > INDIR_CAP)
		return;
	table = calloc(1, sizeof(*table) + size.size * sizeof(table->ring_index[0]));
	if (!table)
		return;
	*table = (struct ethtool_rxfh_indir){ .cmd = ETHTOOL_GRXFHINDIR, .size = size.size };
	err = ask_gather_ethtool(a, table);
	if (err)
		nic->rss_queues = err;
	else
		count_table(nic, table->ring_index, table->size);
	free(table);
}

/* --- Flow rules ------------------------------------------------------------------------------- */

/* True if the rule may match UDP to port 53. Other conditions of the rule are ignored. */
static bool is_for_dns(const struct ethtool_rx_flow_spec *spec)
{
	const struct ethtool_tcpip4_spec *v4 = &spec->h_u.udp_ip4_spec,
					 *m4 = &spec->m_u.udp_ip4_spec;
	const struct ethtool_tcpip6_spec *v6 = &spec->h_u.udp_ip6_spec,
					 *m6 = &spec->m_u.udp_ip6_spec;

	switch (spec->flow_type & ~(uint32_t)(FLOW_EXT | FLOW_MAC_EXT | FLOW_RSS)) {
	case UDP_V4_FLOW:
		return !m4->pdst || ((v4->pdst ^ htons(DNS_PORT)) & m4->pdst) == 0;
	case UDP_V6_FLOW:
		return !m6->pdst || ((v6->pdst ^ htons(DNS_PORT)) & m6->pdst) == 0;
	default:
		return false;
	}
}

/* Notes a rule, except if it spreads packets by an RSS context and so has no single queue. */
static void take_rule(const struct ask *a, struct doctor_nic *nic, uint32_t location)
{
	struct ethtool_rxnfc rx = { .cmd = ETHTOOL_GRXCLSRULE };
	uint64_t queue;

	rx.fs.location = location;
	if (ask_gather_ethtool(a, &rx) || !is_for_dns(&rx.fs) || rx.fs.flow_type & FLOW_RSS)
		return;
	if (nic->n_steered < (int)DOCTOR_STEERED) {
		queue = rx.fs.ring_cookie & ETHTOOL_RX_FLOW_SPEC_RING;
		nic->steered[nic->n_steered] = (struct doctor_steer){
			.location = (int)location,
			.queue = rx.fs.ring_cookie == RX_CLS_FLOW_DISC ? -1 : (int)queue,
		};
	}
	nic->n_steered++;
}

static void gather_rules(const struct ask *a, struct doctor_nic *nic)
{
	struct ethtool_rxnfc count = { .cmd = ETHTOOL_GRXCLSRLCNT };
	struct ethtool_rxnfc *all;
	int err = ask_gather_ethtool(a, &count);

	nic->n_steered = err;
	if (err || !count.rule_cnt || count.rule_cnt > RULES_CAP)
		return;
	all = calloc(1, sizeof(*all) + count.rule_cnt * sizeof(all->rule_locs[0]));
	if (!all)
		return;
	all->cmd = ETHTOOL_GRXCLSRLALL;
	all->rule_cnt = count.rule_cnt;
	err = ask_gather_ethtool(a, all);
	for (uint32_t i = 0; !err && i < all->rule_cnt && i < count.rule_cnt; i++)
		take_rule(a, nic, all->rule_locs[i]);
	free(all);
}

void doctor_gather_ethtool(struct doctor_nic *nic)
{
	struct ask a = { socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), nic->name };

	gather_driver(&a, nic);
	gather_channels(&a, nic);
	if (!nic->serves || nic->serves > nic->n_queues)
		nic->serves = nic->n_queues;
	if (nic->serves > (int)VOLLEY_QUEUES)
		nic->serves = (int)VOLLEY_QUEUES;
	gather_rings(&a, nic);
	gather_pause(&a, nic);
	gather_features(&a, &nic->features);
	nic->hash_udp4 = read_hash(&a, UDP_V4_FLOW);
	nic->hash_udp6 = read_hash(&a, UDP_V6_FLOW);
	gather_table(&a, nic);
	gather_rules(&a, nic);
	if (a.fd >= 0)
		close(a.fd);
}
