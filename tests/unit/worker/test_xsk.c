/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AF_XDP in copy mode over a veth pair, each end in a network namespace that only this process has
 * (nothing is left behind, whatever happens). The XDP program is the smallest there is: each frame
 * goes to the socket of its queue, or passes where there is none. Without privileges: SKIP.
 */
#include "tests/unit/port/echo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "port/socket.h"
#include "port/xsk.h"
#include "worker/worker.h"

#define SERVER_IF  "volley-xs"
#define CLIENT_IF  "volley-xc"
#define OTHER_IF   "volley-xo"
#define QUERY_PORT 5300

static struct {
	bool ready;
	int server_ns, client_ns;
	int map_fd;
} lab;

static int run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

static int new_ns(void)
{
	return unshare(CLONE_NEWNET) ? -1 : open("/proc/thread-self/ns/net", O_RDONLY);
}

static void enter(int ns)
{
	assert_int_equal(setns(ns, CLONE_NEWNET), 0);
}

/* bpf_redirect_map(&map, ctx->rx_queue_index, XDP_PASS) */
static int load_redirect(int map_fd)
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

static int make_link(void)
{
	return run("ip link add " SERVER_IF " type veth peer name " CLIENT_IF
		   " netns /proc/%d/fd/%d",
		   getpid(), lab.client_ns) ||
	       run("ip link set lo up; ip addr add 192.0.2.1/24 dev " SERVER_IF "; "
		   "ip addr add 2001:db8::1/64 nodad dev " SERVER_IF "; "
		   "ip link set " SERVER_IF " address 02:00:00:00:00:01 up");
}

static int make_client(void)
{
	return run("ip addr add 192.0.2.2/24 dev " CLIENT_IF "; "
		   "ip addr add 2001:db8::2/64 nodad dev " CLIENT_IF "; "
		   "ip link set " CLIENT_IF " address 02:00:00:00:00:02 up; "
		   "ip neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev " CLIENT_IF "; "
		   "ip neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev " CLIENT_IF);
}

static int setup(void **state)
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

static void need_lab(void)
{
	if (!lab.ready) {
		print_message("SKIP: no privilege for network namespaces, veth or XDP\n");
		skip();
	}
}

static struct xsk_config small(uint32_t n_frames, uint32_t ring_cap)
{
	return (struct xsk_config){
		.ifname = SERVER_IF,
		.xsks_map_fd = lab.map_fd,
		.n_frames = n_frames,
		.ring_cap = ring_cap,
	};
}

static struct port *open_port(const struct xsk_config *config)
{
	struct port *p = NULL;

	assert_int_equal(xsk_open(&p, config), 0);
	return p;
}

static struct worker *start_with(struct port *p)
{
	struct worker_config config = { .cpu = WORKER_CPU_ANY, .handle = echo_handle };
	struct worker *w;

	assert_int_equal(worker_start(&w, &config), 0);
	assert_int_equal(worker_port_add(w, p), 0);
	return w;
}

