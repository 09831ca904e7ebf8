/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader, with loads that last as long as the test wants: their command reads a FIFO, and ends
 * with what is written to it.
 */
#include "zonemgr/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "config/config.h"
#include "config/runner.h"
#include "tests/lib/parenttest.h"
#include "tests/lib/tmpfolder.h"

#define ZONE "zones/example.net.zone"

static struct loader *loader;
static struct runner *runner;
static char ended[16]; /* the users of the loads, in the order in which they ended */
static struct load *last;
static char error[512];

static void on_ended(struct load *load)
{
	size_t n = strlen(ended);

	assert_in_range(n, 0, sizeof(ended) - 2);
	ended[n] = *(const char *)load->user;
	ended[n + 1] = 0;
	load_put_error(load, error, sizeof(error));
	load_free(last);
	last = load;
}

static char *gate_of(const char *user)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/gate-%c", tmpfolder, *user);
	return path;
}

/* The command of a load that is held; valid until the next call. */
static struct verify *hold(const char *user)
{
	static char sh[] = "sh", c[] = "-c", text[] = "read x <$0; exit $x";
	static char *argv[5];
	static struct verify verify = { argv, 60 };

	argv[0] = sh;
	argv[1] = c;
	argv[2] = text;
	argv[3] = gate_of(user);
	return &verify;
}

/* A runner that knows the commands of both gates. */
static int start_runner(void)
{
	struct config config = { .zones = calloc(2, sizeof(*config.zones)), .n_zones = 2 };
	int err = config.zones ? verify_copy(&config.zones[0].verify, hold("a")) : -ENOMEM;

	if (!err)
		err = verify_copy(&config.zones[1].verify, hold("b"));
	if (!err)
		err = runner_prepare(&runner, &config);
	if (!err)
		err = parenttest_start();
	config_zones_free(config.zones, config.zones ? 2 : 0);
	return err;
}

static int make(void **state)
{
	return tmpfolder_make(state) || mkfifo(gate_of("a"), 0600) || mkfifo(gate_of("b"), 0600) ||
	       start_runner();
}

static int drop(void **state)
{
	runner_free(runner);
	parenttest_stop();
	unlink(gate_of("a"));
	unlink(gate_of("b"));
	return tmpfolder_remove(state);
}

static void open_loader(unsigned int n)
{
	ended[0] = 0;
	assert_int_equal(loader_new(&loader, n), 0);
	loader_set_runner(loader, runner);
}

static void close_loader(void)
{
	loader_stop(loader);
	loader_poll(loader);
	loader_free(loader);
	load_free(last);
	last = NULL;
}

static struct load *start(const char *user, const char *file)
{
	struct load *load = load_new("example.net", file, NULL, on_ended, (void *)(uintptr_t)user);

	assert_non_null(load);
	loader_start(loader, load);
	return load;
}

/* One that does not end before open_gate(). */
static struct load *start_held(const char *user)
{
	struct load *load =
		load_new("example.net", ZONE, hold(user), on_ended, (void *)(uintptr_t)user);

	assert_non_null(load);
	loader_start(loader, load);
	return load;
}

static void open_gate(const char *user, const char *status)
{
	FILE *f = fopen(gate_of(user), "w");

	assert_non_null(f);
	fprintf(f, "%s\n", status);
	assert_int_equal(fclose(f), 0);
}

static void wait_for_stage(const struct load *load, enum load_stage stage)
{
	for (int tries = 0; load_stage(load) != stage; tries++) {
		assert_in_range(tries, 0, 20000);
		usleep(1000);
	}
}

/* Until n loads have ended since the loader was opened. */
static void wait_for_ends(size_t n)
{
	struct pollfd fd = { .fd = loader_fd(loader), .events = POLLIN };

	while (strlen(ended) < n) {
		assert_int_equal(poll(&fd, 1, 20000), 1);
		loader_poll(loader);
	}
	assert_int_equal(strlen(ended), n);
}

static void loads(void **state)
{
	(void)state;
	open_loader(1);
	start("a", ZONE);
	wait_for_ends(1);
	assert_int_equal(last->code, 0);
	assert_int_equal(zone_n_records(last->zone), 9);
	assert_true(last->took_ns && last->ended_wall_s && last->begun_ns);
	assert_int_equal(load_stage(last), LOAD_ENDED);
	close_loader();
}

struct row {
	const char *file;
	int code;
	const char *error;
};

