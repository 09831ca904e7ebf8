/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/workers.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "iface/cores.h"
#include "iface/refresh.h"
#include "iface/workers_state.h"
#include "port/tcp.h"
#include "querier/bells.h"
#include "tap/tap.h"

#define PORTS_FIRST       64u
#define NODES_CAP         64u
#define WORKERS_CAP       1024u /* limit of server.workers */
#define MS_PER_S          1000u
#define TCP_POOL_PER_CONN (256u << 10)
#define TCP_POOL_MAX      (64u << 20)

/* --- Processors ------------------------------------------------------------------------------- */

static unsigned int count_cpus(const cpu_set_t *allowed)
{
	int n = CPU_COUNT(allowed);

	return n > 0 ? (unsigned int)n : 1;
}

/* --- Ports ------------------------------------------------------------------------------------ */

static int make_workers_place(struct workers *workers)
{
	size_t cap = workers->ports_cap ? 2 * workers->ports_cap : PORTS_FIRST;
	struct workers_port *ports;

	if (workers->n_ports < workers->ports_cap)
		return 0;
	ports = realloc(workers->ports, cap * sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	workers->ports = ports;
	workers->ports_cap = cap;
	return 0;
}

int workers_add(struct workers *workers, unsigned int worker, struct port *port)
{
	int err = make_workers_place(workers);

	if (err)
		return err;
	err = worker_port_add(workers->members[worker].worker, port);
	if (err)
		return err;
	workers->ports[workers->n_ports++] = (struct workers_port){ port, worker };
	return 0;
}

void workers_remove(struct workers *workers, struct port *port)
{
	size_t i;

	for (i = 0; i < workers->n_ports; i++) {
		if (workers->ports[i].port != port)
			continue;
		port_retire(port);
		worker_port_remove(workers->members[workers->ports[i].worker].worker, port);
		port_close(port);
		workers->ports[i] = workers->ports[--workers->n_ports];
		return;
	}
}

int workers_add_or_close(struct workers *workers, unsigned int worker, struct port *port)
{
	int err = workers_add(workers, worker, port);

	if (err)
		port_close(port);
	return err;
}

/* A worker's share of the memory for waiting replies. */
static uint32_t tcp_pool_bytes(const struct workers *workers, uint32_t n_conns)
{
	uint64_t bytes = (uint64_t)n_conns * TCP_POOL_PER_CONN / workers->n;

	return bytes < TCP_POOL_BYTES_MIN ? TCP_POOL_BYTES_MIN :
	       bytes > TCP_POOL_MAX       ? TCP_POOL_MAX :
					    (uint32_t)bytes;
}

/* intake NULL: the port has listeners. */
static int open_tcp(struct port **out, const struct workers *workers, const struct workers_env *env,
		    struct tcp_intake *intake)
{
	struct tcp_config tcp = {
		.share = workers->tcp,
		.peers = workers->peers,
		.intake = intake,
		.idle_ms = env->config->tcp_idle_s * MS_PER_S,
		.queries_max = env->config->tcp_queries_max,
		.backlog = env->config->tcp_backlog,
		.pool_bytes = tcp_pool_bytes(workers, env->n_tcp_conns + env->n_tcp_peers),
	};

	return tcp_open(out, &tcp);
}

/* A client may have half of all connections, unless configured otherwise. */
static int share_tcp(struct workers *workers, const struct workers_env *env)
{
	const uint32_t n = env->n_tcp_conns, n_client = env->config->tcp_client_cap;
	const uint32_t n_ports = env->intake ? 2 * workers->n : workers->n;

	int err = tcp_share_new(&workers->tcp, n, n_client ? n_client : (n + 1) / 2, n_ports);

	return err ? err : tcp_peers_new(&workers->peers, env->n_tcp_peers, n_ports);
}

/* Opens the port for listeners; workers_listen() opens these. */
static int open_plain_tcp(struct workers *workers, unsigned int worker,
			  const struct workers_env *env)
{
	struct port *port;
	int err = open_tcp(&port, workers, env, NULL);

	err = err ? err : workers_add_or_close(workers, worker, port);
	if (!err)
		workers->members[worker].tcp = port;
	return err;
}

static int open_tls(struct workers *workers, unsigned int worker, const struct workers_env *env)
{
	struct port *port;
	int err = open_tcp(&port, workers, env, env->intake);

	return err ? err : workers_add_or_close(workers, worker, port);
}

/* --- Members ---------------------------------------------------------------------------------- */

/* The first worker reads volley_refresh. Without it, answers are fetched after they expire. */
static unsigned int add_refresh(struct workers *workers, struct member *m, int fd,
				struct worker_source *sources, unsigned int n)
{
	int err;

	if (m != workers->members || fd < 0)
		return n;
	err = refresh_open(&workers->refresh, fd, m->responder);
	if (err) {
		log_warn("requests of the driver to refresh answers cannot be read: %s",
			 err_text(err));
		return n;
	}
	sources[n] = refresh_source(workers->refresh);
	return n + 1;
}

/* A worker's share of the questions upstream. */
static unsigned int share_of(const struct workers *workers, uint32_t n_pending)
{
	return (n_pending + workers->n - 1) / workers->n;
}

static int open_member(struct workers *workers, unsigned int i, const struct workers_env *env)
{
	struct member *m = &workers->members[i];
	struct worker_source sources[WORKER_SOURCES_MAX];
	struct responder_config responder = {
		.resolver = env->resolver,
		.n_pending = share_of(workers, env->n_pending),
		.handover = env->handover,
		.desk = i,
		.bell_fd = env->bells ? bells_fd(env->bells, i) : -1,
	};
	struct worker_config config = { .id = i,
					.cpu = m->cpu,
					.handle = responder_handle,
					.port_gone = responder_port_gone,
					.sources = sources };
	int err = engine_new(&m->engine, env->engine, env->cache, env->data);

	responder.engine = m->engine;
	if (!err && env->tap) {
		m->tap = tap_producer_new(env->tap);
		err = m->tap ? 0 : -ENOMEM;
	}
	responder.tap = m->tap;
	if (!err)
		err = responder_new(&m->responder, &responder);
	if (err)
		return err;
	config.ctx = m->responder;
	sources[config.n_sources++] = responder_source(m->responder);
	if (env->bells)
		sources[config.n_sources++] = responder_bell_source(m->responder);
	if (env->handover)
		sources[config.n_sources++] = responder_handover_source(m->responder);
	config.n_sources = add_refresh(workers, m, env->refresh_fd, sources, config.n_sources);
	return worker_start(&m->worker, &config);
}

/* Opens a worker and its ports, except those of addresses. */
static int open_whole_member(struct workers *workers, unsigned int i, const struct workers_env *env,
			     char *err, size_t err_cap)
{
	int code = open_member(workers, i, env);

	if (code) {
		snprintf(err, err_cap, "worker %u: %s", i, err_text(code));
		return code;
	}
	code = open_plain_tcp(workers, i, env);
	if (code) {
		snprintf(err, err_cap, "TCP: %s", err_text(code));
		return code;
	}
	code = env->intake ? open_tls(workers, i, env) : 0;
	if (code)
		snprintf(err, err_cap, "TLS: %s", err_text(code));
	return code;
}

static int open_all_workers(struct workers *workers, const struct workers_env *env, char *err,
			    size_t err_cap)
{
	int code = share_tcp(workers, env);

	if (code)
		snprintf(err, err_cap, "TCP: %s", err_text(code));
	for (unsigned int i = 0; !code && i < workers->n; i++)
		code = open_whole_member(workers, i, env, err, err_cap);
	return code ? code : workers_listen(workers, env->listen, env->n_listen, err, err_cap);
}

/* --- Processors ------------------------------------------------------------------------------- */

/* A worker runs on the processor that the configuration gives its queue. */
static int configured_cpu(const struct config *config, unsigned int i)
{
	uint32_t k;

	for (k = 0; k < config->n_interfaces; k++) {
		const struct config_interface *iface = &config->interfaces[k];

		if (i < iface->n_cores)
			return iface->cores[i];
		i -= iface->n_cores;
	}
	return WORKER_CPU_ANY;
}

/* Lists the processors of a set, those near the interfaces' cards first. Returns their number. */
static size_t list_cpus(const cpu_set_t *set, const struct config *config, int cpus[CPU_SETSIZE])
{
	int nodes[NODES_CAP];
	size_t n = 0, n_nodes = 0, cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			cpus[n++] = (int)cpu;
	for (; n_nodes < config->n_interfaces && n_nodes < NODES_CAP; n_nodes++)
		nodes[n_nodes] = cores_link_node(config->interfaces[n_nodes].name);
	cores_order(cpus, n, nodes, n_nodes);
	return n;
}

/* Workers without a configured processor get, in turn, those that are not taken. */
static void choose_workers_cpus(struct workers *workers, const struct config *config,
				const cpu_set_t *allowed)
{
	cpu_set_t left = *allowed;
	int cpus[CPU_SETSIZE];
	size_t n, k = 0;
	unsigned int i;

	for (i = 0; i < workers->n; i++) {
		workers->members[i].cpu = configured_cpu(config, i);
		if (workers->members[i].cpu != WORKER_CPU_ANY)
			CPU_CLR((size_t)workers->members[i].cpu, &left);
	}
	n = list_cpus(CPU_COUNT(&left) ? &left : allowed, config, cpus);
	for (i = 0; i < workers->n; i++) {
		struct member *m = &workers->members[i];

		if (m->cpu == WORKER_CPU_ANY && n)
			m->cpu = cpus[k++ % n];
		m->node = cores_cpu_node(m->cpu);
	}
}

int workers_open(struct workers **out, const struct workers_env *env, char *err, size_t err_cap)
{
	const struct config *config = env->config;
	struct workers *workers = calloc(1, sizeof(*workers));
	cpu_set_t allowed;
	int code;

	snprintf(err, err_cap, "%s", err_text(-ENOMEM));
	if (!workers)
		return -ENOMEM;
	allowed = env->cpus;
	workers->n = config->n_workers ? config->n_workers : count_cpus(&allowed);
	workers->has_room = env->n_pending;
	workers->tap = env->tap;
	workers->members = calloc(workers->n, sizeof(*workers->members));
	if (!workers->members) {
		free(workers);
		return -ENOMEM;
	}
	choose_workers_cpus(workers, config, &allowed);
	code = open_all_workers(workers, env, err, err_cap);
	if (code) {
		workers_close(workers);
		return code;
	}
	*out = workers;
	return 0;
}

void workers_close(struct workers *workers)
{
	unsigned int i;
	size_t k;

	if (!workers)
		return;
	for (k = 0; k < workers->n_ports; k++)
		port_retire(workers->ports[k].port);
	for (i = 0; i < workers->n; i++)
		worker_stop(workers->members[i].worker);
	for (k = 0; k < workers->n_ports; k++)
		port_close(workers->ports[k].port);
	free(workers->ports);
	free(workers->listen);
	tcp_share_free(workers->tcp);
	tcp_peers_free(workers->peers);
	refresh_close(workers->refresh);
	for (i = 0; i < workers->n; i++) {
		responder_free(workers->members[i].responder);
		tap_producer_free(workers->tap, workers->members[i].tap);
		engine_free(workers->members[i].engine);
	}
	free(workers->members);
	free(workers);
}

int workers_make_room(struct workers *workers, uint32_t n_pending)
{
	int err = 0;

	if (workers->has_room)
		return 0;
	for (unsigned int i = 0; !err && i < workers->n; i++)
		err = responder_make_room(workers->members[i].responder,
					  share_of(workers, n_pending));
	for (unsigned int i = 0; err && i < workers->n; i++)
		(void)!responder_make_room(workers->members[i].responder, 0);
	workers->has_room = !err;
	return err;
}

static void free_places(struct engine_cache **places, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		engine_cache_free(places[i]);
	free(places);
}

/* On an error of grace() a worker may still use the old places, so they are leaked. */
int workers_set_cache(struct workers *workers, struct cache *cache, cache_grace_fn *grace,
		      void *user)
{
	struct engine_cache **places = calloc(workers->n, sizeof(struct engine_cache *));
	unsigned int i;
	int err = places ? 0 : -ENOMEM;

	for (i = 0; !err && i < workers->n; i++)
		err = engine_cache_new(&places[i], cache);
	if (err) {
		free_places(places, places ? workers->n : 0);
		return err;
	}
	for (i = 0; i < workers->n; i++)
		places[i] = engine_exchange_cache(workers->members[i].engine, places[i]);
	err = grace(user);
	free_places(places, err ? 0 : workers->n);
	return err;
}

/* --- Questions -------------------------------------------------------------------------------- */

unsigned int workers_n(const struct workers *workers)
{
	return workers->n;
}

int workers_cpu(const struct workers *workers, unsigned int worker)
{
	return workers->members[worker].cpu;
}

int workers_node(const struct workers *workers, unsigned int worker)
{
	return workers->members[worker].node;
}

bool workers_has_cpu(const struct workers *workers, int cpu)
{
	unsigned int i;

	for (i = 0; i < workers->n; i++)
		if (workers->members[i].cpu == cpu)
			return true;
	return false;
}

unsigned int workers_for_queue(const struct workers *workers, unsigned int queue, int cpu, int node)
{
	int nodes[WORKERS_CAP];
	unsigned int i, n = workers->n < WORKERS_CAP ? workers->n : WORKERS_CAP;

	for (i = 0; i < n; i++) {
		if (cpu != WORKER_CPU_ANY && workers->members[i].cpu == cpu)
			return i;
		nodes[i] = workers->members[i].node;
	}
	return cores_worker(nodes, n, queue, node);
}

void workers_engine_counters(const struct workers *workers, struct engine_counters *sum)
{
	struct engine_counters one;
	unsigned int i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < workers->n; i++) {
		engine_counters_read(workers->members[i].engine, &one);
#define ADD(name, words) sum->name += one.name;
		ENGINE_COUNTERS(ADD)
#undef ADD
	}
}

void workers_answers_add(const struct workers *workers, struct engine_answers *sum)
{
	for (unsigned int i = 0; i < workers->n; i++)
		engine_answers_add(workers->members[i].engine, sum);
}

void workers_responder_counters(const struct workers *workers, struct responder_counters *sum)
{
	struct responder_counters one;
	unsigned int i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < workers->n; i++) {
		responder_counters_read(workers->members[i].responder, &one);
#define ADD(name, words) sum->name += one.name;
		RESPONDER_COUNTERS(ADD)
#undef ADD
	}
}

void workers_stats(const struct workers *workers, unsigned int worker, struct worker_stats *stats)
{
	worker_stats_read(workers->members[worker].worker, stats);
}

struct sampler *workers_sampler(const struct workers *workers, unsigned int worker)
{
	return engine_sampler(workers->members[worker].engine);
}

size_t workers_n_ports(const struct workers *workers)
{
	return workers->n_ports;
}

const struct port *workers_port_at(const struct workers *workers, size_t i, unsigned int *worker)
{
	*worker = workers->ports[i].worker;
	return workers->ports[i].port;
}
