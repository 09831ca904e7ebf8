/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list in pages, of a daemon that closes the connection after each of them. */
#include "client/call.h"

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

#include "tests/lib/tmpfolder.h"

/* Request and reply of each page; ended by NULL. */
struct talk {
	const char *args; /* as JSON */
	const char *reply;
};

static const struct talk three[] = {
	{ "[]", "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"a.\",\"serial\":1},"
		"{\"name\":\"b.\",\"serial\":2}],\"next\":\"b.\"}}" },
	{ "[\"--after\",\"b.\"]", "{\"ok\":true,\"result\":{\"zones\":[],\"next\":\"c.\"}}" },
	{ "[\"--after\",\"c.\"]",
	  "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"d.\",\"serial\":4}]}}" },
	{ NULL, NULL },
};

static const struct talk limited[] = {
	{ "[\"*.com\",\"--limit\",\"3\"]",
	  "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"a.\"},{\"name\":\"b.\"}],"
	  "\"next\":\"b.\"}}" },
	{ "[\"--after\",\"b.\",\"*.com\",\"--limit\",\"1\"]",
	  "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"d.\"}],\"next\":\"d.\"}}" },
	{ NULL, NULL },
};

static const struct talk refused[] = {
	{ "[]", "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"a.\"}],\"next\":\"a.\"}}" },
	{ "[\"--after\",\"a.\"]", "{\"ok\":false,\"error\":\"later\",\"code\":\"EAGAIN\"}" },
	{ NULL, NULL },
};

static const struct talk wrong[] = {
	{ "[]", "{\"ok\":false,\"error\":\"wrong\",\"code\":\"EINVAL\"}" },
	{ NULL, NULL },
};

static const struct talk empty_end[] = {
	{ "[]", "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"a.\"}],\"next\":\"a.\"}}" },
	{ "[\"--after\",\"a.\"]", "{\"ok\":true,\"result\":{\"zones\":[]}}" },
	{ NULL, NULL },
};

static const struct talk none[] = {
	{ "[]", "{\"ok\":true,\"result\":{\"zones\":[]}}" },
	{ NULL, NULL },
};

/* True if the line asks for the list with these arguments. */
static bool is_asked(const char *line, const char *args)
{
	json_t *request = json_loads(line, 0, NULL), *expected = json_loads(args, 0, NULL);
	bool is_same = json_equal(json_object_get(request, "args"), expected) &&
		       !strcmp(json_string_value(json_object_get(request, "command")), "zone list");

	json_decref(request);
	json_decref(expected);
	return is_same;
}

/* Reads a line, which comes in pieces. False: the client has gone. */
static bool read_talk(int fd, char *line, size_t cap)
{
	size_t n = 0;

	while (n + 1 < cap && (!n || line[n - 1] != '\n')) {
		ssize_t got = recv(fd, line + n, cap - 1 - n, 0);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	line[n] = 0;
	return true;
}

/* The daemon: its exit status is the number of the first wrong request, or 0. */
static int serve_talk(int listener, const struct talk *talk)
{
	for (int i = 0; talk[i].args; i++) {
		char line[4096];
		int fd = accept(listener, NULL, NULL);

		if (!read_talk(fd, line, sizeof(line)))
			return 100 + i;
		if (!is_asked(line, talk[i].args))
			return 1 + i;
		if (dprintf(fd, "%s\n", talk[i].reply) < 0)
			return 100 + i;
		close(fd);
	}
	return 0;
}

static pid_t start_talk(const struct talk *talk)
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
		_exit(serve_talk(listener, talk));
	}
	close(listener);
	return pid;
}

struct list_row {
	const char *name;
	const struct talk *talk;
	enum list_form form;
	const char *args;
	int status;
	const char *text;
	const char *errors;
};

