/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A broker and its parent, without anything to load: each call ends, whatever they do. */
#include "broker/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "bpf/hook_state.h"
#include "broker/channel.h"
#include "broker/named.h"
#include "broker/serve.h"
#include "config/config.h"
#include "tests/lib/must.h"
#include "tests/lib/parenttest.h"

#define FOR_EVER_MS 60000
#define WAIT_MS     20000 /* for a process on a busy machine */

static void sleep_ms(unsigned int ms)
{
	const struct timespec time = { .tv_nsec = (long)ms * 1000000 };

	nanosleep(&time, NULL);
}

/* The broker that follows `before`; 0: the first one. */
static pid_t await_broker(pid_t parent_pid, pid_t before)
{
	for (int i = 0; i < WAIT_MS; i++) {
		const pid_t pid = parenttest_child_of(parent_pid);

		if (pid && pid != before)
			return pid;
		sleep_ms(1);
	}
	fail_msg("no broker follows %d", (int)before);
	return 0;
}

/* A request that needs no capability: no interface has this name. */
static int call(void)
{
	struct broker_request request = { .operation = BROKER_FIND, .ifname = "volley-none" };
	struct broker_reply reply;
	struct broker_fds out;

	return broker_call(&request, NULL, &reply, &out);
}

static void start_broker(uint32_t patience_ms, pid_t *parent_pid, pid_t *pid)
{
	MUST(!broker_prepare(NULL, patience_ms));
	MUST(!parenttest_start());
	*parent_pid = parenttest_child_of(getpid());
	MUST(*parent_pid);
	*pid = await_broker(*parent_pid, 0);
	assert_string_equal(broker_problem(), "");
}

static void test_a_broker_that_hangs(void **state)
{
	pid_t parent_pid, pid;

	(void)state;
	start_broker(100, &parent_pid, &pid);
	kill(pid, SIGSTOP);
	assert_int_equal(call(), ERR_BROKER);
	assert_string_not_equal(broker_problem(), "");
	for (int i = 0; i < 1000; i++) /* does not wait again */
		assert_int_equal(call(), ERR_BROKER);
	assert_false(broker_stop());
	parent_stop(0);
	kill(parent_pid, SIGKILL); /* and with it the broker */
	waitpid(parent_pid, NULL, 0);
}

/* The daemon's ends of the channels, which broker.c keeps to itself. */
static void find_channels(int channels[BROKER_N_CHANNELS])
{
	int n = 0, type;
	socklen_t len;

	for (int fd = 0; fd < 64 && n < BROKER_N_CHANNELS; fd++) {
		len = sizeof(type);
		if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_SEQPACKET)
			channels[n++] = fd;
	}
	assert_int_equal(n, BROKER_N_CHANNELS);
}

/* The daemon reads nothing of the second channel, and replies fill it: then there is no room to
 * tell that a broker has died. The parent starts the next one all the same. */
static void test_a_channel_that_is_full(void **state)
{
	int channels[BROKER_N_CHANNELS], n;
	pid_t parent_pid, pid;

	(void)state;
	start_broker(FOR_EVER_MS, &parent_pid, &pid);
	find_channels(channels);
	/* the broker reads no more when it waits for room for a reply */
	for (n = 0; n < 100000; n++)
		if (send(channels[BROKER_CHANNEL_MAP], "", 1, MSG_DONTWAIT) < 0) {
			sleep_ms(20);
			if (send(channels[BROKER_CHANNEL_MAP], "", 1, MSG_DONTWAIT) < 0)
				break;
		}
	assert_in_range(n, 10, 99999);
	kill(pid, SIGKILL);
	await_broker(parent_pid, pid);
	while (call() == ERR_BROKER) /* the news of the death */
		continue;
	assert_int_equal(call(), 0);
	assert_string_equal(broker_problem(), "");
	assert_true(broker_stop());
	parenttest_stop();
	assert_int_equal(waitpid(parent_pid, NULL, 0), -1);
}

static void send_find(int fd, uint32_t number)
{
	const struct broker_request request = { .operation = BROKER_FIND,
						.number = number,
						.log_level = LOG_LEVEL_INFO,
						.ifname = "volley-none" };
	struct broker_fds none;

	broker_fds_init(&none);
	assert_int_equal(channel_send(fd, &request, sizeof(request), &none, 0), 0);
}

