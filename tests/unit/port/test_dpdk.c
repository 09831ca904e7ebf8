/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dpdk port over a device without hardware. net_ring gives back what it is given: the test
 * puts frames into the device's queue, lets the port answer, and takes from the same queue what it
 * sent. Without huge pages, PCI, network and privileges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "port/dpdk.h"
#include "port/dpdk_port.h"
#include "port/frame.h"
#include "tests/lib/packet.h"
#include "xdp/key.h"

#define NOW_NS    1000000000
#define N_MBUFS   2047 /* twice as many as the ring has room for */
#define LATE_TEXT "late"

struct world {
	struct dpdk_device *device;
	struct port *port;
	struct port_msg msgs[PORT_BURST];
};

/* What the driver shares with the port. */
static struct volley_queue credit;

static int open_world(void **state)
{
	static struct world world;
	static unsigned int n; /* net_ring keeps its rings, so each test has others */
	const struct dpdk_queue queue = { .credit = &credit };
	char device[32], err[256] = "";
	const struct dpdk_config config = { .device = device, .n_queues = 1, .n_mbufs = N_MBUFS };

	snprintf(device, sizeof(device), "net_ring%u", n++);
	memset(&world, 0, sizeof(world));
	memset(&credit, 0, sizeof(credit));
	if (dpdk_device_open(&world.device, &config, err, sizeof(err))) {
		print_error("%s\n", err);
		return -1;
	}
	*state = &world;
	return dpdk_open(&world.port, world.device, &queue) || port_start(world.port);
}

static int close_world(void **state)
{
	struct world *w = *state;

	port_stop(w->port);
	port_close(w->port);
	dpdk_device_close(w->device);
	return 0;
}

/* --- Both ends of the ring -------------------------------------------------------------------- */

static void put(const struct world *w, const void *bytes, size_t n)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(w->device->pools[0]);

	assert_non_null(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)n), bytes, n);
	assert_int_equal(rte_eth_tx_burst(w->device->id, 0, &mbuf, 1), 1);
}

/* The next frame that the port sent; its length, or 0. */
static size_t get(const struct world *w, uint8_t *frame)
{
	struct rte_mbuf *mbuf;
	size_t n;

	if (!rte_eth_rx_burst(w->device->id, 0, &mbuf, 1))
		return 0;
	n = mbuf->data_len;
	assert_int_equal(mbuf->pkt_len, n);
	assert_int_equal(mbuf->nb_segs, 1);
	memcpy(frame, rte_pktmbuf_mtod(mbuf, void *), n);
	rte_pktmbuf_free(mbuf);
	return n;
}

static size_t make_query(uint8_t *frame, const struct pkt *to, uint16_t id)
{
	uint8_t name[PKT_NAME_MAX], dns[512];
	struct pkt_ask ask = { .name = name, .id = id };

	pkt_name(name, "www.example.com");
	return pkt_build(frame, to, dns, pkt_ask(dns, &ask));
}

static void check_books(const struct port *p)
{
	const struct port_stats *s = &p->stats;

	assert_int_equal(s->rx, s->malformed + s->truncated_in + s->no_reply + s->tx +
					s->tx_dropped + port_deferred(p) + s->to_kernel +
					s->to_kernel_lost);
}

/* All mbufs are back in the pool: those that the test took, too. */
static void check_no_leak(const struct world *w)
{
	assert_int_equal(rte_mempool_in_use_count(w->device->pools[0]), 0);
}

/* --- What is answered ------------------------------------------------------------------------- */

static void test_answers_in_place(void **state)
{
	static const struct pkt *const kinds[] = { &pkt_ipv4, &pkt_ipv6 };
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX], reply[PKT_FRAME_MAX];

	for (size_t i = 0; i < 2; i++) {
		struct pkt_answer answer;
		size_t n = make_query(query, kinds[i], 7), n_reply;

		put(w, query, n);
		assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 1);
		assert_int_equal(w->msgs[0].peer_port, htons(40000));
		assert_int_equal(w->msgs[0].local_port, htons(53));
		assert_true(w->msgs[0].cap >= 1232);
		w->msgs[0].data[2] |= 0x80; /* QR */
		port_send(w->port, NOW_NS, w->msgs, 1);
		n_reply = get(w, reply);
		assert_int_equal(n_reply, n);
		assert_null(pkt_check_answer(query, n, reply, n_reply, 1232, &answer));
	}
	check_books(w->port);
	check_no_leak(w);
}

