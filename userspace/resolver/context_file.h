/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libunbound takes from a file of its own only, and by no function of its API: forward zones,
 * what a stub zone says besides its addresses, DNS64. The file is in memory (memfd_create()), so
 * nothing is left behind.
 */
#ifndef VOLLEY_RESOLVER_CONTEXT_FILE_H
#define VOLLEY_RESOLVER_CONTEXT_FILE_H

#include <stddef.h>

#include "resolver/resolver_config.h"

/*
 * Writes the file. Returns its descriptor, which is the caller's; -ENOENT: the configuration needs
 * none; or -errno. ub_ctx_config() reads the path /proc/self/fd/DESCRIPTOR. Any thread.
 *
 * The forward zone of the root, if it is in the file, is the last one there: ub_ctx_set_fwd() then
 * adds its addresses to it.
 */
int context_file_open(const struct resolver_config *config) __attribute__((warn_unused_result));

#endif
