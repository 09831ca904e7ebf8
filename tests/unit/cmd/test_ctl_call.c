/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both sides of the control socket together: a daemon's in a process of its own, and a caller's. */
#include "control/ctl.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "client/call.h"
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

static struct ctl *the_ctl;

/* Says how many octets of the file that comes with the request can be read. */
static int run_load(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	int file = ctl_take_file_or_tell(the_ctl, err, err_cap);
	char text[16];

	(void)user, (void)args;
	if (file < 0)
		return file;
	*result = json_pack("{s:i}", "n", (int)read(file, text, sizeof(text)));
	close(file);
	return 0;
}

static const struct ctl_command commands[] = {
	{ "cache load", run_load, CTL_CHANGES, NULL },
	{ "status", run_status, CTL_CHANGES, NULL },
	{ "stats", run_stats, CTL_CHANGES, NULL },
	{ NULL, NULL, CTL_READS, NULL },
};

/* Killed by the caller. */
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
	the_ctl = ctl;
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

/* A file may be sent in the first request, too, which may come before the acceptance. */
static void test_files(void **state)
{
	pid_t child = start_daemon();
	json_t *args = json_pack("[s]", "a name"), *reply;
	int fd = open_soon(), ends[2];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "some words", 10), 10);
	for (int n = 10; n >= 0; n -= 10) {
		assert_int_equal(call_send(fd, "cache load", args, ends[0], 5000), 0);
		assert_int_equal(call_receive(fd, 5000, &reply), 0);
		assert_int_equal(
			json_integer_value(json_object_get(json_object_get(reply, "result"), "n")),
			n);
		json_decref(reply);
		if (n)
			close(ends[1]);
	}
	close(ends[0]);
	json_decref(args);
	stop_daemon(child);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