/* More than were there before, so the answer grows. */
static void test_grows(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX], reply[PKT_FRAME_MAX];

	put(w, query, make_query(query, &pkt_ipv4, 7));
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 1);
	assert_int_equal(w->msgs[0].cap, 1500 - FRAME_IPV4_BYTES - FRAME_UDP_BYTES);
	memset(w->msgs[0].data + w->msgs[0].len, 0, w->msgs[0].cap - w->msgs[0].len);
	w->msgs[0].len = w->msgs[0].cap;
	port_send(w->port, NOW_NS, w->msgs, 1);
	assert_int_equal(get(w, reply), PKT_ETH_BYTES + 1500);
	check_no_leak(w);
}

static void test_whole_bursts(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX], reply[PKT_FRAME_MAX];
	unsigned int n, n_in = 0, n_out = 0;

	for (uint16_t id = 0; id < 3 * PORT_BURST; id++)
		put(w, query, make_query(query, &pkt_ipv4, (uint16_t)(id + 1)));
	while (n_in < 3 * PORT_BURST) {
		n = port_receive(w->port, NOW_NS, w->msgs, PORT_BURST);
		assert_int_equal(n, PORT_BURST);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(w->msgs[i].data[0] << 8 | w->msgs[i].data[1],
					 n_in + i + 1);
		n_in += n;
		for (unsigned int i = 0; i < n; i++)
			w->msgs[i].len = 0;
		port_send(w->port, NOW_NS, w->msgs, n);
	}
	while (get(w, reply))
		n_out++;
	assert_int_equal(n_out, 0);
	assert_int_equal(w->port->stats.no_reply, 3 * PORT_BURST);
	check_books(w->port);
	check_no_leak(w);
}

/* --- What is not ------------------------------------------------------------------------------ */

static void test_malformed(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX];
	size_t n = make_query(query, &pkt_ipv4, 7);

	put(w, query, PKT_ETH_BYTES);
	put(w, query, n - 1);
	query[PKT_ETH_BYTES] = 0x46;
	put(w, query, n);
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 0);
	assert_int_equal(w->port->stats.malformed, 3);
	check_books(w->port);
	check_no_leak(w);
}

/* It could be answered only after it was copied together; here what is behind it is padding. */
static void test_segments_are_refused(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX];
	size_t n = make_query(query, &pkt_ipv4, 7);
	struct rte_mbuf *head = rte_pktmbuf_alloc(w->device->pools[0]);
	struct rte_mbuf *tail = rte_pktmbuf_alloc(w->device->pools[0]);

	memcpy(rte_pktmbuf_append(head, (uint16_t)n), query, n);
	memset(rte_pktmbuf_append(tail, 4), 0, 4);
	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	assert_int_equal(rte_eth_tx_burst(w->device->id, 0, &head, 1), 1);
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 0);
	assert_int_equal(w->port->stats.malformed, 1);
	check_books(w->port);
	check_no_leak(w);
}

/* --- Later ------------------------------------------------------------------------------------ */

static void test_late_reply(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX], reply[PKT_FRAME_MAX];
	struct port_return to;
	struct port_reply late = { .to = &to, .data = (const uint8_t *)LATE_TEXT, .len = 4 };
	struct frame f;

	put(w, query, make_query(query, &pkt_ipv6, 7));
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 1);
	port_defer(w->port, &w->msgs[0], &to);
	w->msgs[0].outcome = PORT_DEFERS;
	w->msgs[0].len = 0;
	port_send(w->port, NOW_NS, w->msgs, 1);
	check_books(w->port);
	check_no_leak(w);
	assert_int_equal(port_reply(w->port, NOW_NS, &late, 1), 1);
	check_books(w->port);
	assert_int_equal(frame_parse(&f, reply, (uint32_t)get(w, reply)), 0);
	assert_int_equal(f.data_len, 4);
	assert_memory_equal(reply + f.data_off, LATE_TEXT, 4);
	assert_int_equal(f.peer_port, htons(53));
	check_no_leak(w);
}

