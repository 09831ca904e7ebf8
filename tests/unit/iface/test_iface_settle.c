/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of an interface, and the steps between them that need no program in the kernel. */
#include "iface/iface.h"

#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "iface/iface_peer.h"

#define NO_SUCH "volley-none-0"

/* An attached program, for the functions that the linker puts in the place of the broker's. */
struct fake {
	enum program_mode mode;
	bool answers;
};

enum program_mode __wrap_program_mode(const struct program *program);
void __wrap_program_set_answers(struct program *program, bool driver_answers);
int __wrap_program_open(struct program **out, struct object_maps *maps,
			const struct program_want *want, char *err, size_t err_cap);
int __wrap_program_take_place(struct program *program);

enum program_mode __wrap_program_mode(const struct program *program)
{
	return ((const struct fake *)program)->mode;
}

void __wrap_program_set_answers(struct program *program, bool driver_answers)
{
	((struct fake *)program)->answers = driver_answers;
}

static int open_code;
static unsigned int n_opened;

int __wrap_program_open(struct program **out, struct object_maps *maps,
			const struct program_want *want, char *err, size_t err_cap)
{
	(void)out, (void)maps;
	n_opened++;
	snprintf(err, err_cap, "%s: XDP program: %s", want->ifname, err_text(open_code));
	return open_code;
}

static int place_code;

int __wrap_program_take_place(struct program *program)
{
	(void)program;
	return place_code;
}

static int settle(struct iface *iface)
{
	static struct object_maps maps;
	static const struct cache_sizes sizes;

	return iface_settle(iface, NULL, &maps, &sizes);
}

static void init_at(struct iface *iface, const char *name, enum config_xdp xdp)
{
	struct config_interface config = { .xdp = xdp };

	strcpy(config.name, name);
	iface_init(iface, &config);
}

/* --- Reasons not to answer -------------------------------------------------------------------- */

static const struct {
	const char *what;
	unsigned int mute;
	bool is_configured;
	bool native, generic; /* whether it answers in that mode */
} answers[] = {
	{ "nothing against it", 0, true, true, true },
	{ "driver-answers: false", 0, false, false, false },
	{ "lost hits", IFACE_MUTE_HITS, true, false, false },
	{ "tags", IFACE_MUTE_TAGS, true, false, true },
	{ "a crash", IFACE_MUTE_FATAL, true, false, true },
	{ "a bare peer", IFACE_MUTE_PEER, true, false, true },
	{ "all of native mode", IFACE_MUTE_NATIVE, true, false, true },
	{ "lost hits and tags", IFACE_MUTE_HITS | IFACE_MUTE_TAGS, true, false, false },
};

static void test_when_the_driver_answers(void **state)
{
	struct fake program = { .answers = false };
	struct iface iface;

	(void)state;
	init_at(&iface, "eth0", CONFIG_XDP_AUTO);
	iface.program = (struct program *)&program;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		print_message("  %s\n", answers[i].what);
		iface.config.driver_answers = answers[i].is_configured;
		iface.mute = answers[i].mute;
		program.mode = PROGRAM_NATIVE;
		assert_int_equal(iface_driver_answers(&iface), answers[i].native);
		program.mode = PROGRAM_GENERIC;
		assert_int_equal(iface_driver_answers(&iface), answers[i].generic);
	}
}

/* The program answers again only when the last reason has gone. */
static void test_a_mute_tells_the_program(void **state)
{
	struct fake program = { .mode = PROGRAM_NATIVE, .answers = true };
	struct iface iface;

	(void)state;
	init_at(&iface, "eth0", CONFIG_XDP_AUTO);
	iface.config.driver_answers = true;
	iface.program = (struct program *)&program;
	iface_mute(&iface, IFACE_MUTE_TAGS, true);
	iface_mute(&iface, IFACE_MUTE_PEER, true);
	assert_false(program.answers);
	iface_mute(&iface, IFACE_MUTE_TAGS, false);
	assert_false(program.answers);
	iface_mute(&iface, IFACE_MUTE_PEER, false);
	assert_true(program.answers);
	assert_int_equal(iface.mute, 0);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void test_the_heavier_step_stays(void **state)
{
	struct iface iface = { .due = IFACE_DUE_NOTHING };

	(void)state;
	iface_need(&iface, IFACE_DUE_REATTACH);
	iface_need(&iface, IFACE_DUE_RENEWAL);
	assert_int_equal(iface.due, IFACE_DUE_REATTACH);
}

static void test_no_such_interface(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, NO_SUCH, CONFIG_XDP_AUTO);
	assert_int_equal(settle(&iface), -ENODEV);
	assert_int_equal(iface.state, IFACE_GONE);
	assert_int_equal(iface.due, IFACE_DUE_NOTHING);
	assert_string_equal(iface.note, "no such interface; kernel sockets answer");
	/* it does not ask for the program again until the interface comes */
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(iface.state, IFACE_GONE);
}

