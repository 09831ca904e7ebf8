/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changed keys that only a new start puts in place (words_key.needs_start). Each reload and the
 * status list them until they have the values in use again. Control's thread.
 */
#ifndef VOLLEY_REPORT_NEW_START_H
#define VOLLEY_REPORT_NEW_START_H

#include <jansson.h>

#include "config/config.h"

/*
 * Writes a sentence for each key that needs a start and differs between `wanted`, which is in
 * force, and `running`, which the start has read. The sentences go to the log, or are appended to
 * LIST.
 */
void new_start_log(const struct config *running, const struct config *wanted);
void new_start_append(const struct config *running, const struct config *wanted, json_t *list);

/*
 * 0 if a reload may accept `config`. -EOPNOTSUPP with a sentence in err if one of its zones needs
 * storage and none is open, or if the keys of an interface with port: dpdk differ from those in
 * `before`, which is in force. The start has read `running`.
 */
int new_start_check(const struct config *running, const struct config *before,
		    const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
