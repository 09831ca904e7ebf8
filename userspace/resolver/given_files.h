/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that the resolver's process gets from the server: root hints, trust anchors and
 * certificates of authorities. The process may not be able to open them itself, and the server
 * gets them from the runner (config/runner.h).
 *
 *	server: given_files_open() ─► copies in memory ─► socket ─► process: given_files_take()
 *
 * A copy, because libunbound opens a path: /proc/self/fd/N of a file in memory is open to its
 * owner, that of the operator's file is not. recursion.auto-trust-anchor is not among them:
 * libunbound writes it, so it belongs to this user.
 */
#ifndef VOLLEY_RESOLVER_GIVEN_FILES_H
#define VOLLEY_RESOLVER_GIVEN_FILES_H

#include <stdint.h>

#include "resolver/resolver_config.h"

#define GIVEN_FILES_MAX 3
#define GIVEN_PATH_CAP  32
#define GIVEN_BYTES_MAX (64u << 20) /* of one file */

/*
 * Copies the files of the configuration that can be read. *which gets a bit for each of them, and
 * the returned number of descriptors, in that order, are the caller's. The process itself finds out
 * why it cannot open one that is missing. The server.
 */
unsigned int given_files_open(const struct resolver_config *config, int fds[GIVEN_FILES_MAX],
			      uint32_t *which);

/* How many descriptors belong to these bits. Pure. */
unsigned int given_files_n(uint32_t which);

/* From now on regular_open() of these paths finds the copies, where the files cannot be opened. The
 * configuration must last. The process, once, before it has threads. */
void given_files_take(const struct resolver_config *config, const int *fds, uint32_t which);

/* The path at which this process can open the file: PATH, or that of its copy, in ROOM. */
const char *given_files_path(const char *path, char room[GIVEN_PATH_CAP]);

#endif
