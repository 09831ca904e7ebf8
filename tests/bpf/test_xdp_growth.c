/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for the answer, on a real path: a veth pair with the program in native mode.
 *
 *   client: packet or UDP socket ── c0 ── s0: program ── XDP_TX ──► c0
 *                                          └── XDP_PASS ──► UDP socket of the server
 *
 * A frame from a socket has a buffer of its own size: 256 octets before it, of which the kernel
 * keeps 40, and 0 to 63 behind it. Linux 6.1 gives it a page. The kernel's live frames have a page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/netlab.h"
#include "tests/lib/xdpworld.h"

#define HEAD_ROOM   216u /* of 256, without the kernel's struct xdp_frame */
#define LINE_BYTES  64u
#define OLD_META    32u /* no more metadata: Linux 6.1 */
#define WAIT_MS     10000
#define CLIENT_PORT 40000

static struct netlab lab;
static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX], received[PKT_FRAME_MAX];
static int wire_fd = -1;  /* the client's end */
static int server_fds[2]; /* kernel sockets behind the program, IPv4 and IPv6 */
static int ifindex;
static const uint8_t *const name = (const uint8_t *)"\3www\7example";

static int bind_udp(const struct sockaddr *address, socklen_t n)
{
	int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && !bind(fd, address, n) ? fd : -1;
}

static int bind_ipv4(const uint8_t address[4], uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	memcpy(&sin.sin_addr, address, 4);
	return bind_udp((struct sockaddr *)&sin, sizeof(sin));
}

static int bind_ipv6(const uint8_t address[16], uint16_t port)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	memcpy(&sin6.sin6_addr, address, 16);
	return bind_udp((struct sockaddr *)&sin6, sizeof(sin6));
}

static int attach(const struct xdp_world *w)
{
	ifindex = (int)if_nametoindex("s0");
	server_fds[0] = bind_ipv4(pkt_ipv4.to, 53);
	server_fds[1] = bind_ipv6(pkt_ipv6.to, 53);
	if (server_fds[0] < 0 || server_fds[1] < 0)
		return -1;
	return bpf_xdp_attach(ifindex, w->maps.prog_fd, XDP_FLAGS_DRV_MODE, NULL);
}

static int group_open(void **state)
{
	int err = xdp_world_open(state);

	if (err || !*state)
		return err;
	if (netlab_open(&lab) || netlab_enter(&lab, false))
		return -1;
	wire_fd = netlab_packet_socket("c0");
	if (wire_fd < 0 || netlab_enter(&lab, true))
		return -1;
	return attach(*state);
}

static int group_close(void **state)
{
	if (*state)
		netlab_close(&lab);
	return xdp_world_close(state);
}

/* A cache with one entry, with a body of this many octets. */
static struct xdp_world *take(void **state, const uint8_t *owner, size_t body)
{
	struct entry e = { .name = owner };
	struct xdp_world *w = xdp_world_take(state);

	e.full_bytes = e.short_bytes = (uint16_t)body;
	xdp_world_put(w, &e);
	return w;
}

static void check_answer(size_t n, size_t got, size_t body)
{
	struct pkt_answer answer;
	const char *wrong = "no answer";

	if (got)
		wrong = pkt_check_answer(frame, n, received, got, XDP_WORLD_MAX_UDP, &answer);
	if (wrong)
		fail_msg("frame of %zu octets, body of %zu: %s", n, body, wrong);
	if (answer.body_bytes != body)
		fail_msg("body of %zu octets, not %zu", answer.body_bytes, body);
	for (size_t i = 0; i < body; i++) {
		if (answer.body[i] != entry_pattern(i))
			fail_msg("body of %zu octets: octet %zu", body, i);
	}
}

/* The packet that went up is the query, octet by octet. */
static void check_up(int server_fd, size_t query, size_t body)
{
	struct pollfd p = { .fd = server_fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, WAIT_MS) != 1)
		fail_msg("body of %zu octets: neither answered nor handed up", body);
	n = recv(server_fd, received, sizeof(received), 0);
	if (n != (ssize_t)query || memcmp(received, dns, query))
		fail_msg("body of %zu octets: handed up, but changed", body);
}

/* Whether all received packets are counted under a reason; false while the program runs on another
 * CPU. */
static bool is_balanced(const struct volley_cpu *now)
{
	uint64_t sum = 0;

	for (int i = 0; i < VOLLEY_N_REASONS; i++)
		sum += now->reasons[i];
	return now->received == sum;
}

/* The reason to answer or to go up that counts one more. The stacks' own packets (MLD) all pass. */
static int find_counted(const struct xdp_world *w, const struct volley_cpu *now)
{
	int reason = -1;

	for (int i = 0; i < VOLLEY_N_REASONS; i++) {
		if (i >= VOLLEY_PASS_UNCONFIGURED && i != VOLLEY_DROP_EDIT)
			continue;
		if (now->reasons[i] == w->counted.reasons[i])
			continue;
		assert_int_equal(now->reasons[i] - w->counted.reasons[i], 1);
		assert_int_equal(reason, -1);
		reason = i;
	}
	return reason;
}

