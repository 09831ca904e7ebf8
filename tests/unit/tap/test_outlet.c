/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of another process: those of ours arrive as they were written, and each kind of nonsense
 * ends the reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tap/outlet.h"
#include "tap/tap.h"

#define CAP 4096u

/* Both sides, in one process. */
struct world {
	struct tap_outlet_shared *shared;
	struct tap_producer *producer;
	struct tap_outlet outlet;
	struct tap_event *event; /* room for the copy */
};

static void make_world(struct world *w, size_t cap)
{
	const size_t bytes = sizeof(*w->shared) + cap;

	memset(w, 0, sizeof(*w));
	w->shared = aligned_alloc(64, (bytes + 63) / 64 * 64);
	w->event = malloc(TAP_EVENT_MAX);
	assert_true(w->shared && w->event);
	memset(w->shared, 0, bytes);
	w->shared->is.every = 1;
	w->producer = tap_outlet_open(w->shared, cap);
	w->outlet = (struct tap_outlet){ .shared = w->shared, .cap = cap };
}

static void end_world(struct world *w)
{
	free(w->shared);
	free(w->event);
}

/* An event whose reply has n octets of the value i. False: no room. */
static bool write_event(struct world *w, uint32_t i, size_t n)
{
	static uint8_t reply[TAP_MESSAGE_MAX];
	struct tap_event *e = tap_begin(w->producer, NULL, 0, n);

	if (!e)
		return false;
	memset(reply, (int)i, n);
	e->way = TAP_FORWARDER;
	e->family = AF_INET6;
	e->lot = i;
	tap_commit(w->producer, e, reply, n);
	return true;
}

static void test_events_arrive_in_order(void **state)
{
	struct world w;
	uint32_t in = 0, out = 0;

	(void)state;
	make_world(&w, CAP);
	while (out < 2000) {
		while (write_event(&w, in, in * 37 % 700))
			in++;
		while (tap_outlet_next(&w.outlet, w.event)) {
			assert_int_equal(w.event->lot, out);
			assert_int_equal(w.event->n_reply, out * 37 % 700);
			for (size_t k = 0; k < w.event->n_reply; k++)
				assert_int_equal(tap_event_reply(w.event)[k], out & 0xff);
			out++;
		}
		assert_int_equal(in, out);
	}
	assert_true(tap_outlet_is_sound(&w.outlet));
	end_world(&w);
}

static void test_the_longest_event_arrives(void **state)
{
	struct world w;

	(void)state;
	make_world(&w, 1u << 18);
	assert_true(write_event(&w, 7, TAP_MESSAGE_MAX));
	assert_true(tap_outlet_next(&w.outlet, w.event));
	assert_int_equal(w.event->n_reply, TAP_MESSAGE_MAX);
	assert_int_equal(tap_event_reply(w.event)[TAP_MESSAGE_MAX - 1], 7);
	end_world(&w);
}

/* --- Nonsense --------------------------------------------------------------------------------- */

static uint64_t *length_of(struct world *w)
{
	return (uint64_t *)(void *)w->shared->octets;
}

static struct tap_event *event_of(struct world *w)
{
	return (struct tap_event *)(void *)(w->shared->octets + TAP_RING_HEAD_BYTES);
}

static void set_head(struct world *w, uint64_t head)
{
	w->shared->producer.ring.head = head;
}

static void head_too_far(struct world *w)
{
	set_head(w, CAP + 8);
}

static void head_behind(struct world *w)
{
	set_head(w, (uint64_t)0 - 8);
}

static void head_not_aligned(struct world *w)
{
	set_head(w, w->shared->producer.ring.head + 1);
}

static void shorter_than_an_event(struct world *w)
{
	*length_of(w) = sizeof(struct tap_event) - 1;
}

static void no_length(struct world *w)
{
	*length_of(w) = 0;
}

static void longer_than_each_event(struct world *w)
{
	*length_of(w) = TAP_EVENT_MAX + 1;
}

static void longest_number(struct world *w)
{
	*length_of(w) = UINT64_MAX - 7;
}

static void longer_than_written(struct world *w)
{
	*length_of(w) += 8;
}

/* The whole ring is full, and the only record would go on behind its end. */
static void longer_than_the_ring(struct world *w)
{
	*length_of(w) = CAP;
	set_head(w, CAP);
}

static void nothing_behind_a_skip(struct world *w)
{
	*length_of(w) = TAP_RING_SKIP;
}

static void only_a_skip(struct world *w)
{
	*length_of(w) = TAP_RING_SKIP;
	set_head(w, CAP);
}

static void parts_longer_than_it(struct world *w)
{
	event_of(w)->n_reply++;
}

static void parts_whose_sum_overflows(struct world *w)
{
	event_of(w)->n_query = UINT32_MAX;
	event_of(w)->n_reply += 1;
}

static void another_way(struct world *w)
{
	event_of(w)->way = TAP_DRIVER;
}

static void no_way(struct world *w)
{
	event_of(w)->way = 255;
}

static void no_transport(struct world *w)
{
	event_of(w)->transport = TAP_N_TRANSPORTS;
}

