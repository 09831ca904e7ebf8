/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other fds in a worker's loop, for results of other threads, and late replies. */
#include "tests/unit/port/echo.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>

#include <urcu-qsbr.h>

#include "port/socket.h"
#include "port/tcp.h"
#include "tests/unit/port/tcp_state.h"
#include "worker/worker.h"

#define SEEN_CAP 16

/*
 * The events on the worker's thread in their order: 's' a source's turn, 'h' a burst with the
 * handler, 'g' a port is gone. A source reads from its eventfd how many deferred messages to
 * answer.
 */
struct scene {
	int fds[WORKER_SOURCES_MAX];
	struct worker *w;
	char seen[SEEN_CAP];
	unsigned int n_seen;
	unsigned int n_turns[WORKER_SOURCES_MAX];
	struct port *gone[3];
	unsigned int n_gone;
	uint64_t deferred_at_gone;
	unsigned int n_answered;
	struct later later;
};

struct turn {
	struct scene *scene;
	unsigned int i;
	bool keep;   /* the fd stays readable */
	bool always; /* answers all, whether fd is readable or not */
	int hold_fd; /* the worker waits until it is readable; 0: none */
};

static void note(struct scene *s, char what)
{
	if (s->n_seen < SEEN_CAP)
		s->seen[s->n_seen++] = what;
}

static void handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
		   uint64_t now_ns)
{
	struct scene *s = ctx;

	note(s, 'h');
	echo_defer(&s->later, msgs, n, port, now_ns);
}

static void port_gone(void *ctx, struct port *p)
{
	struct scene *s = ctx;

	note(s, 'g');
	assert_true(s->n_gone < 3);
	s->gone[s->n_gone++] = p;
	s->deferred_at_gone += port_deferred(p);
}

static void ready(void *ctx, uint64_t now_ns)
{
	struct turn *t = ctx;
	struct scene *s = t->scene;
	eventfd_t n = 0;

	note(s, 's');
	__atomic_add_fetch(&s->n_turns[t->i], 1, __ATOMIC_RELAXED);
	if (t->keep || (eventfd_read(s->fds[t->i], &n) && !t->always))
		return;
	if (t->hold_fd)
		(void)eventfd_read(t->hold_fd, &n);
	if (t->always)
		n = SEEN_CAP;
	/* Only a thread that is online may be in a read section. */
	assert_true(rcu_read_ongoing());
	for (; n && s->n_answered < s->later.n; n--) {
		struct port_reply *reply = &s->later.replies[s->n_answered++];

		assert_int_equal(port_reply(reply->to->port, now_ns, reply, 1), 1);
	}
}

static unsigned int n_turns(struct scene *s, unsigned int i)
{
	return __atomic_load_n(&s->n_turns[i], __ATOMIC_RELAXED);
}

/* Starts a worker with n_sources, whose contexts are in turns. */
static void start(struct scene *s, struct turn *turns, unsigned int n_sources)
{
	struct worker_source sources[WORKER_SOURCES_MAX];
	struct worker_config config = {
		.cpu = WORKER_CPU_ANY,
		.handle = handle,
		.ctx = s,
		.port_gone = port_gone,
		.sources = sources,
		.n_sources = n_sources,
	};

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < n_sources; i++) {
		s->fds[i] = eventfd(0, EFD_NONBLOCK);
		turns[i].scene = s;
		turns[i].i = i;
		sources[i] = (struct worker_source){ s->fds[i], ready, &turns[i] };
	}
	assert_int_equal(worker_start(&s->w, &config), 0);
	/* The worker has copied them. */
	memset(sources, 0, sizeof(sources));
}

static void stop(struct scene *s, unsigned int n_sources)
{
	worker_stop(s->w);
	for (unsigned int i = 0; i < n_sources; i++)
		close(s->fds[i]);
}

static struct port *add_socket(struct scene *s, struct port_addr *bound)
{
	struct socket_config config = { .listen = addr_of("127.0.0.1", 0) };
	struct port *p;

	assert_int_equal(socket_open(&p, &config), 0);
	socket_port_addr(p, bound);
	assert_int_equal(worker_port_add(s->w, p), 0);
	return p;
}

static void nap_ms(int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	nanosleep(&t, NULL);
}

static bool reaches(const uint64_t *counter, uint64_t n)
{
	for (int i = 0; i < 500 && port_counter(counter) < n; i++)
		nap_ms(10);
	return port_counter(counter) >= n;
}

static void wake(struct scene *s, unsigned int i, unsigned int n)
{
	assert_int_equal(eventfd_write(s->fds[i], n), 0);
}

static void expect(int fd, const char *text)
{
	size_t n = strlen(text);
	uint8_t reply[64];

	assert_int_equal(recv(fd, reply, sizeof(reply), 0), n);
	assert_int_equal(reply[0], (uint8_t)text[0] | 0x80);
	assert_memory_equal(reply + 1, text + 1, n - 1);
}