static const struct list_row list_rows[] = {
	{ "text", three, LIST_TEXT, "[]", 0,
	  "NAME  SERIAL\n"
	  "a.         1\n"
	  "b.         2\n"
	  "d.         4\n",
	  "" },
	{ "one document", three, LIST_JSON, "[]", 0,
	  "{\"zones\": [\n"
	  "{\"name\":\"a.\",\"serial\":1},\n"
	  "{\"name\":\"b.\",\"serial\":2},\n"
	  "{\"name\":\"d.\",\"serial\":4}\n"
	  "]}\n",
	  "" },
	{ "a line for each", three, LIST_JSON_LINES, "[]", 0,
	  "{\"name\":\"a.\",\"serial\":1}\n"
	  "{\"name\":\"b.\",\"serial\":2}\n"
	  "{\"name\":\"d.\",\"serial\":4}\n",
	  "" },
	{ "names", three, LIST_NAMES, "[]", 0, "a.\nb.\nd.\n", "" },
	{ "a limit over pages", limited, LIST_JSON, "[\"*.com\",\"--limit\",\"3\"]", 0,
	  "{\"zones\": [\n"
	  "{\"name\":\"a.\"},\n"
	  "{\"name\":\"b.\"},\n"
	  "{\"name\":\"d.\"}\n"
	  "], \"next\": \"d.\"}\n",
	  "" },
	/* no program takes it for the whole list */
	{ "refused in the middle", refused, LIST_JSON, "[]", 1,
	  "{\"zones\": [\n"
	  "{\"name\":\"a.\"}\n",
	  "volleyctl: zone list: later\n" },
	{ "usage", wrong, LIST_JSON, "[]", 2, "", "volleyctl: zone list: wrong\n" },
	{ "an empty last page", empty_end, LIST_JSON, "[]", 0,
	  "{\"zones\": [\n"
	  "{\"name\":\"a.\"}\n"
	  "]}\n",
	  "" },
	{ "no zones", none, LIST_TEXT, "[]", 0, "zones: none\n", "" },
	{ "no zones, as a document", none, LIST_JSON, "[]", 0, "{\"zones\": [\n]}\n", "" },
	{ "no zones, as lines", none, LIST_JSON_LINES, "[]", 0, "", "" },
};

static int run_list_row(const struct list_row *row, FILE *out, FILE *errors)
{
	char code[LIST_CODE_CAP] = "";
	const struct list_call call = {
		.socket = tmpfolder_file,
		.wait_ms = 20000,
		.form = row->form,
		.out = out,
		.errors = errors,
		.code = code,
	};
	json_t *args = json_loads(row->args, 0, NULL);
	int status;

	assert_non_null(args);
	status = list_call(&call, "zone list", args);
	json_decref(args);
	return status;
}

static void await_talk(const char *name, pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("%s: request %d", name, WEXITSTATUS(status));
}

static void test_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(list_rows) / sizeof(list_rows[0]); i++) {
		const struct list_row *row = &list_rows[i];
		char *text = NULL, *told = NULL;
		size_t n, n_told;
		FILE *out = open_memstream(&text, &n), *errors = open_memstream(&told, &n_told);
		pid_t pid = start_talk(row->talk);
		int status = run_list_row(row, out, errors);

		assert_int_equal(fclose(out) | fclose(errors), 0);
		if (status != row->status || strcmp(text, row->text) || strcmp(told, row->errors))
			fail_msg("%s: %d, %s%s", row->name, status, text, told);
		await_talk(row->name, pid);
		free(text);
		free(told);
	}
}

/* As for volleyctl zone list | head: the reader goes, and no further page is asked for. */
static void test_reader_goes(void **state)
{
	static const struct talk first[] = {
		{ "[]", "{\"ok\":true,\"result\":{\"zones\":[{\"name\":\"a.\"}],"
			"\"next\":\"a.\"}}" },
		{ NULL, NULL },
	};
	const struct list_row row = { .args = "[]", .form = LIST_NAMES };
	pid_t pid = start_talk(first);
	char *told = NULL;
	size_t n_told;
	FILE *out, *errors = open_memstream(&told, &n_told);
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	out = fdopen(fds[1], "w");
	assert_int_equal(run_list_row(&row, out, errors), 0);
	fclose(out);
	fclose(errors);
	assert_string_equal(told, "");
	free(told);
	await_talk("the reader goes", pid);
}

static void test_no_daemon(void **state)
{
	const struct list_row row = { .args = "[]", .form = LIST_JSON };

	(void)state;
	unlink(tmpfolder_file);
	assert_int_equal(run_list_row(&row, stdout, stderr), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_reader_goes),
		cmocka_unit_test(test_no_daemon),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