/* A client's socket, connected to the server's end of the link. */
static int client_to(const char *text)
{
	struct port_addr to = addr_of(text, QUERY_PORT);
	int fd, room = 4 << 20;

	enter(lab.client_ns);
	fd = client_open(SOCK_DGRAM, &to);
	/* So that no reply is lost here. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	enter(lab.server_ns);
	return fd;
}

static void nap_ms(int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	nanosleep(&t, NULL);
}

static void assert_balance(const struct port *p)
{
	struct port_stats s;

	port_stats_read(p, &s);
	assert_int_equal(s.rx, s.malformed + s.truncated_in + s.no_reply + s.tx + s.tx_dropped +
				       port_pending(p) + port_deferred(p));
}

/* Every frame is somewhere, once what is still under way has arrived. */
static void assert_frames(struct port *p)
{
	struct port_msg msgs[PORT_BURST];
	struct xsk_frames f;
	unsigned int n;

	for (int i = 0; i < 100; i++) {
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

static void test_answers_over_both_families(void **state)
{
	static const struct {
		const char *name, *to;
		int longest;
	} rows[] = {
		{ "IPv4", "192.0.2.1", 1500 - 20 - 8 },
		{ "IPv6", "2001:db8::1", 1500 - 40 - 8 },
	};
	struct xsk_config config = small(0, 0);
	struct port *p;
	struct worker *w;
	uint8_t reply[4096];

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_false(xsk_is_zerocopy(p));
	w = start_with(p);
	for (size_t i = 0; i < 2; i++) {
		int fd = client_to(rows[i].to);

		print_message("  %s\n", rows[i].name);
		assert_int_equal(send(fd, "query", 5, 0), 5);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
		assert_memory_equal(reply, "\xf1uery", 5);
		/* The longest that fits frame and MTU. */
		assert_int_equal(send(fd, "Bx\xff\xff", 4, 0), 4);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), rows[i].longest);
		for (int at = 0; at < rows[i].longest; at++)
			assert_int_equal(reply[at], 'x');
		assert_int_equal(send(fd, "N", 1, 0), 1);
		assert_int_equal(send(fd, "odd", 3, 0), 3);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
		close(fd);
	}
	worker_stop(w);
	assert_int_equal(p->stats.tx, 6);
	assert_int_equal(p->stats.no_reply, 2);
	assert_balance(p);
	assert_frames(p);
	port_close(p);
}

static void send_raw(const uint8_t *frame, size_t len, int times)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	int fd;

	enter(lab.client_ns);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	to.sll_ifindex = (int)if_nametoindex(CLIENT_IF);
	for (int i = 0; i < times; i++)
		assert_int_equal(sendto(fd, frame, len, 0, (struct sockaddr *)&to, sizeof(to)),
				 len);
	close(fd);
	enter(lab.server_ns);
}

/* More bad frames than there are frames in the UMEM: if one were lost each time, all would be. */
static void test_malformed_frames_are_recycled(void **state)
{
	uint8_t arp[60] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x06, 0, 1 };
	struct xsk_config config = small(64, 64);
	struct port *p;
	struct worker *w;
	uint8_t reply[16];
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	w = start_with(p);
	for (int i = 0; i < 20; i++) {
		send_raw(arp, sizeof(arp), 20);
		nap_ms(2);
	}
	fd = client_to("192.0.2.1");
	assert_int_equal(send(fd, "abc", 3, 0), 3);
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
	worker_stop(w);
	assert_true(p->stats.malformed > 64);
	assert_balance(p);
	assert_frames(p);
	close(fd);
	port_close(p);
}

static unsigned int count_replies(int fd)
{
	uint8_t reply[64];
	unsigned int n = 0;

	nap_ms(50);
	while (recv(fd, reply, sizeof(reply), MSG_DONTWAIT) >= 0)
		n++;
	return n;
}

/* A small UMEM and tiny rings under a flood: what the kernel could not deliver never reached us. */
static void test_flood_balances(void **state)
{
	struct xsk_config config = small(128, 16);
	unsigned int n_replies = 0;
	struct port *p;
	struct worker *w;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	w = start_with(p);
	fd = client_to("192.0.2.1");
	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < 120; i++)
			(void)!send(fd, "flood", 5, MSG_DONTWAIT);
		n_replies += count_replies(fd);
	}
	worker_stop(w);
	assert_true(p->stats.tx > 300);
	assert_int_equal(n_replies, p->stats.tx);
	assert_int_equal(p->stats.tx_dropped, 0);
	assert_balance(p);
	assert_frames(p);
	close(fd);
	port_close(p);
}

/* Until the kernel has seen to it, which it does at leisure, what is sent goes nowhere. */
static void wait_running(int ns, const char *ifname)
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

static void link_down(void)
{
	assert_int_equal(run("ip link set " SERVER_IF " down"), 0);
}

static void link_up(void)
{
	assert_int_equal(run("ip link set " SERVER_IF " up"), 0);
	wait_running(lab.server_ns, SERVER_IF);
	wait_running(lab.client_ns, CLIENT_IF);
}

/* Until n frames, ours or the link's own, wait in the RX ring. */
static void wait_received(const struct port *p, uint32_t n)
{
	struct xsk_frames f;

	for (int i = 0; i < 500; i++) {
		xsk_frames_read(p, &f);
		if (f.total - f.free - f.fill - f.tx - f.backlog >= n)
			break;
		nap_ms(10);
	}
	nap_ms(50);
}

