/* SPDX-License-Identifier: GPL-2.0-only */
/* The asking side, against daemons that answer, turn away, hang, lie and go. */
#include "control/call.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "control/ctl.h"
#include "tests/lib/tmpfolder.h"

static const char *const path = tmpfolder_file;

static int run_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	(void)err;
	(void)err_cap;
	*result = json_pack("{s:i}", "n_args", (int)json_array_size(args));
	return 0;
}

/* A result of several hundred kilobytes comes in many pieces. */
static int run_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	(void)args;
	(void)err;
	(void)err_cap;
	*result = json_object();
	for (int i = 0; i < 30000; i++) {
		char key[32];

		snprintf(key, sizeof(key), "a counter, number %d", i);
		json_object_set_new(*result, key, json_integer(i));
	}
	return 0;
}

static const struct ctl_command commands[] = {
	{ "status", run_status },
	{ "stats", run_stats },
	{ NULL, NULL },
};

/* A real daemon side in a process of its own; killed by the caller. */
static pid_t start_daemon(void)
{
	pid_t child = fork();
	struct ctl *ctl;
	char err[256];

	assert_true(child >= 0);
	if (child)
		return child;
	if (ctl_open(&ctl, path, 0600, commands, NULL, err, sizeof(err)))
		_exit(1);
	for (;;) {
		ctl_poll(ctl, clock_ns());
		usleep(1000);
	}
}

/* The daemon may not listen yet. */
static int open_soon(void)
{
	int fd = -ENOENT;

	for (int i = 0; i < 5000 && fd < 0; i++) {
		fd = call_open(path);
		if (fd < 0)
			usleep(1000);
	}
	return fd;
}

static void stop_daemon(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
}

static void test_results(void **state)
{
	pid_t child = start_daemon();
	json_t *args = json_array(), *reply;
	int fd = open_soon();

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(call_run(fd, "status", args, 5000, &reply), 0);
	assert_true(json_is_true(json_object_get(reply, "ok")));
	json_decref(reply);
	assert_int_equal(call_run(fd, "stats", args, 5000, &reply), 0);
	assert_int_equal(json_object_size(json_object_get(reply, "result")), 30000);
	json_decref(reply);
	assert_int_equal(call_run(fd, "dance", args, 5000, &reply), 0);
	assert_true(json_is_false(json_object_get(reply, "ok")));
	json_decref(reply);
	json_decref(args);
	assert_int_equal(call_wait_end(fd, 0), -ETIMEDOUT);
	stop_daemon(child);
	close(fd);
}

struct peer {
	const char *name;
	const char *reply; /* NULL: no reply */
	int is_closing;
	int want;
};

static const struct peer peers[] = {
	{ "hangs", NULL, 0, -ETIMEDOUT },
	{ "goes", NULL, 1, ERR_CLOSED },
	{ "half a line, then hangs", "{\"ok\":true", 0, -ETIMEDOUT },
	{ "half a line, then goes", "{\"ok\":true", 1, ERR_CLOSED },
	{ "not JSON", "hello\n", 0, ERR_FORMAT },
	{ "not an object", "[true]\n", 0, ERR_FORMAT },
	{ "without ok", "{\"result\":{}}\n", 0, ERR_FORMAT },
	{ "ok is a string", "{\"ok\":\"yes\"}\n", 0, ERR_FORMAT },
	{ "turns away before it reads", "{\"ok\":false,\"error\":\"busy\"}\n", 1, 0 },
};

static void test_peers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		json_t *args = json_array(), *reply;
		int fds[2], ret;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		if (peers[i].reply)
			assert_true(write(fds[1], peers[i].reply, strlen(peers[i].reply)) > 0);
		if (peers[i].is_closing)
			close(fds[1]);
		ret = call_run(fds[0], "status", args, 20, &reply);
		if (ret != peers[i].want || !reply != !!ret)
			fail_msg("%s: %d", peers[i].name, ret);
		if (peers[i].is_closing)
			assert_int_equal(call_wait_end(fds[0], 1000), 0);
		else
			close(fds[1]);
		json_decref(reply);
		json_decref(args);
		close(fds[0]);
	}
}

static void test_nobody(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char long_path[200];

	(void)state;
	assert_int_equal(call_open(path), -ENOENT);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(call_open(path), -ECONNREFUSED);
	close(fd);
	unlink(path);
	memset(long_path, 'a', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(call_open(long_path), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
