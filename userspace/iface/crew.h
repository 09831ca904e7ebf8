/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The workers with their engines and responders, and the kernel sockets that each of them reads: one
 * UDP socket and one TCP listener for every listen address and worker (crew_listen.c); a worker's listeners are one port,
 * and the ports of all workers share the limits of connections. Each has a port for connections over TLS, and one for what
 * the transfer thread reads from its own connections. The first worker also hears
 * what the driver wants fetched anew (iface/refresh.h).
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_IFACE_CREW_H
#define VOLLEY_IFACE_CREW_H

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

struct crew;
struct relay;
struct tap;
struct tcp_intake;

/* What the workers share. All of it outlives them, but for config, which is read by crew_open() only. */
struct crew_env {
	const struct config *config; /* but for its addresses */
	const struct config_addr *listen;
	uint32_t n_listen;
	const struct engine_config *engine;
	cpu_set_t cpus; /* to choose from */
	struct cache *cache;
	struct engine_data *data;
	struct resolver **resolver; /* as in struct responder_config */
	uint32_t n_pending;   /* questions outstanding, in all; 0: crew_make_room() may say more */
	uint32_t n_tcp_conns; /* at a time, over all workers */
	int refresh_fd;       /* the map volley_refresh; -1: none */
	struct handover *handover; /* as in struct responder_config */
	struct tap *tap;           /* told of answers: tap/tap.h; NULL: nobody is */
	struct relay *relay; /* connections of the transfer thread: worker/relay.h; NULL: none */
	struct tcp_intake *intake; /* connections over TLS: port/tcp_intake.h; NULL: none */
};

/*
 * Starts the workers and gives them their sockets. Workers are pinned to the processors that are
 * given, in turn. On an error err has a sentence and everything is closed again.
 */
int crew_open(struct crew **out, const struct crew_env *env, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Ends the workers. Every resolver that they ask was stopped before. */
void crew_close(struct crew *crew);

/*
 * Makes room for n_pending questions upstream, in all, where there is none yet: before the first resolver stands at env.resolver. Room
 * that is there stays as it is. 0; or -ENOMEM, and there is none. Beside workers that run.
 */
int crew_make_room(struct crew *crew, uint32_t n_pending) __attribute__((warn_unused_result));

/*
 * From now on the workers use this cache (cache/copy.h): when this returns 0 none of them looks at the
 * one before any more. -ENOMEM: nothing has changed. What `grace` said: they use it, but some may not
 * have seen that yet, so the one before must stay.
 */
int crew_set_cache(struct crew *crew, struct cache *cache, cache_grace_fn *grace, void *user)
	__attribute__((warn_unused_result));

unsigned int crew_n(const struct crew *crew);
int crew_cpu(const struct crew *crew, unsigned int worker);
bool crew_has_cpu(const struct crew *crew, int cpu);

/* The node of a worker's memory, or CORES_NODE_ANY (iface/cores.h). */
int crew_node(const struct crew *crew, unsigned int worker);

/*
 * The worker for a queue that wants `cpu` (WORKER_CPU_ANY: the next in turn, those near a card on
 * `node` first).
 */
unsigned int crew_worker_for(const struct crew *crew, unsigned int queue, int cpu, int node);

/*
 * Beside where they listen, all workers listen at each of `listen`, n of them. All are probed first: an address that another
 * server has is refused. 0; or -errno with a sentence in err, and the workers listen where they did.
 */
int crew_listen(struct crew *crew, const struct config_addr *listen, uint32_t n, char *err,
		size_t err_cap) __attribute__((warn_unused_result));
/*
 * To the others nothing new comes over UDP: what a wildcard address takes goes there. After a grace period of the kernel
 * (cache/grace.h) nothing is on its way to them any more, and crew_listen_only() loses no query.
 */
void crew_stop_elsewhere(struct crew *crew, const struct config_addr *listen, uint32_t n);
/*
 * From now on they listen at these only. What has arrived at the others is answered first; connections that are
 * open stay open, and late replies to queries over UDP are dropped.
 */
void crew_listen_only(struct crew *crew, const struct config_addr *listen, uint32_t n);
/* Whether they listen at an address that is not one of these. */
bool crew_listens_elsewhere(const struct crew *crew, const struct config_addr *listen, uint32_t n);
/* At how many addresses they would listen after crew_listen(). */
uint32_t crew_n_listen_with(const struct crew *crew, const struct config_addr *listen, uint32_t n);

/* Gives a worker a port; the crew closes it with crew_remove() or crew_close(). */
int crew_add(struct crew *crew, unsigned int worker, struct port *port)
	__attribute__((warn_unused_result));
void crew_remove(struct crew *crew, struct port *port);

/* Sums over all workers. */
void crew_engine_counters(const struct crew *crew, struct engine_counters *sum);
/* Adds the replies of all engines to *sum, by what they answered; the ways are enum port_kind. */
void crew_answers_add(const struct crew *crew, struct engine_answers *sum);
void crew_responder_counters(const struct crew *crew, struct responder_counters *sum);
void crew_worker_stats(const struct crew *crew, unsigned int worker, struct worker_stats *stats);

/* What a worker's engine answers most: engine/sample.h. */
struct sampler *crew_sampler(const struct crew *crew, unsigned int worker);

/* Every port, its worker beside it. */
size_t crew_n_ports(const struct crew *crew);
const struct port *crew_port_at(const struct crew *crew, size_t i, unsigned int *worker);

#endif
