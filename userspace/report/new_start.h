/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changed keys that only a new start puts in place (words_key.needs_start): each reload and the
 * status list them, until they have the values again that are in use. Control's thread.
 */
#ifndef VOLLEY_REPORT_NEW_START_H
#define VOLLEY_REPORT_NEW_START_H

#include <jansson.h>

#include "config/config.h"

/*
 * A sentence for each such key in which `wanted`, which is in force, differs from `running`,
 * which the start has read: to the log, or behind @list.
 */
void new_start_log(const struct config *running, const struct config *wanted);
void new_start_append(const struct config *running, const struct config *wanted, json_t *list);

/*
 * Whether a reload has to refuse @config: -EOPNOTSUPP and a sentence in err if a zone of it needs
 * storage and none is open, or if the keys of an interface with port: dpdk differ from those of
 * `before`, which is in force. `running` is what the start has read.
 */
int new_start_check(const struct config *running, const struct config *before,
		    const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
