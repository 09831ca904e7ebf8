/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A responder between ports that note what is sent, an engine with a cache, and a resolver that the
 * test plays: it notes questions, and completes them through the inbox as the test says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>

#include "dns/edns.h"
#include "querier/querier.h"
#include "rpz/rpz.h"
#include "tests/unit/engine/recursing.h"
#include "tests/unit/zone/zone_text.h"
#include "worker/responder.h"

#define T(t)      DNS_TYPE_##t
#define RD        DNS_FLAG_RD
#define N_SLOTS   100u
#define ASKED_CAP 512u
#define DESK      3u
#define TEXT_CAP  (NAME_TEXT_MAX + 64)

/* ---- The resolver ---------------------------------------------------------------------------- */

/* A fake resolver: its pointer, and the questions that were submitted to it. */
struct querier {
	struct resolver_question *asked[ASKED_CAP];
	unsigned int n, n_calls, n_released;
};

static struct querier first, second;

void querier_submit(struct querier *resolver, unsigned int worker,
		    struct resolver_question *const *questions, unsigned int n)
{
	MUST(worker == DESK);
	MUST(n && n <= PORT_BURST && resolver->n + n <= ASKED_CAP);
	memcpy(&resolver->asked[resolver->n], questions, n * sizeof(*questions));
	resolver->n += n;
	resolver->n_calls++;
	for (unsigned int i = 0; i < n; i++) {
		MUST(!questions[i]->answer); /* the answer before was released */
		questions[i]->answer = (struct resolver_answer *)resolver;
	}
}

/* Here all questions come back by their inbox. */
struct resolver_question *querier_take(struct querier *resolver, unsigned int worker)
{
	MUST(resolver && worker == DESK);
	return NULL;
}

void resolver_release(struct resolver_question *q)
{
	if (q->answer) /* a question that was never submitted has no answer */
		((struct querier *)q->answer)->n_released++;
	q->answer = NULL;
}

/* Puts a question into its inbox, with an answer, which the test frees, or as failed. */
static void give(struct resolver_question *q, const uint8_t *wire, size_t n, int ede_code)
{
	struct inbox_chain chain = { 0 };

	q->msg = wire;
	q->msg_bytes = n;
	q->rcode = wire ? DNS_RCODE_NOERROR : DNS_RCODE_SERVFAIL;
	q->ede_code = ede_code;
	q->security = RESOLVER_INSECURE;
	inbox_chain_add(&chain, &q->link);
	inbox_put(q->inbox, &chain);
}

/* ---- Ports ----------------------------------------------------------------------------------- */

/* The replies that were sent late. */
struct sent {
	uint32_t slot;
	size_t len;
	uint8_t bytes[1232];
};

struct fake_port {
	struct port port;
	struct sent sent[ASKED_CAP];
	unsigned int n_sent, n_calls;
};

static unsigned int note(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			 unsigned int n)
{
	struct fake_port *f = (struct fake_port *)p;

	(void)now_ns;
	f->n_calls++;
	for (unsigned int i = 0; i < n; i++) {
		struct sent *s = &f->sent[f->n_sent++];

		MUST(f->n_sent <= ASKED_CAP);
		s->slot = replies[i].to->slot;
		s->len = replies[i].len;
		if (s->len <= sizeof(s->bytes))
			memcpy(s->bytes, replies[i].data, s->len);
	}
	return n;
}

static const struct port_ops ops = { .reply = note };
static const struct port_ops ops_at_once = { 0 };

static struct recursing r;
static struct querier *resolver;
static struct responder *responder;
static struct fake_port a, b, at_once;

static void open_responder(unsigned int n_pending)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;
	struct responder_config rc = {
		.resolver = &resolver, .n_pending = n_pending, .desk = DESK, .bell_fd = -1
	};

	memset(&r, 0, sizeof(r));
	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	a.port.ops = b.port.ops = &ops;
	at_once.port.ops = &ops_at_once;
	recursing_open(&r, &config);
	resolver = &first;
	rc.engine = r.world.engine;
	assert_int_equal(responder_new(&responder, &rc), 0);
}

