/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who gets a connection, and who loses one, when there are many: TCP over loopback with a clock of
 * ours. */
#include "tests/unit/port/tcp_client.h"

#include <stdio.h>
#include <sys/mman.h>

#define IDLE_MS 10000

static struct tcp_share *share_of(uint32_t n_conns_max, uint32_t n_client_max, uint32_t n_ports)
{
	struct tcp_share *share;

	assert_int_equal(tcp_share_new(&share, n_conns_max, n_client_max, n_ports), 0);
	return share;
}

/* From an address of 127.0.0.0/8, so that there are many clients. */
static int client_from(const char *from, const struct port_addr *to)
{
	struct timeval limit = { .tv_sec = 10 };
	struct port_addr addr = addr_of(from, 0);
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(&addr, &ss);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, len), 0);
	len = port_addr_to_sockaddr(to, &ss);
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), 0);
	return fd;
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* The idle ones came first and are still there when each half message has gone for another. */
static void test_half_messages_go_before_idle(void **state)
{
	enum { IDLE = 4, HALF = 4, MORE = 12 };
	struct tcp_config config = { .n_conns_max = IDLE + HALF, .idle_ms = IDLE_MS };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int idle[IDLE], half[HALF + MORE], fd;

	(void)state;
	for (int i = 0; i < IDLE; i++) {
		idle[i] = client_open(SOCK_STREAM, &bound);
		ask(idle[i], "query");
		serve(p);
		expect(idle[i], "query");
	}
	for (int i = 0; i < HALF + MORE; i++) {
		half[i] = client_open(SOCK_STREAM, &bound);
		put(half[i], "\0\11half", 6);
		serve(p);
	}
	fd = client_open(SOCK_STREAM, &bound);
	ask(fd, "new");
	serve(p);
	expect(fd, "new");
	for (int i = 0; i < IDLE; i++)
		assert_false(is_closed(idle[i]));
	assert_true(is_closed(half[0]));
	assert_int_equal(p->stats.conns_evicted, MORE + 1);
	assert_int_equal(p->stats.conns_refused, 0);
	assert_int_equal(tcp_n_conns(p), IDLE + HALF);
	close_all(idle, IDLE);
	close_all(half, HALF + MORE);
	close(fd);
	done(p);
}

