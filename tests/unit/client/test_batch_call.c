/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of names, of which each becomes an argument of one request, and nothing else does. */
#include "client/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/tmpfolder.h"

struct batch_row {
	const char *name;
	const char *lines; /* of the file */
	const char *args;  /* of the request, as JSON */
	int status;
	const char *errors;
};

static const struct batch_row batch_rows[] = {
	{ "names", "a.test\n\n  b.test \r\nc.test", "[\"a.test\",\"b.test\",\"c.test\"]", 0, "" },
	{ "options in the file", "--file\n/etc/passwd\n--template=x\na.test\n",
	  "[\"/etc/passwd\",\"a.test\"]", 1,
	  "volleyctl: zone add: --file: the line is no name of a zone\n"
	  "volleyctl: zone add: --template=x: the line is no name of a zone\n" },
	{ "a long option", "--this-line-is-longer-than-its-message\na.test\n", "[\"a.test\"]", 1,
	  "volleyctl: zone add: --this-line-is-longer-th: the line is no name of a zone\n" },
	{ "one hyphen", "-\n-a.test\n", "[\"-\",\"-a.test\"]", 0, "" },
	{ "not UTF-8", "\xff\na.test\n", "[\"a.test\"]", 1,
	  "volleyctl: zone add: a line is not UTF-8\n" },
};

/* The daemon: replies to one request. Its exit status is 0 if that has the arguments. */
static int serve_batch(int listener, const char *args)
{
	char line[4096];
	int fd = accept(listener, NULL, NULL);
	size_t n = 0;
	json_t *request, *expected = json_loads(args, 0, NULL);

	while (n + 1 < sizeof(line) && (!n || line[n - 1] != '\n')) {
		ssize_t got = recv(fd, line + n, sizeof(line) - 1 - n, 0);

		if (got <= 0)
			return 2;
		n += (size_t)got;
	}
	request = json_loadb(line, n, 0, NULL);
	if (dprintf(fd, "{\"ok\":true,\"result\":{}}\n") < 0)
		return 3;
	return json_equal(json_object_get(request, "args"), expected) ? 0 : 1;
}

static pid_t start_batch_daemon(const char *args)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	strcpy(addr.sun_path, tmpfolder_file);
	unlink(tmpfolder_file);
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listener, 4), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(60);
		_exit(serve_batch(listener, args));
	}
	close(listener);
	return pid;
}

static void run_batch_row(const struct batch_row *row, const char *path)
{
	char *told = NULL;
	size_t n_told;
	const struct batch_call call = { .socket = tmpfolder_file,
					 .wait_ms = 20000,
					 .errors = open_memstream(&told, &n_told) };
	char option[] = "--batch", *words[] = { option, strdup(path) };
	FILE *file = fopen(path, "w");
	pid_t pid;
	int status, served;

	assert_non_null(file);
	assert_true(fputs(row->lines, file) >= 0 && !fclose(file));
	pid = start_batch_daemon(row->args);
	status = batch_call(&call, "zone add", 2, words);
	assert_int_equal(waitpid(pid, &served, 0), pid);
	fclose(call.errors);
	if (served || status != row->status || strcmp(told, row->errors) != 0)
		fail_msg("%s: %d, %d, %s", row->name, served, status, told);
	free(words[1]);
	free(told);
}

static void test_lines_are_names(void **state)
{
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s.names", tmpfolder_file);
	for (size_t i = 0; i < sizeof(batch_rows) / sizeof(batch_rows[0]); i++)
		run_batch_row(&batch_rows[i], path);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_names),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
