/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of volleyctl that need no daemon, or do more than ask it (client/call.h) and print its
 * answer: files of the caller, zone check, import.
 *
 * `config apply` on the side of volleyctl: writes the new text beside the configuration's file,
 * lets volleyd read it there, and then puts it in place, all with the rights of the caller.
 */
#ifndef VOLLEY_CMD_VOLLEYCTL_H
#define VOLLEY_CMD_VOLLEYCTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cache/snapshot.h"

/*
 * Locks the folder of FILE; a second caller is refused. Otherwise the file could be from one caller
 * and the configuration in force from the other. Signals that end the program are blocked until
 * config_file_unlock(), so no file is left behind. A descriptor, or -errno with a sentence in ERR.
 */
int config_file_lock(const char *file, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
void config_file_unlock(int lock);

/* Copies the file IN from its start to OUT. 0 or -errno. */
int config_file_copy(int in, int out) __attribute__((warn_unused_result));

/*
 * Copies FROM, an open file, to a new file in the folder of FILE, with FILE's mode and owner, and
 * syncs it. *STAGED is its name; the caller frees it with free(). 0; or -errno with a sentence in
 * ERR, and no file is left.
 */
int config_file_stage(char **staged, int from, const char *file, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Renames STAGED to FILE. 0 or -errno with a sentence in ERR. */
int config_file_replace(const char *staged, const char *file, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * The file of a command: volleyctl opens it with the rights of its caller and sends the descriptor
 * (control/ctl.h), so volleyd reads and writes nothing that the caller could not.
 *
 *	config diff, config apply   a copy in memory, which cannot change between check and use
 *	cache load                  the file
 *	attach                      a text that names the interface, which the broker believes if
 *	                            root has made it (broker/named.h)
 *	cache dump                  FILE.tmp, which volleyctl renames at the end
 */

struct passed_file {
	int fd; /* -1: the command has no file */
	const char *path;
	bool is_dump;
	struct snapshot_place place; /* of a dump */
};

/*
 * Opens PATH, which must live as long, if COMMAND has a file. 0, or a negative code with a sentence
 * in ERR; then there is nothing to close.
 */
int passed_file_open(struct passed_file *file, const char *command, const char *path, char *err,
		     size_t err_cap) __attribute__((warn_unused_result));

/* True if the first argument of COMMAND is the name of such a file. */
bool passed_file_is_of(const char *command);

/* Puts a dump in place if IS_DONE, and closes the file. 0, or a negative code as above. */
int passed_file_close(struct passed_file *file, bool is_done, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * volleyctl zone check: reads a zone file as volleyd would, without a daemon. The caller's process
 * opens it and the files that it includes, so it shows no line of a file that the caller may not
 * read.
 */

/*
 * Reads FILE as the zone NAME. 0: *RESULT is a new object with valid, serial, records, warnings,
 * and the first warning. Otherwise a negative code, and in err a line with file, line and sentence
 * for each mistake, up to 20.
 */
int zone_check_file(const char *name, const char *file, json_t **result, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * volleyctl import is a program of its own, in Python (scripts/import): it runs once in the life of
 * a host, and reads files of strangers (docs/decisions/0055-import-is-a-script.md).
 */

/*
 * Replaces this process by the script, with the N words of the command as its arguments. The script
 * and volleyd are looked for beside the file of this program: as in build/, or as installed.
 * Returns only if that fails, a negative errno, with a line in ERRORS.
 */
int import_script_run(FILE *errors, int n, char **words) __attribute__((warn_unused_result));

#endif