/* One that has never asked goes before one that has, though it came later. */
static void test_silent_ones_go_before_idle(void **state)
{
	struct tcp_config config = { .n_conns_max = 2 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int asked = client_open(SOCK_STREAM, &bound), silent, fd;

	(void)state;
	ask(asked, "query");
	serve(p);
	expect(asked, "query");
	silent = client_open(SOCK_STREAM, &bound);
	serve(p);
	fd = client_open(SOCK_STREAM, &bound);
	serve(p);
	assert_true(is_closed(silent));
	assert_false(is_closed(asked));
	assert_false(is_closed(fd));
	close(asked);
	close(silent);
	close(fd);
	done(p);
}

/* What waits for our replies is never closed for another: the new one is refused. */
static void test_those_who_wait_for_us_stay(void **state)
{
	static struct later later;
	struct tcp_config config = { .n_conns_max = 2 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fds[3];

	(void)state;
	later.n = 0;
	for (int i = 0; i < 3; i++) {
		fds[i] = client_open(SOCK_STREAM, &bound);
		ask(fds[i], "late");
		serve_or_defer(p, &later);
	}
	assert_int_equal(p->stats.conns_refused, 1);
	assert_int_equal(p->stats.conns_evicted, 0);
	assert_true(is_closed(fds[2]));
	assert_int_equal(port_reply(p, now_ns, later.replies, later.n), 2);
	expect(fds[0], "late");
	expect(fds[1], "late");
	close_all(fds, 3);
	done(p);
}

/* A client with its share of connections pays for the next with its own; other clients notice
 * nothing. */
static void test_a_client_over_its_share_pays_itself(void **state)
{
	enum { OWN = 4, MORE = 20 };
	struct tcp_share *share = share_of(10, OWN, 1);
	struct tcp_config config = { .share = share, .idle_ms = IDLE_MS };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int honest = client_from("127.1.1.1", &bound), other = client_from("127.2.2.1", &bound);
	int greedy[OWN + MORE];

	(void)state;
	put(other, "\0\11half", 6);
	serve(p);
	ask(honest, "query");
	serve(p);
	expect(honest, "query");
	for (int i = 0; i < OWN + MORE; i++) {
		char from[24];

		snprintf(from, sizeof(from), "127.3.3.%d", i + 1);
		greedy[i] = client_from(from, &bound);
		put(greedy[i], "\0\11half", 6);
		serve(p);
	}
	assert_int_equal(tcp_n_conns(p), 2 + OWN);
	assert_int_equal(p->stats.conns_evicted, MORE);
	assert_false(is_closed(honest));
	assert_false(is_closed(other));
	/* An honest client among them: a half message goes for it. */
	close(greedy[0]);
	greedy[0] = client_from("127.3.3.200", &bound);
	ask(greedy[0], "query");
	serve(p);
	expect(greedy[0], "query");
	close_all(greedy, OWN + MORE);
	close(honest);
	close(other);
	done(p);
	tcp_share_free(share);
}

/* Below half of the slots a timeout is as configured; when all are taken, a sixteenth of it. */
static void test_timeouts_shorten_as_slots_fill(void **state)
{
	enum { SLOTS = 16 };
	struct tcp_config config = { .n_conns_max = SLOTS, .idle_ms = 16000, .message_ms = 1600 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fds[SLOTS];

	(void)state;
	for (int i = 0; i < SLOTS / 2; i++)
		fds[i] = client_open(SOCK_STREAM, &bound);
	serve(p);
	pass_ms(p, 900);
	assert_int_equal(tcp_n_conns(p), SLOTS / 2);
	for (int i = SLOTS / 2; i < SLOTS; i++)
		fds[i] = client_open(SOCK_STREAM, &bound);
	put(fds[SLOTS - 1], "\0\11half", 6);
	serve(p);
	assert_int_equal(tcp_n_conns(p), SLOTS);
	assert_true(port_wake_at(p) == now_ns + 100 * MS);
	pass_ms(p, 99);
	assert_false(is_closed(fds[SLOTS - 1]));
	pass_ms(p, 1);
	assert_true(is_closed(fds[SLOTS - 1]));
	/* The silent half is a second old. */
	assert_true(is_closed(fds[0]));
	assert_false(is_closed(fds[SLOTS - 2]));
	close_all(fds, SLOTS);
	done(p);
}

/* The limit is that of both ports together: a half message of the one goes for a connection of the
 * other. */
static void test_ports_share_one_limit(void **state)
{
	struct tcp_share *share = share_of(4, 0, 2);
	struct tcp_config config = { .share = share, .idle_ms = IDLE_MS };
	struct port_addr at_a, at_b;
	struct port *a = open_with(&config, &at_a), *b = open_with(&config, &at_b);
	int fds[4], fd;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fds[i] = client_open(SOCK_STREAM, &at_a);
		put(fds[i], "\0\11half", 6);
	}
	serve(a);
	fds[3] = client_open(SOCK_STREAM, &at_b);
	ask(fds[3], "query");
	serve(b);
	expect(fds[3], "query");
	fd = client_open(SOCK_STREAM, &at_b);
	ask(fd, "new");
	serve(b);
	expect(fd, "new");
	serve(a);
	assert_int_equal(tcp_n_conns(a) + tcp_n_conns(b), 4);
	assert_true(is_closed(fds[0]));
	assert_false(is_closed(fds[3]));
	/* A second look closes nothing more. */
	serve(a);
	serve(b);
	assert_int_equal(tcp_n_conns(a) + tcp_n_conns(b), 4);
	close_all(fds, 4);
	close(fd);
	done(a);
	done(b);
	tcp_share_free(share);
}

/* What one port takes in is paid for by an idle one of another, not by itself, however early it
 * looks again. */
static void test_a_new_one_is_not_its_own_victim(void **state)
{
	struct tcp_share *share = share_of(2, 0, 2);
	struct tcp_config config = { .share = share, .idle_ms = IDLE_MS };
	struct port_addr at_a, at_b;
	struct port *a = open_with(&config, &at_a), *b = open_with(&config, &at_b);
	int idle[2], fd;

	(void)state;
	for (int i = 0; i < 2; i++) {
		idle[i] = client_open(SOCK_STREAM, &at_a);
		ask(idle[i], "query");
		serve(a);
		expect(idle[i], "query");
	}
	now_ns += 150 * MS; /* they are not new any more */
	fd = client_open(SOCK_STREAM, &at_b);
	ask(fd, "new");
	serve(b);
	expect(fd, "new");
	serve(b);
	assert_int_equal(tcp_n_conns(b), 1);
	serve(a);
	assert_int_equal(tcp_n_conns(a), 1);
	serve(b);
	assert_int_equal(tcp_n_conns(b), 1);
	assert_false(is_closed(fd));
	close_all(idle, 2);
	close(fd);
	done(a);
	done(b);
	tcp_share_free(share);
}

/* A question and its reply. */
static void exchange(struct port *p, int fd, const char *text)
{
	ask(fd, text);
	serve(p);
	expect(fd, text);
}

/* A client whose share is taken by connections of one port is served at another: the first port
 * closes one of them, and none of another client. */
static void test_a_client_pays_at_another_port(void **state)
{
	enum { OWN = 3 };
	struct tcp_share *share = share_of(10, OWN, 2);
	struct tcp_config config = { .share = share, .idle_ms = IDLE_MS };
	struct port_addr at_a, at_b;
	struct port *a = open_with(&config, &at_a), *b = open_with(&config, &at_b);
	int other = client_from("127.2.2.1", &at_a), first[OWN], next[2];

	(void)state;
	exchange(a, other, "query");
	for (int i = 0; i < OWN; i++) {
		first[i] = client_from("127.3.3.1", &at_a);
		exchange(a, first[i], "query");
	}
	next[0] = client_from("127.3.3.2", &at_b);
	exchange(b, next[0], "new");
	serve(a);
	assert_true(is_closed(first[0]));
	assert_int_equal(tcp_n_conns(a), OWN);
	/* The next one at this port is paid for here. */
	next[1] = client_from("127.3.3.3", &at_b);
	exchange(b, next[1], "new");
	serve(a);
	assert_true(is_closed(next[0]));
	assert_int_equal(tcp_n_conns(a), OWN);
	assert_int_equal(tcp_n_conns(b), 1);
	assert_false(is_closed(other));
	close_all(first, OWN);
	close_all(next, 2);
	close(other);
	done(a);
	done(b);
	tcp_share_free(share);
}

/* If the client closes a connection itself, no other is closed for the wish. */
static void test_a_wish_ends_with_a_connection(void **state)
{
	struct tcp_share *share = share_of(10, 2, 2);
	struct tcp_config config = { .share = share, .idle_ms = IDLE_MS };
	struct port_addr at_a, at_b;
	struct port *a = open_with(&config, &at_a), *b = open_with(&config, &at_b);
	int first[2], next;

	(void)state;
	for (int i = 0; i < 2; i++) {
		first[i] = client_from("127.3.3.1", &at_a);
		exchange(a, first[i], "query");
	}
	next = client_from("127.3.3.2", &at_b);
	exchange(b, next, "new");
	close(first[1]);
	serve(a);
	assert_false(is_closed(first[0]));
	assert_int_equal(a->stats.conns_evicted, 0);
	assert_int_equal(tcp_n_conns(a), 1);
	close(first[0]);
	close(next);
	done(a);
	done(b);
	tcp_share_free(share);
}

/* If no connection of the client may be closed, it has at most one too many for each port. */
static void test_a_client_has_few_too_many(void **state)
{
	enum { OWN = 2, N_PORTS = 2, ALL = OWN + N_PORTS };
	struct tcp_share *share = share_of(10, OWN, N_PORTS);
	struct tcp_config config = { .share = share, .idle_ms = IDLE_MS };
	struct port_addr at_a, at_b;
	struct port *a = open_with(&config, &at_a), *b = open_with(&config, &at_b);
	static struct later later;
	int fds[ALL + 1];

	(void)state;
	later.n = 0;
	for (int i = 0; i <= ALL; i++) {
		fds[i] = client_from("127.3.3.1", i < OWN ? &at_a : &at_b);
		ask(fds[i], "late"); /* it waits for a reply, so it may not be closed */
		serve_or_defer(i < OWN ? a : b, &later);
	}
	serve_or_defer(a, &later);
	assert_int_equal(tcp_n_conns(a), OWN);
	assert_int_equal(tcp_n_conns(b), N_PORTS);
	assert_int_equal(b->stats.conns_refused, 1);
	assert_true(is_closed(fds[ALL]));
	close_all(fds, ALL + 1);
	done(a);
	done(b);
	tcp_share_free(share);
}

static void assert_refused(const struct port_addr *at)
{
	int fd = socket(at->family, SOCK_STREAM, 0);
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(at, &ss);

	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

static void test_one_port_listens_at_many_addresses(void **state)
{
	struct port_addr bound, second;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int a, b;

	(void)state;
	second = addr_of("127.0.0.2", ntohs(bound.port));
	assert_int_equal(tcp_listen(p, &second), 0);
	a = client_open(SOCK_STREAM, &bound);
	b = client_open(SOCK_STREAM, &second);
	ask(a, "first");
	ask(b, "second");
	serve(p);
	expect(a, "first");
	expect(b, "second");
	tcp_set_name(p);
	assert_non_null(strstr(p->name, " +1"));
	close(a);
	close(b);
	done(p);
}

/* Connections that wait at an address that goes are served, and those that are open stay. */
static void test_an_address_goes(void **state)
{
	struct port_addr first, second, left;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &first);
	int open, waits;

	(void)state;
	second = addr_of("127.0.0.2", ntohs(first.port));
	assert_int_equal(tcp_listen(p, &second), 0);
	open = client_open(SOCK_STREAM, &second);
	ask(open, "first");
	serve(p);
	expect(open, "first");
	waits = client_open(SOCK_STREAM, &second);
	tcp_set_name(p);
	assert_non_null(strstr(p->name, " +1"));
	assert_int_equal(tcp_unlisten(p, &second), 0);
	assert_int_equal(tcp_unlisten(p, &second), -ENOENT);
	tcp_set_name(p);
	assert_null(strstr(p->name, " +1"));
	assert_refused(&second);
	ask(waits, "second");
	ask(open, "third");
	serve(p);
	expect(waits, "second");
	expect(open, "third");
	close(waits);
	close(open);
	/* Its place is another's: the listener there is told of by the same tag. */
	assert_int_equal(tcp_listen(p, &second), 0);
	assert_int_equal(tcp_unlisten(p, &first), 0);
	tcp_port_addr(p, &left);
	assert_true(port_addr_is_same(&left, &second));
	assert_refused(&first);
	open = client_open(SOCK_STREAM, &second);
	ask(open, "fourth");
	serve(p);
	expect(open, "fourth");
	close(open);
	done(p);
}

static size_t resident_bytes(void)
{
	unsigned long all, resident;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &resident), 2);
	fclose(f);
	return resident * 4096;
}

