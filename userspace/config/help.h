/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the words of config/words.h for --help and for the man pages. */
#ifndef VOLLEY_CONFIG_HELP_H
#define VOLLEY_CONFIG_HELP_H

#include <stdio.h>

/* Writes the --help text of each program. The caller checks OUT for errors. */
void help_put_volleyd(FILE *out);
void help_put_volleyctl(FILE *out);

struct words_command;

/* Writes the text of "help COMMAND". */
void help_put_command(FILE *out, const struct words_command *command);

/* Writes the commands of several words that begin with FIRST; returns their number. */
unsigned int help_put_commands_of(FILE *out, const char *first);

/*
 * The name of the command that a user probably meant by ARGV, which begins with no command: its
 * name is nearly that, or its last word is the first of ARGV. NULL: none. The name is static.
 */
const char *help_find_meant(int argc, char *const argv[]);

/*
 * Copies the template IN, of a man page or of a shell's completion, to OUT. A line that has only
 * one of these words is replaced by mdoc text: @commands@, @keys@, @volleyd-options@,
 * @volleyctl-options@, @volleyd-exits@, @volleyctl-exits@, @reasons@, @faults@,
 * @engine-counters@; or by lines of plain text: @command-names@, @volleyctl-flags@. @version@ is
 * replaced anywhere. 0, or -EINVAL for a line in @ that is none of these words.
 */
int help_fill_man(FILE *out, FILE *in, const char *version) __attribute__((warn_unused_result));

/*
 * Of the known words, the one that a mistyped word is most like: for "did you mean". One edit is a
 * letter too many, too few, another letter, or two letters in the wrong order.
 *
 *      struct nearest n;
 *
 *      nearest_begin(&n, "lisen");
 *      for each known word: nearest_offer(&n, known);
 *      if (n.found) ...
 */

#define NEAREST_WORD_MAX 48 /* octets; a longer word is like no other */

struct nearest {
	const char *word;
	const char *found; /* NULL: no word that was offered is near enough */
	unsigned int edits;
};

/* WORD lives as long as N. */
void nearest_begin(struct nearest *n, const char *word);

/*
 * Takes KNOWN if the word becomes KNOWN by fewer edits than by those before, and by at most a third
 * of its letters, or one edit if it has two letters or more. Of equals the first stays. KNOWN lives
 * as long as N.
 */
void nearest_offer(struct nearest *n, const char *known);

#endif
