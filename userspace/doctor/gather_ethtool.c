/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/gather.h"
#include "link/ethtool.h"
#include "xdp/abi.h"

#define DNS_PORT     53
#define RULES_CAP    1024u
#define FEATURES_CAP 256u
#define INDIR_CAP    4096u

static void gather_driver(struct doctor_nic *nic)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (ethtool_ask(nic->name, &info))
		return;
	snprintf(nic->driver, sizeof(nic->driver), "%s", info.driver);
	snprintf(nic->version, sizeof(nic->version), "%s", info.version);
	snprintf(nic->bus, sizeof(nic->bus), "%s", info.bus_info);
	if (strcmp(info.fw_version, "N/A"))
		snprintf(nic->firmware, sizeof(nic->firmware), "%s", info.fw_version);
}

static void gather_queues(struct doctor_nic *nic, const struct link *link)
{
	nic->n_queues = (int)link->n_queues;
	nic->n_tx_queues = (int)link->n_tx_queues;
	nic->max_queues = link->n_queues_max ? (int)link->n_queues_max : -EOPNOTSUPP;
	if (!nic->serves || nic->serves > nic->n_queues)
		nic->serves = nic->n_queues;
	if (nic->serves > (int)VOLLEY_QUEUES)
		nic->serves = (int)VOLLEY_QUEUES;
}

static void gather_rings(struct doctor_nic *nic)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };
	int err = ethtool_ask(nic->name, &ring);

	nic->rx_ring = err ? err : (int)ring.rx_pending;
	nic->rx_ring_max = err ? err : (int)ring.rx_max_pending;
	nic->tx_ring = err ? err : (int)ring.tx_pending;
	nic->tx_ring_max = err ? err : (int)ring.tx_max_pending;
}

static void gather_pause(struct doctor_nic *nic)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	int err = ethtool_ask(nic->name, &pause);

	nic->pause_tx = err ? err : (int)pause.tx_pause;
}

/* --- Features --------------------------------------------------------------------------------- */

/* A struct with room for the kernel's answer. */
union feature_bits {
	struct ethtool_gfeatures head;
	uint8_t room[sizeof(struct ethtool_gfeatures) +
		     FEATURES_CAP / 32 * sizeof(struct ethtool_get_features_block)];
};

/* 1: on; 0: off; -ENOENT: the kernel has no feature of that name. IS_FIXED may be NULL. */
static int is_on(const struct ethtool_gstrings *names, const union feature_bits *bits,
		 const char *name, int *is_fixed)
{
	for (uint32_t i = 0; i < names->len; i++) {
		const struct ethtool_get_features_block *block = &bits->head.features[i / 32];
		uint32_t bit = 1u << i % 32;

		if (strncmp((const char *)names->data + (size_t)i * ETH_GSTRING_LEN, name,
			    ETH_GSTRING_LEN))
			continue;
		if (is_fixed)
			*is_fixed = !(block->available & bit) || block->never_changed & bit;
		return (block->active & bit) != 0;
	}
	return -ENOENT;
}

static void gather_features(struct doctor_nic *nic)
{
	union feature_bits bits = { .head = { .cmd = ETHTOOL_GFEATURES } };
	struct doctor_features *f = &nic->features;
	struct ethtool_gstrings *names;

	*f = (struct doctor_features){
		.lro = -ENOENT, .gro = -ENOENT, .gro_hw = -ENOENT, .rx_vlan = -ENOENT
	};
	if (ethtool_names(nic->name, ETH_SS_FEATURES, FEATURES_CAP, &names))
		return;
	bits.head.size = (names->len + 31) / 32;
	if (!ethtool_ask(nic->name, &bits)) {
		f->lro = is_on(names, &bits, "rx-lro", NULL);
		f->gro = is_on(names, &bits, "rx-gro", NULL);
		f->gro_hw = is_on(names, &bits, "rx-gro-hw", &f->gro_hw_fixed);
		f->rx_vlan = is_on(names, &bits, "rx-vlan-hw-parse", &f->rx_vlan_fixed);
	}
	free(names);
}

/* --- Receive side scaling --------------------------------------------------------------------- */

static int read_hash(const struct doctor_nic *nic, uint32_t flow_type)
{
	struct ethtool_rxnfc rx = { .cmd = ETHTOOL_GRXFH, .flow_type = flow_type };
	int err = ethtool_ask(nic->name, &rx);

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

static void gather_table(struct doctor_nic *nic)
{
	struct ethtool_rxfh_indir size = { .cmd = ETHTOOL_GRXFHINDIR };
	struct ethtool_rxfh_indir *table;
	int err = ethtool_ask(nic->name, &size);

	nic->rss_queues = err ? err : -ENOENT;
	nic->rss_outside = -ENOENT;
	if (err || !size.size || size.size > INDIR_CAP)
		return;
	table = calloc(1, sizeof(*table) + size.size * sizeof(table->ring_index[0]));
	if (!table)
		return;
	*table = (struct ethtool_rxfh_indir){ .cmd = ETHTOOL_GRXFHINDIR, .size = size.size };
	err = ethtool_ask(nic->name, table);
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
static void take_rule(struct doctor_nic *nic, uint32_t location)
{
	struct ethtool_rxnfc rx = { .cmd = ETHTOOL_GRXCLSRULE };
	uint64_t queue;

	rx.fs.location = location;
	if (ethtool_ask(nic->name, &rx) || !is_for_dns(&rx.fs) || rx.fs.flow_type & FLOW_RSS)
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

static void gather_rules(struct doctor_nic *nic)
{
	struct ethtool_rxnfc count = { .cmd = ETHTOOL_GRXCLSRLCNT };
	struct ethtool_rxnfc *all;
	int err = ethtool_ask(nic->name, &count);

	nic->n_steered = err;
	if (err || !count.rule_cnt || count.rule_cnt > RULES_CAP)
		return;
	all = calloc(1, sizeof(*all) + count.rule_cnt * sizeof(all->rule_locs[0]));
	if (!all)
		return;
	all->cmd = ETHTOOL_GRXCLSRLALL;
	all->rule_cnt = count.rule_cnt;
	err = ethtool_ask(nic->name, all);
	for (uint32_t i = 0; !err && i < all->rule_cnt && i < count.rule_cnt; i++)
		take_rule(nic, all->rule_locs[i]);
	free(all);
}

void doctor_gather_ethtool(struct doctor_nic *nic, const struct link *link)
{
	gather_driver(nic);
	gather_queues(nic, link);
	gather_rings(nic);
	gather_pause(nic);
	gather_features(nic);
	nic->hash_udp4 = read_hash(nic, UDP_V4_FLOW);
	nic->hash_udp6 = read_hash(nic, UDP_V6_FLOW);
	gather_table(nic);
	gather_rules(nic);
}