static void assert_balance(const struct port *p)
{
	struct port_stats s;

	port_stats_read(p, &s);
	assert_int_equal(s.rx, s.malformed + s.truncated_in + s.no_reply + s.tx + s.tx_dropped +
				       (p->kind == PORT_TCP ? tcp_pending(p) : 0) +
				       port_deferred(p));
}

/* An fd that is not a port's wakes the worker, and the reply leaves from its thread. */
static void test_a_source_wakes_the_worker_and_replies(void **state)
{
	static struct scene s;
	struct turn turns[2] = { 0 };
	struct worker_stats stats;
	struct port_addr bound;
	struct port *p;
	int fd;

	(void)state;
	start(&s, turns, 2);
	p = add_socket(&s, &bound);
	fd = client_open(SOCK_DGRAM, &bound);
	assert_int_equal(send(fd, "late", 4, 0), 4);
	assert_int_equal(send(fd, "Quick", 5, 0), 5);
	expect(fd, "Quick");
	assert_true(reaches(&p->stats.deferred, 1));
	assert_int_equal(n_turns(&s, 0) + n_turns(&s, 1), 0);
	wake(&s, 1, 1);
	expect(fd, "late");
	nap_ms(20);
	/* It had its own turn, once: the fd is not readable any more. */
	assert_int_equal(n_turns(&s, 0), 0);
	assert_int_equal(n_turns(&s, 1), 1);
	worker_stats_read(s.w, &stats);
	assert_int_equal(stats.by_kind[PORT_SOCKET].queries, 2);
	assert_int_equal(stats.by_kind[PORT_SOCKET].answered, 1);
	assert_int_equal(stats.by_kind[PORT_SOCKET].deferred, 1);
	stop(&s, 2);
	assert_int_equal(s.n_gone, 1);
	assert_ptr_equal(s.gone[0], p);
	assert_int_equal(s.deferred_at_gone, 0);
	assert_balance(p);
	close(fd);
	port_close(p);
}

/* If both are ready in the same round, the source comes first. */
static void test_sources_before_ports(void **state)
{
	struct turn turns[2] = { { .hold_fd = eventfd(0, 0) } };
	static struct scene s;
	struct port_addr bound;
	struct port *p;
	int fd;

	(void)state;
	start(&s, turns, 2);
	p = add_socket(&s, &bound);
	fd = client_open(SOCK_DGRAM, &bound);
	wake(&s, 0, 1);
	while (!n_turns(&s, 0))
		nap_ms(1);
	/* The worker is held in its first round, so all this is for the second. */
	assert_int_equal(send(fd, "Quick", 5, 0), 5);
	wake(&s, 1, 1);
	assert_int_equal(eventfd_write(turns[0].hold_fd, 1), 0);
	expect(fd, "Quick");
	assert_int_equal(worker_port_remove(s.w, p), 0);
	assert_memory_equal(s.seen, "ssh", 3);
	stop(&s, 2);
	close(turns[0].hold_fd);
	close(fd);
	port_close(p);
}

/* A source whose fd stays readable gets one turn a round; ports and commands are still served. */
static void test_a_source_that_stays_readable(void **state)
{
	struct turn turns[1] = { { .keep = true } };
	static struct scene s;
	struct port_addr bound;
	struct port *p;
	int fd;

	(void)state;
	start(&s, turns, 1);
	wake(&s, 0, 1);
	p = add_socket(&s, &bound);
	fd = client_open(SOCK_DGRAM, &bound);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(send(fd, "Quick", 5, 0), 5);
		expect(fd, "Quick");
		synchronize_rcu();
	}
	assert_true(n_turns(&s, 0) > 10);
	assert_int_equal(worker_port_remove(s.w, p), 0);
	stop(&s, 1);
	close(fd);
	port_close(p);
}

/* Between two turns of sources the worker sleeps: it does not spin, and its heartbeat goes on. */
static void test_heartbeat(void **state)
{
	struct turn turns[1] = { 0 };
	struct worker_stats a, b;
	static struct scene s;
	int n_naps = 0;

	(void)state;
	start(&s, turns, 1);
	wake(&s, 0, 1);
	nap_ms(50);
	worker_stats_read(s.w, &a);
	do {
		nap_ms(WORKER_IDLE_MS + 100);
		worker_stats_read(s.w, &b);
	} while (b.heartbeat == a.heartbeat && n_naps++ < 20); /* the machine may be slow */
	assert_true(b.heartbeat > a.heartbeat);
	assert_true(b.heartbeat < a.heartbeat + 20);
	assert_int_equal(n_turns(&s, 0), 1);
	stop(&s, 1);
}

