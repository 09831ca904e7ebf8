/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workers with their engines, and the kernel sockets that each of them reads: one UDP socket
 * and one TCP listener for every listen address and worker.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_CONTROL_CREW_H
#define VOLLEY_CONTROL_CREW_H

#include <stddef.h>

#include "control/config.h"
#include "engine/engine.h"
#include "port/port.h"
#include "worker/worker.h"

struct crew;

/*
 * Starts the workers and gives them their sockets. Workers are pinned to the processors that this
 * process may use, in turn. On an error err has a sentence and everything is closed again.
 */
int crew_open(struct crew **out, const struct config *config, const struct engine_config *engine,
	      struct cache *cache, struct engine_data *zones, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
void crew_close(struct crew *crew);

unsigned int crew_n(const struct crew *crew);
int crew_cpu(const struct crew *crew, unsigned int worker);

/* The worker for a queue that wants `cpu` (WORKER_CPU_ANY: the next in turn). */
unsigned int crew_worker_for(const struct crew *crew, unsigned int queue, int cpu);

/* Gives a worker a port; the crew closes it with crew_remove() or crew_close(). */
int crew_add(struct crew *crew, unsigned int worker, struct port *port)
	__attribute__((warn_unused_result));
void crew_remove(struct crew *crew, struct port *port);

/* Sums over all workers. */
void crew_engine_counters(const struct crew *crew, struct engine_counters *sum);
void crew_worker_stats(const struct crew *crew, unsigned int worker, struct worker_stats *stats);

/* What a worker's engine answers most: engine/sample.h. */
struct sampler *crew_sampler(const struct crew *crew, unsigned int worker);

/* Every port, its worker beside it. */
size_t crew_n_ports(const struct crew *crew);
const struct port *crew_port_at(const struct crew *crew, size_t i, unsigned int *worker);

#endif
