/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* volleyctl block: see policy/block_book.h. */
#ifndef VOLLEY_DAEMON_COMMANDS_BLOCK_H
#define VOLLEY_DAEMON_COMMANDS_BLOCK_H

#include <jansson.h>
#include <stddef.h>

/* Commands of the control socket (control/ctl_command.h); user is a struct block_book, or NULL until it is open. */
int commands_block_add(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_block_remove(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);
int commands_block_list(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
