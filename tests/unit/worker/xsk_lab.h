/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AF_XDP in copy mode over a veth pair. Each end is in a network namespace of this process, so
 * nothing is left behind. The XDP program is minimal: each frame goes to the socket of its queue,
 * or passes if there is none. Without privileges: SKIP.
 */
#ifndef VOLLEY_TESTS_UNIT_WORKER_XSK_LAB_H
#define VOLLEY_TESTS_UNIT_WORKER_XSK_LAB_H

#include "tests/unit/port/echo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "port/xsk.h"
#include "port/xsk_umem.h"

#define SERVER_IF  "volley-xs"
#define CLIENT_IF  "volley-xc"
#define QUERY_PORT 5300

static struct {
	bool ready;
	int server_ns, client_ns;
	int map_fd;
} lab;

/* How many frames are in each place. The sum is total if none is between queue and RX ring. */
struct xsk_frames {
	uint32_t free;
	uint32_t fill; /* in the fill ring, not yet taken by the kernel */
	uint32_t tx;   /* in the TX ring, not yet seen in the completion ring */
	uint32_t backlog;
	uint32_t total;
};

/* The port has no worker, or this thread is the worker's. */
static inline void xsk_frames_read(const struct port *p, struct xsk_frames *out)
{
	const struct xsk_port *x = (const struct xsk_port *)p;

	*out = (struct xsk_frames){
		.free = x->n_free,
		.fill = *x->rings.fill.producer -
			__atomic_load_n(x->rings.fill.consumer, __ATOMIC_ACQUIRE),
		.tx = x->n_tx,
		.backlog = x->n_backlog,
		.total = x->n_frames,
	};
}

static inline int run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

static inline int new_ns(void)
{
	return unshare(CLONE_NEWNET) ? -1 : open("/proc/thread-self/ns/net", O_RDONLY);
}

static inline void enter(int ns)
{
	assert_int_equal(setns(ns, CLONE_NEWNET), 0);
}

/* bpf_redirect_map(&map, ctx->rx_queue_index, XDP_PASS) */
static inline int load_redirect(int map_fd)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = 16 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map_fd },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "redirect", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

static inline int make_link(void)
{
	return run("ip link add " SERVER_IF " type veth peer name " CLIENT_IF
		   " netns /proc/%d/fd/%d",
		   getpid(), lab.client_ns) ||
	       run("ip link set lo up; ip addr add 192.0.2.1/24 dev " SERVER_IF "; "
		   "ip addr add 2001:db8::1/64 nodad dev " SERVER_IF "; "
		   "ip link set " SERVER_IF " address 02:00:00:00:00:01 up");
}

static inline int make_client(void)
{
	return run("ip addr add 192.0.2.2/24 dev " CLIENT_IF "; "
		   "ip addr add 2001:db8::2/64 nodad dev " CLIENT_IF "; "
		   "ip link set " CLIENT_IF " address 02:00:00:00:00:02 up; "
		   "ip neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev " CLIENT_IF "; "
		   "ip neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev " CLIENT_IF);
}

static inline int setup(void **state)
{
	int prog_fd;

	(void)state;
	lab.client_ns = new_ns();
	lab.server_ns = new_ns();
	if (lab.client_ns < 0 || lab.server_ns < 0)
		return 0;
	lab.map_fd = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "xsks", 4, 4, 4, NULL);
	prog_fd = lab.map_fd < 0 ? -1 : load_redirect(lab.map_fd);
	if (prog_fd < 0 || make_link())
		return 0;
	run("ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev " SERVER_IF "; "
	    "ip neigh add 2001:db8::2 lladdr 02:00:00:00:00:02 dev " SERVER_IF);
	if (bpf_xdp_attach((int)if_nametoindex(SERVER_IF), prog_fd, XDP_FLAGS_DRV_MODE, NULL))
		return 0;
	enter(lab.client_ns);
	lab.ready = !make_client();
	enter(lab.server_ns);
	return 0;
}

static inline void need_lab(void)
{
	if (!lab.ready) {
		print_message("SKIP: no privilege for network namespaces, veth or XDP\n");
		skip();
	}
}

static inline struct xsk_config small(uint32_t n_frames, uint32_t ring_cap)
{
	return (struct xsk_config){
		.ifname = SERVER_IF,
		.xsks_map_fd = lab.map_fd,
		.n_frames = n_frames,
		.ring_cap = ring_cap,
	};
}

/* The kernel may release the queue of the test before later than xsk_open() waits for. */
static inline struct port *open_port(const struct xsk_config *config)
{
	struct port *p = NULL;
	int err = -EBUSY;

	for (int i = 0; i < 10 && err == -EBUSY; i++)
		err = xsk_open(&p, config);
	assert_int_equal(err, 0);
	return p;
}

/* A client's socket, connected to the server's end of the link. */
static inline int client_to(const char *text)
{
	struct port_addr to = addr_of(text, QUERY_PORT);
	int fd, room = 4 << 20;

	enter(lab.client_ns);
	fd = client_open(SOCK_DGRAM, &to);
	/* A large buffer, so that no reply is lost here. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	enter(lab.server_ns);
	return fd;
}

static inline void nap_ms(int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	nanosleep(&t, NULL);
}

/* Replies that wait for room in the TX ring; 0 for a port of another kind. */
static inline uint64_t xsk_pending(const struct port *p)
{
	return p->kind == PORT_XSK ? ((const struct xsk_port *)p)->n_backlog : 0;
}

static inline void assert_balance(const struct port *p)
{
	struct port_stats s;

	port_stats_read(p, &s);
	assert_int_equal(s.rx, s.malformed + s.truncated_in + s.no_reply + s.tx + s.tx_dropped +
				       xsk_pending(p) + port_deferred(p));
}

/* Checks that no frame is lost, after all frames under way have arrived. */
static inline void assert_frames(struct port *p)
{
	struct port_msg msgs[PORT_BURST];
	struct xsk_frames f;
	unsigned int n;

	for (int i = 0; i < 500; i++) {
		n = port_receive(p, PORT_NEVER - 1, msgs, PORT_BURST);
		port_send(p, PORT_NEVER - 1, msgs, n);
		xsk_frames_read(p, &f);
		if (f.free + f.fill + f.tx + f.backlog == f.total && !f.tx && !f.backlog)
			return;
		nap_ms(10);
	}
	fail_msg("free %u, fill %u, tx %u, backlog %u: not %u", f.free, f.fill, f.tx, f.backlog,
		 f.total);
}

static inline unsigned int count_replies(int fd)
{
	uint8_t reply[64];
	unsigned int n = 0;

	nap_ms(50);
	while (recv(fd, reply, sizeof(reply), MSG_DONTWAIT) >= 0)
		n++;
	return n;
}

/* Waits until the interface runs. The kernel needs some time, and drops frames until then. */
static inline void wait_running(int ns, const char *ifname)
{
	struct ifreq request = { 0 };
	int fd;

	enter(ns);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	strcpy(request.ifr_name, ifname);
	for (int i = 0; i < 500; i++) {
		assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &request), 0);
		if (request.ifr_flags & IFF_RUNNING)
			break;
		nap_ms(10);
	}
	close(fd);
	enter(lab.server_ns);
	assert_true(request.ifr_flags & IFF_RUNNING);
}

static inline void link_down(void)
{
	assert_int_equal(run("ip link set " SERVER_IF " down"), 0);
}

static inline void link_up(void)
{
	assert_int_equal(run("ip link set " SERVER_IF " up"), 0);
	wait_running(lab.server_ns, SERVER_IF);
	wait_running(lab.client_ns, CLIENT_IF);
}

#endif
