/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyd --check: finds the errors that a start or a reload with a configuration would meet,
 * without either.
 *
 *	config_load()        the file itself, local data, loops of forwarders     start, reload, --check
 *	check_run()          ─► the functions that open each part, asked for all but sockets and locks:
 *	                        affinity_init, descriptors_raise, cache_plan, recursion_check,
 *	                        transfer_check, store_check, block_book_check, and a loader for
 *	                        policies
 *
 * A fault that ends a start ends the check, with the same sentence. A fault with which a start
 * would go on is a warning.
 */
#ifndef VOLLEY_DAEMON_START_CHECK_H
#define VOLLEY_DAEMON_START_CHECK_H

#include <jansson.h>

#include "config/config.h"

/*
 * Checks a configuration from config_load(), in the order of a start. 0, or the negative code with
 * which a start would end; both it and warnings are logged. *n_warnings is how many there were.
 * Only in a process that serves nothing: it raises limits, and starts and ends threads. with_zones:
 * the files of all zones are loaded, several at a time, and each mistake in one is logged as an
 * error; ERR_ZONE then. A secondary, and a zone that volleyd makes itself, may have no file yet.
 */
int check_run(const struct config *config, bool with_zones, unsigned int *n_warnings)
	__attribute__((warn_unused_result));

/*
 * The same in a daemon that serves, as far as that can be checked there: not the process and its
 * limits, nor the store, which is open, nor policies, which take long to read. Warnings go behind
 * WARNINGS, an array; a failure's sentence to ERR. Control's thread.
 */
int check_beside(const struct config *config, json_t *warnings, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
