/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads lines and asks the daemon about many at a time, but never waits for more lines. */
#include "client/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "config/ctl_protocol.h"

#define NAMES_CAP 256                  /* of a request */
#define LINES_CAP (CTL_LINE_BYTES / 2) /* octets read; a request quotes some of them */

struct batch {
	const struct batch_call *call;
	const char *command;
	json_t *options; /* words that each request has */
	int in;
	bool has_ended, is_silent; /* of the input; the daemon gave no reply */
	char lines[LINES_CAP];
	size_t n; /* octets in `lines` */
	int status;
};

static void say_failed(struct batch *b, const char *sentence)
{
	fprintf(b->call->errors, "volleyctl: %s: %s\n", b->command, sentence);
	b->status = 1;
}

/* --- Input ------------------------------------------------------------------------------------ */

static bool has_octets(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) > 0;
}

/* Reads until there is a whole line and no more octets come at once. False: it cannot be read. */
static bool read_lines(struct batch *b)
{
	while (!b->has_ended && b->n < sizeof(b->lines) - 1 &&
	       (!memchr(b->lines, '\n', b->n) || has_octets(b->in))) {
		ssize_t got = read(b->in, b->lines + b->n, sizeof(b->lines) - 1 - b->n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			say_failed(b, err_text(-errno));
			return false;
		}
		b->has_ended = !got;
		b->n += (size_t)got;
	}
	if (b->has_ended && b->n && b->lines[b->n - 1] != '\n')
		b->lines[b->n++] = '\n';
	return true;
}

/* Adds the N octets of a line. A line gives names only: the daemon would take --file and --template
 * for options, and a list of names may come from others. False: it is no name. */
static bool add_batch_name(struct batch *b, json_t *args, const char *name, size_t n)
{
	char err[64];

	if (n >= 2 && !strncmp(name, "--", 2)) {
		snprintf(err, sizeof(err), "%.*s: the line is no name of a zone",
			 (int)(n < 24 ? n : 24), name);
		say_failed(b, err);
		return false;
	}
	if (!json_array_append_new(args, json_stringn(name, n)))
		return true;
	say_failed(b, "a line is not UTF-8");
	return false;
}

/* Moves up to NAMES_CAP lines to *ARGS. Returns the number of names. */
static size_t take_names(struct batch *b, json_t *args)
{
	size_t n = 0, at = 0;
	char *end;

	while (n < NAMES_CAP && (end = memchr(b->lines + at, '\n', b->n - at))) {
		char *name = b->lines + at, *last = end;

		at = (size_t)(end - b->lines) + 1;
		while (name < last && strchr(" \t\r", *name))
			name++;
		while (last > name && strchr(" \t\r", last[-1]))
			last--;
		if (last > name)
			n += add_batch_name(b, args, name, (size_t)(last - name));
	}
	memmove(b->lines, b->lines + at, b->n - at);
	b->n -= at;
	return n;
}

/* --- Output ----------------------------------------------------------------------------------- */

static void put_done(const struct batch *b, const char *word, const char *name)
{
	json_t *line;

	if (!b->call->is_json) {
		printf("%s %s\n", word, name);
		return;
	}
	line = json_pack("{s:s}", word, name);
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
}

static void put_result(struct batch *b, const json_t *result)
{
	const char *const words[] = { "added", "removed" };
	size_t i;
	json_t *item;

	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		json_array_foreach(json_object_get(result, words[k]), i, item)
			put_done(b, words[k], json_string_value(item));
	json_array_foreach(json_object_get(result, "failed"), i, item)
		say_failed(b, json_string_value(json_object_get(item, "error")));
	if (fflush(stdout)) {
		say_failed(b, "the output cannot be written");
		b->is_silent = true;
	}
}

/* True: go on. */
static bool ask_batch(struct batch *b, int fd, const json_t *args, size_t n_names)
{
	json_t *reply;
	int err = call_run(fd, b->command, args, b->call->wait_ms, &reply);
	const char *error;

	if (err) {
		fprintf(b->call->errors, "volleyctl: no reply from volleyd on %s: %s\n",
			b->call->socket, err_text(err));
		b->status = 1;
		return false;
	}
	error = json_string_value(json_object_get(reply, "error"));
	if (json_is_true(json_object_get(reply, "ok")))
		put_result(b, json_object_get(reply, "result"));
	else
		say_failed(b, error ? error : "it failed");
	json_decref(reply);
	/* A refusal of many names is not about one of them. */
	return !b->is_silent && (!error || n_names == 1);
}

static void run_batch(struct batch *b, int fd)
{
	bool goes_on = true;

	while (goes_on && (b->n || !b->has_ended) && read_lines(b)) {
		json_t *args = json_deep_copy(b->options);
		size_t n = args ? take_names(b, args) : 0;

		if (n) {
			goes_on = ask_batch(b, fd, args, n);
		} else if (!args) {
			say_failed(b, err_text(-ENOMEM));
			goes_on = false;
		} else if (b->n == sizeof(b->lines) - 1 && !memchr(b->lines, '\n', b->n)) {
			say_failed(b, "a line is too long");
			goes_on = false;
		}
		json_decref(args);
	}
}

/* --- Words ------------------------------------------------------------------------------------ */

bool batch_call_is(int n, char *const *words)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(words[i], "--batch"))
			return true;
	return false;
}

/* Takes --batch FILE out of the words. */
static const char *take_batch_file(struct batch *b, int n, char *const *words)
{
	const char *file = NULL;

	b->options = json_array();
	for (int i = 0; i < n; i++) {
		if (strcmp(words[i], "--batch") != 0)
			json_array_append_new(b->options, json_string(words[i]));
		else if (++i < n && !file)
			file = words[i];
		else
			return NULL;
	}
	return json_array_size(b->options) == 0 ||
			       (json_array_size(b->options) == 2 &&
				!strncmp(json_string_value(json_array_get(b->options, 0)), "--",
					 2)) ?
		       file :
		       NULL;
}

static int open_batch_file(struct batch *b, const char *file)
{
	b->in = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (b->in >= 0)
		return 0;
	fprintf(b->call->errors, "volleyctl: %s: %s: %s\n", b->command, file, err_text(-errno));
	return 1;
}

int batch_call(const struct batch_call *call, const char *command, int n, char *const *words)
{
	struct batch *b = calloc(1, sizeof(*b));
	const char *file;
	int fd;

	if (!b)
		return -ENOMEM;
	*b = (struct batch){ .call = call, .command = command, .in = -1 };
	file = take_batch_file(b, n, words);
	if (!file) {
		fprintf(call->errors, "usage: volleyctl %s --batch FILE%s\n", command,
			strcmp(command, "zone add") ? "" : " [--template T]");
		b->status = 2;
	} else if (open_batch_file(b, file)) {
		b->status = 1;
	} else {
		fd = call_open(call->socket);
		if (fd >= 0)
			run_batch(b, fd);
		else
			b->status = fd;
		if (fd >= 0)
			close(fd);
	}
	if (b->in > STDIN_FILENO)
		close(b->in);
	json_decref(b->options);
	fd = b->status;
	free(b);
	return fd;
}
