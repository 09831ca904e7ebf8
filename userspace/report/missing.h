/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Service addresses that this host does not have, or not yet: server.listen and server.tls.listen.
 * The sockets are open, so an address that comes is served at once.
 *
 * Control's thread; the kernel is asked about each address at each call.
 */
#ifndef VOLLEY_REPORT_MISSING_H
#define VOLLEY_REPORT_MISSING_H

#include <stddef.h>

#include "config/config.h"

#define MISSING_TEXT_CAP 192

/* HERE: 0, the host does not have the address; -errno: it cannot be found out. */
typedef void missing_fn(void *user, const char *text, int here);

/*
 * Calls `fn` once for each address that addr_here() does not find, whatever its ports, with a
 * sentence: "service address 203.0.113.53: no interface has this address: ...".
 */
void missing_each(const struct config *config, missing_fn *fn, void *user);

/* The number of addresses that the host does not have. */
size_t missing_count(const struct config *config);

#endif
