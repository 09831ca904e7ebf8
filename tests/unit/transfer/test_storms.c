/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many zones at one moment: all are due, all expire. The test is the transfer thread, control and
 * the primary in one, with a clock of its own, so nothing here waits.
 */
#include "tests/unit/base/capture.h"
#include "tests/unit/zone/zone_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "transfer/exchange.h"
#include "transfer/secondary.h"
#include "transfer/transfer.h"
#include "transfer/transfer_thread.h"

#define S       CLOCK_NS_PER_S
#define EXPIRE  86400u
#define TEXT    "$TTL 300\n@ IN SOA ns host 7 7200 600 86400 60\n@ NS ns\nns A 192.0.2.1\n"
#define N_ZONES 300u
#define N_ASKED (SECONDARY_CHECKS - SECONDARY_CHECKS / 4) /* of one remote, at a time */

static struct clock_now now;
static struct transfer t;
static struct engine_config engine_config;
static struct engine_data published;
static struct zone *zones[N_ZONES];
static unsigned int n_events[TRANSFER_UPDATE + 1]; /* by kind */
static int udp, tcp;                               /* of the primary, which has one port */
static char other[] = "other";
static char *remotes[] = { other, NULL };

/* A query that has come to the primary. */
static struct come {
	struct sockaddr_in from;
	size_t n;
	uint8_t msg[512];
} come[2 * N_ZONES];

static void read_clock(struct clock_now *out)
{
	*out = now;
}

static void on_event(void *user, struct transfer_event *event)
{
	(void)user;
	n_events[event->kind]++;
}

/* All that the thread can do at this moment. */
static void run(void)
{
	for (unsigned int i = 0; i < 8; i++)
		(void)event_base_loop(t.base, EVLOOP_NONBLOCK);
}

static void move_on(uint64_t ns)
{
	now.ns += ns;
	now.wall_s += ns / S;
	loop_wake(&t);
	timers_run(&t.timers, now.ns);
	run();
}

static void name_zone(uint8_t name[static NAME_FOLDED_BYTES], unsigned int i)
{
	char text[16];

	snprintf(text, sizeof(text), "z%03u", i);
	wire_of(name, text);
}

static struct transfer_zone *find_zone(unsigned int i)
{
	uint8_t name[NAME_FOLDED_BYTES];

	name_zone(name, i);
	return transfer_zones_find(&t.zones, name);
}

static void bind_primary(struct sockaddr_in *addr)
{
	socklen_t n = sizeof(*addr);

	udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	addr->sin_port = 0;
	assert_int_equal(bind(udp, (struct sockaddr *)addr, n), 0);
	assert_int_equal(getsockname(udp, (struct sockaddr *)addr, &n), 0);
}

