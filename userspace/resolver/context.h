/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A context of libunbound from our configuration. */
#ifndef VOLLEY_RESOLVER_CONTEXT_H
#define VOLLEY_RESOLVER_CONTEXT_H

#include <event2/event.h>
#include <unbound.h>

#include "resolver/resolver_config.h"

/* TCP connections to upstreams at a time: all of them, where there is nothing else. */
static inline uint32_t context_tcp_max(const struct resolver_config *config)
{
	return config->transport == RESOLVER_TCP ? config->upstream_max :
						   config->upstream_max / 8 + 1;
}

/*
 * What a thread's context for one memory gets of its configuration: half of the caches, and the
 * second, which is asked only for what was asked before, half of the sockets.
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

/* Sockets to upstreams that all contexts of a thread have at most. */
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
 * A new context on the event base, complete: libunbound takes no more options. Nothing in the
 * configuration is over TLS (tls_relay.h). 0, ERR_CONFIG with a sentence in err, -ENOMEM. One
 * thread at a time in all of the process, as libunbound sets globals here; afterwards the context
 * is of the thread that runs base. ub_ctx_delete() frees it.
 */
int context_open(struct ub_ctx **out, const struct resolver_config *config, struct event_base *base,
		 char *err, size_t cap) __attribute__((warn_unused_result));

#endif
