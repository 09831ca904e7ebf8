// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Passes everything, and has a map of AF_XDP sockets. DPDK's net_af_xdp attaches it and enters its
 * sockets in the map (`xdp_prog=`); volleyd then puts its own program, with that map, in its place
 * (bpf/hook_lend.c).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdp/abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, VOLLEY_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

SEC("xdp")
int xsks(struct xdp_md *ctx)
{
	long action = XDP_PASS;

	/* Without this use the object would not have the map. */
	if (!ctx->ingress_ifindex)
		action = bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);
	return (int)action;
}

char _license[] SEC("license") = "Dual BSD/GPL";
