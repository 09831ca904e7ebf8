/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop with real ports over loopback: ports come and go under load; RCU is never blocked. */
#include "tests/unit/port/echo.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <urcu-qsbr.h>

#include "port/socket.h"
#include "port/tcp.h"
#include "tests/unit/port/tcp_state.h"
#include "worker/worker.h"

static struct port *open_on(const char *text, struct port_addr *bound)
{
	struct socket_config config = { .listen = addr_of(text, 0) };
	struct port *p;

	assert_int_equal(socket_open(&p, &config), 0);
	socket_port_addr(p, bound);
	return p;
}

static struct worker *start(void)
{
	struct worker_config config = { .cpu = WORKER_CPU_ANY, .handle = echo_handle };
	struct worker *w;

	assert_int_equal(worker_start(&w, &config), 0);
	return w;
}

static void ask(int fd)
{
	uint8_t reply[16];

	assert_int_equal(send(fd, "query", 5, 0), 5);
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
	assert_memory_equal(reply, "\xf1uery", 5);
}

static void test_answers_on_several_ports(void **state)
{
	static const char *const listen[] = { "127.0.0.1", "127.0.0.2", "::1", "0.0.0.0" };
	struct port_addr bound[4];
	struct port *ports[4];
	struct worker *w = start();
	struct worker_stats stats;
	int fd;

	(void)state;
	for (int i = 0; i < 4; i++) {
		ports[i] = open_on(listen[i], &bound[i]);
		assert_int_equal(worker_port_add(w, ports[i]), 0);
	}
	assert_int_equal(worker_port_add(w, ports[0]), -EEXIST);
	for (int i = 0; i < 20; i++) {
		fd = client_open(SOCK_DGRAM, &bound[i % 4]);
		ask(fd);
		close(fd);
	}
	worker_stop(w);
	w = NULL;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ports[i]->stats.tx, 5);
		port_close(ports[i]);
	}
	w = start();
	worker_stats_read(w, &stats);
	assert_int_equal(stats.by_kind[PORT_SOCKET].queries, 0);
	worker_stop(w);
}

static void test_counts_by_kind_and_beats(void **state)
{
	struct worker *w = start();
	struct worker_stats a, b;
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	struct timespec nap = { .tv_nsec = (WORKER_IDLE_MS + 100) * 1000000L };
	int n_naps = 0;

	(void)state;
	assert_int_equal(worker_port_add(w, p), 0);
	assert_int_equal(send(fd, "N", 1, 0), 1);
	ask(fd);
	assert_int_equal(worker_port_remove(w, p), 0);
	assert_int_equal(worker_port_remove(w, p), -ENOENT);
	worker_stats_read(w, &a);
	assert_int_equal(a.by_kind[PORT_SOCKET].queries, 2);
	assert_int_equal(a.by_kind[PORT_SOCKET].answered, 1);
	assert_int_equal(a.by_kind[PORT_TCP].queries, 0);
	do {
		nanosleep(&nap, NULL);
		worker_stats_read(w, &b);
	} while (b.heartbeat == a.heartbeat && n_naps++ < 20); /* the machine may be slow */
	assert_true(b.heartbeat > a.heartbeat);
	assert_true(b.heartbeat < a.heartbeat + 20); /* and it does not spin */
	worker_stop(w);
	close(fd);
	port_close(p);
}

/* Queries that arrived before a port is removed get their answers. */
static void test_remove_answers_what_is_there(void **state)
{
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	struct worker *w = start();
	uint8_t reply[16];
	unsigned int n = 0;

	(void)state;
	for (int i = 0; i < 150; i++)
		assert_int_equal(send(fd, "q", 1, 0), 1);
	assert_int_equal(worker_port_add(w, p), 0);
	assert_int_equal(worker_port_remove(w, p), 0);
	while (recv(fd, reply, sizeof(reply), MSG_DONTWAIT) == 1)
		n++;
	assert_int_equal(n, 150);
	worker_stop(w);
	close(fd);
	port_close(p);
}

static void test_refuses_one_port_too_many(void **state)
{
	static struct port *ports[WORKER_PORTS_MAX + 1];
	struct worker *w = start();
	struct port_addr bound;

	(void)state;
	for (int i = 0; i <= WORKER_PORTS_MAX; i++) {
		ports[i] = open_on("127.0.0.1", &bound);
		assert_int_equal(worker_port_add(w, ports[i]), i < WORKER_PORTS_MAX ? 0 : -ENOSPC);
	}
	worker_stop(w);
	for (int i = 0; i <= WORKER_PORTS_MAX; i++)
		port_close(ports[i]);
}

/* UDP and TCP on one worker; a pipeline longer than a burst, and a timeout while nothing comes. */
static void test_tcp_beside_udp(void **state)
{
	const struct port_addr listen_at = addr_of("127.0.0.1", 0);
	struct tcp_config config = { .idle_ms = 1000 };
	struct worker_stats stats;
	struct port_addr udp_at, tcp_at;
	struct port *udp = open_on("127.0.0.1", &udp_at), *tcp;
	struct worker *w = start();
	uint8_t out[300 * 3], in[300 * 3], byte;
	int udp_fd, tcp_fd;

	(void)state;
	assert_int_equal(tcp_open(&tcp, &config), 0);
	assert_int_equal(tcp_listen(tcp, &listen_at), 0);
	tcp_port_addr(tcp, &tcp_at);
	assert_int_equal(worker_port_add(w, udp), 0);
	assert_int_equal(worker_port_add(w, tcp), 0);
	udp_fd = client_open(SOCK_DGRAM, &udp_at);
	tcp_fd = client_open(SOCK_STREAM, &tcp_at);
	for (size_t i = 0; i < sizeof(out); i += 3)
		memcpy(out + i, "\0\1q", 3);
	assert_int_equal(send(tcp_fd, out, sizeof(out), 0), sizeof(out));
	ask(udp_fd);
	assert_int_equal(recv(tcp_fd, in, sizeof(in), MSG_WAITALL), sizeof(in));
	for (size_t i = 0; i < sizeof(in); i += 3)
		assert_memory_equal(in + i, "\0\1\xf1", 3);
	/* The worker wakes up at the port's time, and the idle connection ends. */
	assert_int_equal(recv(tcp_fd, &byte, 1, 0), 0);
	worker_stats_read(w, &stats);
	assert_int_equal(stats.by_kind[PORT_TCP].answered, 300);
	assert_int_equal(stats.by_kind[PORT_SOCKET].answered, 1);
	worker_stop(w);
	assert_int_equal(tcp->stats.conns_timed_out, 1);
	close(udp_fd);
	close(tcp_fd);
	port_close(udp);
	port_close(tcp);
}

