/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a command: volleyctl opens it with the rights of its caller and sends the descriptor
 * (control/ctl.h), so volleyd reads and writes nothing that the caller could not.
 *
 *	config diff, config apply   a copy in memory, which cannot change between check and use
 *	cache load                  the file
 *	cache dump                  FILE.tmp, which volleyctl renames at the end
 */
#ifndef VOLLEY_CMD_PASSED_FILE_H
#define VOLLEY_CMD_PASSED_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/snapshot.h"

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

#endif
