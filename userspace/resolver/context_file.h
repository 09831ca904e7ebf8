/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration file for libunbound, with the settings that no function of its API takes: forward
 * zones, the settings of a stub zone besides its addresses, DNS64. The file is in memory
 * (memfd_create()), so no file is left on disk.
 */
#ifndef VOLLEY_RESOLVER_CONTEXT_FILE_H
#define VOLLEY_RESOLVER_CONTEXT_FILE_H

#include <stddef.h>

#include "resolver/resolver_config.h"

/*
 * Writes the file. Returns its descriptor, which the caller closes; -ENOENT if the configuration
 * needs no file; or -errno. ub_ctx_config() reads the path /proc/self/fd/DESCRIPTOR. Any thread.
 *
 * If the forward zone of the root is in the file, it is the last zone there, so that
 * ub_ctx_set_fwd() adds its addresses to that zone.
 */
int context_file_open(const struct resolver_config *config) __attribute__((warn_unused_result));

#endif
