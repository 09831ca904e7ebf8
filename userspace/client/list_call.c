/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/result_text.h"

enum { LIST_DONE, LIST_REFUSED, LIST_USAGE };

/* A text waits for so many rows, or so long, so that its columns fit the rows of a short list. */
#define TEXT_ROWS 500u
#define TEXT_NS   30000000ull

struct listing {
	const struct list_call *call;
	const char *command; /* as given: `zone status` asks for the list, and shows all of it */
	const json_t *args;
	int fd;            /* -1: not connected */
	uint64_t left;     /* rows that may follow; UINT64_MAX: no limit */
	json_t *rows;      /* that are not written yet */
	uint64_t since_ns; /* the first of them was asked for */
	uint64_t n_put;    /* rows that were written */
	struct result_pieces pieces;
};

/* --- Asking ----------------------------------------------------------------------------------- */

static bool is_list_option(const char *word)
{
	return !strcmp(word, "--after") || !strcmp(word, "--limit");
}

/* The limit that the user gave; the daemon refuses what is no number. */
static uint64_t read_given_limit(const json_t *args)
{
	uint64_t limit = UINT64_MAX;

	for (size_t i = 0; i + 1 < json_array_size(args); i++)
		if (!strcmp(json_string_value(json_array_get(args, i)), "--limit"))
			limit = strtoull(json_string_value(json_array_get(args, i + 1)), NULL, 10);
	return limit;
}

/* The arguments for the page after the zone NEXT. A new reference, or NULL. */
static json_t *make_next_args(const struct listing *l, const char *next)
{
	json_t *args = json_pack("[s, s]", "--after", next);
	size_t n = json_array_size(l->args);
	int err = args ? 0 : -1;

	for (size_t i = 0; i < n; i++) {
		json_t *word = json_array_get(l->args, i);

		if (is_list_option(json_string_value(word)))
			i++;
		else
			err |= json_array_append(args, word);
	}
	if (l->left != UINT64_MAX) {
		err |= json_array_append_new(args, json_string("--limit"));
		err |= json_array_append_new(args,
					     json_sprintf("%llu", (unsigned long long)l->left));
	}
	if (!err)
		return args;
	json_decref(args);
	return NULL;
}

/* Once again over a new connection, if the daemon has closed this one in the meantime. */
static int ask_for_page(struct listing *l, const json_t *args, json_t **reply)
{
	bool is_old = l->fd >= 0;
	int ret;

	*reply = NULL;
	for (;;) {
		if (l->fd < 0)
			l->fd = call_open(l->call->socket);
		if (l->fd < 0)
			return l->fd;
		ret = call_run(l->fd, "zone list", args, l->call->wait_ms, reply);
		if (ret != ERR_CLOSED || !is_old)
			return ret;
		close(l->fd);
		l->fd = -1;
		is_old = false;
	}
}

/* --- Writing ---------------------------------------------------------------------------------- */

static int put_list_row(const struct listing *l, const json_t *row, bool is_first)
{
	FILE *out = l->call->out;
	char *text;

	if (l->call->form == LIST_NAMES) {
		fprintf(out, "%s\n", json_string_value(json_object_get(row, "name")));
		return 0;
	}
	text = json_dumps(row, JSON_COMPACT);
	if (!text)
		return -ENOMEM;
	if (l->call->form == LIST_JSON_LINES)
		fprintf(out, "%s\n", text);
	else
		fprintf(out, "%s%s", is_first ? "" : ",\n", text);
	free(text);
	return 0;
}

static int put_list_rows(const struct listing *l)
{
	json_t *row;
	size_t i;
	int ret = 0;

	json_array_foreach(l->rows, i, row)
		if (!ret)
			ret = put_list_row(l, row, !l->n_put && !i);
	return ret;
}

/* Writes the rows that have come. 1: the reader of the output has gone. */
static int put_listing(struct listing *l, bool is_last)
{
	FILE *out = l->call->out;
	int ret;

	if (l->call->form == LIST_JSON && !l->pieces.is_begun)
		fputs("{\"zones\": [\n", out);
	if (l->call->form == LIST_TEXT)
		ret = result_pieces_put(&l->pieces, l->rows, is_last);
	else
		ret = put_list_rows(l);
	l->pieces.is_begun = true;
	l->n_put += json_array_size(l->rows);
	json_array_clear(l->rows);
	if (!ret && (fflush(out) || ferror(out)))
		ret = errno == EPIPE ? 1 : -errno;
	return ret;
}