/* DPDK's queues are opened once. While the interface is away that would be too early, both at the
 * start, when all ports are opened, and in the ticks after it has gone. */
static void test_dpdk_waits_for_the_interface(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, NO_SUCH, CONFIG_XDP_AUTO);
	iface.config.port = CONFIG_PORT_DPDK;
	assert_int_equal(settle(&iface), -ENODEV);
	assert_int_equal(settle(&iface), 0);
	iface_open_ports(&iface, NULL);
	assert_false(iface.is_dpdk_tried);
	assert_string_equal(iface.note, "no such interface; kernel sockets answer");
}

static void test_detached_stays_detached(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, NO_SUCH, CONFIG_XDP_AUTO);
	iface.wish = IFACE_DETACHED;
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(iface.state, IFACE_DOWN);
	iface.wish = IFACE_LISTED;
	assert_int_equal(settle(&iface), -ENODEV);
}

/* With xdp: off nothing is attached, but the interface is known, and its return is noticed. */
static void test_an_interface_returns(void **state)
{
	const unsigned int lo = if_nametoindex("lo");
	struct iface iface;

	(void)state;
	init_at(&iface, "lo", CONFIG_XDP_OFF);
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(iface.ifindex, lo);
	assert_int_equal(iface.state, IFACE_DOWN);
	assert_int_equal(iface.due, IFACE_DUE_NOTHING);
	iface.ifindex = lo + 1000;
	iface.peer_step = IFACE_PEER_LOST;
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(iface.ifindex, lo);
	assert_int_equal(iface.peer_step, IFACE_PEER_FREE);
	/* it was away, and is here now */
	iface.ifindex = 0;
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(iface.ifindex, lo);
}

/* A step that is due is taken at once, and it does not forget why the mode is generic. */
static void test_attached_again(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, "lo", CONFIG_XDP_OFF);
	assert_int_equal(settle(&iface), 0);
	iface.peer_step = IFACE_PEER_LOST;
	iface.retry_s = 64;
	iface.retry_at_ns = UINT64_MAX;
	iface_need(&iface, IFACE_DUE_REATTACH);
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(iface.due, IFACE_DUE_NOTHING);
	assert_int_equal(iface.peer_step, IFACE_PEER_LOST);
	assert_int_equal(iface.retry_at_ns, 0);
}

/* A broker that dies attaches nothing, and the next one is asked again; a driver that refuses the
 * program is not. */
static void test_a_broker_that_dies(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, "lo", CONFIG_XDP_GENERIC);
	open_code = ERR_BROKER;
	n_opened = 0;
	for (unsigned int n = 1; n < 4; n++) {
		assert_int_equal(settle(&iface), ERR_BROKER);
		assert_int_equal(n_opened, n);
		assert_int_equal(iface.state, IFACE_DEGRADED);
		assert_non_null(strstr(iface.note, "the broker has ended; kernel sockets answer"));
	}
	open_code = -EOPNOTSUPP;
	assert_int_equal(settle(&iface), -EOPNOTSUPP);
	assert_int_equal(settle(&iface), 0);
	assert_int_equal(n_opened, 4);
}

/* Nobody knows if the exchange was made: the old program must not stay with a cache that nobody
 * writes. After any other error neither program is there, and the next look finds none. */
static void test_a_broker_that_dies_at_the_exchange(void **state)
{
	static const int codes[] = { 0, -EINVAL, ERR_BROKER };
	struct fake program = { .mode = PROGRAM_NATIVE };
	struct iface iface;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		init_at(&iface, "eth0", CONFIG_XDP_AUTO);
		iface.program = (struct program *)&program;
		iface.due = IFACE_DUE_NOTHING;
		place_code = codes[i];
		iface_take_place(&iface);
		assert_int_equal(*iface.remarks[IFACE_TOPIC_PROGRAM].text != 0, codes[i] != 0);
		assert_int_equal(iface.due,
				 codes[i] == ERR_BROKER ? IFACE_DUE_REATTACH : IFACE_DUE_NOTHING);
	}
}