/* Numbered queries, answered in one burst while the link is down. */
static void ask_and_answer_without_link(struct port *p, int fd, unsigned int first, unsigned int n)
{
	struct port_msg msgs[PORT_BURST];
	uint8_t query[2];

	for (unsigned int i = first; i < first + n; i++) {
		query[0] = (uint8_t)(i >> 8);
		query[1] = (uint8_t)i;
		assert_int_equal(send(fd, query, 2, 0), 2);
	}
	wait_received(p, n);
	link_down();
	for (unsigned int got = 0; got < n;) {
		unsigned int burst = port_receive(p, 1, msgs, PORT_BURST);

		assert_true(burst > 0);
		port_send(p, 1, msgs, burst);
		got += burst;
	}
	link_up();
}

/*
 * The link is down, so the kernel takes nothing: the TX ring fills, then the backlog, the rest is
 * counted as dropped. When the link is up again, all that was kept goes out, in order.
 */
static void test_full_tx_ring_loses_nothing_silently(void **state)
{
	/* Half a ring at a time: an interface that is up again sends frames of its own. */
	enum { RING = 64, EACH = RING / 2, ROUNDS = 14, KEPT = RING + XSK_BACKLOG_CAP };
	struct xsk_config config = small(1024, RING);
	struct port_msg msgs[PORT_BURST];
	uint8_t reply[64];
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	fd = client_to("192.0.2.1");
	nap_ms(50);
	assert_int_equal(port_start(p), 0);
	for (unsigned int i = 0; i < ROUNDS; i++)
		ask_and_answer_without_link(p, fd, i * EACH, EACH);
	assert_int_equal(p->stats.tx, RING);
	assert_int_equal(port_pending(p), XSK_BACKLOG_CAP);
	assert_int_equal(p->stats.tx_retried, XSK_BACKLOG_CAP);
	assert_true(p->stats.tx_dropped >= ROUNDS * EACH - KEPT);
	assert_balance(p);
	assert_true(port_wake_at(p) != PORT_NEVER);

	assert_int_equal(port_receive(p, port_wake_at(p), msgs, PORT_BURST), 0);
	assert_int_equal(port_pending(p), 0);
	assert_int_equal(p->stats.tx, KEPT);
	for (unsigned int i = 0; i < KEPT; i++) {
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 2);
		assert_int_equal(reply[0] << 8 | reply[1], i);
	}
	assert_balance(p);
	assert_frames(p);
	assert_int_equal(port_wake_at(p), PORT_NEVER);
	close(fd);
	port_close(p);
}

/* One round by hand, putting off what comes: rounds go on until n messages have come. */
static void defer_n(struct port *p, struct later *later, unsigned int n)
{
	struct port_msg msgs[PORT_BURST];
	unsigned int got = 0;

	for (int i = 0; i < 500 && got < n; i++) {
		unsigned int burst = port_receive(p, 1, msgs, PORT_BURST);

		echo_defer(later, msgs, burst, p, 1);
		port_send(p, 1, msgs, burst);
		got += burst;
		nap_ms(burst ? 0 : 2);
	}
	assert_int_equal(got, n);
}

/* The frame of the query has gone round long before: many others came after it. */
static void test_late_replies_over_both_families(void **state)
{
	static const struct {
		const char *name, *to;
		uint32_t longest;
	} rows[] = {
		{ "IPv4", "192.0.2.1", 1500 - 20 - 8 },
		{ "IPv6", "2001:db8::1", 1500 - 40 - 8 },
	};
	struct xsk_config config = small(64, 64);
	static struct later later, others;
	uint8_t reply[4096], big[1500];

	(void)state;
	need_lab();
	memset(big, 'x', sizeof(big));
	for (size_t i = 0; i < 2; i++) {
		struct port *p = open_port(&config);
		int fd = client_to(rows[i].to);

		print_message("  %s\n", rows[i].name);
		assert_true(port_can_defer(p));
		assert_int_equal(port_start(p), 0);
		later = (struct later){ .n = 0 };
		assert_int_equal(send(fd, "first", 5, 0), 5);
		assert_int_equal(send(fd, "big", 3, 0), 3);
		assert_int_equal(send(fd, "N", 1, 0), 1);
		defer_n(p, &later, 3);
		for (int times = 0; times < 100; times++) {
			others = (struct later){ .n = 0 };
			assert_int_equal(send(fd, "Q", 1, 0), 1);
			defer_n(p, &others, 1);
			assert_int_equal(recv(fd, reply, sizeof(reply), 0), 1);
		}
		assert_int_equal(port_deferred(p), 3);
		assert_balance(p);
		assert_int_equal(later.to[1].cap, rows[i].longest);
		later.replies[1].data = big;
		later.replies[1].len = later.to[1].cap;
		assert_int_equal(port_reply(p, 1, later.replies, 3), 2);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
		assert_memory_equal(reply, "\xe6irst", 5);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), rows[i].longest);
		assert_memory_equal(reply, big, rows[i].longest);
		assert_int_equal(port_deferred(p), 0);
		assert_int_equal(p->stats.no_reply, 1);
		assert_int_equal(p->stats.tx, 102);
		assert_balance(p);
		assert_frames(p);
		close(fd);
		port_close(p);
	}
}

