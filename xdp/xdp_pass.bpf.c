// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Passes everything. The far end of a veth pair needs any XDP program: else it is not woken for the
 * frames that the near end sends with XDP_TX.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int xdp_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
