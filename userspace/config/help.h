/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of config/words.h as --help prints them and as the man pages take them in. */
#ifndef VOLLEY_CONFIG_HELP_H
#define VOLLEY_CONFIG_HELP_H

#include <stdio.h>

/* What --help of each program prints. Errors of OUT are for the caller to look up. */
void help_put_volleyd(FILE *out);
void help_put_volleyctl(FILE *out);

struct words_command;

/* What "help COMMAND" prints. */
void help_put_command(FILE *out, const struct words_command *command);

/* Writes which commands of several words begin with @first; nothing if none does. How many there
 * are. */
unsigned int help_put_commands_of(FILE *out, const char *first);

/*
 * Copies the template IN, of a man page or of a shell's completion, to OUT. A line that is one of
 * these words alone is replaced by mdoc
 * text: @commands@, @keys@, @volleyd-options@, @volleyctl-options@, @volleyd-exits@,
 * @volleyctl-exits@, @reasons@, @engine-counters@; @command-names@ and @volleyctl-flags@ by lines
 * of plain text.
 * @version@ is replaced anywhere. Returns 0, or -EINVAL for a line in @ that is no such word.
 */
int help_fill_man(FILE *out, FILE *in, const char *version) __attribute__((warn_unused_result));

#endif