static void no_family(struct world *w)
{
	event_of(w)->family = AF_UNIX;
}

static void no_boolean(struct world *w)
{
	((uint8_t *)event_of(w))[offsetof(struct tap_event, is_rebuilt)] = 2;
}

static const struct nonsense {
	const char *name;
	void (*make)(struct world *w);
} all_nonsense[] = {
	{ "head too far", head_too_far },
	{ "head behind", head_behind },
	{ "head not aligned", head_not_aligned },
	{ "shorter than an event", shorter_than_an_event },
	{ "no length", no_length },
	{ "longer than each event", longer_than_each_event },
	{ "the longest number", longest_number },
	{ "longer than written", longer_than_written },
	{ "longer than the ring", longer_than_the_ring },
	{ "nothing behind a skip", nothing_behind_a_skip },
	{ "only a skip", only_a_skip },
	{ "parts longer than it", parts_longer_than_it },
	{ "parts whose sum overflows", parts_whose_sum_overflows },
	{ "another way", another_way },
	{ "no way", no_way },
	{ "no transport", no_transport },
	{ "no family", no_family },
	{ "no boolean", no_boolean },
};

static void test_nonsense_ends_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all_nonsense) / sizeof(all_nonsense[0]); i++) {
		struct world w;

		make_world(&w, CAP);
		assert_true(write_event(&w, 1, 40));
		all_nonsense[i].make(&w);
		if (tap_outlet_next(&w.outlet, w.event) || tap_outlet_is_sound(&w.outlet))
			fail_msg("%s is read", all_nonsense[i].name);
		/* All is well again: it is too late. */
		memset(w.shared, 0, sizeof(*w.shared));
		tap_outlet_open(w.shared, CAP);
		assert_true(write_event(&w, 1, 40));
		assert_false(tap_outlet_next(&w.outlet, w.event));
		end_world(&w);
	}
}

/* The reader has its own: place, size and position. */
static void test_what_the_reader_does_not_believe(void **state)
{
	struct world w;

	(void)state;
	make_world(&w, CAP);
	assert_true(write_event(&w, 3, 40));
	w.shared->producer.ring.memory = (uint8_t *)8;
	w.shared->producer.ring.cap = SIZE_MAX;
	w.shared->producer.ring.tail = 12345;
	w.shared->producer.is = NULL;
	w.shared->producer.next = (struct tap_producer *)8;
	assert_true(tap_outlet_next(&w.outlet, w.event));
	assert_int_equal(w.event->lot, 3);
	assert_false(tap_outlet_next(&w.outlet, w.event));
	assert_true(tap_outlet_is_sound(&w.outlet));
	assert_int_equal(w.shared->producer.ring.tail, w.shared->producer.ring.head);
	end_world(&w);
}

/* --- A writer that never pauses --------------------------------------------------------------- */

struct flood {
	struct world world;
	uint64_t room;             /* of each record */
	unsigned int n_now, n_max; /* events of a round */
	sem_t rounds;
};

/* One more record, for each that is handled. */
static void write_more(void *ctx, const struct tap_event *e)
{
	struct flood *flood = ctx;
	uint64_t *head = &flood->world.shared->producer.ring.head;

	(void)e;
	flood->n_now++;
	__atomic_store_n(head, *head + flood->room, __ATOMIC_RELEASE);
}

static void end_round(void *ctx, struct tap *tap)
{
	struct flood *flood = ctx;

	(void)tap;
	if (flood->n_now > flood->n_max)
		flood->n_max = flood->n_now;
	flood->n_now = 0;
	sem_post(&flood->rounds);
}

/* The tap has other work than one process. */
static void test_no_writer_holds_the_tap(void **state)
{
	static struct flood flood;
	const size_t n_reply = CAP / 4 - sizeof(struct tap_event) - TAP_RING_HEAD_BYTES;
	struct tap *tap;

	(void)state;
	make_world(&flood.world, CAP);
	sem_init(&flood.rounds, 0, 0);
	flood.room = CAP / 4;
	for (uint32_t i = 0; i < 4; i++)
		assert_true(write_event(&flood.world, i, n_reply));
	assert_int_equal(tap_new(&tap), 0);
	tap_set_source(tap, end_round, &flood);
	assert_int_equal(tap_observe(tap, TAP_CAPTURE, 1, write_more, &flood), 0);
	tap_outlet_add(tap, &flood.world.outlet);
	for (int i = 0; i < 4; i++)
		sem_wait(&flood.rounds);
	assert_int_equal(tap_observe(tap, TAP_CAPTURE, 0, NULL, NULL), 0);
	tap_outlet_remove(tap, &flood.world.outlet);
	tap_set_source(tap, NULL, NULL);
	tap_free(tap);
	assert_true(tap_outlet_is_sound(&flood.world.outlet));
	assert_int_equal(flood.n_max, 4);
	end_world(&flood.world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_arrive_in_order),
		cmocka_unit_test(test_the_longest_event_arrives),
		cmocka_unit_test(test_nonsense_ends_it),
		cmocka_unit_test(test_what_the_reader_does_not_believe),
		cmocka_unit_test(test_no_writer_holds_the_tap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
