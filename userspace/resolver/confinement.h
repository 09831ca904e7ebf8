/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines the resolver's process, which parses what strangers send, if the kernel has Landlock
 * (base/landlock.h). Hints, anchors and certificates are read before.
 *
 *	files     to read: what libraries open late; to write: the folder of auto-trust-anchor
 *	TCP       to connect: ports 53 and 853, those of forwards and stubs, and our TLS relay's;
 *	          to listen: none (bind() to port 0 is for a source address)
 *	signals   none to other processes
 *
 * UDP is not restricted: the kernel has no rules for it.
 */
#ifndef VOLLEY_RESOLVER_CONFINEMENT_H
#define VOLLEY_RESOLVER_CONFINEMENT_H

#include "resolver/resolver_config.h"

struct resolver;

/*
 * Confines the calling thread, which must be the only one and has called prctl(PR_SET_NO_NEW_PRIVS)
 * and made all threads of the resolver, which do not run yet. `config` is what the server sent.
 * Without Landlock it changes nothing; the server's log says so for both. Else a fault is logged.
 */
void confinement_start(struct resolver *resolver, const struct resolver_config *config);

#endif
