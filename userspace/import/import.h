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
 * The result has the secrets of the file. Import asks no daemon, and reads only these files.
 */
#ifndef VOLLEY_IMPORT_IMPORT_H
#define VOLLEY_IMPORT_IMPORT_H

#include <stdio.h>

enum import_kind { IMPORT_UNKNOWN, IMPORT_NSD, IMPORT_KNOT, IMPORT_NAMED, IMPORT_UNBOUND };

/* The kind that "nsd", "knot", "named" or "unbound" means; IMPORT_UNKNOWN for another word. */
enum import_kind import_kind_of_word(const char *word);

/* The server of a file, by its name, or else by the first words that only one server uses. */
enum import_kind import_kind_of_file(const char *path);

/*
 * Reads PATH, writes a volley.yaml to OUT, and writes a line "FILE:LINE: option: ..." to NOTES for
 * each option that is not carried over unchanged. Returns 0 if all options that matter are carried
 * over, or the number of options that are not. Returns -EINVAL, with a line in NOTES, if the file
 * cannot be read, or -ENOMEM; then OUT gets nothing. One thread.
 */
int import_run(FILE *out, FILE *notes, const char *path, enum import_kind kind)
	__attribute__((warn_unused_result));

/*
 * Runs the command with its arguments: FILE [--from KIND] [-o FILE], in any order. The file of -o
 * gets mode 0600, and replaces an existing one. Returns an exit code of volleyctl.
 */
int import_command(FILE *out, FILE *errors, int n, char **words);

#endif