/* Readers that fill 16 MiB of the pool and then go: most of it is the system's again. */
static void test_slow_readers_give_memory_back(void **state)
{
	enum { SLOW = 200, POOL = 16 << 20 };
	struct tcp_config config = { .pool_bytes = POOL };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fds[SLOW];
	size_t before, full;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* its shadow memory stays */
#endif
	before = resident_bytes();
	for (int i = 0; i < SLOW; i++) {
		fds[i] = client_open(SOCK_STREAM, &bound);
		for (int q = 0; q < 100; q++)
			ask_big(fds[i], 'x', 65535);
		serve(p);
	}
	full = resident_bytes();
	assert_true(full - before > POOL / 2);
	close_all(fds, SLOW);
	serve(p);
	assert_int_equal(tcp_n_conns(p), 0);
	/* AddressSanitizer keeps 2 MiB of its own for frames of functions that have returned. */
	assert_true(resident_bytes() - before < POOL / 3);
	done(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_messages_go_before_idle),
		cmocka_unit_test(test_silent_ones_go_before_idle),
		cmocka_unit_test(test_those_who_wait_for_us_stay),
		cmocka_unit_test(test_a_client_over_its_share_pays_itself),
		cmocka_unit_test(test_timeouts_shorten_as_slots_fill),
		cmocka_unit_test(test_ports_share_one_limit),
		cmocka_unit_test(test_a_new_one_is_not_its_own_victim),
		cmocka_unit_test(test_a_client_pays_at_another_port),
		cmocka_unit_test(test_a_wish_ends_with_a_connection),
		cmocka_unit_test(test_a_client_has_few_too_many),
		cmocka_unit_test(test_one_port_listens_at_many_addresses),
		cmocka_unit_test(test_an_address_goes),
		cmocka_unit_test(test_slow_readers_give_memory_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
