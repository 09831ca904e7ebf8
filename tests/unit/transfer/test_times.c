/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When primaries are asked, when a zone expires, and when secondaries are told again: by a
 * simulated clock. The test is the transfer thread, control and the other name server in one. So
 * days pass in milliseconds, and nothing here waits.
 */
#include "tests/unit/zone/zone_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "transfer/secondary.h"
#include "transfer/transfer.h"
#include "transfer/transfer_thread.h"

#define BEGUN_S   1700000000u
#define MS        CLOCK_NS_PER_MS
#define S         CLOCK_NS_PER_S
#define SERIAL    7u
#define REFRESH   7200u
#define RETRY     600u
#define EXPIRE    86400u
#define ZONE      "$TTL 300\n@ IN SOA ns host 7 7200 600 86400 60\n@ NS ns\nns A 192.0.2.1\n"
#define DATAGRAMS 64 /* more than a test lets come */

static struct clock_now now;
static struct transfer t;
static struct engine_config engine_config;
static struct engine_data published;
static struct zone *zone;
static int udp, tcp;   /* of the other name server */
static int streams[8]; /* connections to it, in the order in which they came */
static size_t n_streams;
static struct sockaddr_in asker;
static uint8_t query[512]; /* the last one that came */
static size_t n_query;
static unsigned int n_events[TRANSFER_UPDATE + 1]; /* by kind */
static uint64_t checked_s, expires_s;              /* of the last event */

static char other[] = "other", second[] = "second"; /* of the same address */
static char *remotes[] = { other, NULL }, *both[] = { other, second, NULL };
static struct config_zone secondary_config;
static const struct config_zone primary_config = { .notify = remotes };

static void read_clock(struct clock_now *out)
{
	*out = now;
}

/* --- The scene -------------------------------------------------------------------------------- */

static const uint8_t *apex(void)
{
	static uint8_t name[NAME_FOLDED_BYTES];

	wire_of(name, "z");
	return name;
}

static void on_event(void *user, struct transfer_event *event)
{
	(void)user;
	n_events[event->kind]++;
	checked_s = event->checked_wall_s;
	expires_s = event->expires_wall_s;
	zone_builder_free(event->builder);
}

/* All that can be done at this moment. */
static void run(void)
{
	for (unsigned int i = 0; i < 8; i++)
		(void)event_base_loop(t.base, EVLOOP_NONBLOCK);
	transfer_poll(&t);
}

/* Time goes on, from one timer to the next. */
static void move_on(uint64_t ns)
{
	uint64_t end_ns = now.ns + ns;

	while (now.ns < end_ns) {
		uint64_t due_ns = timers_due_ns(&t.timers);
		uint64_t next_ns = due_ns < end_ns ? due_ns : end_ns;

		next_ns = next_ns > now.ns ? next_ns : now.ns + 1;
		now.wall_s += next_ns / S - now.ns / S;
		now.ns = next_ns;
		loop_wake(&t);
		timers_run(&t.timers, now.ns);
		run();
	}
}

/* To the next timer, but for at most so long. */
static void step(uint64_t most_ns)
{
	uint64_t due_ns = timers_due_ns(&t.timers);
	uint64_t wait_ns = due_ns > now.ns ? due_ns - now.ns : 1;

	move_on(wait_ns < most_ns ? wait_ns : most_ns);
}

/* One port for both; nobody listens for TCP until a test does. */
static bool bind_both(struct sockaddr_in *addr)
{
	socklen_t n = sizeof(*addr);

	*addr = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr = { htonl(INADDR_LOOPBACK) } };
	udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(udp, (struct sockaddr *)addr, n), 0);
	assert_int_equal(getsockname(udp, (struct sockaddr *)addr, &n), 0);
	return !bind(tcp, (struct sockaddr *)addr, n);
}

static void open_sockets(struct config_addr *address)
{
	struct sockaddr_in addr;

	while (!bind_both(&addr)) {
		close(udp);
		close(tcp);
	}
	*address = (struct config_addr){ .family = AF_INET, .net_port = addr.sin_port };
	memcpy(address->addr, &addr.sin_addr, 4);
}

