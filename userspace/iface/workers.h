/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The workers with their engines, responders and kernel sockets: one UDP socket and one TCP
 * listener for every listen address and worker (workers_listen.c). A worker's listeners are one
 * port, and the ports of all workers share the limits of connections. Each worker has one more port
 * for connections over TLS. The first worker also reads which answers the driver wants fetched
 * again (iface/refresh.h).
 *
 * Control's thread calls all these functions.
 */
#ifndef VOLLEY_IFACE_WORKERS_H
#define VOLLEY_IFACE_WORKERS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/keeper.h"
#include "config/config.h"
#include "engine/engine.h"
#include "port/port.h"
#include "worker/responder.h"
#include "worker/worker.h"

struct workers;
struct tap;
struct tcp_intake;

/* What the workers share. All of it outlives them, except config: only workers_open() reads it. */
struct workers_env {
	const struct config *config; /* except its addresses */
	const struct config_addr *listen;
	uint32_t n_listen;
	const struct engine_config *engine;
	cpu_set_t cpus; /* allowed processors */
	struct cache *cache;
	struct engine_data *data;
	struct querier **resolver; /* as in struct responder_config */
	const struct bells *bells; /* one for each worker at least; NULL: there is no resolver */
	uint32_t n_pending; /* outstanding questions, in all; 0: none before workers_make_room() */
	uint32_t n_tcp_conns;      /* at a time, over all workers */
	uint32_t n_tcp_peers;      /* in addition: connections of peers (port/tcp_peers.h) */
	int refresh_fd;            /* the map volley_refresh; -1: none */
	struct handover *handover; /* as in struct responder_config */
	struct tap *tap;           /* gets events about answers: tap/tap.h; NULL: none */
	struct tcp_intake *intake; /* connections over TLS: port/tcp_intake.h; NULL: none */
};

/*
 * Starts the workers, pins them to the processors in `cpus`, in turn, and gives them their sockets.
 * On an error err has a sentence, and everything is closed again.
 */
int workers_open(struct workers **out, const struct workers_env *env, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Ends the workers. The caller has stopped every resolver that they ask. */
void workers_close(struct workers *workers);

/*
 * Makes room for n_pending questions upstream, in all, if there is none yet. Call it before the
 * first resolver is put into env.resolver; the workers may run. Existing room is not changed. 0, or
 * -ENOMEM: there is no room.
 */
int workers_make_room(struct workers *workers, uint32_t n_pending)
	__attribute__((warn_unused_result));

/*
 * Makes the workers use this cache (cache/copy.h). 0: no worker uses the old cache any more.
 * -ENOMEM: nothing has changed. An error of `grace`: the workers use the new cache, but one may
 * still read the old one, so the old one must stay.
 */
int workers_set_cache(struct workers *workers, struct cache *cache, cache_grace_fn *grace,
		      void *user) __attribute__((warn_unused_result));

unsigned int workers_n(const struct workers *workers);
int workers_cpu(const struct workers *workers, unsigned int worker);
bool workers_has_cpu(const struct workers *workers, int cpu);

/* The NUMA node of a worker's memory, or CORES_NODE_ANY (iface/cores.h). */
int workers_node(const struct workers *workers, unsigned int worker);

/*
 * The worker for a queue: the worker on `cpu`; with WORKER_CPU_ANY the next in turn, with workers
 * on `node`, that of the card, first.
 */
unsigned int workers_for_queue(const struct workers *workers, unsigned int queue, int cpu,
			       int node);

/*
 * Makes all workers listen also at the n addresses of `listen`. Probes all addresses first: an
 * address that another server has is refused. An address of IPv6 is left out if the kernel has no
 * IPv6 (ipv6.disable=1) and another address is not left out: addr_here() says that it is not here.
 * 0, or -errno with a sentence in err and no change.
 */
int workers_listen(struct workers *workers, const struct config_addr *listen, uint32_t n, char *err,
		   size_t err_cap) __attribute__((warn_unused_result));
/*
 * Stops new UDP queries to all addresses that are not in `listen`; a wildcard address in `listen`
 * gets them. After a grace period of the kernel (cache/keeper.h) no query is on its way to the
 * others, and workers_listen_only() loses none.
 */
void workers_stop_elsewhere(const struct workers *workers, const struct config_addr *listen,
			    uint32_t n);
/*
 * Makes the workers listen at these addresses only. Queries that have arrived at the others are
 * answered first; open connections stay open; late replies to their UDP queries are dropped.
 */
void workers_listen_only(struct workers *workers, const struct config_addr *listen, uint32_t n);
/* True if the workers listen at an address that is not one of these. */
bool workers_listens_elsewhere(const struct workers *workers, const struct config_addr *listen,
			       uint32_t n);
/* The number of addresses after workers_listen(). */
uint32_t workers_n_listen_with(const struct workers *workers, const struct config_addr *listen,
			       uint32_t n);

/* Gives a worker a port. workers_remove() or workers_close() closes it. */
int workers_add(struct workers *workers, unsigned int worker, struct port *port)
	__attribute__((warn_unused_result));
void workers_remove(struct workers *workers, struct port *port);

/* Sums over all workers. */
void workers_engine_counters(const struct workers *workers, struct engine_counters *sum);
/* Adds the answer counters of all engines to *sum; the ways are enum port_kind. */
void workers_answers_add(const struct workers *workers, struct engine_answers *sum);
void workers_responder_counters(const struct workers *workers, struct responder_counters *sum);
void workers_stats(const struct workers *workers, unsigned int worker, struct worker_stats *stats);

/* The sample of what a worker's engine answers: engine/sample.h. */
struct sampler *workers_sampler(const struct workers *workers, unsigned int worker);

/* All ports; workers_port_at() also gives the worker of a port. */
size_t workers_n_ports(const struct workers *workers);
const struct port *workers_port_at(const struct workers *workers, size_t i, unsigned int *worker);

#endif
