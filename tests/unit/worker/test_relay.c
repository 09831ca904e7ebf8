/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The relay. The test is its owner and the worker. */
#include "worker/relay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static struct relay *relay;
static struct port *port;

static int begin(void **state)
{
	(void)state;
	return relay_new(&relay) || relay_open_port(&port, relay, PORT_TLS) || port_start(port);
}

static int end(void **state)
{
	(void)state;
	port_stop(port);
	port_close(port);
	relay_free(relay);
	return 0;
}

static struct relay_item *item_of(const char *text)
{
	struct relay_item *item = calloc(1, sizeof(*item));

	assert_non_null(item);
	item->family = AF_INET;
	item->encrypted = true;
	item->peer[0] = 192;
	item->local[3] = 53;
	item->local_port = 853;
	item->idle_100ms = 7;
	item->reply_cap = 1000;
	item->n_bytes = (uint32_t)strlen(text);
	item->bytes = malloc(item->n_bytes);
	memcpy(item->bytes, text, item->n_bytes);
	return item;
}

static void put(const char *text)
{
	assert_true(relay_put(relay, item_of(text), 5));
}

/* The replies of the items that have come back, one after the other, and "-" for no reply. */
static const char *taken(void)
{
	static char text[256];
	struct relay_item *item = relay_take(relay), *next;

	text[0] = 0;
	for (; item; item = next) {
		next = relay_next(item);
		if (item->n_bytes)
			strncat(text, (char *)item->bytes, item->n_bytes);
		else
			strcat(text, item->closes ? "!" : "-");
		free(item->bytes);
		free(item);
	}
	return text;
}

static void assert_books_balance(void)
{
	const struct port_stats *s = &port->stats;

	assert_int_equal(s->rx, s->no_reply + s->tx + s->tx_dropped + port_deferred(port));
}

static void a_message_and_its_reply(void **state)
{
	struct port_msg msgs[PORT_BURST];

	(void)state;
	put("one");
	put("two");
	assert_int_equal(port_receive(port, 0, msgs, PORT_BURST), 2);
	assert_memory_equal(msgs[0].data, "one", 3);
	assert_int_equal(msgs[0].len, 3);
	assert_int_equal(msgs[0].cap, 1000);
	assert_true(msgs[0].stream && msgs[0].encrypted && msgs[0].idle_100ms == 7);
	assert_true(msgs[0].peer[0] == 192 && msgs[0].local[3] == 53 && msgs[0].local_port == 853);
	memcpy(msgs[0].data, "ONE", 3);
	msgs[1].len = 0;
	port_send(port, 0, msgs, 2);
	assert_string_equal(taken(), "ONE-");
	assert_books_balance();
}

static void replies_that_come_late_in_any_order(void **state)
{
	struct port_msg msgs[PORT_BURST];
	struct port_return to[3];

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		put("ask");
	assert_int_equal(port_receive(port, 0, msgs, PORT_BURST), 3);
	for (unsigned int i = 0; i < 3; i++) {
		port_defer(port, &msgs[i], &to[i]);
		msgs[i].deferred = true;
		msgs[i].len = 0;
	}
	port_send(port, 0, msgs, 3);
	assert_string_equal(taken(), "");
	for (unsigned int i = 3; i-- > 0;) {
		struct port_reply reply = { &to[i], (const uint8_t *)"012" + i, i != 1 };

		assert_int_equal(port_reply(port, 0, &reply, 1), i != 1);
	}
	assert_string_equal(taken(), "2-0");
	assert_books_balance();
}

static void a_connection_that_a_block_ends(void **state)
{
	struct port_msg msgs[PORT_BURST];

	(void)state;
	put("ask");
	assert_int_equal(port_receive(port, 0, msgs, PORT_BURST), 1);
	msgs[0].len = 0;
	msgs[0].closes = true;
	port_send(port, 0, msgs, 1);
	assert_string_equal(taken(), "!");
}

static void more_than_a_burst_asks_for_another_turn(void **state)
{
	struct port_msg msgs[PORT_BURST];
	unsigned int n, n_all = 0;

	(void)state;
	for (unsigned int i = 0; i < 2 * RELAY_BURST + 1; i++)
		put("x");
	do {
		n = port_receive(port, 0, msgs, PORT_BURST);
		assert_true(n && n <= RELAY_BURST);
		port_send(port, 0, msgs, n);
		n_all += n;
	} while (!port_wake_at(port));
	assert_int_equal(n_all, 2 * RELAY_BURST + 1);
	assert_int_equal(strlen(taken()), n_all);
	assert_int_equal(port_receive(port, 0, msgs, PORT_BURST), 0);
}

