/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules that volleyd asks Landlock for, and what it tells of files that get none. */
#include "daemon/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/landlock.h"
#include "bpf/lock.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

#define RULES_MAX 64

static char rules[RULES_MAX][256]; /* to write */
static unsigned int n_rules;

/* --- Landlock, to which tmpfolder is as wide as /run ------------------------------------------ */

int __wrap_landlock_open(enum landlock_reach reach);
int __wrap_landlock_allow(int fd, const char *path, enum landlock_right right);
int __wrap_landlock_enforce(int fd);
bool __wrap_landlock_is_too_wide(const char *folder);

int __wrap_landlock_open(enum landlock_reach reach)
{
	MUST(reach == LANDLOCK_FILES);
	n_rules = 0;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_landlock_allow(int fd, const char *path, enum landlock_right right)
{
	(void)fd;
	if (access(path, F_OK))
		return -errno;
	MUST(n_rules < RULES_MAX);
	if (right == LANDLOCK_WRITE)
		snprintf(rules[n_rules++], sizeof(rules[0]), "%s", path);
	return 0;
}

int __wrap_landlock_enforce(int fd)
{
	return close(fd);
}

bool __wrap_landlock_is_too_wide(const char *folder)
{
	return !strcmp(folder, tmpfolder);
}

static bool has_rule(const char *path)
{
	for (unsigned int i = 0; i < n_rules; i++)
		if (!strcmp(rules[i], path))
			return true;
	return false;
}

/* --- The pid file ----------------------------------------------------------------------------- */

static char pid_file[256];

static struct config *load(const char *more)
{
	struct config *config;
	FILE *file = fopen(tmpfolder_file, "w");
	char err[512];

	MUST(file);
	fprintf(file,
		"server: { listen: ['192.0.2.1'], pid-file: '%s' }\n"
		"control: { socket: '%s/own/control.sock' }\n%s",
		pid_file, tmpfolder, more);
	MUST(!fclose(file));
	MUST(!config_load(&config, tmpfolder_file, err, sizeof(err)));
	return config;
}

static void start_with_pid_file(const char *name)
{
	struct config *config;

	snprintf(pid_file, sizeof(pid_file), "%s/%s", tmpfolder, name);
	config = load("");
	confine_start(config);
	config_free(config);
}

/* After the start volleyd may not make it any more. */
static void make_in_wide_folder(void)
{
	char err[512];

	start_with_pid_file("volleyd.pid");
	MUST(has_rule(pid_file) && !has_rule(tmpfolder));
	MUST(!*confine_problem());
	MUST(lock_open(pid_file, err, sizeof(err)) >= 0);
}

/* Others could have made the link. */
static void follow_no_link(void)
{
	char target[256];

	snprintf(target, sizeof(target), "%s/target", tmpfolder);
	snprintf(pid_file, sizeof(pid_file), "%s/link", tmpfolder);
	MUST(!symlink(target, pid_file));
	start_with_pid_file("link");
	MUST(access(target, F_OK) && !has_rule(pid_file));
	MUST(strstr(confine_problem(), "nothing is written in this folder"));
}

/* It is made by lock_open(), in a folder with a rule. */
static void make_none_in_own_folder(void)
{
	start_with_pid_file("own/volleyd.pid");
	MUST(access(pid_file, F_OK) && !has_rule(pid_file));
	MUST(!*confine_problem());
}

/* A log is made again when it has been moved away, so it needs the folder. */
static void tell_of_logs(void)
{
	struct config *config;
	char more[300];

	start_with_pid_file("volleyd.pid");
	snprintf(more, sizeof(more), "query-log: { file: '%s/queries' }\n", tmpfolder);
	config = load(more);
	confine_look(config);
	config_free(config);
	confine_put();
	MUST(strstr(confine_problem(), "nothing is written in this folder"));
}

/* A process is confined once. */
static void run_alone(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_pid_file_in_a_wide_folder_is_made_at_the_start(void **state)
{
	(void)state;
	run_alone(make_in_wide_folder);
	run_alone(make_in_wide_folder); /* it is there from before */
}

static void a_link_is_no_pid_file(void **state)
{
	(void)state;
	run_alone(follow_no_link);
}

static void a_pid_file_in_a_folder_of_its_own_is_made_later(void **state)
{
	(void)state;
	run_alone(make_none_in_own_folder);
}

static void other_files_in_a_wide_folder_are_told(void **state)
{
	(void)state;
	run_alone(tell_of_logs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pid_file_in_a_wide_folder_is_made_at_the_start),
		cmocka_unit_test(a_link_is_no_pid_file),
		cmocka_unit_test(a_pid_file_in_a_folder_of_its_own_is_made_later),
		cmocka_unit_test(other_files_in_a_wide_folder_are_told),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove_all);
}