static char key_name[] = "key.test.";
static uint8_t secret[] = "a secret of tests";
static struct config_tsig_key key = {
	.name = key_name, .algorithm = TSIG_SHA256, .secret = secret, .n_secret = sizeof(secret)
};

static int begin_as(bool is_signed)
{
	static struct config_addr address;
	struct config_remote known[] = {
		{ .name = other,
		  .addresses = &address,
		  .n_addresses = 1,
		  .key = is_signed ? key_name : NULL },
		{ .name = second, .addresses = &address, .n_addresses = 1 },
	};
	const struct config config = { .remotes = known,
				       .n_remotes = 2,
				       .keys = &key,
				       .n_keys = 1,
				       .n_transfers = 10,
				       .n_transfers_out = 10,
				       .tcp_idle_s = 30 };
	char err[256];

	now = (struct clock_now){ .ns = S, .wall_s = BEGUN_S, .coarse_s = 1 };
	engine_config = (struct engine_config)ENGINE_CONFIG_INIT;
	published = (struct engine_data){ 0 };
	memset(n_events, 0, sizeof(n_events));
	secondary_config = (struct config_zone){ .primaries = remotes, .retry_min_s = 1 };
	open_sockets(&address);
	t = (struct transfer){ .env = { .published = &published, .engine_config = &engine_config },
			       .event = on_event,
			       .read_clock = read_clock };
	assert_int_equal(loop_open(&t), 0);
	assert_int_equal(transfer_configure(&t, &config, err, sizeof(err)), 0);
	zone = zone_of("z", ZONE);
	run();
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return begin_as(false);
}

static int begin_signed(void **state)
{
	(void)state;
	return begin_as(true);
}

static int end(void **state)
{
	(void)state;
	transfer_stop(&t);
	mailbox_close(&t.to_loop);
	mailbox_close(&t.to_control);
	zone_set_free(published.set);
	zone_free(zone);
	close(udp);
	close(tcp);
	while (n_streams)
		close(streams[--n_streams]);
	return 0;
}

static void publish(void)
{
	const struct zone_member member = { .apex = apex(), .apex_len = 3, .zone = zone };
	struct zone_set *set;

	assert_int_equal(zone_set_new(&set, &member, 1), 0);
	rcu_set_pointer(&published.set, set);
}

static void put(const struct config_zone *config, const struct transfer_past *past)
{
	assert_int_equal(transfer_put_zone(&t, apex(), config, past), 0);
	run();
}

/* A secondary's zone that was checked just now. */
static void put_served(void)
{
	const struct transfer_past past = { .checked_wall_s = now.wall_s,
					    .expires_wall_s = now.wall_s + EXPIRE };

	publish();
	put(&secondary_config, &past);
}

static struct secondary_zone *secondary(void)
{
	return transfer_zones_find(&t.zones, apex())->secondary;
}

static void notify(const uint32_t *serial)
{
	const struct port_addr nobody = { .family = AF_INET };

	secondary_notified(&t, transfer_zones_find(&t.zones, apex()), &nobody, serial);
	run();
}

/* --- The other name server -------------------------------------------------------------------- */

/* How many queries have come since the last call. */
static unsigned int n_come(void)
{
	socklen_t len = sizeof(asker);
	unsigned int n = 0;
	ssize_t got;

	while ((got = recvfrom(udp, query, sizeof(query), 0, (struct sockaddr *)&asker, &len)) >
	       0) {
		n_query = (size_t)got;
		n++;
		assert_true(n < DATAGRAMS);
	}
	return n;
}

/* The SOA record of the zone with that serial number, as the reply to the last query; its
 * length. */