/* The daemon has been told that this request is lost: the next broker must not do it. */
static void test_a_request_that_is_lost(void **state)
{
	int channels[BROKER_N_CHANNELS];
	struct broker_reply reply;
	struct broker_fds none;
	bool is_told = false;
	pid_t parent_pid, pid;

	(void)state;
	start_broker(FOR_EVER_MS, &parent_pid, &pid);
	find_channels(channels);
	kill(pid, SIGSTOP);
	send_find(channels[0], 1000);
	kill(pid, SIGKILL);
	await_broker(parent_pid, pid);
	send_find(channels[0], 1001);
	do {
		assert_int_equal(channel_receive(channels[0], &reply, sizeof(reply),
						 offsetof(struct broker_reply, fds_mask), &none, 0),
				 0);
		assert_int_not_equal(reply.number, 1000);
		is_told |= !reply.number && reply.code == ERR_BROKER;
	} while (reply.number != 1001);
	assert_true(is_told);
	assert_int_equal(reply.code, 0);
	assert_true(broker_stop());
	parenttest_stop();
}

/* A daemon that was broken into could end the broker by it, and no other would follow. */
static void test_an_empty_packet(void **state)
{
	int channels[BROKER_N_CHANNELS];
	pid_t parent_pid, pid;

	(void)state;
	start_broker(FOR_EVER_MS, &parent_pid, &pid);
	find_channels(channels);
	for (int i = 0; i < BROKER_N_CHANNELS; i++)
		assert_int_equal(send(channels[i], "", 0, MSG_NOSIGNAL), 0);
	while (call() == -EPROTO) /* the reply to that packet */
		continue;
	assert_int_equal(call(), 0);
	assert_int_equal(parenttest_child_of(parent_pid), pid);
	assert_true(broker_stop());
	parenttest_stop();
}

/* The reply to a request that changed the program is lost: the daemon's number is an old one. */
static void test_another_program(void **state)
{
	struct hook hook = { .ifname = "lo", .ifindex = 1, .id = 5 };
	struct broker_serve serve = { .at[3] = { .ifname = "lo", .hook = &hook } };
	struct broker_request request = { .operation = BROKER_IS_ATTACHED,
					  .number = 1,
					  .log_level = LOG_LEVEL_INFO,
					  .ifname = "lo" };
	struct broker_reply reply;
	struct broker_fds none, out;

	(void)state;
	broker_fds_init(&none);
	for (request.program_id = 4; request.program_id < 7; request.program_id++) {
		broker_serve(&serve, BROKER_CHANNEL_HOOK, &request, &none, &reply, &out);
		assert_int_equal(reply.code, request.program_id == 5 ? 0 : -ENOENT);
		assert_int_equal(reply.facts.id, request.program_id == 5 ? 5 : 0);
		assert_int_equal(broker_fds_mask(&out), 0);
	}
}

/* The operator names lo; nothing else is asked for with the broker's rights. */
static void test_interfaces_that_are_named(void **state)
{
	static struct named named = { .interfaces = { "lo" } };
	struct broker_serve serve = { .named = &named };
	struct broker_request request = { .number = 1,
					  .log_level = LOG_LEVEL_INFO,
					  .operation = BROKER_VETH_PEER };
	struct broker_reply reply;
	struct broker_fds none, out;

	(void)state;
	broker_fds_init(&none);
	snprintf(request.ifname, sizeof(request.ifname), "lo");
	broker_serve(&serve, BROKER_CHANNEL_HOOK, &request, &none, &reply, &out);
	assert_int_equal(reply.code, 0);
	snprintf(request.ifname, sizeof(request.ifname), "lo2");
	broker_serve(&serve, BROKER_CHANNEL_HOOK, &request, &none, &reply, &out);
	assert_int_equal(reply.code, ERR_INTERFACE);
	request.operation = BROKER_FIND; /* tells what anybody may see */
	broker_serve(&serve, BROKER_CHANNEL_HOOK, &request, &none, &reply, &out);
	assert_int_equal(reply.code, 0);
}

