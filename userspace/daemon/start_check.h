/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyd --check: finds the errors that a start or a reload with a configuration would meet, and
 * neither starts nor reloads.
 *
 *	config_load()   the file itself, local data, loops of forwarders   start, reload, --check
 *	check_run()     ─► the functions that open each part, except sockets and locks:
 *	                   affinity_init, descriptors_raise, cache_plan, recursion_check,
 *	                   transfer_check, store_check, block_book_check, a loader for
 *	                   policies; and for files that are written later taps_check
 *	                   and writable_check_replaced
 *
 * A fault that ends a start ends the check, with the same sentence. Any other fault is a warning.
 */
#ifndef VOLLEY_DAEMON_START_CHECK_H
#define VOLLEY_DAEMON_START_CHECK_H

#include <jansson.h>

#include "config/config.h"

/*
 * Checks a configuration from config_load(), in the order of a start. 0, or the negative code with
 * which a start would end. Logs that fault and the warnings; *n_warnings gets the number of
 * warnings. Only in a process that serves nothing: it raises limits, and starts and ends threads.
 * with_zones: loads the files of all zones, several at a time, and logs each mistake as an error;
 * the result is then ERR_ZONE. A secondary, and a zone that volleyd makes itself, may have no file
 * yet.
 */
int check_run(const struct config *config, bool with_zones, unsigned int *n_warnings)
	__attribute__((warn_unused_result));

/*
 * The same in a daemon that serves. It leaves out the process and its limits, the store, which is
 * open, and policies, which take long to read. Warnings are appended to the array WARNINGS; ERR
 * gets the sentence of a failure. Control's thread.
 */
int check_beside(const struct config *config, json_t *warnings, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