static int setup(void **state)
{
	(void)state;
	open_responder(N_SLOTS);
	return 0;
}

/* A responder without slots, as at a start without recursion. */
static int setup_without_room(void **state)
{
	(void)state;
	open_responder(0);
	resolver = NULL;
	return 0;
}

static struct responder_counters counters(void)
{
	struct responder_counters c;

	responder_counters_read(responder, &c);
	return c;
}

static int teardown(void **state)
{
	struct responder_counters c = counters();

	(void)state;
	assert_int_equal(c.taken, c.released);
	assert_int_equal(first.n_released + second.n_released, first.n + second.n);
	responder_free(responder);
	recursing_close(&r);
	world_free(&r.world);
	return 0;
}

static uint8_t buffers[PORT_BURST][1232];
static struct port_msg msgs[PORT_BURST];

static void put_query(unsigned int i, const char *name, bool stream)
{
	const struct ask ask = { .name = name, .type = T(A), .flags = RD, .udp_size = 1232 };

	msgs[i] = (struct port_msg){
		.data = buffers[i],
		.len = (uint32_t)ask_bytes(&ask, buffers[i]),
		.cap = sizeof(buffers[i]),
		.family = AF_INET,
		.stream = stream,
		.slot = i,
	};
	memcpy(msgs[i].peer, world_client, 4);
}

static void handle(struct fake_port *f, unsigned int n)
{
	responder_handle(responder, msgs, n, &f->port, clock_ns());
	for (unsigned int i = 0; i < n; i++)
		f->port.stats.deferred += msgs[i].outcome == PORT_DEFERS;
	rcu_quiescent_state();
}

