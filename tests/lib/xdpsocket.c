/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/xdpsocket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING_CAP   64
#define UMEM_BYTES (64 * 4096)

static void set_loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &ifr), 0);
	close(fd);
}

static void set_ring(int fd, int ring)
{
	const int cap = RING_CAP;

	assert_int_equal(setsockopt(fd, SOL_XDP, ring, &cap, sizeof(cap)), 0);
}

/* The kernel keeps the memory until the socket is closed. */
static void register_umem(int fd)
{
	void *umem =
		mmap(NULL, UMEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct xdp_umem_reg reg = { .addr = (uintptr_t)umem,
				    .len = UMEM_BYTES,
				    .chunk_size = 4096 };

	assert_ptr_not_equal(umem, MAP_FAILED);
	assert_int_equal(setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof(reg)), 0);
	munmap(umem, UMEM_BYTES);
}

int xdp_socket_open(const struct bpfmaps *maps)
{
	struct sockaddr_xdp address = { .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY };
	const __u32 queue = 0;
	int fd;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	set_loopback_up();
	fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	register_umem(fd);
	set_ring(fd, XDP_UMEM_FILL_RING);
	set_ring(fd, XDP_UMEM_COMPLETION_RING);
	set_ring(fd, XDP_RX_RING);
	address.sxdp_ifindex = if_nametoindex("lo");
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(
		bpf_map_update_elem(bpfmaps_map_fd(maps, "xsks_map"), &queue, &fd, BPF_ANY), 0);
	return fd;
}
