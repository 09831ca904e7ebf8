/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/call.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "client/probe.h"

#define PROBES_CAP 16

struct question {
	const char *text;
	struct probe probe;
};

struct words {
	json_t *args; /* arguments for the daemon */
	struct question questions[PROBES_CAP];
	unsigned int n;
};

static bool read_probe(struct words *w, const char *text)
{
	struct question *q = &w->questions[w->n];
	int code;

	if (!text || w->n == PROBES_CAP) {
		fprintf(stderr, "volleyctl: --probe takes NAME or NAME/TYPE, %d times at most\n",
			PROBES_CAP);
		return false;
	}
	code = probe_read(&q->probe, text);
	if (code)
		fprintf(stderr, "volleyctl: --probe %s: %s\n", text, err_text(code));
	q->text = text;
	w->n += !code;
	return !code;
}

static bool read_health_words(struct words *w, int n, char *const *words)
{
	*w = (struct words){ .args = json_array() };
	for (int i = 0; i < n; i++) {
		if (!strcmp(words[i], "--probe")) {
			i++;
			if (!read_probe(w, i < n ? words[i] : NULL))
				return false;
		} else if (json_array_append_new(w->args, json_string(words[i]))) {
			fputs("volleyctl: an argument is not UTF-8\n", stderr);
			return false;
		}
	}
	return true;
}

/* --- Questions -------------------------------------------------------------------------------- */

/* Reads an address such as "192.0.2.1@53" from the daemon's reply. */
static int read_service(struct port_addr *addr, const char *text)
{
	char copy[PORT_ADDR_TEXT_CAP];
	char *at;

	snprintf(copy, sizeof(copy), "%s", text ? text : "");
	at = strrchr(copy, '@');
	if (!at)
		return ERR_FORMAT;
	*at = 0;
	return port_addr_from_text(addr, copy, (uint16_t)atoi(at + 1));
}

static void ask_health(const struct question *q, const char *service, int wait_ms, json_t *reasons)
{
	struct port_addr addr;
	char err[128];
	int code = read_service(&addr, service);

	snprintf(err, sizeof(err), "%s", err_text(code));
	if (!code)
		code = probe_ask(&q->probe, &addr, wait_ms, err, sizeof(err));
	if (code)
		json_array_append_new(reasons, json_sprintf("%s: no answer from %s: %s", q->text,
							    service, err));
}

static void ask_all(const struct words *w, int wait_ms, json_t *result)
{
	const json_t *services = json_object_get(result, "services");
	json_t *reasons = json_object_get(result, "reasons");

	for (unsigned int i = 0; i < w->n; i++)
		for (size_t k = 0; k < json_array_size(services); k++)
			ask_health(&w->questions[i], json_string_value(json_array_get(services, k)),
				   wait_ms, reasons);
	if (json_array_size(reasons))
		json_object_set_new(result, "healthy", json_false());
}

/* Makes the result if the daemon has given none. */
static json_t *make_health_result(const char *what, const char *socket, const char *why)
{
	json_t *reason = json_sprintf("%s %s: %s", what, socket, why);

	return json_pack("{s:b, s:[o], s:[]}", "healthy", 0, "reasons",
			 reason ? reason : json_string(what), "warnings");
}

/* Puts the daemon's reply, a new reference, into *REPLY. 0 or a negative code. */
static int ask_daemon(const char *socket, int wait_ms, const json_t *args, json_t **reply)
{
	int fd = call_open(socket), code;

	*reply = NULL;
	if (fd < 0)
		return fd;
	code = call_run(fd, "health", args, wait_ms, reply);
	close(fd);
	return code;
}

/* --- Printing --------------------------------------------------------------------------------- */

static void print_list(FILE *out, const char *before, const json_t *list)
{
	json_t *text;
	size_t i;

	json_array_foreach(list, i, text)
		fprintf(out, "%s: %s\n", before, json_string_value(text));
}

static void print_health(FILE *out, bool is_json, const json_t *result)
{
	if (is_json) {
		json_dumpf(result, out, JSON_INDENT(2));
		fputc('\n', out);
		return;
	}
	if (json_is_true(json_object_get(result, "healthy")))
		fputs("healthy\n", out);
	print_list(out, "not healthy", json_object_get(result, "reasons"));
	print_list(out, "warning", json_object_get(result, "warnings"));
}

/* Handles a reply that refuses the command, for example from a busy daemon. */
static enum health_exit take_refusal(const char *socket, const json_t *reply, json_t **result)
{
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (!error)
		error = "it failed";
	/* Wrong arguments say nothing about the daemon's health. */
	if (!call_is_usage(json_string_value(json_object_get(reply, "code")))) {
		*result = make_health_result("volleyd refuses to report its health on", socket,
					     error);
		return HEALTH_EXIT_NOT;
	}
	fprintf(stderr, "volleyctl: health: %s\n", error);
	return HEALTH_EXIT_USAGE;
}

static enum health_exit take_result(const struct words *w, int wait_ms, json_t *result)
{
	ask_all(w, wait_ms, result);
	return json_is_true(json_object_get(result, "healthy")) ? HEALTH_EXIT_HEALTHY :
								  HEALTH_EXIT_NOT;
}

static enum health_exit run_health_call(FILE *out, const char *socket, int wait_ms, bool is_json,
					const struct words *w)
{
	enum health_exit status = HEALTH_EXIT_NO_DAEMON;
	json_t *reply, *result = NULL;
	int code = ask_daemon(socket, wait_ms, w->args, &reply);

	if (code) {
		result = make_health_result(code == -ETIMEDOUT || code == ERR_CLOSED ?
						    "volleyd does not reply on" :
						    "no volleyd answers on",
					    socket, err_text(code));
	} else if (json_is_true(json_object_get(reply, "ok"))) {
		result = json_incref(json_object_get(reply, "result"));
		status = take_result(w, wait_ms, result);
	} else {
		status = take_refusal(socket, reply, &result);
	}
	if (result)
		print_health(out, is_json, result);
	json_decref(result);
	json_decref(reply);
	return status;
}

enum health_exit health_call(FILE *out, const char *socket, int wait_ms, bool is_json, int n,
			     char *const *words)
{
	enum health_exit status = HEALTH_EXIT_USAGE;
	struct words w;

	if (read_health_words(&w, n, words))
		status = run_health_call(out, socket, wait_ms, is_json, &w);
	json_decref(w.args);
	return status;
}