/* Waits until the program has counted the one query that was sent, and the counters balance. */
static int wait_counted(struct xdp_world *w)
{
	struct volley_cpu now;

	for (int i = 0; i < WAIT_MS * 10; i++) {
		int reason;

		assert_int_equal(bpfmaps_counters(&w->maps, &now), 0);
		reason = find_counted(w, &now);
		if (reason >= 0 && is_balanced(&now)) {
			w->counted = now;
			return reason;
		}
		usleep(100);
	}
	fail_msg("the query was not counted, or the counters do not balance");
	return -1;
}

/* Puts one query on the wire, and checks the result: HIT_FULL or UP_NO_ROOM. */
static int ask(struct xdp_world *w, const struct pkt *p, const uint8_t *owner, size_t body)
{
	struct pkt_ask query = { .name = owner, .edns = true, .udp_size = 1232 };
	size_t query_bytes = pkt_ask(dns, &query);
	size_t n = pkt_build(frame, p, dns, query_bytes);
	int reason;

	assert_int_equal(send(wire_fd, frame, n, 0), n);
	reason = wait_counted(w);
	if (reason == VOLLEY_UP_NO_ROOM) {
		check_up(server_fds[p->ipv6], query_bytes, body);
		return reason;
	}
	if (reason != VOLLEY_HIT_FULL)
		fail_msg("body of %zu octets: %s", body, xdp_reason_name(reason));
	check_answer(n, netlab_receive(wire_fd, CLIENT_PORT, received, sizeof(received), WAIT_MS),
		     body);
	return reason;
}

/*
 * How much a frame of p->pad_to octets can grow, by bodies of each size. If a size has room, every
 * smaller one must have it, too.
 */
static size_t largest_growth(void **state, const struct pkt *p, const uint8_t *owner, size_t step)
{
	struct pkt_ask query = { .name = owner, .edns = true };
	size_t fixed = pkt_dns_at(p) + pkt_ask(dns, &query);
	size_t grow;

	for (grow = 1; fixed < p->pad_to + grow + 1; grow += step) {
		size_t body = p->pad_to + grow - fixed;

		if (p->pad_to + grow - pkt_dns_at(p) > XDP_WORLD_MAX_UDP)
			break;
		if (ask(take(state, owner, body), p, owner, body) == VOLLEY_UP_NO_ROOM)
			return grow - step;
	}
	return grow;
}

/* Whether each frame has a page: then the longest answer has room in all of them. */
static bool have_pages(void **state)
{
	struct pkt_ask query = { .name = name, .edns = true, .udp_size = 1232 };
	size_t body = XDP_WORLD_MAX_UDP - pkt_ask(dns, &query);
	struct pkt p = pkt_ipv4;

	for (p.pad_to = 128; p.pad_to < 128 + LINE_BYTES; p.pad_to += 8) {
		if (ask(take(state, name, body), &p, name, body) == VOLLEY_UP_NO_ROOM)
			return false;
	}
	return true;
}

/*
 * The frame grows at its head: the room does not depend on its length. At its tail a longer frame
 * in the same buffer would have less room. (Now and then a buffer is the last of its page and has
 * more room at its tail.)
 */
static void test_every_tail_room(void **state)
{
	unsigned int n_head = 0, n_more = 0;
	bool pages = have_pages(state);
	struct pkt p = pkt_ipv4;

	for (p.pad_to = 128; p.pad_to < 128 + LINE_BYTES; p.pad_to++) {
		size_t grown = largest_growth(state, &p, name, 24);

		if (grown < HEAD_ROOM - 24)
			fail_msg("frame of %zu octets: only %zu more", p.pad_to, grown);
		n_head += grown <= HEAD_ROOM;
		n_more += grown > HEAD_ROOM;
	}
	assert_true(pages ? !n_head : n_head > n_more);
}

/* The exact room, with headers and names of every kind. */
static void test_head(void **state)
{
	uint8_t longest[PKT_NAME_MAX];
	struct pkt p;

	memset(longest, 'n', sizeof(longest));
	longest[0] = longest[64] = longest[128] = 63;
	longest[192] = 61;
	longest[254] = 0;
	xdp_world_take(state);
	for (unsigned int i = 0; i < 4; i++) {
		const uint8_t *owner = i / 2 ? longest : name;
		size_t grown;

		p = i % 2 ? pkt_ipv6 : pkt_ipv4;
		p.pad_to = 6 * LINE_BYTES;
		grown = largest_growth(state, &p, owner, 1);
		if (grown < HEAD_ROOM)
			fail_msg("case %u: only %zu octets more", i, grown);
	}
}

