/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The workers with their engines and responders, and the kernel sockets that each of them reads:
 * one UDP socket and one TCP listener for every listen address and worker (workers_listen.c); a
 * worker's listeners are one port, and the ports of all workers share the limits of connections.
 * Each has a port for connections over TLS, and one for what the transfer thread reads from its own
 * connections. The first worker also hears what the driver wants fetched anew (iface/refresh.h).
 *
 * Control's thread calls all of these.
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
struct relay;
struct tap;
struct tcp_intake;

/*
 * What the workers share. All of it outlives them, but for config, which is read by workers_open()
 * only.
 */
struct workers_env {
	const struct config *config; /* but for its addresses */
	const struct config_addr *listen;
	uint32_t n_listen;
	const struct engine_config *engine;
	cpu_set_t cpus; /* to choose from */
	struct cache *cache;
	struct engine_data *data;
	struct resolver **resolver; /* as in struct responder_config */
	uint32_t n_pending; /* questions outstanding, in all; 0: workers_make_room() may say more */
	uint32_t n_tcp_conns;      /* at a time, over all workers */
	int refresh_fd;            /* the map volley_refresh; -1: none */
	struct handover *handover; /* as in struct responder_config */
	struct tap *tap;           /* told of answers: tap/tap.h; NULL: nobody is */
	struct relay *relay; /* connections of the transfer thread: worker/relay.h; NULL: none */
	struct tcp_intake *intake; /* connections over TLS: port/tcp_intake.h; NULL: none */
};

/*
 * Starts the workers and gives them their sockets. Workers are pinned to the processors that are
 * given, in turn. On an error err has a sentence and everything is closed again.
 */
int workers_open(struct workers **out, const struct workers_env *env, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Ends the workers. Every resolver that they ask was stopped before. */
void workers_close(struct workers *workers);

/*
 * Makes room for n_pending questions upstream, in all, where there is none yet: before the first
 * resolver stands at env.resolver. Room that is there stays as it is. 0; or -ENOMEM, and there is
 * none. Beside workers that run.
 */
int workers_make_room(struct workers *workers, uint32_t n_pending)
	__attribute__((warn_unused_result));

/*
 * From now on the workers use this cache (cache/copy.h): when this returns 0 none of them looks at
 * the one before any more. -ENOMEM: nothing has changed. What `grace` said: they use it, but some
 * may not have seen that yet, so the one before must stay.
 */
int workers_set_cache(struct workers *workers, struct cache *cache, cache_grace_fn *grace,
		      void *user) __attribute__((warn_unused_result));

unsigned int workers_n(const struct workers *workers);
int workers_cpu(const struct workers *workers, unsigned int worker);
bool workers_has_cpu(const struct workers *workers, int cpu);

/* The node of a worker's memory, or CORES_NODE_ANY (iface/cores.h). */
int workers_node(const struct workers *workers, unsigned int worker);

/*
 * The worker for a queue that wants `cpu` (WORKER_CPU_ANY: the next in turn, those near a card on
 * `node` first).
 */
unsigned int workers_for_queue(const struct workers *workers, unsigned int queue, int cpu,
			       int node);

/*
 * Beside where they listen, all workers listen at each of `listen`, n of them. All are probed
 * first: an address that another server has is refused. 0; or -errno with a sentence in err, and
 * the workers listen where they did.
 */
int workers_listen(struct workers *workers, const struct config_addr *listen, uint32_t n, char *err,
		   size_t err_cap) __attribute__((warn_unused_result));
/*
 * To the others nothing new comes over UDP: what a wildcard address takes goes there. After a grace
 * period of the kernel (cache/grace.h) nothing is on its way to them any more, and
 * workers_listen_only() loses no query.
 */
void workers_stop_elsewhere(struct workers *workers, const struct config_addr *listen, uint32_t n);
/*
 * From now on they listen at these only. What has arrived at the others is answered first;
 * connections that are open stay open, and late replies to queries over UDP are dropped.
 */
void workers_listen_only(struct workers *workers, const struct config_addr *listen, uint32_t n);
/* Whether they listen at an address that is not one of these. */
bool workers_listens_elsewhere(const struct workers *workers, const struct config_addr *listen,
			       uint32_t n);
/* At how many addresses they would listen after workers_listen(). */
uint32_t workers_n_listen_with(const struct workers *workers, const struct config_addr *listen,
			       uint32_t n);

/* Gives a worker a port; closed by workers_remove() or workers_close(). */
int workers_add(struct workers *workers, unsigned int worker, struct port *port)
	__attribute__((warn_unused_result));
void workers_remove(struct workers *workers, struct port *port);

/* Sums over all workers. */
void workers_engine_counters(const struct workers *workers, struct engine_counters *sum);
/* Adds the replies of all engines to *sum, by what they answered; the ways are enum port_kind. */
void workers_answers_add(const struct workers *workers, struct engine_answers *sum);
void workers_responder_counters(const struct workers *workers, struct responder_counters *sum);
void workers_stats(const struct workers *workers, unsigned int worker, struct worker_stats *stats);

/* What a worker's engine answers most: engine/sample.h. */
struct sampler *workers_sampler(const struct workers *workers, unsigned int worker);

/* Every port, its worker beside it. */
size_t workers_n_ports(const struct workers *workers);
const struct port *workers_port_at(const struct workers *workers, size_t i, unsigned int *worker);

#endif