static bool is_ready(void)
{
	struct pollfd pollfd = { .fd = responder_source(responder).fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static void run_at(uint64_t now_ns)
{
	const struct worker_source source = responder_source(responder);

	source.ready(source.ctx, now_ns);
	assert_false(is_ready());
	rcu_quiescent_state();
}

static void run(void)
{
	run_at(clock_ns());
}

static struct upstream answer_to(const char *name, char text[TEXT_CAP])
{
	snprintf(text, TEXT_CAP, "%s 300 IN A 192.0.2.80\n", name);
	return (struct upstream){ .name = name, .qtype = T(A), .answer = text };
}

/* Completes all questions to `from` from number `at` on, with an answer. */
static void answer_from(struct querier *from, unsigned int at)
{
	for (; at < from->n; at++) {
		struct resolver_question *q = from->asked[at];
		char name[NAME_TEXT_MAX], text[TEXT_CAP];
		struct upstream u;
		uint8_t *wire;
		size_t n;

		name_to_text(name, sizeof(name), q->name);
		u = answer_to(name, text);
		wire = upstream_wire(&u, &n);
		give(q, wire, n, EDNS_NO_EDE);
		run();
		free(wire);
	}
}

static uint16_t sent_rcode(const struct sent *s)
{
	return wire_load_be16(s->bytes + DNS_FLAGS_AT) & DNS_RCODE_MASK;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_later(void **state)
{
	(void)state;
	put_query(0, "example.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].len, 0);
	assert_int_equal(msgs[0].outcome, PORT_DEFERS);
	assert_int_equal(first.n, 1);
	assert_false(is_ready());
	answer_from(&first, 0);
	assert_int_equal(a.n_sent, 1);
	assert_int_equal(a.sent[0].slot, 0);
	assert_int_equal(sent_rcode(&a.sent[0]), DNS_RCODE_NOERROR);
	assert_int_equal(wire_load_be16(a.sent[0].bytes + DNS_ANCOUNT_AT), 1);
	assert_int_equal(counters().replies, 1);

	put_query(0, "example.x", false); /* the answer is in the cache now */
	handle(&a, 1);
	assert_true(msgs[0].len);
	assert_int_equal(msgs[0].outcome, PORT_REPLIES);
	assert_int_equal(first.n, 1);
}

/* A burst is one call in each direction, even with another port's questions in between. */
static void test_bursts(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u.x", i);
		put_query(i, name, false);
	}
	handle(&a, 40);
	for (unsigned int i = 0; i < 40; i++) {
		char name[32];

		snprintf(name, sizeof(name), "m%u.x", i);
		put_query(i, name, false);
	}
	handle(&b, 40);
	assert_int_equal(first.n, 80);
	assert_int_equal(first.n_calls, 2);
	for (unsigned int i = 0; i < 40; i++) {
		give(first.asked[i], NULL, 0, DNS_EDE_NO_REACHABLE_AUTHORITY);
		give(first.asked[40 + i], NULL, 0, DNS_EDE_NO_REACHABLE_AUTHORITY);
	}
	assert_true(is_ready());
	run();
	assert_int_equal(a.n_calls, 1);
	assert_int_equal(b.n_calls, 1);
	assert_int_equal(a.n_sent, 40);
	assert_int_equal(b.n_sent, 40);
	for (unsigned int i = 0; i < 40; i++) {
		assert_int_equal(a.sent[i].slot, i);
		assert_int_equal(sent_rcode(&a.sent[i]), DNS_RCODE_SERVFAIL);
	}
}

/* More questions than slots: the others get SERVFAIL at once. */
static void test_no_slot(void **state)
{
	unsigned int n_deferred = 0;

	(void)state;
	for (unsigned int burst = 0; burst < 3; burst++) {
		for (unsigned int i = 0; i < 50; i++) {
			char name[32];

			snprintf(name, sizeof(name), "n%u-%u.x", burst, i);
			put_query(i, name, false);
			msgs[i].peer[3] = (uint8_t)i; /* no client exceeds its share */
		}
		handle(&a, 50);
		for (unsigned int i = 0; i < 50; i++) {
			n_deferred += msgs[i].outcome == PORT_DEFERS;
			if (burst == 2)
				assert_int_equal(msgs[i].data[3] & DNS_RCODE_MASK,
						 DNS_RCODE_SERVFAIL);
		}
	}
	assert_int_equal(n_deferred, N_SLOTS);
	answer_from(&first, 0);
	assert_int_equal(a.n_sent, N_SLOTS);
	put_query(0, "after.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].outcome, PORT_DEFERS);
	answer_from(&first, N_SLOTS);
}

/* One client asks for all slots, and another one still gets a slot. The first client gets slots
 * again when its questions are done. */
static void test_share(void **state)
{
	unsigned int n_deferred = 0;

	(void)state;
	for (unsigned int i = 0; i < 2 * N_SLOTS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u.x", i);
		put_query(0, name, false);
		handle(&a, 1);
		n_deferred += msgs[0].outcome == PORT_DEFERS;
	}
	assert_int_equal(n_deferred, N_SLOTS * LIMITS_SHARE_TIMES / (LIMITS_SHARE_TIMES + 1));
	for (unsigned int i = 0; i < LIMITS_SHARE_FEW; i++) {
		char name[32];

		snprintf(name, sizeof(name), "other%u.x", i);
		put_query(0, name, false);
		msgs[0].peer[3] ^= 1;
		handle(&a, 1);
		assert_int_equal(msgs[0].outcome, PORT_DEFERS);
	}
	answer_from(&first, 0);
	put_query(0, "n0.x", false); /* an answer from the cache needs no place */
	handle(&a, 1);
	assert_int_equal(msgs[0].data[3] & DNS_RCODE_MASK, DNS_RCODE_NOERROR);
	put_query(0, "after.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].outcome, PORT_DEFERS);
	answer_from(&first, n_deferred + LIMITS_SHARE_FEW);
}

/* An IPv4 address in the form of an IPv6 address shares the limit of the IPv4 client, and each
 * place is given back. */
static void test_share_of_mapped(void **state)
{
	const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	unsigned int n_deferred = 0, n_asked = 0;

	(void)state;
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < N_SLOTS; i++) {
			char name[32];

			snprintf(name, sizeof(name), "n%u-%u.x", round, i);
			put_query(0, name, false);
			msgs[0].family = AF_INET6;
			memcpy(msgs[0].peer, mapped, sizeof(mapped));
			memcpy(msgs[0].peer + sizeof(mapped), world_client, 4);
			handle(&a, 1);
			n_deferred += msgs[0].outcome == PORT_DEFERS;
		}
		answer_from(&first, n_asked);
		n_asked = first.n;
	}
	assert_int_equal(n_deferred, 3 * N_SLOTS * LIMITS_SHARE_TIMES / (LIMITS_SHARE_TIMES + 1));
}

static void test_no_resolver(void **state)
{
	struct engine_counters c;

	(void)state;
	resolver = NULL;
	put_query(0, "example.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].outcome, PORT_REPLIES);
	assert_int_equal(msgs[0].data[3] & DNS_RCODE_MASK, DNS_RCODE_SERVFAIL);
	engine_counters_read(r.world.engine, &c);
	assert_int_equal(c.not_asked, 1);
	resolver = &first;
	put_query(0, "example.x", false); /* a port that cannot defer */
	handle(&at_once, 1);
	assert_int_equal(msgs[0].outcome, PORT_REPLIES);
	assert_int_equal(msgs[0].data[3] & DNS_RCODE_MASK, DNS_RCODE_SERVFAIL);
}

/* Recursion begins while the worker runs: the slots that were made last count. */
static void test_room_is_made(void **state)
{
	const struct volley_refresh refresh = { 0 };

	(void)state;
	put_query(0, "before.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].data[3] & DNS_RCODE_MASK, DNS_RCODE_SERVFAIL);
	responder_refresh(responder, &refresh, 1);
	assert_int_equal(responder_make_room(responder, N_SLOTS), 0);
	assert_int_equal(responder_make_room(responder, 0), 0);
	assert_int_equal(responder_make_room(responder, 2), 0);
	resolver = &first;
	for (unsigned int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u.x", i);
		put_query(i, name, false);
		msgs[i].peer[3] = (uint8_t)i;
	}
	handle(&a, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(msgs[i].outcome, i < 2 ? PORT_DEFERS : PORT_REPLIES);
	assert_int_equal(msgs[2].data[3] & DNS_RCODE_MASK, DNS_RCODE_SERVFAIL);
	answer_from(&first, 0);
	assert_int_equal(a.n_sent, 2);
}

/* The port goes, and the answer is cached nevertheless. */
static void test_port_gone(void **state)
{
	(void)state;
	put_query(0, "example.x", false);
	handle(&a, 1);
	put_query(0, "other.x", false);
	handle(&b, 1);
	responder_port_gone(responder, &a.port);
	memset(&a.port, 0xff, sizeof(a.port));
	answer_from(&first, 0);
	assert_int_equal(b.n_sent, 1);
	assert_int_equal(counters().orphaned, 1);
	put_query(0, "example.x", false);
	handle(&b, 1);
	assert_int_equal(msgs[0].outcome, PORT_REPLIES);
}

/* When the resolver is replaced, outstanding questions are asked of the new one, once. */
static void test_exchanged(void **state)
{
	(void)state;
	put_query(0, "example.x", false);
	put_query(1, "other.x", false);
	handle(&a, 2);
	resolver = &second;
	give(first.asked[0], NULL, 0, DNS_EDE_NOT_READY);
	give(first.asked[1], NULL, 0, DNS_EDE_NO_REACHABLE_AUTHORITY);
	run();
	assert_int_equal(a.n_sent, 1);
	assert_int_equal(a.sent[0].slot, 1);
	assert_int_equal(second.n, 1);
	assert_int_equal(counters().resubmitted, 1);
	assert_int_equal(first.n_released, 2);
	resolver = &first;
	give(second.asked[0], NULL, 0, DNS_EDE_NOT_READY); /* the second resolver ends, too */
	run();
	assert_int_equal(a.n_sent, 2);
	assert_int_equal(sent_rcode(&a.sent[1]), DNS_RCODE_SERVFAIL);
	assert_int_equal(first.n, 2);
}

/* The last resolver ends: all outstanding questions get SERVFAIL. */
static void test_stopped(void **state)
{
	(void)state;
	put_query(0, "example.x", false);
	handle(&a, 1);
	resolver = NULL;
	give(first.asked[0], NULL, 0, DNS_EDE_NOT_READY);
	run();
	assert_int_equal(a.n_sent, 1);
	assert_int_equal(sent_rcode(&a.sent[0]), DNS_RCODE_SERVFAIL);
}

#define HEAD "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"

/* Each list leads to a question beside the client's. */
static const struct {
	const char *what;
	const char *rules;
	const char *answer;
} deferring_rows[] = {
	{ "where an alias leads", HEAD "alias.x CNAME www.y.\n",
	  "www.x. 300 IN CNAME alias.x.\nalias.x. 300 IN A 192.0.2.80\n" },
	{ "for the name servers of the name", HEAD "ns.x.rpz-nsdname CNAME .\n",
	  "www.x. 300 IN A 192.0.2.80\n" },
};

static void stop_behind_the_first_answer(const char *answer)
{
	const struct upstream u = { .name = "www.x.", .qtype = T(A), .answer = answer };
	uint8_t *wire;
	size_t n;

	put_query(0, "www.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].outcome, PORT_DEFERS);
	resolver = NULL;
	wire = upstream_wire(&u, &n);
	give(first.asked[0], wire, n, EDNS_NO_EDE);
	run();
	free(wire);
}

/* The last resolver ends while an answer comes that leads to another question: the client gets
 * SERVFAIL at once. */
static void test_stopped_between_two_questions(void **state)
{
	const uint64_t digest[2] = { 9, 9 };

	for (size_t i = 0; i < sizeof(deferring_rows) / sizeof(deferring_rows[0]); i++) {
		struct zone *zone = zone_of("rpz", deferring_rows[i].rules);
		const struct rpz_list list = { .zone = zone };
		struct rpz *rpz;
		uint32_t slot, gen;

		print_message("%s\n", deferring_rows[i].what);
		if (i)
			setup(state);
		cache_zone_prepare(r.world.cache, (const uint8_t *)"\3rpz", 5, digest, &slot, &gen);
		cache_zone_commit(r.world.cache, slot, gen, digest);
		MUST(!rpz_new(&rpz, NULL, &list, 1, slot, gen));
		r.world.zones.rpz = rpz;
		stop_behind_the_first_answer(deferring_rows[i].answer);
		assert_int_equal(a.n_sent, 1);
		assert_true(a.sent[0].len);
		assert_int_equal(sent_rcode(&a.sent[0]), DNS_RCODE_SERVFAIL);
		assert_int_equal(first.n, 1);
		r.world.zones.rpz = NULL;
		rpz_free(rpz);
		zone_free(zone);
		if (i + 1 < sizeof(deferring_rows) / sizeof(deferring_rows[0]))
			teardown(state);
	}
}

/* After a stale answer the question goes on, but the client gets no second reply. */
static void test_stale(void **state)
{
	(void)state;
	r.rules.stale_s = 3600;
	r.rules.max_ttl_s = 1;
	put_query(0, "example.x", false);
	handle(&a, 1);
	answer_from(&first, 0);
	r.rules.max_ttl_s = 300;
	usleep(2100000);
	put_query(0, "example.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].outcome, PORT_DEFERS);
	give(first.asked[1], NULL, 0, DNS_EDE_NO_REACHABLE_AUTHORITY);
	run_at(first.asked[1]->deadline_ns);
	assert_int_equal(a.n_sent, 2);
	assert_int_equal(wire_load_be16(a.sent[1].bytes + DNS_ANCOUNT_AT), 1);
	assert_int_equal(first.n, 3);
	assert_ptr_equal(first.asked[1], first.asked[2]);
	answer_from(&first, 2);
	assert_int_equal(a.n_sent, 2);
	assert_int_equal(counters().taken, 2);
	put_query(0, "example.x", false);
	handle(&a, 1);
	assert_int_equal(msgs[0].outcome, PORT_REPLIES);
}

/* Refreshes for the driver, and none without a resolver or a free slot. */
static void test_refresh(void **state)
{
	const struct volley_entry *entry;
	struct volley_refresh refresh[2] = { 0 };
	struct cache_key key;

	(void)state;
	put_query(0, "example.x", false);
	handle(&a, 1);
	answer_from(&first, 0);
	cache_key_init(&key, r.world.cache, (const uint8_t *)"\7example\1x", 11, T(A), DNS_CLASS_IN,
		       0, VOLLEY_VIEW_RECURSIVE);
	assert_int_equal(cache_lookup(r.world.cache, &key, clock_coarse_s(), false, &entry),
			 CACHE_HIT);
	refresh[1] = (struct volley_refresh){ .hash = entry->hash, .born_s = entry->born_s };
	responder_refresh(responder, refresh, 2);
	assert_int_equal(first.n, 2);
	assert_int_equal(first.asked[1]->family, 0);
	answer_from(&first, 1);
	assert_int_equal(a.n_sent, 1);
	resolver = NULL;
	responder_refresh(responder, refresh, 2);
	assert_int_equal(counters().not_refreshed, 2);
}

/* Over TCP many large replies are whole: the room for replies is used again. */
static void test_large(void **state)
{
	char *text = malloc(4000 * 40);
	struct upstream u = { .name = "big.x.", .qtype = T(A), .answer = text };
	size_t at = 0, n;
	uint8_t *wire;

	(void)state;
	for (unsigned int i = 0; i < 3900; i++)
		at += (size_t)sprintf(text + at, "big.x. 9 IN A 10.0.%u.%u\n", i / 256, i % 256);
	wire = upstream_wire(&u, &n);
	for (unsigned int i = 0; i < 20; i++)
		put_query(i, "big.x", true);
	for (unsigned int i = 0; i < 20; i++)
		msgs[i].cap = DNS_MESSAGE_MAX;
	for (unsigned int i = 0; i < 20; i++) /* the buffer has room only for the query */
		MUST(msgs[i].len < sizeof(buffers[i]));
	handle(&a, 20);
	assert_int_equal(first.n, 20);
	for (unsigned int i = 0; i < 20; i++)
		give(first.asked[i], wire, n, EDNS_NO_EDE);
	run();
	assert_int_equal(a.n_sent, 20);
	for (unsigned int i = 0; i < 20; i++) {
		assert_true(a.sent[i].len > 60000);
		assert_int_equal(a.sent[i].slot, i);
	}
	free(wire);
	free(text);
}

/* A responder may end with completed questions in its inbox. */
static void test_end(void **state)
{
	(void)state;
	put_query(0, "example.x", false);
	handle(&a, 1);
	give(first.asked[0], NULL, 0, DNS_EDE_NOT_READY);
	responder_free(responder);
	responder = NULL;
	assert_int_equal(first.n_released, 1);
	recursing_close(&r);
	world_free(&r.world);
}

static int group_setup(void **state)
{
	(void)state;
	rcu_register_thread();
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	rcu_unregister_thread();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_later),
		TEST(test_bursts),
		TEST(test_no_slot),
		TEST(test_share),
		TEST(test_share_of_mapped),
		TEST(test_no_resolver),
		TEST(test_port_gone),
		TEST(test_exchanged),
		TEST(test_stopped),
		TEST(test_stopped_between_two_questions),
		TEST(test_stale),
		TEST(test_refresh),
		TEST(test_large),
		cmocka_unit_test_setup_teardown(test_room_is_made, setup_without_room, teardown),
		cmocka_unit_test_setup(test_end, setup),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
