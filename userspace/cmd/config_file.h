/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `config apply` on the side of volleyctl: writes the new text beside the configuration's file,
 * lets volleyd read it there, and then puts it in place, all with the rights of the caller.
 */
#ifndef VOLLEY_CMD_CONFIG_FILE_H
#define VOLLEY_CMD_CONFIG_FILE_H

#include <stddef.h>

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

#endif