/*
 * More are put off than frames are there: all the while queries are received and answered, since none
 * keeps a frame, and the replies then go out though they outnumber the frames kept for them.
 */
static void test_deferred_messages_hold_no_frames(void **state)
{
	enum { FRAMES = 64, LATE = 5 * FRAMES };
	struct xsk_config config = small(FRAMES, 64);
	static struct later later;
	unsigned int n_sent = 0;
	struct xsk_frames f;
	uint8_t reply[64];
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(port_start(p), 0);
	fd = client_to("192.0.2.1");
	later = (struct later){ .n = 0 };
	for (unsigned int i = 0; i < LATE; i++) {
		uint8_t query[2] = { (uint8_t)('a' + (i >> 8)), (uint8_t)i };

		assert_int_equal(send(fd, query, 2, 0), 2);
		defer_n(p, &later, 1);
	}
	assert_int_equal(port_deferred(p), LATE);
	xsk_frames_read(p, &f);
	assert_true(f.free >= FRAMES / XSK_LATE_SHARE);
	assert_int_equal(f.free + f.fill, FRAMES);
	for (unsigned int i = 0; i < LATE; i += FRAMES)
		n_sent += port_reply(p, 1, later.replies + i, FRAMES);
	assert_int_equal(n_sent, LATE);
	for (unsigned int i = 0; i < LATE; i++) {
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 2);
		assert_int_equal(reply[0] & 0x7f, 'a' + (i >> 8));
		assert_int_equal(reply[1], (uint8_t)i);
	}
	assert_int_equal(p->stats.tx_dropped, 0);
	assert_balance(p);
	assert_frames(p);
	close(fd);
	port_close(p);
}

/* While a burst is out its frames are left alone, and those of late replies come back round for round. */
static void test_late_replies_within_bursts(void **state)
{
	enum { ROUNDS = 60, EACH = 40 };
	struct xsk_config config = small(64, 16);
	static struct later laters[2];
	struct port_msg msgs[PORT_BURST];
	unsigned int n_replies = 0, n_bursts = 0, n;
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(port_start(p), 0);
	fd = client_to("192.0.2.1");
	laters[0].n = laters[1].n = 0;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < EACH; i++)
			(void)!send(fd, i % 4 ? "late" : "Quick", i % 4 ? 4 : 5, MSG_DONTWAIT);
		while ((n = port_receive(p, 1, msgs, PORT_BURST))) {
			struct later *last = &laters[n_bursts % 2], *now = &laters[++n_bursts % 2];

			now->n = 0;
			echo_defer(now, msgs, n, p, 1);
			assert_int_equal(port_reply(p, 1, last->replies, last->n), last->n);
			last->n = 0;
			port_send(p, 1, msgs, n);
		}
		n_replies += count_replies(fd);
	}
	n = laters[n_bursts % 2].n;
	assert_int_equal(port_reply(p, 1, laters[n_bursts % 2].replies, n), n);
	/* What waited for room goes now. */
	assert_frames(p);
	n_replies += count_replies(fd);
	assert_true(p->stats.late > ROUNDS);
	assert_int_equal(port_deferred(p), 0);
	/* The link has a life of its own: neighbours are looked for, groups are joined. */
	assert_int_equal(p->stats.rx - p->stats.malformed, p->stats.tx);
	assert_int_equal(n_replies, p->stats.tx);
	assert_balance(p);
	close(fd);
	port_close(p);
}

