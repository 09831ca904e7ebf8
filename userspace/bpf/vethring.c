/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tiny_programs.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define INSN(...) ((struct bpf_insn){ __VA_ARGS__ })

/* Loads a program that redirects each frame to the interface. A descriptor or -errno. */
static int load_veth(unsigned int ifindex)
{
	const struct bpf_insn insns[] = {
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1,
		     .imm = (int)ifindex),
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 0),
		INSN(.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect),
		INSN(.code = BPF_JMP | BPF_EXIT),
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "volley_vethring", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	return fd < 0 ? -errno : fd;
}

/* Redirects one frame, on the CPU of the thread. */
static int redirect_veth(int fd, const uint8_t mac[6])
{
	struct {
		struct ether_header ethernet;
		uint8_t rest[ETH_ZLEN - sizeof(struct ether_header)];
	} frame = { .ethernet.ether_type = htons(ETHERTYPE_LOOPBACK) };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = 1, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	memcpy(frame.ethernet.ether_shost, mac, ETH_ALEN);
	memcpy(frame.ethernet.ether_dhost, mac, ETH_ALEN);
	return bpf_prog_test_run_opts(fd, &opts) ? -errno : 0;
}

/* Redirects one frame on each CPU that the thread may use, and leaves the thread on one of them. */
static int redirect_everywhere(int fd, const uint8_t mac[6])
{
	const size_t n_cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t one;
	int err = 0;

	for (size_t cpu = 0; !err && cpu < n_cpus && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!sched_setaffinity(0, sizeof(one), &one)) /* fails if it may not be used */
			err = redirect_veth(fd, mac);
	}
	return err;
}

int vethring_wake(unsigned int ifindex, const uint8_t mac[6])
{
	cpu_set_t before;
	int fd, err;

	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	fd = load_veth(ifindex);
	if (fd < 0)
		return fd;
	err = redirect_everywhere(fd, mac);
	(void)sched_setaffinity(0, sizeof(before), &before);
	close(fd);
	return err;
}
