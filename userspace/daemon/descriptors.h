/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of file descriptors that a configuration needs, and the number that the limit leaves
 * for connections.
 *
 *      │ fixed: control, workers,    │ TCP connections │ connections of      │
 *      │ sockets, queues, files      │                 │ the transfer thread │
 *                                    └─ shrink together if the limit is low ─┘
 *
 * Each part is bounded by itself, so connections never take the descriptors that control needs:
 * volleyctl is answered however many clients come.
 *
 * Control's thread, at the start and in a reload.
 */
#ifndef VOLLEY_DAEMON_DESCRIPTORS_H
#define VOLLEY_DAEMON_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

#define DESCRIPTORS_CONNS_MIN 32 /* with fewer connections than this, the start is refused */

struct descriptors {
	uint64_t n_fixed;
	uint64_t n_wanted;   /* with all connections */
	uint32_t n_tcp;      /* connections of the workers: server.tcp.max-connections, or fewer */
	uint32_t n_transfer; /* of peers: port/tcp_peers.h */
	char problem[256];   /* why there are fewer than configured; "": there are not */
};

/* Plans with `limit` descriptors. 0, or -EMFILE with a sentence in err: too few for a start. */
int descriptors_plan(struct descriptors *out, const struct config *config, unsigned int n_workers,
		     uint64_t limit, char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * Raises RLIMIT_NOFILE to the number that is wanted, or to the hard limit if that is lower, and
 * plans with the new limit. Returns as descriptors_plan().
 */
int descriptors_raise(struct descriptors *out, const struct config *config, unsigned int n_workers,
		      char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * For a reload: makes sure that there are descriptors for the sockets of n_listen addresses and
 * n_interfaces interfaces beside those planned with `running`, and raises RLIMIT_NOFILE if
 * necessary. 0, or -EMFILE with a sentence in err.
 */
int descriptors_grow(const struct descriptors *d, const struct config *running,
		     unsigned int n_workers, uint32_t n_listen, uint32_t n_interfaces, char *err,
		     size_t err_cap) __attribute__((warn_unused_result));

#endif