/* Closes the object; NEXT: the limit has cut the list there. */
static void put_list_end(const struct listing *l, const char *next)
{
	json_t *text = next ? json_string(next) : NULL;

	if (l->call->form != LIST_JSON || !l->pieces.is_begun)
		return;
	fputs(l->n_put ? "\n]" : "]", l->call->out);
	if (text) {
		fputs(", \"next\": ", l->call->out);
		(void)json_dumpf(text, l->call->out, JSON_ENCODE_ANY);
	}
	fputs("}\n", l->call->out);
	json_decref(text);
}

/* --- From page to page ------------------------------------------------------------------------ */

static int tell_list_refusal(const struct listing *l, const json_t *reply)
{
	const char *code = json_string_value(json_object_get(reply, "code"));
	const char *error = json_string_value(json_object_get(reply, "error"));

	fprintf(l->call->errors, "volleyctl: %s: %s\n", l->command, error ? error : "it failed");
	snprintf(l->call->code, LIST_CODE_CAP, "%s", code ? code : "");
	return call_is_usage(l->call->code) ? LIST_USAGE : LIST_REFUSED;
}

static bool is_put_due(const struct listing *l, bool is_last)
{
	size_t n = json_array_size(l->rows);

	return is_last || (n && (l->call->form != LIST_TEXT || n >= TEXT_ROWS ||
				 clock_ns() - l->since_ns >= TEXT_NS));
}

/* *NEXT: the arguments for the next page, or NULL: that was the last one. As put_listing(). */
static int take_page(struct listing *l, const json_t *result, json_t **next)
{
	json_t *zones = json_object_get(result, "zones");
	const char *name = json_string_value(json_object_get(result, "next"));
	uint64_t n = json_array_size(zones);
	bool is_last;
	int ret;

	*next = NULL;
	l->left -= l->left == UINT64_MAX ? 0 : n < l->left ? n : l->left;
	is_last = !name || !l->left;
	if (n && json_array_extend(l->rows, zones))
		return -ENOMEM;
	ret = is_put_due(l, is_last) ? put_listing(l, is_last) : 0;
	if (!json_array_size(l->rows))
		l->since_ns = clock_ns();
	if (is_last)
		put_list_end(l, name);
	else
		*next = make_next_args(l, name);
	return !ret && !is_last && !*next ? -ENOMEM : ret;
}

/* 0: that was the last page; else as run_listing(). */
static int run_list_page(struct listing *l, const json_t *args, json_t **next)
{
	json_t *reply;
	int ret = ask_for_page(l, args, &reply);

	*next = NULL;
	if (ret && l->fd < 0 && !l->pieces.is_begun)
		return ret; /* no daemon */
	if (ret) {
		fprintf(l->call->errors, "volleyctl: no reply from volleyd on %s: %s\n",
			l->call->socket, err_text(ret));
		return LIST_REFUSED;
	}
	if (!json_is_true(json_object_get(reply, "ok"))) {
		ret = tell_list_refusal(l, reply);
		json_decref(reply);
		return ret;
	}
	ret = take_page(l, json_object_get(reply, "result"), next);
	json_decref(reply);
	if (ret >= 0)
		return LIST_DONE;
	fprintf(l->call->errors, "volleyctl: the output cannot be written: %s\n", err_text(ret));
	return LIST_REFUSED;
}

static int run_listing(struct listing *l)
{
	json_t *args = json_incref((json_t *)(uintptr_t)l->args), *next;
	int ret;

	do {
		ret = run_list_page(l, args, &next);
		json_decref(args);
		args = next;
	} while (!ret && args && !ferror(l->call->out));
	json_decref(args);
	/* The object stays open: no program may take a part of the list for all of it. */
	if (ret && l->call->form == LIST_JSON && l->pieces.is_begun)
		fputc('\n', l->call->out);
	return ret;
}

int list_call(const struct list_call *call, const char *command, const json_t *args)
{
	struct listing l = {
		.call = call,
		.command = command,
		.args = args,
		.fd = -1,
		.left = read_given_limit(args),
		.rows = json_array(),
		.since_ns = clock_ns(),
		.pieces = { .out = call->out, .command = command, .key = "zones" },
	};
	int ret = l.rows ? run_listing(&l) : LIST_REFUSED;

	if (!ret && fflush(call->out) && errno != EPIPE) {
		fprintf(call->errors, "volleyctl: the output cannot be written: %s\n",
			err_text(-errno));
		ret = LIST_REFUSED;
	}
	if (l.fd >= 0)
		close(l.fd);
	result_pieces_end(&l.pieces);
	json_decref(l.rows);
	return ret;
}
