/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that verifies a zone: what it gets, what it says, and how it ends. */
#include "config/verify_run.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "config/config.h"
#include "tests/lib/parenttest.h"
#include "tests/lib/tmpfolder.h"

static struct zone *zone;
static bool cancel;
static char why[512];

static int make(void **state)
{
	struct zone_error err;

	if (tmpfolder_make(state))
		return -1;
	return zone_load(&zone, "example.net", "zones/example.net.zone", NULL, &err);
}

static int drop(void **state)
{
	zone_free(zone);
	return tmpfolder_remove(state);
}

/* Starts a runner whose configuration has that command, which verifies the zone. */
static int run_command(struct verify *verify)
{
	struct config config = { .zones = calloc(1, sizeof(*config.zones)), .n_zones = 1 };
	struct runner *runner;
	int err;

	assert_non_null(config.zones);
	assert_int_equal(verify_copy(&config.zones->verify, verify), 0);
	assert_int_equal(runner_prepare(&runner, &config), 0);
	assert_int_equal(parenttest_start(), 0);
	config_zones_free(config.zones, config.n_zones);
	why[0] = 0;
	err = verify_run(runner, verify, zone, "example.net.", "/the/file", &cancel, why,
			 sizeof(why));
	assert_true(runner_is_alive(runner));
	runner_free(runner);
	parenttest_stop();
	return err;
}

/* Runs a script, the folder's file as $0. */
static int run(const char *script, uint32_t timeout_s)
{
	char sh[] = "sh", c[] = "-c", *text = strdup(script);
	char *argv[] = { sh, c, text, tmpfolder_file, NULL };
	struct verify verify = { argv, timeout_s };
	int err;

	assert_non_null(text);
	err = run_command(&verify);
	free(text);
	return err;
}

struct row {
	const char *name;
	const char *script;
	int code;
	const char *why;
};

static const struct row rows[] = {
	{ "accepts", "exit 0", 0, "" },
	{ "accepts and talks", "echo well; echo well >&2", 0, "" },
	{ "refuses", "exit 1", ERR_VERIFY, "sh ended with status 1" },
	{ "says why", "echo no good >&2; exit 255", ERR_VERIFY,
	  "sh ended with status 255: no good" },
	{ "says more", "printf '\\n\\nfirst\\nsecond\\n' >&2; exit 2", ERR_VERIFY,
	  "sh ended with status 2: first" },
	{ "no line end", "printf half >&2; exit 2", ERR_VERIFY, "sh ended with status 2: half" },
	{ "says it elsewhere", "echo lost; exit 2", ERR_VERIFY, "sh ended with status 2" },
	{ "control characters", "printf 'a\\tb\\377c\\000d' >&2; exit 2", ERR_VERIFY,
	  "sh ended with status 2: a?b?c?d" },
	{ "by a signal", "kill -TERM $$", ERR_VERIFY, "sh was ended by signal 15" },
	{ "closes all", "exec <&- >&- 2>&-; exit 3", ERR_VERIFY, "sh ended with status 3" },
	{ "reads nothing", "exec <&-; exit 0", 0, "" },
	{ "the zone", "grep -q '^www.example.net.\t.*\tA\t' && test $(cat /dev/stdin | wc -l) = 9",
	  0, "" },
	{ "the zone is not to be written to", "echo x 2>/dev/null >&0 || exit 4", ERR_VERIFY,
	  "sh ended with status 4" },
	{ "names",
	  "test \"$VOLLEY_ZONE $VOLLEY_FILE\" = 'example.net. /the/file' && "
	  "test $VOLLEY_SERIAL -gt 0",
	  0, "" },
	/* ls has the folder open as the fourth. */
	{ "no other descriptors", "ls /proc/self/fd >$0 && test $(wc -l <$0) = 4 && rm $0", 0, "" },
	{ "signals as usual", "kill -PIPE $$", ERR_VERIFY, "sh was ended by signal 13" },
};

static void judges(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("  %s\n", rows[i].name);
		assert_int_equal(run(rows[i].script, 60), rows[i].code);
		assert_string_equal(why, rows[i].why);
	}
}

static void says_more_than_a_pipe_holds(void **state)
{
	(void)state;
	assert_int_equal(run("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1", 60), ERR_VERIFY);
	assert_int_equal(strncmp(why, "sh ended with status 1: xxxx", 28), 0);
	assert_in_range(strlen(why), 200, 300);
}

static void cannot_be_run(void **state)
{
	char none[] = "/none/such";
	char *argv[] = { none, NULL };
	struct verify verify = { argv, 1 };

	(void)state;
	assert_int_equal(run_command(&verify), -ENOENT);
	assert_string_equal(why, "/none/such cannot be run: No such file or directory");
}

static pid_t read_pid(void)
{
	FILE *f = fopen(tmpfolder_file, "r");
	int pid = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	unlink(tmpfolder_file);
	return pid;
}

/* It is nobody's child any more when it is killed, so init may take a moment to bury it. */
static void assert_gone(pid_t pid)
{
	for (int tries = 0; tries < 1000 && !kill(pid, 0); tries++) {
		char path[64], state = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d %*s %c", &state) != 1 || state == 'Z') {
			if (f)
				fclose(f);
			return;
		}
		fclose(f);
		usleep(5000);
	}
	assert_int_equal(kill(pid, 0), -1);
}

static void ends_with_its_group(void **state)
{
	(void)state;
	assert_int_equal(run("trap '' TERM; sleep 1000 & echo $! >$0; echo slow >&2; wait", 5),
			 ERR_VERIFY);
	assert_string_equal(why, "sh did not end within 5 s: slow");
	assert_gone(read_pid());
	assert_int_equal(run("sleep 1000 & echo $! >$0", 60), 0);
	assert_gone(read_pid());
}

static void ends_when_cancelled(void **state)
{
	(void)state;
	cancel = true;
	assert_int_equal(run("echo $$ >$0; sleep 1000", 60), -ECANCELED);
	cancel = false;
}

static void copies(void **state)
{
	char a[] = "a", b[] = "b c", other[] = "b";
	char *argv[] = { a, b, NULL }, *less[] = { a, NULL }, *changed[] = { a, other, NULL };
	struct verify verify = { argv, 3 }, copy, none = { NULL, 3 };
	const struct verify others[] = { { less, 3 }, { changed, 3 }, { argv, 4 }, { NULL, 3 } };

	(void)state;
	assert_int_equal(verify_copy(&copy, &verify), 0);
	assert_true(verify_equal(&copy, &verify));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(verify_equal(&copy, &others[i]));
		assert_false(verify_equal(&others[i], &copy));
	}
	verify_fini(&copy);
	assert_int_equal(verify_copy(&copy, &none), 0);
	assert_true(verify_equal(&copy, &none));
	verify_fini(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges),
		cmocka_unit_test(says_more_than_a_pipe_holds),
		cmocka_unit_test(cannot_be_run),
		cmocka_unit_test(ends_with_its_group),
		cmocka_unit_test(ends_when_cancelled),
		cmocka_unit_test(copies),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