/* A text that root has sealed and that names lo. */
static int new_text(void)
{
	static const char text[] =
		"server: { listen: [ 127.0.0.1 ] }\ninterfaces: [ { name: lo } ]\n";
	int fd = memory_file_open("test", MFD_ALLOW_SEALING);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	MUST(!memory_file_seal(fd));
	return fd;
}

/* Interfaces that are gone, or never were, keep no other from being named. */
static void test_more_texts_than_interfaces(void **state)
{
	struct broker_request request = { .operation = BROKER_VETH_PEER, .ifname = "lo" };
	const int other = memory_file_open("test", 0), lo = new_text();
	struct broker_reply reply;
	struct broker_fds out;
	pid_t parent_pid, pid;
	char name[IF_NAMESIZE];

	(void)state;
	if (geteuid())
		skip();
	start_broker(FOR_EVER_MS, &parent_pid, &pid);
	assert_int_equal(broker_call(&request, NULL, &reply, &out), ERR_INTERFACE);
	broker_keep_text(BROKER_TEXT_NOW, lo);
	for (unsigned int i = 0; i < 2 * CONFIG_INTERFACES_MAX; i++) {
		snprintf(name, sizeof(name), "gone%u", i);
		broker_keep_text(name, other);
	}
	assert_int_equal(broker_call(&request, NULL, &reply, &out), 0); /* by the configuration's */
	broker_keep_text(BROKER_TEXT_NOW, -1);
	kill(pid, SIGKILL);
	await_broker(parent_pid, pid);
	while (broker_call(&request, NULL, &reply, &out) == ERR_BROKER)
		continue;
	assert_int_equal(reply.code, ERR_INTERFACE);
	broker_keep_text("another", other); /* in the place of the configuration's */
	broker_keep_text("lo", lo);
	assert_int_equal(broker_call(&request, NULL, &reply, &out), 0);
	broker_keep_text("lo", -1);
	close(lo);
	close(other);
	assert_true(broker_stop());
	parenttest_stop();
}

static int new_file(size_t n_bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && !ftruncate(fd, (off_t)n_bytes));
	MUST(!seals || !fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

/* The broker maps no other file than one in memory that is large enough and cannot shrink. */
static void test_files_for_frames(void **state)
{
	const struct {
		int fd;
		bool is_right;
	} cases[] = {
		{ new_file(64 * 2048, F_SEAL_SHRINK), true },
		{ new_file(64 * 2048 - 1, F_SEAL_SHRINK), false },
		{ new_file(64 * 2048, 0), false },
		{ new_file(64 * 2048, F_SEAL_GROW), false },
		{ open("/dev/zero", O_RDWR | O_CLOEXEC), false },
		{ open("/proc/self/exe", O_RDONLY | O_CLOEXEC), false },
		{ socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), false },
	};
	const struct broker_request request = { .operation = BROKER_XSK_SOCKET,
						.number = 1,
						.log_level = LOG_LEVEL_INFO,
						.fds_mask = BROKER_BIT(BROKER_FD_MEMORY),
						.xsk = { 64, 2048 } };
	struct broker_serve serve = { .owner = getpid() };
	struct broker_fds fds, out;
	struct broker_reply reply;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		broker_fds_init(&fds);
		fds.fd[BROKER_FD_MEMORY] = cases[i].fd;
		broker_serve(&serve, BROKER_CHANNEL_HOOK, &request, &fds, &reply, &out);
		if ((reply.code != -EBADF) != cases[i].is_right) /* it may lack the capability */
			fail_msg("case %zu: %d", i, reply.code);
		broker_fds_close(&out);
		broker_fds_close(&fds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_broker_that_hangs),
		cmocka_unit_test(test_a_channel_that_is_full),
		cmocka_unit_test(test_a_request_that_is_lost),
		cmocka_unit_test(test_an_empty_packet),
		cmocka_unit_test(test_another_program),
		cmocka_unit_test(test_interfaces_that_are_named),
		cmocka_unit_test(test_more_texts_than_interfaces),
		cmocka_unit_test(test_files_for_frames),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
