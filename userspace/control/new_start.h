/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the configuration says and only a new start puts in place (words_key.needs_start): told by each
 * reload and in the status, until it says again what runs. Control's thread.
 */
#ifndef VOLLEY_CONTROL_NEW_START_H
#define VOLLEY_CONTROL_NEW_START_H

#include <jansson.h>

#include "control/daemon.h"

/* A sentence for each such key of the configuration that was read last: to the log, or behind @list. */
void new_start_log(const struct daemon *d);
void new_start_append(const struct daemon *d, json_t *list);

/*
 * What a reload refuses: -EOPNOTSUPP and a sentence in err if a zone of @config is to be kept and no storage is open, or if
 * something else than now is said of an interface with port: dpdk.
 */
int new_start_check(const struct daemon *d, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
