/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl import: the configuration of nsd, knotd, named or unbound as a volley.yaml.
 *
 *	nsd.conf, unbound.conf ─► parse_flat.c ──┐           ┌─► nsd.c, unbound.c ─┐
 *	knot.conf ──────────────► parse_knot.c ──┼─► tree.h ─┼─► knot.c ───────────┼─► carry.h ─┐
 *	named.conf ─────────────► parse_named.c ─┘           └─► named.c ──────────┘            │
 *	                   volley.yaml ◄─ yaml.h ◄──────────────────────────────────────────────┤
 *	                   notes: a line for each option that is left out ◄─────────────────────┘
 *
 * Secrets are in the result as they are in the file. No daemon is asked, and nothing but the files
 * is read.
 */
#ifndef VOLLEY_IMPORT_IMPORT_H
#define VOLLEY_IMPORT_IMPORT_H

#include <stdio.h>

enum import_kind { IMPORT_UNKNOWN, IMPORT_NSD, IMPORT_KNOT, IMPORT_NAMED, IMPORT_UNBOUND };

/* What "nsd", "knot", "named" and "unbound" stand for; IMPORT_UNKNOWN: another word. */
enum import_kind import_kind_of_word(const char *word);

/* Of which server the file is, by its name, else by the first words in it that only one server
 * has. */
enum import_kind import_kind_of_file(const char *path);

/*
 * Reads PATH and writes a volley.yaml to OUT, and to NOTES a line "FILE:LINE: option: ..." for each
 * option that is not carried over as it is. 0: all that matters is there. Else how many options
 * that matter were left out, or -EINVAL with the sentence on NOTES where the file cannot be read,
 * or -ENOMEM; then nothing is written to OUT. One thread.
 */
int import_run(FILE *out, FILE *notes, const char *path, enum import_kind kind)
	__attribute__((warn_unused_result));

/*
 * The command with its arguments: FILE [--from KIND] [-o FILE], in any order. The file of -o is for
 * this user alone (mode 0600), and takes the place of one that is there. Returns an exit code of
 * volleyctl.
 */
int import_command(FILE *out, FILE *errors, int n, char **words);

#endif