/*
 * Without a link no frame comes back: as much is kept as there are frames, or room in ring and backlog;
 * the rest is counted, and no frame is lost.
 */
static void test_late_replies_without_a_link(void **state)
{
	enum { RING = 4, LATE = 5 * PORT_BURST };
	static const struct {
		const char *name;
		uint32_t n_frames;
	} rows[] = { { "few frames", 64 }, { "many frames", 4096 } };
	static struct later later;

	(void)state;
	need_lab();
	for (size_t r = 0; r < 2; r++) {
		struct xsk_config config = small(rows[r].n_frames, RING);
		unsigned int n_sent = 0, n_want;
		struct port *p = open_port(&config);
		int fd = client_to("192.0.2.1");
		struct xsk_frames f;

		print_message("  %s\n", rows[r].name);
		assert_int_equal(port_start(p), 0);
		later = (struct later){ .n = 0 };
		for (unsigned int i = 0; i < LATE; i++) {
			assert_int_equal(send(fd, "abc", 3, 0), 3);
			defer_n(p, &later, 1);
		}
		xsk_frames_read(p, &f);
		n_want = f.free < RING + XSK_BACKLOG_CAP ? f.free : RING + XSK_BACKLOG_CAP;
		link_down();
		for (unsigned int i = 0; i < LATE; i += PORT_BURST)
			n_sent += port_reply(p, 1, later.replies + i, PORT_BURST);
		assert_int_equal(n_sent, n_want);
		assert_int_equal(p->stats.tx_dropped, LATE - n_sent);
		assert_true(port_pending(p) > 0);
		assert_balance(p);
		link_up();
		assert_frames(p);
		assert_int_equal(count_replies(fd), n_sent);
		assert_balance(p);
		close(fd);
		port_close(p);
	}
}

static int client_from(const char *from, const char *to_text)
{
	struct port_addr to = addr_of(to_text, QUERY_PORT), me = addr_of(from, 0);
	struct timeval limit = { .tv_sec = 10 };
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	enter(lab.client_ns);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	me.scope_id = to.scope_id = if_nametoindex(CLIENT_IF);
	len = port_addr_to_sockaddr(&me, &ss);
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, len), 0);
	len = port_addr_to_sockaddr(&to, &ss);
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), 0);
	enter(lab.server_ns);
	return fd;
}

/* Where one of the addresses is link-local the way back needs the interface, now and later. */
static void test_late_replies_from_and_to_link_local(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "fe80::2", "fe80::53" },
		{ "fe80::2", "2001:db8::1" },
		{ "2001:db8::2", "fe80::53" },
	};
	struct socket_config config = { .listen = addr_of("::", QUERY_PORT) };
	static struct later later;
	struct port_msg msgs[PORT_BURST];
	uint8_t reply[16];
	struct port *p;

	(void)state;
	need_lab();
	/* Another link, whose route to fe80::/64 is the older one: no interface would lead there. */
	assert_int_equal(run("ip link add " OTHER_IF " type veth peer name " OTHER_IF "p && "
			     "ip link set " OTHER_IF " up && ip link set " OTHER_IF "p up"),
			 0);
	link_down();
	link_up();
	assert_int_equal(run("ip addr add fe80::53/64 nodad dev " SERVER_IF " && "
			     "ip addr add 2001:db8::1/64 nodad dev " SERVER_IF),
			 0);
	enter(lab.client_ns);
	assert_int_equal(run("ip addr replace fe80::2/64 nodad dev " CLIENT_IF), 0);
	enter(lab.server_ns);
	assert_int_equal(socket_open(&p, &config), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };
		int fd = client_from(rows[i].from, rows[i].to);

		print_message("  %s asks %s\n", rows[i].from, rows[i].to);
		later = (struct later){ .n = 0 };
		assert_int_equal(send(fd, "abc", 3, 0), 3);
		assert_int_equal(poll(&pollfd, 1, 5000), 1);
		assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 1);
		echo_defer(&later, msgs, 1, p, 1);
		port_send(p, 1, msgs, 1);
		assert_int_equal(port_reply(p, 1, later.replies, 1), 1);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
		close(fd);
	}
	assert_balance(p);
	port_close(p);
	assert_int_equal(run("ip link del " OTHER_IF), 0);
}

