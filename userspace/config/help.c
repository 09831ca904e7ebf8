/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the same tables in two forms: wrapped columns for a terminal, mdoc for a man page. */
#include "config/help.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"

#define LINE_WIDTH 80
#define TEXT_AT    30 /* the column where texts begin */

/* Writes TEXT from column AT on, in wrapped lines; the cursor is at column USED. */
static void put_help_wrapped(FILE *out, int used, int at, const char *text)
{
	int column = used;

	if (used + 2 > at) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", at - column, "");
	column = at;
	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > at && column + 1 + len > LINE_WIDTH) {
			fprintf(out, "\n%*s", at, "");
			column = at;
		}
		column += fprintf(out, "%s%.*s", column > at ? " " : "", len, text);
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}

static void put_options(FILE *out, const struct words_option *options)
{
	fputs("\noptions:\n", out);
	for (; options->flags; options++) {
		int used = fprintf(out, "  %s%s%s", options->flags, options->arg ? " " : "",
				   options->arg ? options->arg : "");

		put_help_wrapped(out, used, TEXT_AT, options->text);
	}
}

static void put_exits(FILE *out, const struct words_exit *exits)
{
	fputs("\nexit status:\n", out);
	for (; exits->text; exits++)
		put_help_wrapped(out, fprintf(out, "  %d", exits->code), TEXT_AT, exits->text);
}

void help_put_volleyd(FILE *out)
{
	fputs("usage: volleyd [-c FILE] [--check [--strict] [--zones]] [--keep] [-v]\n"
	      "       volleyd --schema\n"
	      "Answers DNS queries in the network driver, and in userspace what cannot be.\n",
	      out);
	put_options(out, words_volleyd_options);
	put_exits(out, words_volleyd_exits);
	fputs("\nmore: volleyd(8), volley.yaml(5), volleyctl(8)\n", out);
}

static void put_command(FILE *out, const struct words_command *command)
{
	int used =
		fprintf(out, "  %s%s%s", command->name, *command->args ? " " : "", command->args);

	put_help_wrapped(out, used, TEXT_AT, command->line);
}

unsigned int help_put_commands_of(FILE *out, const char *first)
{
	size_t len = strlen(first);
	unsigned int n = 0;

	for (const struct words_command *command = words_commands; command->name; command++) {
		if (strncmp(command->name, first, len) != 0 || command->name[len] != ' ')
			continue;
		if (!n++)
			fprintf(out, "volleyctl: %s is the first word of these commands:\n", first);
		put_command(out, command);
	}
	return n;
}

/* A command whose last word is WORD: "zone reload" for "reload". */
static const char *find_last_word(const char *word)
{
	for (const struct words_command *command = words_commands; command->name; command++) {
		const char *space = strrchr(command->name, ' ');

		if (space && !strcmp(space + 1, word))
			return command->name;
	}
	return NULL;
}