/* Answers a frame behind this much metadata. 0, or -EINVAL: the kernel takes no such frame. */
static int ask_behind(void **state, uint32_t meta, size_t body)
{
	struct pkt_ask query = { .name = name, .edns = true, .udp_size = 1232 };
	static uint8_t in[HEAD_ROOM + PKT_FRAME_MAX], out[HEAD_ROOM + PKT_FRAME_MAX];
	size_t query_bytes = pkt_ask(dns, &query);
	struct xdp_world *w = take(state, name, body);
	size_t n = pkt_build(frame, body % 2 ? &pkt_ipv6 : &pkt_ipv4, dns, query_bytes);
	struct xdp_md ctx = { .data = meta, .data_end = meta + (__u32)n };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in, .data_size_in = ctx.data_end,
		    .data_out = out, .data_size_out = sizeof(out), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .repeat = 1);
	int err;

	memcpy(in + meta, frame, n);
	err = bpf_prog_test_run_opts(w->maps.prog_fd, &opts);
	if (err)
		return err;
	assert_int_equal(xdp_world_counted(w), VOLLEY_HIT_FULL);
	assert_int_equal(opts.retval, XDP_TX);
	assert_int_equal(opts.data_size_out, meta + n + body);
	memcpy(received, out + meta, n + body);
	check_answer(n, n + body, body);
	return 0;
}

/*
 * Metadata takes all the room before the frame: then small answers grow at the tail, too. On Linux
 * 6.1, which takes less metadata, so do the longer ones of these.
 */
static void test_head_full(void **state)
{
	uint32_t meta = ask_behind(state, HEAD_ROOM, 1) == -EINVAL ? OLD_META : HEAD_ROOM;

	for (size_t body = 1; body <= HEAD_ROOM; body++)
		assert_int_equal(ask_behind(state, meta, body), 0);
}

/*
 * Real queries from a UDP socket: bodies of all sizes, answered or handed up, none lost. If each
 * frame has a page, all are answered.
 */
static void test_socket(void **state)
{
	struct pkt_ask query = { .name = name, .edns = true, .udp_size = 1232, .flags = PKT_RD };
	struct xdp_world *w = xdp_world_take(state);
	bool pages = have_pages(state);
	size_t n = pkt_ask(dns, &query), n_hits = 0, n_up = 0;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(53) };
		struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(53) };
		int fd;

		memcpy(&to4.sin_addr, pkt_ipv4.to, 4);
		memcpy(&to6.sin6_addr, pkt_ipv6.to, 16);
		assert_int_equal(netlab_enter(&lab, false), 0);
		fd = ipv6 ? bind_ipv6(pkt_ipv6.from, 41000) : bind_ipv4(pkt_ipv4.from, 41000);
		assert_true(fd >= 0);
		assert_int_equal(connect(fd,
					 ipv6 ? (struct sockaddr *)&to6 : (struct sockaddr *)&to4,
					 ipv6 ? sizeof(to6) : sizeof(to4)),
				 0);
		assert_int_equal(netlab_enter(&lab, true), 0);
		for (size_t body = 0; body <= 1232 - n; body += 3) {
			struct pollfd p = { .fd = fd, .events = POLLIN };
			int reason;

			take(state, name, body);
			assert_int_equal(send(fd, dns, n, 0), n);
			reason = wait_counted(w);
			if (reason == VOLLEY_UP_NO_ROOM) {
				check_up(server_fds[ipv6], n, body);
				n_up++;
				continue;
			}
			assert_int_equal(reason, VOLLEY_HIT_FULL);
			assert_int_equal(poll(&p, 1, WAIT_MS), 1);
			assert_int_equal(recv(fd, received, sizeof(received), 0), n + body);
			n_hits++;
		}
		close(fd);
	}
	print_message("           %zu answered, %zu without room handed up\n", n_hits, n_up);
	assert_true(n_hits > 0 && !n_up == pages);
}

/* The kernel's live frames have a page: every answer has room. */
static void test_live_frames(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct pkt_ask query = { .name = name, .edns = true, .udp_size = 1232 };
	size_t query_bytes = pkt_ask(dns, &query);

	for (size_t body = 0; body <= 1232 - query_bytes; body++) {
		struct xdp_md ctx = { .ingress_ifindex = (__u32)ifindex };
		size_t n = pkt_build(frame, body % 2 ? &pkt_ipv6 : &pkt_ipv4, dns, query_bytes);
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (__u32)n,
			    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1,
			    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

		ctx.data_end = (__u32)n;
		take(state, name, body);
		assert_int_equal(bpf_prog_test_run_opts(w->maps.prog_fd, &opts), 0);
		assert_int_equal(wait_counted(w), VOLLEY_HIT_FULL);
		check_answer(n,
			     netlab_receive(wire_fd, CLIENT_PORT, received, sizeof(received),
					    WAIT_MS),
			     body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_tail_room), cmocka_unit_test(test_head),
		cmocka_unit_test(test_head_full),       cmocka_unit_test(test_socket),
		cmocka_unit_test(test_live_frames),
	};

	return cmocka_run_group_tests(tests, group_open, group_close);
}
