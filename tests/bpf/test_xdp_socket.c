/* SPDX-License-Identifier: GPL-2.0-only */
/* Up, where there is an AF_XDP socket: it gets what is not answered, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/xdpworld.h"
#include "volley.skel.h"

#define RING_CAP   64
#define UMEM_BYTES (64 * 4096)

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;

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

/* On queue 0 of the loopback device of a namespace of our own; it need not receive. */
static int open_xsk(void *umem)
{
	struct xdp_umem_reg reg = { .addr = (uintptr_t)umem,
				    .len = UMEM_BYTES,
				    .chunk_size = 4096 };
	struct sockaddr_xdp address = { .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY };
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	address.sxdp_ifindex = if_nametoindex("lo");
	assert_int_equal(setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof(reg)), 0);
	set_ring(fd, XDP_UMEM_FILL_RING);
	set_ring(fd, XDP_UMEM_COMPLETION_RING);
	set_ring(fd, XDP_RX_RING);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static size_t build(uint16_t qtype, uint16_t to_port)
{
	struct pkt_ask ask = { .name = (const uint8_t *)"\3www\7example", .qtype = qtype };
	struct pkt p = pkt_ipv4;

	p.to_port = to_port;
	return pkt_build(frame, &p, dns, pkt_ask(dns, &ask));
}

static void expect(struct xdp_world *w, size_t n, int reason, int action)
{
	uint64_t to_worker = w->counted.to_worker;

	xdp_world_run(w, frame, n, &result);
	assert_int_equal(result.reason, reason);
	assert_int_equal(result.action, action);
	assert_int_equal(w->counted.to_worker - to_worker, action == XDP_REDIRECT);
	if (action == XDP_TX)
		return;
	assert_int_equal(result.bytes, n);
	assert_memory_equal(result.frame, frame, n);
}

static void test_socket(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = { .name = (const uint8_t *)"\3www\7example" };
	void *umem =
		mmap(NULL, UMEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const __u32 queue = 0;
	int map_fd = bpf_map__fd(w->maps.skel->maps.xsks_map), fd;

	assert_ptr_not_equal(umem, MAP_FAILED);
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	set_loopback_up();
	fd = open_xsk(umem);
	xdp_world_put(w, &e);
	expect(w, build(2, 53), VOLLEY_UP_MISS, XDP_PASS);
	assert_int_equal(bpf_map_update_elem(map_fd, &queue, &fd, BPF_ANY), 0);
	expect(w, build(2, 53), VOLLEY_UP_MISS, XDP_REDIRECT);
	expect(w, build(1, 53), VOLLEY_HIT_FULL, XDP_TX);
	expect(w, build(2, 54), VOLLEY_PASS_SERVICE, XDP_PASS);
	w->maps.link->driver_answers = 0;
	expect(w, build(1, 53), VOLLEY_UP_SWITCHED_OFF, XDP_REDIRECT);
	close(fd); /* a worker that dies takes its socket out of the map */
	for (int i = 0; i < 2000 && result.action != XDP_PASS; i++) {
		usleep(1000);
		xdp_world_run(w, frame, build(1, 53), &result);
	}
	expect(w, build(1, 53), VOLLEY_UP_SWITCHED_OFF, XDP_PASS);
	munmap(umem, UMEM_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
