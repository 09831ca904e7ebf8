/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and replies are JSON. Every failure becomes a reply with a sentence. */
#include "control/ctl_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_put.h"
#include "config/words.h"
#include "control/rights.h"

#define ERR_CAP 1024

/* Takes the reference. NULL: the reply could not be built or written. */
static char *write_line(json_t *reply)
{
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	char *line = text ? realloc(text, len + 2) : NULL;

	json_decref(reply);
	if (!line) {
		free(text);
		return NULL;
	}
	memcpy(line + len, "\n", 2);
	return line;
}

char *ctl_request_refuse(const char *code, const char *sentence)
{
	return write_line(json_pack("{s:b, s:o, s:s}", "ok", 0, "error", json_failure(sentence),
				    "code", code));
}

static const struct words_command *find_words(const char *name)
{
	for (const struct words_command *words = words_commands; words->name; words++)
		if (!strcmp(words->name, name))
			return words;
	return NULL;
}

int ctl_request_check_commands(const struct ctl_command *commands)
{
	for (; commands->name; commands++)
		if (!find_words(commands->name))
			return -EINVAL;
	return 0;
}

static const struct ctl_command *find_command(const struct ctl_command *commands, const char *name)
{
	for (; commands->name; commands++)
		if (!strcmp(commands->name, name))
			return commands;
	return NULL;
}

static char *reply_result(enum ctl_kind may, json_t *result)
{
	if (may < CTL_OWNS && quoted_hide(result)) {
		json_decref(result);
		return NULL;
	}
	return write_line(
		json_pack("{s:b, s:o}", "ok", 1, "result", result ? result : json_object()));
}

char *ctl_request_reply(enum ctl_kind may, int code, json_t *result, const char *err)
{
	const char *name;
	char sentence[ERR_CAP];

	if (!code)
		return reply_result(may, result);
	json_decref(result);
	name = err_name(code);
	snprintf(sentence, sizeof(sentence), "%s", *err ? err : err_text(code));
	if (may < CTL_OWNS)
		quoted_hide_text(sentence);
	return ctl_request_refuse(name ? name : "error", sentence);
}

static char *refuse_request(struct ctl_request_told *told, const char *code, const char *sentence)
{
	snprintf(told->result, sizeof(told->result), "%s", code);
	return ctl_request_refuse(code, sentence);
}

void ctl_request_tell(struct ctl_request_told *told, int code)
{
	const char *name = code ? err_name(code) : "ok";

	snprintf(told->result, sizeof(told->result), "%s", name ? name : "error");
}

static void tell_words(struct ctl_request_told *told, const char *name, const json_t *args)
{
	size_t at = (size_t)snprintf(told->words, sizeof(told->words), "%s", name), i;
	const json_t *arg;

	json_array_foreach(args, i, arg) {
		if (at >= sizeof(told->words))
			return;
		at += (size_t)snprintf(told->words + at, sizeof(told->words) - at, " %s",
				       json_string_value(arg));
	}
}

static char *run_request_command(const struct ctl_command *command, void *user, enum ctl_kind may,
				 const json_t *args, bool *is_later, struct ctl_request_told *told)
{
	const struct words_command *words = find_words(command->name);
	size_t n_args = json_array_size(args);
	json_t *result = NULL;
	char err[ERR_CAP] = "";
	int ret;

	if (n_args < words->min_args || n_args > words->max_args) {
		snprintf(err, sizeof(err), "usage: %s%s%s", words->name, *words->args ? " " : "",
			 words->args);
		return refuse_request(told, "usage", err);
	}
	ret = command->run(command->of ? command->of(user) : user, args, &result, err, sizeof(err));
	*is_later = ret == CTL_LATER;
	if (*is_later)
		return NULL;
	ctl_request_tell(told, ret);
	return ctl_request_reply(may, ret, result, err);
}

static int are_strings(const json_t *args)
{
	size_t i;
	json_t *arg;

	json_array_foreach(args, i, arg)
		if (!json_is_string(arg))
			return 0;
	return json_is_array(args);
}

static char *run_object(const struct ctl_command *commands, void *user, enum ctl_kind may,
			json_t *request, bool *is_later, struct ctl_request_told *told)
{
	const json_t *version = json_object_get(request, "v");
	const char *name = json_string_value(json_object_get(request, "command"));
	const json_t *args = json_object_get(request, "args");
	const struct ctl_command *command;
	json_t *no_args;
	char *reply;

	if (!json_is_integer(version) || json_integer_value(version) != CTL_VERSION)
		return refuse_request(told, "version",
				      "this daemon speaks version 1 (\"v\":1): use the "
				      "volleyctl that came with it");
	if (!name || (args && !are_strings(args)))
		return refuse_request(told, "request",
				      "a request has a \"command\", a string, and may "
				      "have \"args\", an array of strings");
	tell_words(told, name, args);
	command = find_command(commands, name);
	if (!command)
		return refuse_request(told, "command", "this daemon does not know that command");
	if (may < command->kind)
		return refuse_request(told, "EACCES", rights_refusal(command->kind));
	told->command = command;
	no_args = json_array();
	reply = no_args ? run_request_command(command, user, may, args ? args : no_args, is_later,
					      told) :
			  NULL;
	json_decref(no_args);
	return reply;
}

char *ctl_request_run(const struct ctl_command *commands, void *user, enum ctl_kind may,
		      const char *line, size_t len, bool *is_later, struct ctl_request_told *told)
{
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	char *reply;

	*is_later = false;
	*told = (struct ctl_request_told){ .words = "?" };
	if (json_is_object(request))
		reply = run_object(commands, user, may, request, is_later, told);
	else
		reply = refuse_request(told, "request", "a request is one JSON object on one line");
	json_decref(request);
	return reply;
}