/* No mbuf is left: the reply is given up, and counted. */
static void test_late_reply_without_mbufs(void **state)
{
	struct world *w = *state;
	struct rte_mbuf *all[N_MBUFS];
	uint8_t query[PKT_FRAME_MAX];
	struct port_return to;
	struct port_reply late = { .to = &to, .data = (const uint8_t *)LATE_TEXT, .len = 4 };
	unsigned int n = 0;

	put(w, query, make_query(query, &pkt_ipv4, 7));
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 1);
	port_defer(w->port, &w->msgs[0], &to);
	w->msgs[0].outcome = PORT_DEFERS;
	w->msgs[0].len = 0;
	port_send(w->port, NOW_NS, w->msgs, 1);
	while (n < N_MBUFS && (all[n] = rte_pktmbuf_alloc(w->device->pools[0])) != NULL)
		n++;
	assert_int_equal(port_reply(w->port, NOW_NS, &late, 1), 0);
	assert_int_equal(w->port->stats.tx_dropped, 1);
	check_books(w->port);
	rte_pktmbuf_free_bulk(all, n);
	check_no_leak(w);
}

/* --- No room ---------------------------------------------------------------------------------- */

/* The ring takes no more: what is left over is freed and counted. */
static void test_full_device(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX], frame[PKT_FRAME_MAX];
	size_t n = make_query(query, &pkt_ipv4, 7), n_in = 0;
	struct rte_mbuf *mbuf;

	put(w, query, n);
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 1);
	while ((mbuf = rte_pktmbuf_alloc(w->device->pools[0])) != NULL) {
		if (!rte_eth_tx_burst(w->device->id, 0, &mbuf, 1))
			break;
		n_in++;
	}
	assert_non_null(mbuf);
	rte_pktmbuf_free(mbuf);
	port_send(w->port, NOW_NS, w->msgs, 1);
	assert_int_equal(w->port->stats.tx_dropped, 1);
	check_books(w->port);
	while (n_in--)
		(void)get(w, frame);
	check_no_leak(w);
}

/* --- What the driver is told ------------------------------------------------------------------ */

static void test_says_what_it_has_taken(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX];

	assert_int_equal(credit.limit, 512); /* half of the queue's descriptors */
	credit.handed = 5;
	for (int i = 0; i < 3; i++)
		put(w, query, make_query(query, &pkt_ipv4, 7));
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 3);
	assert_int_equal(credit.taken, 3);
	for (int i = 0; i < 3; i++)
		w->msgs[i].len = 0;
	port_send(w->port, NOW_NS, w->msgs, 3);
	/* Two were lost. */
	assert_int_equal(port_receive(w->port, NOW_NS, w->msgs, PORT_BURST), 0);
	assert_int_equal(credit.taken, 5);
	port_stop(w->port);
	assert_int_equal(credit.limit, 0);
}

/* --- When to ask again ------------------------------------------------------------------------ */

static void test_sleeps_longer_and_longer(void **state)
{
	struct world *w = *state;
	uint8_t query[PKT_FRAME_MAX];
	uint64_t now_ns = NOW_NS, last_ns = 0;

	for (int i = 0; i < DPDK_SPINS; i++) {
		assert_int_equal(port_receive(w->port, now_ns, w->msgs, PORT_BURST), 0);
		assert_int_equal(port_wake_at(w->port), 0);
	}
	for (int i = 0; i < 100; i++) {
		assert_int_equal(port_receive(w->port, now_ns, w->msgs, PORT_BURST), 0);
		assert_in_range(port_wake_at(w->port) - now_ns, last_ns, DPDK_SLEEP_MAX_NS);
		last_ns = port_wake_at(w->port) - now_ns;
		now_ns += last_ns;
	}
	assert_int_equal(last_ns, DPDK_SLEEP_MAX_NS);
	put(w, query, make_query(query, &pkt_ipv4, 7));
	assert_int_equal(port_receive(w->port, now_ns, w->msgs, PORT_BURST), 1);
	assert_int_equal(port_wake_at(w->port), 0);
	w->msgs[0].len = 0;
	port_send(w->port, now_ns, w->msgs, 1);
}

