/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl import is a program of its own, in Python (scripts/import): it runs once in the life of
 * a host, and reads files of strangers (docs/decisions/0055-import-is-a-script.md).
 */
#ifndef VOLLEY_CMD_IMPORT_SCRIPT_H
#define VOLLEY_CMD_IMPORT_SCRIPT_H

#include <stdio.h>

/*
 * Replaces this process by the script, with the N words of the command as its arguments. The script
 * and volleyd are looked for beside the file of this program: as in build/, or as installed.
 * Returns only if that fails, a negative errno, with a line in ERRORS.
 */
int import_script_run(FILE *errors, int n, char **words) __attribute__((warn_unused_result));

#endif