static void says_what_is_wrong(void **state)
{
	const struct row rows[] = {
		{ "zones/none", -ENOENT,
		  "zones/none: cannot read the file: No such file or directory" },
		{ "zones", -EISDIR, "zones: cannot read the file: Is a directory" },
		{ gate_of("a"), ERR_NOT_REGULAR, "it is not a regular file" },
		{ "tests/data/zones/bad/txt-string-too-long.zone", ERR_ZONE,
		  "tests/data/zones/bad/txt-string-too-long.zone:" },
		{ "tests/data/zones/bad/include-with-error.zone", ERR_ZONE, "error.inc:" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("  %s\n", rows[i].file);
		open_loader(1);
		start("a", rows[i].file);
		wait_for_ends(1);
		assert_int_equal(last->code, rows[i].code);
		assert_null(last->zone);
		assert_non_null(strstr(error, rows[i].error));
		close_loader();
	}
}

static void loads_side_by_side(void **state)
{
	struct load *a, *b;

	(void)state;
	open_loader(2);
	a = start_held("a");
	b = start_held("b");
	wait_for_stage(a, LOAD_VERIFYING);
	wait_for_stage(b, LOAD_VERIFYING);
	open_gate("b", "0");
	open_gate("a", "0");
	wait_for_ends(2);
	close_loader();
}

static void keeps_the_order(void **state)
{
	struct load *a, *b, *c;

	(void)state;
	open_loader(2);
	loader_limit(loader, 1);
	a = start_held("a");
	b = start("b", ZONE);
	c = start("c", "zones/none");
	wait_for_stage(a, LOAD_VERIFYING);
	assert_true(loader_has_begun(loader, a));
	assert_false(loader_has_begun(loader, b));
	assert_int_equal(load_stage(b), LOAD_WAITING);
	loader_cancel(loader, c);
	wait_for_ends(1); /* what waits is given back at once */
	assert_int_equal(last->code, -ECANCELED);
	open_gate("a", "0");
	wait_for_ends(3);
	assert_string_equal(ended, "cab");
	close_loader();
}

static void is_refused(void **state)
{
	(void)state;
	open_loader(1);
	start_held("a");
	open_gate("a", "7");
	wait_for_ends(1);
	assert_int_equal(last->code, ERR_VERIFY);
	assert_null(last->zone);
	assert_non_null(strstr(error, ZONE ": serial "));
	assert_non_null(strstr(error, " is not accepted: sh ended with status 7"));
	close_loader();
}

static void is_cancelled(void **state)
{
	struct load *a;

	(void)state;
	open_loader(1);
	a = start_held("a");
	wait_for_stage(a, LOAD_VERIFYING);
	loader_cancel(loader, a);
	wait_for_ends(1);
	assert_int_equal(last->code, -ECANCELED);
	assert_null(last->zone);
	start("b", ZONE);
	wait_for_ends(2);
	assert_int_equal(last->code, 0);
	close_loader();
}

/* With what is served, which may be freed in the background later. */
static void is_compared(void **state)
{
	struct load *load, *first;

	(void)state;
	open_loader(1);
	start("a", ZONE);
	wait_for_ends(1);
	assert_null(last->changes); /* there was nothing before */
	first = last;
	last = NULL;
	load = load_new("example.net", ZONE, NULL, on_ended, (void *)(uintptr_t) "b");
	assert_non_null(load);
	load->base = zone_ref(first->zone);
	loader_start(loader, load);
	wait_for_ends(2);
	assert_non_null(last->changes);
	assert_int_equal(changes_n_names(last->changes), 0);
	last->old = first->zone;
	first->zone = NULL;
	loader_discard(loader, last);
	last = NULL;
	start("c", ZONE);
	wait_for_ends(3);
	loader_stop(loader);
	loader_discard(loader, first); /* for loader_free() */
	close_loader();
}

static void stops(void **state)
{
	struct load *a;

	(void)state;
	open_loader(1);
	a = start_held("a");
	start("b", ZONE);
	wait_for_stage(a, LOAD_VERIFYING);
	loader_stop(loader);
	assert_string_equal(ended, "");
	loader_poll(loader);
	assert_string_equal(ended, "ba");
	assert_int_equal(last->code, -ECANCELED);
	close_loader();
}

/* The marks of the files are settled: nobody has written them of late. */
static void an_unchanged_file_is_not_read(void **state)
{
	struct load *load = load_new("example.net", ZONE, NULL, on_ended, (void *)(uintptr_t) "a");
	struct zonefile_mark mark;

	(void)state;
	assert_non_null(load);
	zonefile_mark_read(ZONE, &mark);
	assert_true(mark.is_settled);
	load->known = mark;
	open_loader(1);
	loader_start(loader, load);
	wait_for_ends(1);
	assert_int_equal(last->code, 0);
	assert_null(last->zone);
	start("b", ZONE);
	wait_for_ends(2);
	assert_non_null(last->zone);
	assert_true(last->file_mark.is_settled);
	start("c", "tests/data/zones/includes.zone");
	wait_for_ends(3);
	assert_non_null(last->zone);
	assert_false(last->file_mark.is_settled); /* it says nothing of the file inside */
	close_loader();
}

static void is_woken(void **state)
{
	struct pollfd fd = { .events = POLLIN };

	(void)state;
	open_loader(1);
	fd.fd = loader_fd(loader);
	assert_int_equal(poll(&fd, 1, 0), 0);
	loader_wake(loader);
	assert_int_equal(poll(&fd, 1, 0), 1);
	loader_poll(loader);
	assert_int_equal(poll(&fd, 1, 0), 0);
	close_loader();
}

/* Many, while they are begun, ended and cancelled: for the thread sanitizer above all. */
static void loads_many(void **state)
{
	static const char *const users[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
	struct load *loads_of[10];

	(void)state;
	open_loader(4);
	for (int i = 0; i < 10; i++)
		loads_of[i] = start(users[i], "zones/example.com.zone");
	for (int i = 0; i < 10; i += 3)
		loader_cancel(loader, loads_of[i]);
	wait_for_ends(10);
	close_loader();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(loads_side_by_side),
		cmocka_unit_test(keeps_the_order),
		cmocka_unit_test(is_refused),
		cmocka_unit_test(is_cancelled),
		cmocka_unit_test(is_compared),
		cmocka_unit_test(stops),
		cmocka_unit_test(is_woken),
		cmocka_unit_test(an_unchanged_file_is_not_read),
		cmocka_unit_test(loads_many),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
