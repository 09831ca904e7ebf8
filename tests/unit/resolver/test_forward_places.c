/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of a forwarder's queries at two upstreams, which the test plays: it reads each query
 * by itself, and the time is what the test says, so that no query is late.
 */
#include "forward_lab.h"

#define WINDOW 4
#define CAP    32

enum { NEAR, FAR, N_UPSTREAMS };

static struct event_base *base;
static struct groups groups;
static struct forward *forward;
static struct resolver_counters counters;
static struct forward_board board;
static struct resolver_question questions[CAP];
static unsigned int n_questions;
static int sockets[N_UPSTREAMS];
static uint64_t now_ns;

static void over(struct resolver_group *group)
{
	while (!cds_list_empty(&group->waiters))
		groups_leave(&groups, cds_list_entry(group->waiters.next, struct resolver_question,
						     waiting));
	groups_put(&groups, group);
}

static void answered(void *ctx, struct resolver_group *group, const uint8_t *msg, size_t n,
		     size_t head_bytes)
{
	(void)ctx, (void)msg, (void)n, (void)head_bytes;
	over(group);
}

static void failed(void *ctx, struct resolver_group *group, int ede_code)
{
	(void)ctx, (void)ede_code;
	over(group);
}

static void turn(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
	while (forward_round(forward, &groups, now_ns))
		;
}

static void open_upstream(int i, char address[64])
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t n = sizeof(addr);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sockets[i] = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(sockets[i], (struct sockaddr *)&addr, n), 0);
	assert_int_equal(getsockname(sockets[i], (struct sockaddr *)&addr, &n), 0);
	snprintf(address, 64, "127.0.0.1@%u", ntohs(addr.sin_port));
}

static int begin(void **state)
{
	const struct forward_done done = { NULL, answered, failed };
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	char addresses[N_UPSTREAMS][64], err[256];
	const char *forwards[] = { addresses[NEAR], addresses[FAR], NULL };

	(void)state;
	for (int i = 0; i < N_UPSTREAMS; i++)
		open_upstream(i, addresses[i]);
	config.forwards = forwards;
	config.query_localhost = true;
	config.upstream_max = WINDOW;
	base = event_base_new();
	counters = (struct resolver_counters){ 0 };
	n_questions = 0;
	now_ns = clock_ns();
	assert_int_equal(groups_init(&groups, CAP, CAP, NULL), 0);
	groups.keeps_cd = true;
	assert_int_equal(forward_new(&forward, &config, base, &done, &counters, &board, err,
				     sizeof(err)),
			 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	forward_free(forward);
	groups_fini(&groups);
	event_base_free(base);
	for (int i = 0; i < N_UPSTREAMS; i++)
		close(sockets[i]);
	return 0;
}

/* A question of the client for the name of this one letter. */
static void ask(uint64_t client, char letter)
{
	struct resolver_question *q = &questions[n_questions++];

	*q = (struct resolver_question){ .name = { 1, (uint8_t)letter },
					 .hash = (uint8_t)letter,
					 .qtype = DNS_TYPE_A,
					 .qclass = DNS_CLASS_IN,
					 .place.client = client };
	(void)groups_join(&groups, q);
	turn();
}

/* The next query that came to the upstream, for the name of this letter. */
static struct lab_message query(int upstream, char letter)
{
	struct lab_message m = { 0 };
	socklen_t n = sizeof(m.peer);
	ssize_t got;

	for (unsigned int i = 0; i < LAB_WAIT && !lab_is_readable(sockets[upstream], 1); i++)
		turn();
	got = recvfrom(sockets[upstream], m.at, sizeof(m.at), MSG_DONTWAIT,
		       (struct sockaddr *)&m.peer, &n);
	assert_true(got > DNS_HEADER_BYTES);
	m.n = (size_t)got;
	assert_int_equal(m.at[DNS_HEADER_BYTES + 1], letter);
	return m;
}

static void send_reply(int upstream, const struct lab_message *m)
{
	(void)sendto(sockets[upstream], m->at, m->n, 0, (const struct sockaddr *)&m->peer,
		     sizeof(m->peer));
	turn();
}

static void reply(int upstream, const struct lab_message *to)
{
	const struct lab_message m = lab_reply(to, LAB_TRUE);

	send_reply(upstream, &m);
}

/* The near upstream is known as the quicker one; client 1 has taken all places, first those of the
 * near one. */
static void take_all_places(struct lab_message at_far[WINDOW])
{
	struct lab_message first;

	ask(1, 'z');
	first = query(NEAR, 'z');
	reply(NEAR, &first);
	first = query(FAR, 'z');
	(void)poll(NULL, 0, 200);
	reply(FAR, &first);
	for (char letter = 'a'; letter < 'a' + 2 * WINDOW; letter++)
		ask(1, letter);
	for (char letter = 'a'; letter < 'a' + WINDOW; letter++)
		(void)query(NEAR, letter);
	for (int i = 0; i < WINDOW; i++)
		at_far[i] = query(FAR, (char)('a' + WINDOW + i));
}

/*
 * A question whose near upstream has failed waits for the far one: no place at the near one is
 * taken for it, and other questions pass.
 */
static void a_place_is_taken_where_it_is_of_use(void **state)
{
	struct lab_message at_far[WINDOW], m;

	(void)state;
	take_all_places(at_far);
	ask(2, 's');
	m = query(NEAR, 's');
	assert_int_equal(counters.overtaken, 1);
	m = lab_error(&m, DNS_RCODE_SERVFAIL);
	send_reply(NEAR, &m);
	turn();
	assert_int_equal(counters.overtaken, 1);
	ask(3, 't');
	m = query(NEAR, 't');
	reply(NEAR, &m);
	reply(FAR, &at_far[0]);
	now_ns += 4 * DEADLINES_TICK_NS;
	(void)query(FAR, 's');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_place_is_taken_where_it_is_of_use, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
