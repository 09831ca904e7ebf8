/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources of the figures in the first table. Kernels with native XDP: Cilium documentation, BPF and
 * XDP Reference Guide, "Drivers supporting native XDP". Zero-copy: the commits that set
 * NETDEV_XDP_ACT_XSK_ZEROCOPY in Linux; for kernels before 6.3, the documentation of DPDK (af_xdp)
 * and of Intel. MTU and queues: see the row.
 */
#include "doctor/drivers.h"

#include <string.h>

static const struct doctor_driver drivers[] = {
	/* veth_xdp_set() limits the MTU to a page less headroom and shared info: see nic.c. */
	{ .name = "veth", .native = { 4, 19 } },
	/*
	 * virtnet_xdp_set(): one queue for each processor, or queues shared with locks. It fails
	 * with "Can't set XDP while host is implementing GRO_HW/CSUM" if the guest cannot switch
	 * that off; otherwise it switches it off.
	 */
	{ .name = "virtio_net", .native = { 4, 10 }, .takes_tx_queues = true, .drops_lro = true },
	{ .name = "tun", .native = { 4, 14 } },
	/* Cilium documentation, "NodePort XDP on AWS": MTU 3498, half of the channels. */
	{ .name = "ena", .native = { 5, 6 }, .max_mtu = 3498, .halves_queues = true },
	/* Knot DNS manual, "Mode XDP", Pre-requisites: channels of ice, i40e and mlx5_core. */
	{ .name = "ice", .native = { 5, 5 }, .zero = { 5, 5 }, .max_queues = 127 },
	/* Intel support article 000057687: XDP is blocked for frames above 3 KB. */
	{ .name = "i40e",
	  .native = { 4, 13 },
	  .zero = { 4, 20 },
	  .max_mtu = 3046,
	  .max_queues = 64 },
	/* ixgbe_xdp_setup(): a transmit queue for each processor, shared from 64 processors on. */
	{ .name = "ixgbe", .native = { 4, 12 }, .zero = { 4, 20 }, .refuses_lro = true },
	{ .name = "ixgbevf", .native = { 4, 17 } },
	{ .name = "igb", .native = { 5, 10 }, .zero = { 6, 14 } },
	/* igc_xdp_set_prog(): "Jumbo frames not supported". */
	{ .name = "igc", .native = { 5, 13 }, .zero = { 5, 14 }, .max_mtu = 1500 },
	/* mlx5e_xdp_allowed(): "can't set XDP while HW-GRO/LRO is on". */
	{ .name = "mlx5_core",
	  .native = { 4, 9 },
	  .zero = { 5, 3 },
	  .max_queues = 127,
	  .refuses_lro = true },
	{ .name = "mlx4_en", .native = { 4, 8 } },
	{ .name = "bnxt_en", .native = { 4, 11 } },
	/* Cilium documentation, "NodePort XDP on Azure": LRO off. */
	{ .name = "hv_netvsc", .native = { 5, 6 }, .refuses_lro = true },
	{ .name = "mana", .native = { 5, 17 } },
	{ .name = "gve", .native = { 6, 4 }, .zero = { 6, 4 } },
	{ .name = "vmxnet3", .native = { 6, 6 } },
	{ .name = "nfp", .native = { 4, 10 } },
	{ .name = "qede", .native = { 4, 10 } },
	{ .name = "sfc", .native = { 5, 5 } },
	{ .name = "atlantic", .native = { 5, 19 } },
	{ .name = "stmmac", .native = { 5, 13 }, .zero = { 5, 13 } },
	{ .name = "mvneta", .native = { 5, 5 } },
	{ .name = "mvpp2", .native = { 5, 9 } },
	{ .name = "bonding", .native = { 5, 15 } },
	{ .name = NULL },
};

/* clang-format off */
/* A kernel has at most one of the faults of a driver. */
static const struct doctor_fault faults[] = {
	{ "ice", { 0, 0, 0 }, { 6, 10, 4 }, DOCTOR_FAIL, true,
	  "with AF_XDP zero-copy its queues time out and the kernel may crash when sockets come "
	  "and go",
	  "use Linux 6.10.4 or later, or set zero-copy: off for the interface",
	  "Knot DNS manual, Mode XDP; netdev, \"ice: fix AF_XDP ZC timeout and concurrency "
	  "issues\", July 2024" },
	{ "ice", { 6, 14, 0 }, { 7, 1, 0 }, DOCTOR_WARN, true,
	  "with AF_XDP zero-copy, frames that the program passes to the kernel may corrupt its "
	  "memory, if the fix is not in this kernel",
	  "ask the distribution for the AF_XDP tailroom fixes of April 2026, or set zero-copy: off",
	  "netdev, \"xsk: switch xdp_build_skb_from_zc() to napi_alloc_skb()\", May 2026; "
	  "intel/ethernet-linux-ice issue 59" },
	{ "ixgbe", { 0, 0, 0 }, { 0, 0, 0 }, DOCTOR_WARN, false,
	  "this family of cards is known to be unstable with AF_XDP",
	  "set port: socket for the interface, so that only the driver's own answers use XDP",
	  "Knot DNS manual, Mode XDP, \"Cards with known instability issues\"" },
	{ "mlx5_core", { 6, 4, 0 }, { 6, 5, 0 }, DOCTOR_WARN, false,
	  "native XDP failed in Firedancer's tests with this kernel",
	  "use Linux 6.5 or later",
	  "firedancer-io/firedancer, fd_config_auto.c, table of drivers" },
	{ "i40e", { 0, 0, 0 }, { 5, 19, 0 }, DOCTOR_WARN, false,
	  "native XDP and zero-copy failed in Firedancer's tests with kernels before 5.19",
	  "use Linux 5.19 or later",
	  "firedancer-io/firedancer, fd_config_auto.c, table of drivers" },
	{ "bnxt_en", { 6, 18, 45 }, { 6, 18, 46 }, DOCTOR_FAIL, false,
	  "with this kernel the driver cannot make its receive rings: the card is gone after a "
	  "boot",
	  "use another kernel than 6.18.45",
	  "TUM-DSE/doctor-cluster-config pull request 1795" },
	{ NULL, { 0, 0, 0 }, { 0, 0, 0 }, DOCTOR_NOTHING, false, NULL, NULL, NULL },
};
/* clang-format on */

const struct doctor_driver *doctor_driver_find(const char *name)
{
	for (const struct doctor_driver *d = drivers; d->name; d++)
		if (!strcmp(d->name, name))
			return d;
	return NULL;
}

static bool is_hit(const struct doctor_fault *fault, const char *driver, const unsigned int k[3],
		   bool zero_copy)
{
	const unsigned int *since = fault->since, *until = fault->until;

	if (strcmp(fault->driver, driver) || (fault->zero_copy_only && !zero_copy))
		return false;
	if (since[0] && doctor_is_before(k, since[0], since[1], since[2]))
		return false;
	return !until[0] || doctor_is_before(k, until[0], until[1], until[2]);
}

const struct doctor_fault *doctor_fault_find(const char *driver, const unsigned int kernel[3],
					     bool zero_copy)
{
	for (const struct doctor_fault *fault = faults; fault->driver; fault++)
		if (is_hit(fault, driver, kernel, zero_copy))
			return fault;
	return NULL;
}