struct flood {
	struct port_addr to;
	bool stop;
};

static void *flood(void *arg)
{
	struct flood *f = arg;
	int fd = client_open(SOCK_DGRAM, &f->to);
	uint8_t reply[16];

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		(void)!send(fd, "q", 1, MSG_DONTWAIT);
		(void)!recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	}
	close(fd);
	return NULL;
}

/* Ports come and go and grace periods end while queries pour in. */
static void test_control_under_load(void **state)
{
	struct port_addr bound, other;
	struct port *p = open_on("127.0.0.1", &bound);
	struct flood f = { .to = bound };
	struct worker *w = start();
	pthread_t thread;
	int fd;

	(void)state;
	assert_int_equal(worker_port_add(w, p), 0);
	assert_int_equal(pthread_create(&thread, NULL, flood, &f), 0);
	while (!port_counter(&p->stats.rx)) /* the other thread may begin late */
		sched_yield();
	for (int i = 0; i < 50; i++) {
		struct port *q = open_on("127.0.0.1", &other);

		assert_int_equal(worker_port_add(w, q), 0);
		synchronize_rcu();
		fd = client_open(SOCK_DGRAM, &other);
		ask(fd);
		close(fd);
		assert_int_equal(worker_port_remove(w, q), 0);
		port_close(q);
	}
	__atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	worker_stop(w);
	assert_int_equal(p->stats.rx, p->stats.tx + p->stats.tx_dropped);
	assert_true(p->stats.rx > 0);
	port_close(p);
}

static void see_cpu(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
		    uint64_t now_ns)
{
	(void)port;
	(void)now_ns;
	*(int *)ctx = sched_getcpu();
	for (unsigned int i = 0; i < n; i++)
		msgs[i].len = 1;
}

static void test_runs_on_its_core(void **state)
{
	int cpu = sched_getcpu(), seen = -1;
	struct worker_config config = { .cpu = cpu, .handle = see_cpu, .ctx = &seen };
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	struct worker *w;
	uint8_t reply[16];

	(void)state;
	assert_int_equal(worker_start(&w, &config), 0);
	assert_int_equal(worker_port_add(w, p), 0);
	assert_int_equal(send(fd, "q", 1, 0), 1);
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 1);
	worker_stop(w);
	assert_int_equal(seen, cpu);
	close(fd);
	port_close(p);
	config.cpu = CPU_SETSIZE - 1;
	assert_int_equal(worker_start(&w, &config), -EINVAL);
	config.cpu = CPU_SETSIZE;
	assert_int_equal(worker_start(&w, &config), -EINVAL);
}

struct visit {
	struct port *port;
	struct port_addr addr;
	pthread_t thread;
};

static int listen_too(void *user)
{
	struct visit *visit = user;

	visit->thread = pthread_self();
	return tcp_listen(visit->port, &visit->addr);
}

/* A port gets another listener while the worker has it. */
static void test_calls_on_its_thread(void **state)
{
	const struct port_addr listen_at = addr_of("127.0.0.1", 0);
	struct visit visit = { .thread = pthread_self() };
	struct worker *w = start();
	uint8_t reply[3];
	int fd;

	(void)state;
	assert_int_equal(tcp_open(&visit.port, &(struct tcp_config){ 0 }), 0);
	assert_int_equal(tcp_listen(visit.port, &listen_at), 0);
	assert_int_equal(worker_port_add(w, visit.port), 0);
	tcp_port_addr(visit.port, &visit.addr);
	memcpy(visit.addr.bytes, "\x7f\0\0\2", 4);
	assert_int_equal(worker_call(w, listen_too, &visit), 0);
	assert_false(pthread_equal(visit.thread, pthread_self()));
	fd = client_open(SOCK_STREAM, &visit.addr);
	assert_int_equal(send(fd, "\0\1q", 3, 0), 3);
	assert_int_equal(recv(fd, reply, sizeof(reply), MSG_WAITALL), 3);
	assert_memory_equal(reply, "\0\1\xf1", 3);
	visit.addr.family = UINT8_MAX;
	assert_int_equal(worker_call(w, listen_too, &visit), -EAFNOSUPPORT);
	worker_stop(w);
	close(fd);
	port_close(visit.port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_on_several_ports),
		cmocka_unit_test(test_counts_by_kind_and_beats),
		cmocka_unit_test(test_remove_answers_what_is_there),
		cmocka_unit_test(test_refuses_one_port_too_many),
		cmocka_unit_test(test_tcp_beside_udp),
		cmocka_unit_test(test_control_under_load),
		cmocka_unit_test(test_runs_on_its_core),
		cmocka_unit_test(test_calls_on_its_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
