/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tiny_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "link/link.h"

bool frags_are_known(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_XDP_HAS_FRAGS);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "volley_frags", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool frags_are_due(const char *ifname)
{
	struct link link;

	return !link_find(&link, ifname) && link.mtu > LINK_MTU_ONE_BUFFER && frags_are_known();
}

int frags_want(struct bpf_program *program)
{
	return bpf_program__set_flags(program, bpf_program__flags(program) | BPF_F_XDP_HAS_FRAGS);
}