static size_t soa_reply(uint8_t msg[static 1024], uint32_t serial)
{
	const size_t n_question = DNS_HEADER_BYTES + 3 + 4; /* z. */
	struct wire_writer w;

	assert_true(n_query >= n_question);
	memcpy(msg, query, n_question);
	wire_store_be16(msg + DNS_FLAGS_AT, DNS_FLAG_QR | DNS_FLAG_AA);
	wire_store_be16(msg + DNS_ANCOUNT_AT, 1);
	wire_store_be16(msg + DNS_NSCOUNT_AT, 0);
	wire_store_be16(msg + DNS_ARCOUNT_AT, 0);
	wire_writer_init(&w, msg + n_question, 1024 - n_question);
	wire_write_be16(&w, 0xc00c);
	wire_write_be16(&w, DNS_TYPE_SOA);
	wire_write_be16(&w, DNS_CLASS_IN);
	wire_write_be32(&w, 300);
	wire_write_be16(&w, 2 + 5 * 4);
	wire_write_be16(&w, 0); /* two roots */
	wire_write_be32(&w, serial);
	wire_write_be32(&w, REFRESH);
	wire_write_be32(&w, RETRY);
	wire_write_be32(&w, EXPIRE);
	wire_write_be32(&w, 60);
	return n_question + w.at;
}

/* Signed, where the query was, so many seconds from now. */
static void answer_at(uint32_t serial, int64_t from_now_s)
{
	uint8_t msg[1024];
	size_t n_reply = soa_reply(msg, serial), n_body;
	struct tsig tsig;
	int n;

	if (tsig_verify_request(&tsig, t.remotes->keys, query, n_query, now.wall_s, &n_body) !=
	    TSIG_OK)
		assert_true(!tsig.key && tsig.verdict == TSIG_NONE);
	n = tsig_sign(&tsig, msg, n_reply, sizeof(msg),
		      (uint64_t)((int64_t)now.wall_s + from_now_s));
	assert_true(n > 0);
	assert_int_equal(sendto(udp, msg, (size_t)n, 0, (struct sockaddr *)&asker, sizeof(asker)),
			 n);
	tsig_fini(&tsig);
	run();
}

static void answer(uint32_t serial)
{
	answer_at(serial, 0);
}

/* A query for changes or for the zone, on the connection that it has come by. */
static int take_stream_query(uint16_t type)
{
	uint8_t length[2];
	int fd = accept4(tcp, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	assert_true(fd >= 0 && n_streams < sizeof(streams) / sizeof(streams[0]));
	streams[n_streams++] = fd;
	run();
	assert_int_equal(recv(fd, length, sizeof(length), 0), sizeof(length));
	n_query = wire_load_be16(length);
	assert_int_equal(recv(fd, query, sizeof(query), 0), n_query);
	assert_int_equal(wire_load_be16(query + DNS_HEADER_BYTES + 3), type);
	return fd;
}

#define SILENT 0u         /* each connection is closed */
#define UNSAID UINT32_MAX /* there is no option EXPIRE */

/* IXFR, AXFR, AXFR without OPT: each gets the end of its connection. */
static void close_queries(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		uint16_t type = i ? DNS_TYPE_AXFR : DNS_TYPE_IXFR;

		assert_int_equal(shutdown(take_stream_query(type), SHUT_RDWR), 0);
		run();
	}
}

/* There is nothing newer; and how long its own copy is good for: RFC 7314. */
static void answer_current(uint32_t expire_left_s)
{
	uint8_t msg[2 + 1024];
	struct wire_writer w;
	size_t n;
	int fd;

	if (expire_left_s == SILENT) {
		close_queries();
		return;
	}
	fd = take_stream_query(DNS_TYPE_IXFR);
	n = soa_reply(msg + 2, SERIAL);
	wire_writer_init(&w, msg + 2 + n, sizeof(msg) - 2 - n);
	if (expire_left_s != UNSAID) {
		wire_store_be16(msg + 2 + DNS_ARCOUNT_AT, 1);
		wire_write_u8(&w, 0);
		wire_write_be16(&w, DNS_TYPE_OPT);
		wire_write_be16(&w, 1232);
		wire_write_be32(&w, 0);
		wire_write_be16(&w, 8);
		wire_write_be16(&w, DNS_OPTION_EXPIRE);
		wire_write_be16(&w, 4);
		wire_write_be32(&w, expire_left_s);
	}
	n += w.at;
	wire_store_be16(msg, (uint16_t)n);
	assert_int_equal(send(fd, msg, 2 + n, 0), 2 + n);
	run();
}

