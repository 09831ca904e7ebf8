/* SPDX-License-Identifier: GPL-2.0-only */
/* A context of libunbound from our configuration. */
#ifndef VOLLEY_RESOLVER_CONTEXT_H
#define VOLLEY_RESOLVER_CONTEXT_H

#include <event2/event.h>
#include <unbound.h>

#include "resolver/resolver.h"

/* TCP connections to upstreams at a time: all of them, where there is nothing else. */
static inline uint32_t context_tcp_max(const struct resolver_config *config)
{
	return config->transport == RESOLVER_UDP ? config->upstream_max / 8 + 1 :
						   config->upstream_max;
}

/*
 * A new context on the event base, complete: libunbound takes no more options. 0, ERR_CONFIG with a
 * sentence in err, -ENOMEM. One thread at a time in all of the process, as libunbound sets
 * globals here; afterwards the context is of the thread that runs base. ub_ctx_delete() frees it.
 */
int context_open(struct ub_ctx **out, const struct resolver_config *config, struct event_base *base,
		 char *err, size_t cap) __attribute__((warn_unused_result));

#endif