/* --- Ours or the kernel's --------------------------------------------------------------------- */

static void add_service(struct volley_state *state, uint8_t family, const uint8_t *address,
			uint16_t port)
{
	struct volley_service s = { .port = htons(port), .family = family };

	memcpy(s.address, address, family == 4 ? 4 : 16);
	state->services[1].slots[volley_service_place(&state->services[1], &s)] = s;
}

static bool is_ours(const struct volley_state *state, const struct pkt *p)
{
	uint8_t frame[PKT_FRAME_MAX];
	size_t n = make_query(frame, p, 7);
	struct frame f;

	assert_int_equal(frame_parse(&f, frame, (uint32_t)n), 0);
	return exception_is_ours(state, pkt_ipv4.to_mac, &f, frame);
}

static void test_services(void **state)
{
	static struct volley_state table = {
		.services[1].keys = { 0x13579bdf02468ace, 0xfdb97531eca86420, 0x0123456789abcdef },
		.services_at = 1
	};
	struct pkt other4 = pkt_ipv4, other6 = pkt_ipv6;

	(void)state;
	assert_false(is_ours(&table, &pkt_ipv4));
	add_service(&table, 4, pkt_ipv4.to, 53);
	add_service(&table, 6, pkt_ipv6.to, 53);
	assert_true(is_ours(&table, &pkt_ipv4));
	assert_true(is_ours(&table, &pkt_ipv6));
	for (unsigned int port = 1; port <= UINT16_MAX; port++) {
		other4.to_port = other6.to_port = (uint16_t)port;
		assert_int_equal(is_ours(&table, &other4), port == 53);
		assert_int_equal(is_ours(&table, &other6), port == 53);
	}
	other4 = pkt_ipv4;
	other6 = pkt_ipv6;
	other4.to[3]++;
	other6.to[15]++;
	assert_false(is_ours(&table, &other4));
	assert_false(is_ours(&table, &other6));
	other4 = pkt_ipv4;
	memset(other4.to_mac, 0xff, 6);
	assert_false(is_ours(&table, &other4));
}

/* --- The EAL ---------------------------------------------------------------------------------- */

static void test_devices_that_are_not(void **state)
{
	const struct dpdk_config config = { .device = "net_nonsense0,a=b" };
	struct dpdk_device *device = NULL;
	char err[256] = "";

	(void)state;
	assert_true(dpdk_device_open(&device, &config, err, sizeof(err)) < 0);
	assert_non_null(strstr(err, "net_nonsense0"));
}

static int open_eal(void **state)
{
	const struct dpdk_eal eal = { .memory_mib = 128 };
	char err[256] = "", folder[64];
	struct stat there;

	(void)state;
	if (dpdk_eal_open(&eal, err, sizeof(err))) {
		print_error("%s\n", err);
		return -1;
	}
	snprintf(folder, sizeof(folder), "/var/run/dpdk/volley-%d", (int)getpid());
	return !stat(folder, &there); /* it leaves none */
}

static int close_eal(void **state)
{
	(void)state;
	dpdk_eal_close();
	return 0;
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_answers_in_place),
		WITH_WORLD(test_grows),
		WITH_WORLD(test_whole_bursts),
		WITH_WORLD(test_malformed),
		WITH_WORLD(test_segments_are_refused),
		WITH_WORLD(test_late_reply),
		WITH_WORLD(test_late_reply_without_mbufs),
		WITH_WORLD(test_full_device),
		WITH_WORLD(test_says_what_it_has_taken),
		WITH_WORLD(test_sleeps_longer_and_longer),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_devices_that_are_not),
	};

	return cmocka_run_group_tests(tests, open_eal, close_eal);
}