/* Without an entry in the map the kernel gets the packet: its socket, on the same worker, answers. */
static void test_sockets_take_over_when_the_port_goes(void **state)
{
	struct socket_config listen = { .listen = addr_of("0.0.0.0", QUERY_PORT) };
	struct xsk_config config = small(256, 64);
	struct worker_stats stats;
	struct port *xsk, *udp;
	struct worker *w;
	uint8_t reply[16];
	int fd;

	(void)state;
	need_lab();
	run("ip neigh replace 192.0.2.2 lladdr 02:00:00:00:00:02 dev " SERVER_IF);
	assert_int_equal(socket_open(&udp, &listen), 0);
	xsk = open_port(&config);
	w = start_with(xsk);
	assert_int_equal(worker_port_add(w, udp), 0);
	fd = client_to("192.0.2.1");
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			assert_int_equal(worker_port_remove(w, xsk), 0);
		assert_int_equal(send(fd, "abc", 3, 0), 3);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
	}
	worker_stats_read(w, &stats);
	assert_int_equal(stats.by_kind[PORT_XSK].answered, 2);
	assert_int_equal(stats.by_kind[PORT_SOCKET].answered, 2);
	worker_stop(w);
	assert_frames(xsk);
	close(fd);
	port_close(xsk);
	port_close(udp);
}

static void test_busy_poll_answers(void **state)
{
	struct xsk_config config = small(256, 64);
	struct port *p;
	struct worker *w;
	uint8_t reply[16];
	int fd;

	(void)state;
	need_lab();
	config.busy_poll_us = 20;
	config.frame_bytes = 4096;
	p = open_port(&config);
	assert_int_equal(port_wake_at(p), 0);
	w = start_with(p);
	fd = client_to("192.0.2.1");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(send(fd, "abc", 3, 0), 3);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
	}
	worker_stop(w);
	assert_balance(p);
	close(fd);
	port_close(p);
}

static void test_open_says_why_not(void **state)
{
	struct xsk_config bad[] = { small(64, 64), small(64, 64), small(64, 64), small(100, 64) };
	const int want[] = { -ENODEV, -EINVAL, -EOPNOTSUPP, -EINVAL };
	struct port *p = NULL;

	(void)state;
	need_lab();
	bad[0].ifname = "volley-none";
	bad[1].queue = 77;
	bad[2].mode = XSK_ZEROCOPY;
	for (int i = 0; i < 4; i++)
		assert_int_equal(xsk_open(&p, &bad[i]), want[i]);
}

static void test_a_queue_has_one_socket(void **state)
{
	struct xsk_config config = small(64, 64);
	struct port *p, *second = NULL;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(xsk_open(&second, &config), -EBUSY);
	port_close(p);
	second = open_port(&config);
	port_close(second);
}

/* The interface vanishes under a running worker: it goes on, does not spin, and lets go. Last test. */
static void test_interface_gone(void **state)
{
	struct xsk_config config = small(256, 64);
	struct worker_stats before, after;
	struct port *p;
	struct worker *w;

	(void)state;
	need_lab();
	p = open_port(&config);
	w = start_with(p);
	assert_int_equal(run("ip link del " SERVER_IF), 0);
	nap_ms(100);
	worker_stats_read(w, &before);
	nap_ms(500);
	worker_stats_read(w, &after);
	assert_true(after.heartbeat - before.heartbeat < 50);
	assert_int_equal(worker_port_remove(w, p), 0);
	worker_stop(w);
	port_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_over_both_families),
		cmocka_unit_test(test_malformed_frames_are_recycled),
		cmocka_unit_test(test_flood_balances),
		cmocka_unit_test(test_full_tx_ring_loses_nothing_silently),
		cmocka_unit_test(test_late_replies_over_both_families),
		cmocka_unit_test(test_deferred_messages_hold_no_frames),
		cmocka_unit_test(test_late_replies_within_bursts),
		cmocka_unit_test(test_late_replies_without_a_link),
		cmocka_unit_test(test_late_replies_from_and_to_link_local),
		cmocka_unit_test(test_sockets_take_over_when_the_port_goes),
		cmocka_unit_test(test_busy_poll_answers),
		cmocka_unit_test(test_open_says_why_not),
		cmocka_unit_test(test_a_queue_has_one_socket),
		cmocka_unit_test(test_interface_gone),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