/* Items come back from the inbox, after receive, and while they are deferred. */
static void a_port_that_is_closed_gives_all_back(void **state)
{
	struct port_msg msgs[PORT_BURST];
	struct port *other;
	struct port_return to;

	(void)state;
	assert_int_equal(relay_open_port(&other, relay, PORT_TLS), 0);
	port_stop(port);
	assert_int_equal(port_start(other), 0);
	put("deferred");
	assert_int_equal(port_receive(other, 0, msgs, PORT_BURST), 1);
	port_defer(other, msgs, &to);
	msgs[0].deferred = true;
	msgs[0].len = 0;
	port_send(other, 0, msgs, 1);
	for (unsigned int i = 0; i < RELAY_BURST + 3; i++)
		put("x");
	assert_int_equal(port_receive(other, 0, msgs, PORT_BURST), RELAY_BURST);
	port_send(other, 0, msgs, RELAY_BURST);
	put("behind");
	port_stop(other);
	port_close(other);
	assert_int_equal(strspn(taken(), "x-"), 1 + RELAY_BURST + 3 + 1);
	assert_int_equal(port_start(port), 0);
}

static void without_a_worker_nothing_is_taken(void **state)
{
	struct relay_item *item = item_of("ask");

	(void)state;
	port_stop(port);
	assert_false(relay_put(relay, item, 0));
	assert_memory_equal(item->bytes, "ask", 3);
	free(item->bytes);
	free(item);
}

/* Only the port for TCP gets the messages of TCP connections. */
static void over_tcp(void **state)
{
	struct relay_item *item = item_of("tcp");
	struct port_msg msgs[PORT_BURST];
	struct port *tcp;

	(void)state;
	item->encrypted = false;
	assert_false(relay_put(relay, item, 0));
	assert_int_equal(relay_open_port(&tcp, relay, PORT_TCP), 0);
	assert_int_equal(port_start(tcp), 0);
	put("tls");
	assert_true(relay_put(relay, item, 0));
	assert_int_equal(port_receive(tcp, 0, msgs, PORT_BURST), 1);
	assert_memory_equal(msgs[0].data, "tcp", 3);
	assert_false(msgs[0].encrypted);
	port_send(tcp, 0, msgs, 1);
	assert_string_equal(taken(), "tcp");
	port_stop(tcp);
	port_close(tcp);
}

static void the_bound_of_items(void **state)
{
	struct relay_item *item = item_of("ask");
	struct port_msg msgs[PORT_BURST];

	(void)state;
	for (unsigned int i = 0; i < RELAY_PENDING_MAX; i++)
		put("x");
	assert_false(relay_put(relay, item, 0));
	assert_int_equal(port_receive(port, 0, msgs, 1), 1);
	msgs[0].len = 0;
	port_send(port, 0, msgs, 1);
	assert_string_equal(taken(), "-");
	assert_true(relay_put(relay, item, 0));
}

/* Puts large messages until one is refused. Returns how many. */
static unsigned int fill(void)
{
	struct relay_item *item;
	unsigned int n = 0;

	for (;; n++) {
		item = item_of("");
		item->reply_cap = 65535;
		item->n_bytes = 65535;
		free(item->bytes);
		item->bytes = calloc(1, 65535);
		if (!relay_put(relay, item, n))
			break;
	}
	free(item->bytes);
	free(item);
	return n;
}

/* An item that has come back no longer counts, even with a long reply. */
static void the_bound_of_octets(void **state)
{
	struct port_msg msgs[PORT_BURST];
	unsigned int n;

	(void)state;
	assert_int_equal(fill(), RELAY_PENDING_BYTES / 65535);
	while ((n = port_receive(port, 0, msgs, PORT_BURST))) {
		for (unsigned int i = 0; i < n; i++)
			msgs[i].len = 1;
		port_send(port, 0, msgs, n);
	}
	assert_int_equal(strlen(taken()), 0); /* its octet is 0 */
	assert_int_equal(fill(), RELAY_PENDING_BYTES / 65535);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_and_its_reply),
		TEST(replies_that_come_late_in_any_order),
		TEST(a_connection_that_a_block_ends),
		TEST(more_than_a_burst_asks_for_another_turn),
		TEST(a_port_that_is_closed_gives_all_back),
		TEST(without_a_worker_nothing_is_taken),
		TEST(over_tcp),
		TEST(the_bound_of_items),
		TEST(the_bound_of_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