static struct config_addr open_primary(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct config_addr address = { .family = AF_INET };
	int room = 1 << 20;

	bind_primary(&addr);
	while (bind(tcp, (struct sockaddr *)&addr, sizeof(addr))) { /* another program has it */
		close(udp);
		close(tcp);
		bind_primary(&addr);
	}
	assert_int_equal(setsockopt(udp, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	address.net_port = addr.sin_port;
	memcpy(address.addr, &addr.sin_addr, 4);
	return address;
}

static void publish(void)
{
	static uint8_t names[N_ZONES][NAME_FOLDED_BYTES];
	struct zone_member members[N_ZONES] = { 0 };
	struct zone_set *set;

	for (unsigned int i = 0; i < N_ZONES; i++) {
		char text[16];

		name_zone(names[i], i);
		snprintf(text, sizeof(text), "z%03u", i);
		zones[i] = zone_of(text, TEXT);
		members[i] = (struct zone_member){ .apex = names[i],
						   .apex_len = (unsigned)name_bytes(names[i]),
						   .zone = zones[i] };
	}
	assert_int_equal(zone_set_new(&set, members, N_ZONES), 0);
	rcu_set_pointer(&published.set, set);
}

/* All zones are served, and were checked so many seconds ago. */
static void put_all(uint64_t ago_s)
{
	static const struct config_zone config = { .primaries = remotes };
	const struct transfer_past past = { .checked_wall_s = now.wall_s - ago_s,
					    .expires_wall_s = now.wall_s + EXPIRE };
	uint8_t name[NAME_FOLDED_BYTES];

	for (unsigned int i = 0; i < N_ZONES; i++) {
		name_zone(name, i);
		assert_int_equal(transfer_put_zone(&t, name, &config, &past), 0);
	}
	run();
}

static int begin(void **state)
{
	static struct config_addr address;
	struct config_remote known = { .name = other, .addresses = &address, .n_addresses = 1 };
	const struct config config = {
		.remotes = &known, .n_remotes = 1, .n_transfers = 10, .n_transfers_out = 10
	};
	char err[256];

	(void)state;
	now = (struct clock_now){ .ns = S, .wall_s = 1700000000u, .coarse_s = 1 };
	engine_config = (struct engine_config)ENGINE_CONFIG_INIT;
	published = (struct engine_data){ 0 };
	memset(n_events, 0, sizeof(n_events));
	address = open_primary();
	t = (struct transfer){ .env = { .published = &published, .engine_config = &engine_config },
			       .event = on_event,
			       .read_clock = read_clock };
	assert_int_equal(loop_open(&t), 0);
	assert_int_equal(transfer_configure(&t, &config, err, sizeof(err)), 0);
	publish();
	return 0;
}

static int end(void **state)
{
	(void)state;
	transfer_stop(&t);
	mailbox_close(&t.to_loop);
	mailbox_close(&t.to_control);
	zone_set_free(published.set);
	for (unsigned int i = 0; i < N_ZONES; i++)
		zone_free(zones[i]);
	close(udp);
	close(tcp);
	return 0;
}

/* The queries that have come since the last call, from come[0] on. */
static unsigned int take_come(void)
{
	unsigned int n = 0;

	for (;; n++) {
		socklen_t len = sizeof(come[n].from);
		ssize_t got = recvfrom(udp, come[n].msg, sizeof(come[n].msg), 0,
				       (struct sockaddr *)&come[n].from, &len);

		if (got < 0)
			return n;
		come[n].n = (size_t)got;
	}
}

/* The SOA that is served already, with this question and ID, to the sender of the query. */
static void answer_as(const struct come *to, const uint8_t *question, uint16_t id)
{
	const size_t n_question = DNS_HEADER_BYTES + 6 + 4; /* zNNN. */
	uint8_t msg[512];
	struct wire_writer w;

	memcpy(msg, question, n_question);
	wire_store_be16(msg + DNS_ID_AT, id);
	wire_store_be16(msg + DNS_FLAGS_AT, DNS_FLAG_QR | DNS_FLAG_AA);
	wire_store_be16(msg + DNS_ANCOUNT_AT, 1);
	wire_store_be16(msg + DNS_NSCOUNT_AT, 0);
	wire_store_be16(msg + DNS_ARCOUNT_AT, 0);
	wire_writer_init(&w, msg + n_question, sizeof(msg) - n_question);
	wire_write_be16(&w, 0xc00c);
	wire_write_be16(&w, DNS_TYPE_SOA);
	wire_write_be16(&w, DNS_CLASS_IN);
	wire_write_be32(&w, 300);
	wire_write_be16(&w, 2 + 5 * 4);
	wire_write_be16(&w, 0); /* two roots */
	for (unsigned int i = 0; i < 5; i++)
		wire_write_be32(&w, i ? EXPIRE : 7);
	assert_true(sendto(udp, msg, n_question + w.at, 0, (const struct sockaddr *)&to->from,
			   sizeof(to->from)) > 0);
}

static void answer(const struct come *query)
{
	answer_as(query, query->msg, wire_load_be16(query->msg + DNS_ID_AT));
}

static unsigned int number_of(const struct come *query)
{
	return (unsigned int)atoi((const char *)query->msg + DNS_HEADER_BYTES + 2);
}

static unsigned int n_sockets(unsigned int n)
{
	unsigned int n_ports = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int k = 0;

		while (k < i && come[k].from.sin_port != come[i].from.sin_port)
			k++;
		n_ports += k == i;
		for (; k < i; k++)
			assert_true(come[k].from.sin_port != come[i].from.sin_port ||
				    memcmp(come[k].msg, come[i].msg, 2) != 0);
	}
	return n_ports;
}

/* As many at a time as may be, from few sockets; on each of them an ID has one query. Control gets
 * the results in parts. */
static void all_are_due(void **state)
{
	unsigned int n;

	(void)state;
	put_all(10000);
	n = take_come();
	assert_int_equal(n, N_ASKED);
	assert_int_equal(n_sockets(n), N_ASKED / UDP_QUERY_SHARED);
	for (unsigned int i = 0; i < n; i++)
		answer(&come[i]);
	run();
	n = take_come();
	assert_int_equal(n, N_ZONES - N_ASKED);
	for (unsigned int i = 0; i < n; i++)
		answer(&come[i]);
	run();
	assert_int_equal(take_come(), 0);
	transfer_poll(&t);
	assert_int_equal(n_events[TRANSFER_CHECKED], TRANSFER_POLL_EVENTS);
	transfer_poll(&t);
	assert_int_equal(n_events[TRANSFER_CHECKED], N_ZONES);
	for (unsigned int i = 0; i < N_ZONES; i++)
		assert_int_equal(find_zone(i)->secondary->state, SECONDARY_IDLE);
}

/* A forger that knows the ports has to know the ID of the query for this name, too. */
static void a_reply_to_another_query_is_none(void **state)
{
	unsigned int n;

	(void)state;
	put_all(10000);
	n = take_come();
	for (unsigned int i = 1; i < n; i++) {
		answer_as(&come[i], come[i - 1].msg, wire_load_be16(come[i].msg));
		if (come[i].from.sin_port != come[i - 1].from.sin_port)
			answer_as(&come[i - 1], come[i].msg, wire_load_be16(come[i].msg));
	}
	run();
	transfer_poll(&t);
	assert_int_equal(n_events[TRANSFER_CHECKED], 0);
	answer(&come[0]);
	run();
	transfer_poll(&t);
	assert_int_equal(n_events[TRANSFER_CHECKED], 1);
}

/* A primary that floods does not keep the thread from other work. */
static void a_flood_is_read_in_parts(void **state)
{
	const struct secondary_zone *first;

	(void)state;
	put_all(10000);
	(void)take_come();
	first = find_zone(number_of(&come[0]))->secondary;
	for (unsigned int i = 0; i < UDP_QUERY_TURN; i++)
		answer_as(&come[0], come[1].msg, wire_load_be16(come[0].msg));
	answer(&come[0]);
	(void)event_base_loop(t.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	assert_non_null(first->round->query); /* its reply is the last packet */
	run();
	assert_int_equal(first->state, SECONDARY_IDLE);
}

/* The primary's ports are closed: all rounds end, and no socket stays open. */
static void all_sockets_are_refused(void **state)
{
	(void)state;
	close(udp);
	put_all(10000);
	run();
	for (unsigned int i = 0; i < 100; i++)
		move_on(S);
	assert_int_equal(n_events[TRANSFER_CHECKED], 0);
	for (unsigned int i = 0; i < N_ZONES; i++)
		assert_int_equal(find_zone(i)->secondary->state, SECONDARY_IDLE);
	assert_null(t.remotes->list[0].peers[0].socket);
	udp = dup(0); /* end() closes it */
}

/* The log names a few of the zones that a primary which is down has, and counts the others. */
static void the_log_counts_zones_that_fail(void **state)
{
	static char text[1 << 16];
	unsigned int n_named = 0, n_counted = 0;

	assert_int_equal(capture(state), 0);
	close(udp);
	udp = dup(0); /* end() closes it */
	put_all(10000);
	for (unsigned int i = 0; i < 10; i++)
		move_on(S);
	assert_true(taken(text, sizeof(text)) > 0);
	assert_int_equal(release(state), 0);
	for (const char *at = text; (at = strstr(at, ": zone z")); at++)
		n_named++;
	for (const char *at = text; (at = strstr(at, ": zones: ")); at++)
		n_counted += (unsigned int)atoi(at + strlen(": zones: "));
	assert_in_range(n_named, SECONDARY_LOGGED, 10 * SECONDARY_LOGGED);
	assert_int_equal(n_named + n_counted, N_ZONES);
}

/* The kernel tells of the closed port once for each packet, and may do so when the next query of
 * the same socket is sent. No zone loses its turn by it: all are asked for by TCP. */
static void only_tcp_is_open(void **state)
{
	const struct peer *peer;

	(void)state;
	assert_int_equal(listen(tcp, N_ZONES), 0);
	close(udp);
	udp = dup(0); /* end() closes it */
	put_all(10000);
	for (unsigned int i = 0; i < N_ZONES; i++)
		run();
	for (unsigned int i = 0; i < N_ZONES; i++)
		assert_int_equal(find_zone(i)->secondary->state, SECONDARY_ASKING);
	peer = &t.remotes->list[0].peers[0];
	assert_false(peer_is_shunned(peer, now.ns));
	assert_true(peer_wants_stream(peer, now.ns));
}

/* A round that waits for a slot has no memory but its place, and a NOTIFY moves it to the front. */
static void one_of_them_is_told_of(void **state)
{
	const struct port_addr nobody = { .family = AF_INET };
	struct secondary_zone *last;
	unsigned int n, waiting = N_ZONES;

	(void)state;
	put_all(10000);
	n = take_come();
	for (unsigned int i = 0; i < N_ZONES; i++)
		if (!find_zone(i)->secondary->round)
			waiting = i;
	last = find_zone(waiting)->secondary;
	assert_int_equal(last->state, SECONDARY_ASKING);
	secondary_notified(&t, find_zone(waiting), &nobody, NULL);
	answer(&come[n - 1]);
	run();
	assert_int_equal(take_come(), 1);
	assert_int_equal(number_of(&come[0]), waiting);
	answer(&come[0]);
	run();
	assert_int_equal(last->state, SECONDARY_IDLE); /* it was asked once */
}

static void all_expire(void **state)
{
	(void)state;
	put_all(0);
	close(udp);
	udp = dup(0);
	move_on((EXPIRE + 1) * S);
	transfer_poll(&t);
	assert_int_equal(n_events[TRANSFER_EXPIRED], TRANSFER_POLL_EVENTS);
	transfer_poll(&t);
	assert_int_equal(n_events[TRANSFER_EXPIRED], N_ZONES);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_are_due),
		TEST(a_reply_to_another_query_is_none),
		TEST(a_flood_is_read_in_parts),
		TEST(all_sockets_are_refused),
		TEST(the_log_counts_zones_that_fail),
		TEST(only_tcp_is_open),
		TEST(one_of_them_is_told_of),
		TEST(all_expire),
	};
	int failed;

	rcu_register_thread();
	rcu_thread_offline();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return failed;
}