static void test_closed_has_an_attachment_due(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, "lo", CONFIG_XDP_OFF);
	assert_int_equal(settle(&iface), 0);
	iface_close(&iface, NULL, false);
	assert_int_equal(iface.ifindex, 0);
	assert_int_equal(iface.due, IFACE_DUE_ATTACH);
	assert_int_equal(settle(&iface), 0);
	assert_int_not_equal(iface.ifindex, 0);
}

/* --- The other end of a veth pair ------------------------------------------------------------- */

static const struct {
	enum iface_peer_step step;
	enum vethpeer_kind peer;
	const char *begins; /* the remark; "": none */
	bool is_fault;
} peers[] = {
	{ IFACE_PEER_FREE, VETHPEER_NONE, "", false },
	{ IFACE_PEER_FREE, VETHPEER_TAKES, "", false },
	{ IFACE_PEER_GENERIC, VETHPEER_BARE, "the other end of the veth pair has no XDP", false },
	{ IFACE_PEER_GENERIC, VETHPEER_UNSEEN, "the other end of the veth pair cannot be", false },
	{ IFACE_PEER_GENERIC, VETHPEER_TAKES, "", false },
	{ IFACE_PEER_LOST, VETHPEER_BARE, "the other end of the veth pair has lost", true },
	{ IFACE_PEER_LOST, VETHPEER_TAKES, "the other end of the veth pair has lost", true },
};

static void test_what_is_said_of_a_peer(void **state)
{
	struct fake program = { .mode = PROGRAM_GENERIC };
	struct iface iface;

	(void)state;
	init_at(&iface, "eth0", CONFIG_XDP_AUTO);
	iface.program = (struct program *)&program;
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		const struct iface_remark *remark = &iface.remarks[IFACE_TOPIC_PEER];

		iface.peer_step = peers[i].step;
		iface.peer = peers[i].peer;
		iface_peer_say(&iface);
		assert_memory_equal(remark->text, peers[i].begins, strlen(peers[i].begins));
		assert_int_equal(!*remark->text, !*peers[i].begins);
		assert_int_equal(remark->is_fault, peers[i].is_fault);
	}
}

/* Only a veth has another end, so any other interface is free, also after a veth of its name. */
static void test_no_veth_is_free(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, "lo", CONFIG_XDP_AUTO);
	iface.ifindex = if_nametoindex("lo");
	iface.peer_step = IFACE_PEER_LOST;
	iface.mute = IFACE_MUTE_PEER;
	assert_false(iface_peer_begin(&iface));
	assert_int_equal(iface.peer_step, IFACE_PEER_FREE);
	assert_int_equal(iface.mute, 0);
}

/*
 * A kernel that does not answer about a card must not make it generic: no such number stands for
 * no answer. If even the kind is not known, generic mode is safe.
 */
static void test_a_card_is_not_asked(void **state)
{
	struct iface iface;

	(void)state;
	init_at(&iface, "eth0", CONFIG_XDP_AUTO);
	iface.ifindex = INT32_MAX;
	assert_false(iface_peer_begin(&iface));
	strcpy(iface.link.kind, "veth");
	assert_true(iface_peer_begin(&iface));
	iface.ifindex = 0;
	iface.link = (struct link){ 0 };
	assert_true(iface_peer_begin(&iface));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_the_driver_answers),
		cmocka_unit_test(test_a_mute_tells_the_program),
		cmocka_unit_test(test_the_heavier_step_stays),
		cmocka_unit_test(test_no_such_interface),
		cmocka_unit_test(test_dpdk_waits_for_the_interface),
		cmocka_unit_test(test_detached_stays_detached),
		cmocka_unit_test(test_an_interface_returns),
		cmocka_unit_test(test_attached_again),
		cmocka_unit_test(test_a_broker_that_dies),
		cmocka_unit_test(test_a_broker_that_dies_at_the_exchange),
		cmocka_unit_test(test_closed_has_an_attachment_due),
		cmocka_unit_test(test_what_is_said_of_a_peer),
		cmocka_unit_test(test_no_veth_is_free),
		cmocka_unit_test(test_a_card_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