const char *help_find_meant(int argc, char *const argv[])
{
	char both[2 * NEAREST_WORD_MAX];
	struct nearest one, two;

	if (!argc)
		return NULL;
	snprintf(both, sizeof(both), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	nearest_begin(&one, argv[0]);
	nearest_begin(&two, both);
	for (const struct words_command *command = words_commands; command->name; command++) {
		nearest_offer(&one, command->name);
		if (argc > 1)
			nearest_offer(&two, command->name);
	}
	return two.found ? two.found : one.found ? one.found : find_last_word(argv[0]);
}

void help_put_command(FILE *out, const struct words_command *command)
{
	fprintf(out, "usage: volleyctl %s%s%s\n", command->name, *command->args ? " " : "",
		command->args);
	put_help_wrapped(out, TEXT_AT, 2, command->text);
}

void help_put_volleyctl(FILE *out)
{
	fputs("usage: volleyctl [-s SOCKET] [--json] [-w SECONDS] COMMAND [ARGUMENT...]\n"
	      "Asks a running volleyd, and commands it.\n"
	      "\ncommands:\n",
	      out);
	for (const struct words_command *command = words_commands; command->name; command++)
		put_command(out, command);
	put_options(out, words_volleyctl_options);
	put_exits(out, words_volleyctl_exits);
	fputs("\nmore: volleyctl(8), volleyd(8), volley.yaml(5)\n", out);
}

/*
 * Writes a word so that troff takes no part of it for a request or an escape, and the hyphens of an
 * option as minus signs. Returns the number of octets.
 */
static size_t put_man_word(FILE *out, const char *word, size_t len)
{
	size_t used = len;

	for (size_t i = 0; i < len; i++) {
		if (word[i] == '\\')
			used += (size_t)fprintf(out, "\\e") - 1;
		else if (word[i] == '-' && (!i || word[i - 1] == '-'))
			used += (size_t)fprintf(out, "\\-") - 1;
		else if (!i && (*word == '.' || *word == '\''))
			used += (size_t)fprintf(out, "\\&%c", *word) - 1;
		else
			fputc(word[i], out);
	}
	return used;
}

/* Writes a paragraph of mdoc; each sentence begins on a line of its own. */
static void put_man_text(FILE *out, const char *text)
{
	size_t used = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (used + len > 76) {
			fputc('\n', out);
			used = 0;
		}
		if (used)
			used += (size_t)fprintf(out, " ");
		used += put_man_word(out, text, len);
		if (text[len] && text[len - 1] == '.') {
			fputc('\n', out);
			used = 0;
		}
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}

/* Keeps brackets around arguments: "[all | zone NAME]" is printed as it is. */
static void put_man_commands(FILE *out)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (const struct words_command *command = words_commands; command->name; command++) {
		fprintf(out, ".It Cm %s", command->name);
		if (*command->args)
			fputs(" No ", out);
		put_man_text(out, command->args);
		put_man_text(out, command->text);
	}
	fputs(".El\n", out);
}

static void put_man_options(FILE *out, const struct words_option *options)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (; options->flags; options++) {
		const char *flag = options->flags;

		fputs(".It", out);
		while (*flag) {
			int len = (int)strcspn(flag, ",");

			fprintf(out, " Fl %.*s%s", len - 1, flag + 1, flag[len] ? " ," : "");
			flag += len + (flag[len] ? 2 : 0);
		}
		fprintf(out, "%s%s\n", options->arg ? " Ar " : "",
			options->arg ? options->arg : "");
		put_man_text(out, options->text);
	}
	fputs(".El\n", out);
}

static void put_man_exits(FILE *out, const struct words_exit *exits)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (; exits->text; exits++) {
		fprintf(out, ".It %d\n", exits->code);
		put_man_text(out, exits->text);
	}
	fputs(".El\n", out);
}

static void put_man_key(FILE *out, const struct words_key *key)
{
	char accepts[160];

	fprintf(out, ".It Cm %s\n", key->path);
	put_man_text(out, key->text);
	if (key->type == WORDS_MAP || key->type == WORDS_MAPS)
		return;
	words_accepts(key, accepts, sizeof(accepts));
	fputs(".br\nAccepts:\n", out);
	put_man_text(out, accepts);
	if (key->fallback)
		fprintf(out, ".br\nDefault:\n%s\n", key->fallback);
	if (key->needs_start)
		fputs(".br\nA change needs a new start.\n", out);
}

static void put_man_keys(FILE *out)
{
	const struct words_key *key;

	fputs(".Bl -tag -width Ds\n", out);
	for (unsigned int i = 0; (key = words_key_at(i)); i++)
		put_man_key(out, key);
	fputs(".El\n", out);
}

static void put_man_counters(FILE *out, const struct words_counter *counters)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (; counters->name; counters++) {
		fprintf(out, ".It Cm %s\n", counters->name);
		put_man_text(out, counters->text);
	}
	fputs(".El\n", out);
}

