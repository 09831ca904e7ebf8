/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that volleyd's main() calls: run, check, list the libraries.
 *
 * The daemon: puts all parts together. Each part is opened after the parts that it needs.
 *
 *   start   lock ─► programs and maps ─► cache ─► control socket ─► resolver ─► zones ─► workers,
 *           sockets ─► AF_XDP ─► services
 *   life    one thread in epoll: signals, control socket, loads that have ended, address and link
 *           changes, a tick a second
 *   stop    the same backwards
 *
 * Beside that thread: the workers, the keeper of the cache, the loader of zones, a thread for walks
 * over the cache (base/background.h), and the heartbeat by which the driver knows that a daemon is
 * there (cache.orphan-serve). base/affinity.h says on which processors they run.
 *
 * daemon_internal.h lists the parts. Each has its state and functions in a header of its own.
 */
#ifndef VOLLEY_DAEMON_DAEMON_H
#define VOLLEY_DAEMON_DAEMON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

/*
 * Runs until a signal or a command stops it. 0, or -errno or an own code after a failed start; the
 * fault has been logged. The caller's thread is the control thread. `config` becomes the daemon's.
 */
int daemon_run(struct config *config, bool keep) __attribute__((warn_unused_result));

/*
 * volleyd --check: finds the errors that a start or a reload with a configuration would meet, and
 * neither starts nor reloads.
 *
 *	config_load()   the file itself, local data, loops of forwarders   start, reload, --check
 *	check_run()     ─► the functions that open each part, except sockets and locks:
 *	                   affinity_init, descriptors_raise, cache_plan, recursion_check,
 *	                   transfer_check, store_check, block_book_check, a loader for
 *	                   RPZ; and for files that are written later taps_check
 *	                   and writable_check_replaced
 *
 * A fault that ends a start ends the check, with the same sentence. Any other fault is a warning.
 */

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
 * open, and RPZ, which takes long to read. Warnings are appended to the array WARNINGS; ERR
 * gets the sentence of a failure. Control's thread.
 */
int check_beside(const struct config *config, json_t *warnings, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * The libraries that volleyd is linked with: their versions when it was built, and those with which
 * it runs. The Makefile's PKGS names them; pkg-config says what was there at the build.
 */

/*
 * A heading, and a line for each library: name, version at the build, and what runs. This is the
 * version that the library reports, or else the name of its file ("libmnl.so.0.2.0"), or "not
 * loaded". One thread.
 */
void libraries_put(FILE *out);

#endif