/* When a port goes, the owner of returns hears of it before the port may be closed. */
static void test_a_port_that_goes(void **state)
{
	struct turn turns[1] = { 0 };
	static struct scene s;
	struct port_addr at[2];
	struct port *p[2];
	int fd[2];

	(void)state;
	start(&s, turns, 1);
	for (int i = 0; i < 2; i++) {
		p[i] = add_socket(&s, &at[i]);
		fd[i] = client_open(SOCK_DGRAM, &at[i]);
		assert_int_equal(send(fd[i], i ? "two" : "one", 3, 0), 3);
		assert_true(reaches(&p[i]->stats.deferred, 1));
	}
	assert_int_equal(worker_port_remove(s.w, p[1]), 0);
	assert_int_equal(s.n_gone, 1);
	assert_ptr_equal(s.gone[0], p[1]);
	assert_int_equal(s.deferred_at_gone, 1);
	assert_int_equal(worker_port_remove(s.w, p[1]), -ENOENT);
	assert_int_equal(s.n_gone, 1);
	assert_balance(p[1]);
	port_close(p[1]);
	s.later.n = 1; /* forget the returns of the port, like their owner does */
	wake(&s, 0, 2);
	expect(fd[0], "one");
	stop(&s, 1);
	assert_int_equal(s.n_gone, 2);
	assert_ptr_equal(s.gone[1], p[0]);
	assert_balance(p[0]);
	close(fd[0]);
	close(fd[1]);
	port_close(p[0]);
}

/* Each source, readable or not, has a turn before each port is released and after the last one. */
static void test_sources_are_called_at_the_end(void **state)
{
	struct turn turns[1] = { { .always = true } };
	static struct scene s;
	struct port_addr at[3];
	struct port *p[3];
	int fd;

	(void)state;
	start(&s, turns, 1);
	for (int i = 0; i < 3; i++)
		p[i] = add_socket(&s, &at[i]);
	fd = client_open(SOCK_DGRAM, &at[2]);
	assert_int_equal(send(fd, "late", 4, 0), 4);
	assert_true(reaches(&p[2]->stats.deferred, 1));
	assert_int_equal(worker_port_remove(s.w, p[2]), 0);
	assert_int_equal(s.n_seen, 3);
	assert_memory_equal(s.seen, "hsg", 3);
	/* The reply found its port. */
	assert_int_equal(s.deferred_at_gone, 0);
	expect(fd, "late");
	assert_balance(p[2]);
	stop(&s, 1);
	assert_int_equal(s.n_seen, 8);
	assert_memory_equal(s.seen, "hsgsgsgs", 8);
	close(fd);
	for (int i = 0; i < 3; i++)
		port_close(p[i]);
}

/* A deferred TCP message, answered by a source, lets its connection go on. */
static void test_tcp(void **state)
{
	const struct port_addr listen_at = addr_of("127.0.0.1", 0);
	struct tcp_config config = { .idle_ms = 1000 };
	struct turn turns[1] = { 0 };
	static struct scene s;
	struct port_addr bound;
	struct port *p;
	uint8_t reply[6];
	int fd;

	(void)state;
	start(&s, turns, 1);
	assert_int_equal(tcp_open(&p, &config), 0);
	assert_int_equal(tcp_listen(p, &listen_at), 0);
	tcp_port_addr(p, &bound);
	assert_int_equal(worker_port_add(s.w, p), 0);
	fd = client_open(SOCK_STREAM, &bound);
	assert_int_equal(send(fd, "\0\4late", 6, 0), 6);
	assert_true(reaches(&p->stats.deferred, 1));
	nap_ms(600);
	nap_ms(600); /* longer than the idle timeout */
	wake(&s, 0, 1);
	assert_int_equal(recv(fd, reply, sizeof(reply), MSG_WAITALL), 6);
	assert_memory_equal(reply,
			    "\0\4\xec"
			    "ate",
			    6);
	/* Now the connection is idle, and is closed. */
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 0);
	assert_int_equal(port_counter(&p->stats.conns_timed_out), 1);
	stop(&s, 1);
	assert_balance(p);
	close(fd);
	port_close(p);
}

static void test_start_says_why_not(void **state)
{
	struct worker_source sources[WORKER_SOURCES_MAX + 1];
	struct worker_config config = {
		.cpu = WORKER_CPU_ANY,
		.handle = echo_handle,
		.sources = sources,
		.n_sources = WORKER_SOURCES_MAX + 1,
	};
	struct worker *w = NULL;

	(void)state;
	for (int i = 0; i <= WORKER_SOURCES_MAX; i++)
		sources[i] = (struct worker_source){ -1, ready, NULL };
	assert_int_equal(worker_start(&w, &config), -EINVAL);
	config.n_sources = 1;
	assert_int_equal(worker_start(&w, &config), -EBADF);
	assert_null(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_source_wakes_the_worker_and_replies),
		cmocka_unit_test(test_sources_before_ports),
		cmocka_unit_test(test_a_source_that_stays_readable),
		cmocka_unit_test(test_heartbeat),
		cmocka_unit_test(test_a_port_that_goes),
		cmocka_unit_test(test_sources_are_called_at_the_end),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_start_says_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