static void put_man_faults(FILE *out)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (const struct words_fault *fault = words_faults; fault->name; fault++) {
		fprintf(out, ".It Cm %s , No a %s\n", fault->name,
			fault->is_reason ? "reason" : "warning");
		put_man_text(out, fault->text);
	}
	fputs(".El\n", out);
}

static void put_man_reasons(FILE *out)
{
	char key[WORDS_REASON_BYTES];

	fputs(".Bl -tag -width Ds\n", out);
	for (int i = 0; i < VOLLEY_N_REASONS; i++) {
		fprintf(out, ".It Cm %s\n", words_reason_key((enum volley_reason)i, key));
		put_man_text(out, words_reason_text((enum volley_reason)i));
	}
	fputs(".El\n", out);
}

/* For completion: one name on each line. */
static void put_command_names(FILE *out)
{
	for (const struct words_command *c = words_commands; c->name; c++)
		fprintf(out, "%s\n", c->name);
}

/* For completion: the commands that are followed by the name of a zone. */
static void put_zone_command_names(FILE *out)
{
	for (const struct words_command *c = words_commands; c->name; c++)
		if (!strncmp(c->name, "zone ", strlen("zone ")) &&
		    (!strncmp(c->args, "NAME", strlen("NAME")) || !strcmp(c->args, "[NAME]")))
			fprintf(out, "%s\n", c->name);
}

/* "-w, --wait" gives two lines. */
static void put_help_flags(FILE *out, const struct words_option *options)
{
	for (; options->flags; options++) {
		const char *comma = strstr(options->flags, ", ");

		if (comma)
			fprintf(out, "%.*s\n%s\n", (int)(comma - options->flags), options->flags,
				comma + 2);
		else
			fprintf(out, "%s\n", options->flags);
	}
}

static int put_man_list(FILE *out, const char *word)
{
	if (!strcmp(word, "@commands@"))
		put_man_commands(out);
	else if (!strcmp(word, "@keys@"))
		put_man_keys(out);
	else if (!strcmp(word, "@volleyd-options@"))
		put_man_options(out, words_volleyd_options);
	else if (!strcmp(word, "@volleyctl-options@"))
		put_man_options(out, words_volleyctl_options);
	else if (!strcmp(word, "@volleyd-exits@"))
		put_man_exits(out, words_volleyd_exits);
	else if (!strcmp(word, "@volleyctl-exits@"))
		put_man_exits(out, words_volleyctl_exits);
	else if (!strcmp(word, "@reasons@"))
		put_man_reasons(out);
	else if (!strcmp(word, "@engine-counters@"))
		put_man_counters(out, words_engine_counters);
	else if (!strcmp(word, "@resolver-counters@"))
		put_man_counters(out, words_resolver_counters);
	else if (!strcmp(word, "@responder-counters@"))
		put_man_counters(out, words_responder_counters);
	else if (!strcmp(word, "@faults@"))
		put_man_faults(out);
	else if (!strcmp(word, "@command-names@"))
		put_command_names(out);
	else if (!strcmp(word, "@zone-commands@"))
		put_zone_command_names(out);
	else if (!strcmp(word, "@volleyctl-flags@"))
		put_help_flags(out, words_volleyctl_options);
	else
		return -EINVAL;
	return 0;
}

int help_fill_man(FILE *out, FILE *in, const char *version)
{
	char *line = NULL;
	size_t cap = 0;
	int ret = 0;

	while (!ret && getline(&line, &cap, in) >= 0) {
		char *place = strstr(line, "@version@");

		line[strcspn(line, "\n")] = '\0';
		if (place)
			fprintf(out, "%.*s%s%s\n", (int)(place - line), line, version,
				place + strlen("@version@"));
		else if (*line == '@')
			ret = put_man_list(out, line);
		else
			fprintf(out, "%s\n", line);
	}
	free(line);
	return ret;
}
