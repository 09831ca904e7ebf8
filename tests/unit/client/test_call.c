/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of daemons that answer, refuse, hang, send wrong replies and close. Calls of a real daemon
 * are in tests/unit/cmd/test_ctl_call.c.
 */
#include "client/call.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/tmpfolder.h"

static const char *const path = tmpfolder_file;

struct peer {
	const char *name;
	const char *reply; /* NULL: no reply */
	int is_closing;
	int want;
};

static const struct peer peers[] = {
	{ "answers", "{\"ok\":true,\"result\":{}}\n", 0, 0 },
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
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