/* --- Refresh and retry ------------------------------------------------------------------------ */

/* Asked up to a tenth before its time, and not twice. */
static void assert_asked_within(uint64_t wait_s)
{
	uint64_t begun_ns = now.ns;

	move_on(wait_s * S * 9 / 10 - S);
	assert_int_equal(n_come(), 0);
	while (secondary()->state == SECONDARY_IDLE && now.ns < begun_ns + wait_s * S)
		step(S);
	assert_int_equal(n_come(), 1);
	assert_int_equal(wire_load_be16(query + DNS_HEADER_BYTES + 3), DNS_TYPE_SOA);
}

static void refreshed_when_the_soa_says(void **state)
{
	(void)state;
	put_served();
	for (unsigned int i = 1; i <= 5; i++) {
		assert_asked_within(REFRESH);
		answer(SERIAL);
		assert_int_equal(n_events[TRANSFER_CHECKED], i);
		assert_true(checked_s == now.wall_s && expires_s == now.wall_s + EXPIRE);
		assert_int_equal(secondary()->n_failed, 0);
	}
}

/* What the file was good for is over: the primary is asked at once. */
static void refreshed_at_once_behind_a_long_stop(void **state)
{
	const struct transfer_past past = { .checked_wall_s = BEGUN_S - REFRESH - 1,
					    .expires_wall_s = BEGUN_S + 1000 };

	(void)state;
	publish();
	put(&secondary_config, &past);
	assert_int_equal(n_come(), 1);
}

/* Three queries, each waited for longer, and then the retry time. */
static void asked_again_where_there_is_no_answer(void **state)
{
	(void)state;
	put_served();
	assert_asked_within(REFRESH);
	move_on(699 * MS);
	assert_int_equal(n_come(), 0);
	move_on(MS);
	assert_int_equal(n_come(), 1);
	move_on(1499 * MS);
	assert_int_equal(n_come(), 0);
	move_on(MS);
	assert_int_equal(n_come(), 1);
	move_on(2999 * MS);
	assert_int_equal(secondary()->state, SECONDARY_ASKING);
	move_on(MS);
	assert_int_equal(secondary()->state, SECONDARY_IDLE);
	assert_int_equal(secondary()->n_failed, 1);
	assert_asked_within(RETRY);
	answer(SERIAL);
	assert_int_equal(n_events[TRANSFER_CHECKED], 1);
	assert_asked_within(REFRESH);
}

/* The bounds of the configuration count, whatever the SOA says. */
static void within_the_bounds(void **state)
{
	(void)state;
	secondary_config.refresh_max_s = 100;
	secondary_config.retry_min_s = 3000;
	put_served();
	assert_asked_within(100);
	move_on(5200 * MS);
	assert_int_equal(n_come(), 2);
	assert_asked_within(3000);
}

/* A zone that was never there: after 1, 2, 4 ... s, each up to a tenth early, at most after an
 * hour. */
static void asked_for_less_and_less_where_it_never_came(void **state)
{
	uint64_t wait_s = 1;

	(void)state;
	put(&secondary_config, NULL); /* by TCP, where nobody listens */
	for (unsigned int n = 1; n <= 15; n++, wait_s = wait_s < 1800 ? 2 * wait_s : 3600) {
		uint64_t begun_ns = now.ns;

		assert_int_equal(secondary()->n_failed, n);
		while (secondary()->n_failed == n && now.ns < begun_ns + 2 * 3600 * S)
			step(3600 * S);
		assert_in_range(now.ns - begun_ns, wait_s * 9 * S / 10 - MS, wait_s * S);
	}
}

/* RFC 8945 section 5.2.3: a reply that is signed well at another time is none; that of now is taken
 * all the same. */
