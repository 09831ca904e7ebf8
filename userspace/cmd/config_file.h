/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `config apply` on the side of volleyctl: the new text beside the configuration's file, and then
 * in its place, with the rights of who calls it. volleyd reads the new text in between, from there.
 */
#ifndef VOLLEY_CMD_CONFIG_FILE_H
#define VOLLEY_CMD_CONFIG_FILE_H

#include <stddef.h>

/*
 * Of two that would replace FILE at once, the one that comes later is refused: else the file could
 * be that of the one and the configuration that of the other. Signals that end a program wait until
 * config_file_unlock(), so that nothing is left behind. A descriptor, or -errno with a sentence in
 * ERR.
 */
int config_file_lock(const char *file, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
void config_file_unlock(int lock);

/*
 * Copies FROM to a new file in the folder of FILE, with FILE's mode and owner, on the disk. *STAGED
 * is its name, to be free()d. 0 or -errno with a sentence in ERR, and no file.
 */
int config_file_stage(char **staged, const char *from, const char *file, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Puts STAGED in the place of FILE, at once. 0 or -errno with a sentence in ERR. */
int config_file_replace(const char *staged, const char *file, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
