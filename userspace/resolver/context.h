/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a context of libunbound from our configuration. */
#ifndef VOLLEY_RESOLVER_CONTEXT_H
#define VOLLEY_RESOLVER_CONTEXT_H

#include <event2/event.h>
#include <stddef.h>
#include <unbound.h>

#include "resolver/resolver_config.h"

/* TCP connections to upstreams at a time: upstream_max if TCP is the only transport, else fewer. */
static inline uint32_t context_tcp_max(const struct resolver_config *config)
{
	return config->transport == RESOLVER_TCP ? config->upstream_max :
						   config->upstream_max / 8 + 1;
}

/*
 * The configuration of a thread's context for one memory. Each context gets half of the caches. The
 * second is asked only questions that were asked before, so it gets half as many sockets.
 */
static inline struct resolver_config context_share(const struct resolver_config *config,
						   unsigned int memory)
{
	struct resolver_config share = *config;

	share.msg_cache_bytes /= RESOLVER_MEMORIES;
	share.rrset_cache_bytes /= RESOLVER_MEMORIES;
	if (memory)
		share.upstream_max = (config->upstream_max + 1) / 2;
	return share;
}

/* The most sockets to upstreams that all contexts of a thread can have. */
static inline uint64_t context_fds(const struct resolver_config *config)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < RESOLVER_MEMORIES; i++) {
		const struct resolver_config share = context_share(config, i);

		n += (uint64_t)share.upstream_max + context_tcp_max(&share);
	}
	return n;
}

/*
 * Makes a context on the event base, with all its options set: libunbound accepts none afterwards.
 * The configuration has no upstream over TLS (tls_relay.h). Returns 0, ERR_CONFIG with a sentence
 * in err, or -ENOMEM. Only one thread of the process may be in this function at a time, because
 * libunbound sets globals here. Afterwards the context belongs to the thread that runs base.
 * ub_ctx_delete() frees it.
 */
int context_open(struct ub_ctx **out, const struct resolver_config *config, struct event_base *base,
		 char *err, size_t cap) __attribute__((warn_unused_result));

/*
 * A configuration file for libunbound, with the settings that no function of its API takes: forward
 * zones, the settings of a stub zone besides its addresses, DNS64. The file is in memory
 * (memfd_create()), so no file is left on disk.
 */

/*
 * Writes the file. Returns its descriptor, which the caller closes; -ENOENT if the configuration
 * needs no file; or -errno. ub_ctx_config() reads the path /proc/self/fd/DESCRIPTOR. Any thread.
 *
 * If the forward zone of the root is in the file, it is the last zone there, so that
 * ub_ctx_set_fwd() adds its addresses to that zone.
 */
int context_file_open(const struct resolver_config *config) __attribute__((warn_unused_result));

#endif