static void a_reply_of_another_time_is_none(void **state)
{
	(void)state;
	put_served();
	assert_asked_within(REFRESH);
	answer_at(SERIAL, 301);
	answer_at(SERIAL, -301);
	answer_at(SERIAL + 1, -301);
	assert_int_equal(n_events[TRANSFER_CHECKED], 0);
	assert_int_equal(secondary()->state, SECONDARY_ASKING);
	answer_at(SERIAL, -299);
	assert_int_equal(n_events[TRANSFER_CHECKED], 1);
	assert_asked_within(REFRESH);
	answer_at(SERIAL, 301);
	move_on(10 * S);
	assert_int_equal(secondary()->n_failed, 1);
	assert_non_null(strstr(sentence_text(&secondary()->error), "clocks"));
	assert_int_equal(t.counters.tsig_bad, 1);
}

/* --- Expiry ----------------------------------------------------------------------------------- */

static void expires_when_nobody_answers_for_so_long(void **state)
{
	(void)state;
	put_served();
	move_on((EXPIRE - 1) * S);
	assert_true(secondary()->n_failed > 100);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 0);
	move_on(S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 1);
}

static void an_answer_puts_expiry_off(void **state)
{
	(void)state;
	put_served();
	assert_asked_within(REFRESH);
	answer(SERIAL);
	assert_int_equal(expires_s, now.wall_s + EXPIRE);
	move_on((EXPIRE - 1) * S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 0);
	move_on(S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 1);
}

/* What was counted before a restart counts on. */
static void expiry_is_that_of_before(void **state)
{
	const struct transfer_past past = { .checked_wall_s = BEGUN_S - 1000,
					    .expires_wall_s = BEGUN_S + 500 };

	(void)state;
	publish();
	put(&secondary_config, &past);
	move_on(499 * S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 0);
	move_on(S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 1);
}

/* Waits are by a clock that nobody sets. */
static void a_wall_clock_that_is_set_expires_nothing(void **state)
{
	(void)state;
	put_served();
	now.wall_s += 10 * EXPIRE;
	move_on(1000 * S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 0);
	assert_int_equal(n_come(), 0);
	now.wall_s -= 20 * EXPIRE;
	move_on(1000 * S);
	assert_int_equal(n_events[TRANSFER_EXPIRED], 0);
	while (secondary()->state == SECONDARY_IDLE)
		step(S);
	assert_in_range(now.ns, S + REFRESH * S * 9 / 10, S + REFRESH * S);
	assert_int_equal(n_come(), 1);
	answer(SERIAL);
	assert_int_equal(checked_s, now.wall_s);
}

static const struct {
	const char *name;
	uint32_t first_s, second_s; /* what they say */
	uint32_t left_s;
} expire_rows[] = {
	{ "nobody says it", UNSAID, UNSAID, EXPIRE },
	{ "the first says it", 1000, UNSAID, EXPIRE },
	{ "the second says it", UNSAID, 1000, EXPIRE },
	{ "the second says more", 1000, 2000, 2000 },
	{ "the first says more", 2000, 1000, 2000 },
	{ "the second says nothing at all", 1000, SILENT, 1000 },
};

/* Two primaries have nothing newer than what is served, though a NOTIFY told of it: each counts
 * with its own word. */
static void expiry_is_that_of_the_primary_that_said_it(void **state)
{
	const uint32_t serial = SERIAL + 1;

	(void)state;
	for (size_t i = 0; i < sizeof(expire_rows) / sizeof(expire_rows[0]); i++) {
		const struct transfer_past past = { .checked_wall_s = now.wall_s,
						    .expires_wall_s = now.wall_s + 500 };

		print_message("%s\n", expire_rows[i].name);
		if (i)
			assert_int_equal(begin(state), 0);
		secondary_config.primaries = both;
		secondary_config.ixfr = true;
		assert_int_equal(listen(tcp, 8), 0);
		publish();
		put(&secondary_config, &past);
		notify(&serial);
		answer_current(expire_rows[i].first_s);
		answer_current(expire_rows[i].second_s);
		assert_int_equal(n_events[TRANSFER_CHECKED], 1);
		assert_int_equal(expires_s - now.wall_s, expire_rows[i].left_s);
		if (i + 1 < sizeof(expire_rows) / sizeof(expire_rows[0]))
			end(state);
	}
}

/* --- NOTIFY that comes ------------------------------------------------------------------------ */

/* Those that lead to nothing wait, each twice as long as the one before, up to 64 s. */
static void notifies_that_lead_to_nothing_wait(void **state)
{
	uint64_t quiet_ns = 250 * MS;

	(void)state;
	put_served();
	notify(NULL);
	assert_int_equal(n_come(), 1);
	answer(SERIAL);
	for (unsigned int i = 0; i < 6; i++, quiet_ns *= 2) {
		notify(NULL);
		notify(NULL);
		assert_int_equal(n_come(), 0);
		move_on(quiet_ns * 9 / 10 - 2 * MS);
		assert_int_equal(n_come(), 0);
		for (unsigned int n = 0; n < 100 && secondary()->state == SECONDARY_IDLE; n++)
			step(quiet_ns / 50);
		assert_int_equal(n_come(), 1);
		answer(SERIAL);
	}
	/* And then, when it has been quiet for so long, at once. */
	move_on(quiet_ns);
	notify(NULL);
	assert_int_equal(n_come(), 1);
}

static void a_notify_of_what_is_served_asks_nobody(void **state)
{
	const uint32_t serial = SERIAL;

	(void)state;
	put_served();
	notify(&serial);
	move_on(60 * S);
	assert_int_equal(n_come(), 0);
}

/* --- NOTIFY that goes ------------------------------------------------------------------------- */

/* RFC 1996 section 3.6: again, some times, and then no more. */
static void told_again_and_then_no_more(void **state)
{
	static const unsigned int waits_s[] = { 5, 15, 60, 60, 60 };
	uint64_t sum_s = 0;

	(void)state;
	publish();
	put(&primary_config, NULL);
	move_on(S);
	assert_true(n_come() >= 1);
	for (size_t i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]); i++)
		sum_s += waits_s[i];
	move_on((sum_s - 2) * S);
	assert_true(n_come() >= 1);
	assert_int_equal(t.counters.notify_failed, 0);
	move_on(60 * S);
	assert_int_equal(t.counters.notify_failed, 1);
	(void)n_come();
	move_on(7 * 86400 * S);
	assert_int_equal(n_come(), 0);
}

static void told_once_where_there_is_an_answer(void **state)
{
	(void)state;
	publish();
	put(&primary_config, NULL);
	move_on(S / 2);
	assert_int_equal(n_come(), 1);
	assert_int_equal((query[DNS_FLAGS_AT] >> 3) & 15, DNS_OPCODE_NOTIFY);
	query[DNS_FLAGS_AT] |= 0x80; /* QR */
	assert_int_equal(sendto(udp, query, n_query, 0, (struct sockaddr *)&asker, sizeof(asker)),
			 n_query);
	run();
	move_on(86400 * S);
	assert_int_equal(n_come(), 0);
	assert_int_equal(t.counters.notify_failed, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refreshed_when_the_soa_says),
		TEST(refreshed_at_once_behind_a_long_stop),
		TEST(asked_again_where_there_is_no_answer),
		TEST(within_the_bounds),
		TEST(asked_for_less_and_less_where_it_never_came),
		cmocka_unit_test_setup_teardown(a_reply_of_another_time_is_none, begin_signed, end),
		TEST(expires_when_nobody_answers_for_so_long),
		TEST(an_answer_puts_expiry_off),
		TEST(expiry_is_that_of_before),
		TEST(expiry_is_that_of_the_primary_that_said_it),
		TEST(a_wall_clock_that_is_set_expires_nothing),
		TEST(notifies_that_lead_to_nothing_wait),
		TEST(a_notify_of_what_is_served_asks_nobody),
		TEST(told_again_and_then_no_more),
		TEST(told_once_where_there_is_an_answer),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return failed;
}
