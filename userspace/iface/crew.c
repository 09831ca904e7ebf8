/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/crew.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "iface/cores.h"
#include "iface/crew_internal.h"
#include "iface/refresh.h"
#include "port/tcp.h"
#include "tap/tap.h"
#include "worker/relay.h"

#define PORTS_FIRST       64u
#define NODES_CAP         64u
#define WORKERS_CAP       1024u /* server.workers */
#define MS_PER_S          1000u
#define TCP_POOL_PER_CONN (256u << 10)
#define TCP_POOL_MAX      (64u << 20)

/* --- Processors ---------------------------------------------------------------------------------- */

static unsigned int count_cpus(const cpu_set_t *allowed)
{
	int n = CPU_COUNT(allowed);

	return n > 0 ? (unsigned int)n : 1;
}

/* --- Ports --------------------------------------------------------------------------------------- */

static int make_place(struct crew *crew)
{
	size_t cap = crew->ports_cap ? 2 * crew->ports_cap : PORTS_FIRST;
	struct crew_port *ports;

	if (crew->n_ports < crew->ports_cap)
		return 0;
	ports = realloc(crew->ports, cap * sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	crew->ports = ports;
	crew->ports_cap = cap;
	return 0;
}

int crew_add(struct crew *crew, unsigned int worker, struct port *port)
{
	int err = make_place(crew);

	if (err)
		return err;
	err = worker_port_add(crew->members[worker].worker, port);
	if (err)
		return err;
	crew->ports[crew->n_ports++] = (struct crew_port){ port, worker };
	return 0;
}

void crew_remove(struct crew *crew, struct port *port)
{
	size_t i;

	for (i = 0; i < crew->n_ports; i++) {
		if (crew->ports[i].port != port)
			continue;
		worker_port_remove(crew->members[crew->ports[i].worker].worker, port);
		port_close(port);
		crew->ports[i] = crew->ports[--crew->n_ports];
		return;
	}
}

int crew_add_or_close(struct crew *crew, unsigned int worker, struct port *port)
{
	int err = crew_add(crew, worker, port);

	if (err)
		port_close(port);
	return err;
}

/* A worker's part of the memory for replies that wait. */
static uint32_t tcp_pool_bytes(const struct crew *crew, uint32_t n_conns)
{
	uint64_t bytes = (uint64_t)n_conns * TCP_POOL_PER_CONN / crew->n;

	return bytes < TCP_POOL_BYTES_MIN ? TCP_POOL_BYTES_MIN :
	       bytes > TCP_POOL_MAX       ? TCP_POOL_MAX :
					    (uint32_t)bytes;
}

/* intake NULL: for listeners of its own. */
static int open_tcp(struct port **out, const struct crew *crew, const struct crew_env *env,
		    struct tcp_intake *intake)
{
	struct tcp_config tcp = {
		.share = crew->tcp,
		.intake = intake,
		.idle_ms = env->config->tcp_idle_s * MS_PER_S,
		.queries_max = env->config->tcp_queries_max,
		.backlog = env->config->tcp_backlog,
		.pool_bytes = tcp_pool_bytes(crew, env->n_tcp_conns),
	};

	return tcp_open(out, &tcp);
}

/* Half of all connections, where the configuration does not say. */
static int share_tcp(struct crew *crew, const struct crew_env *env)
{
	const uint32_t n = env->n_tcp_conns, n_client = env->config->tcp_client_cap;
	const uint32_t n_ports = env->intake ? 2 * crew->n : crew->n;

	return tcp_share_new(&crew->tcp, n, n_client ? n_client : (n + 1) / 2, n_ports);
}

/* For the listeners of all addresses, which crew_listen() opens. */
static int open_plain_tcp(struct crew *crew, unsigned int worker, const struct crew_env *env)
{
	struct port *port;
	int err = open_tcp(&port, crew, env, NULL);

	err = err ? err : crew_add_or_close(crew, worker, port);
	if (!err)
		crew->members[worker].tcp = port;
	return err;
}

static int open_relay(struct crew *crew, unsigned int worker, struct relay *relay)
{
	static const enum port_kind kinds[] = { PORT_TCP, PORT_TLS };
	int err = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !err; i++) {
		struct port *port;

		err = relay_open_port(&port, relay, kinds[i]);
		if (!err)
			err = crew_add_or_close(crew, worker, port);
	}
	return err;
}

static int open_tls(struct crew *crew, unsigned int worker, const struct crew_env *env)
{
	struct port *port;
	int err = open_tcp(&port, crew, env, env->intake);

	return err ? err : crew_add_or_close(crew, worker, port);
}

/* --- Members ------------------------------------------------------------------------------------- */

/* The first worker hears the driver; where it cannot, answers expire and are asked for again. */
static unsigned int add_refresh(struct crew *crew, struct member *m, int fd,
				struct worker_source *sources, unsigned int n)
{
	int err;

	if (m != crew->members || fd < 0)
		return n;
	err = refresh_open(&crew->refresh, fd, m->responder);
	if (err) {
		log_warn("what the driver wants fetched anew cannot be heard: %s", err_text(err));
		return n;
	}
	sources[n] = refresh_source(crew->refresh);
	return n + 1;
}

/* A worker's part of the questions upstream. */
static unsigned int share_of(const struct crew *crew, uint32_t n_pending)
{
	return (n_pending + crew->n - 1) / crew->n;
}

static int open_member(struct crew *crew, unsigned int i, const struct crew_env *env)
{
	struct member *m = &crew->members[i];
	struct worker_source sources[WORKER_SOURCES_MAX];
	struct responder_config responder = {
		.resolver = env->resolver,
		.n_pending = share_of(crew, env->n_pending),
		.handover = env->handover,
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
	if (env->handover)
		sources[config.n_sources++] = responder_handover_source(m->responder);
	config.n_sources = add_refresh(crew, m, env->refresh_fd, sources, config.n_sources);
	return worker_start(&m->worker, &config);
}

/* What the transfer thread leaves to a worker. */
static int open_for_transfer(struct crew *crew, unsigned int worker, const struct crew_env *env)
{
	int code = env->relay ? open_relay(crew, worker, env->relay) : 0;

	return code || !env->intake ? code : open_tls(crew, worker, env);
}

/* A worker with its ports, but for those of addresses. */
static int open_whole_member(struct crew *crew, unsigned int i, const struct crew_env *env,
			     char *err, size_t err_cap)
{
	int code = open_member(crew, i, env);

	if (code) {
		snprintf(err, err_cap, "worker %u: %s", i, err_text(code));
		return code;
	}
	code = open_plain_tcp(crew, i, env);
	if (code) {
		snprintf(err, err_cap, "TCP: %s", err_text(code));
		return code;
	}
	code = open_for_transfer(crew, i, env);
	if (code)
		snprintf(err, err_cap, "TLS: %s", err_text(code));
	return code;
}

static int open_all(struct crew *crew, const struct crew_env *env, char *err, size_t err_cap)
{
	int code = share_tcp(crew, env);

	if (code)
		snprintf(err, err_cap, "TCP: %s", err_text(code));
	for (unsigned int i = 0; !code && i < crew->n; i++)
		code = open_whole_member(crew, i, env, err, err_cap);
	return code ? code : crew_listen(crew, env->listen, env->n_listen, err, err_cap);
}

/* --- Processors ---------------------------------------------------------------------------------- */

/* A core that the configuration gives a queue is its worker's. */
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

/* Those of a set, the ones near the interfaces' cards first. How many. */
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

/* Those without a configured one get, in turn, those that nobody has. */
static void choose_cpus(struct crew *crew, const struct config *config, const cpu_set_t *allowed)
{
	cpu_set_t left = *allowed;
	int cpus[CPU_SETSIZE];
	size_t n, k = 0;
	unsigned int i;

	for (i = 0; i < crew->n; i++) {
		crew->members[i].cpu = configured_cpu(config, i);
		if (crew->members[i].cpu != WORKER_CPU_ANY)
			CPU_CLR((size_t)crew->members[i].cpu, &left);
	}
	n = list_cpus(CPU_COUNT(&left) ? &left : allowed, config, cpus);
	for (i = 0; i < crew->n; i++) {
		struct member *m = &crew->members[i];

		if (m->cpu == WORKER_CPU_ANY && n)
			m->cpu = cpus[k++ % n];
		m->node = cores_cpu_node(m->cpu);
	}
}

int crew_open(struct crew **out, const struct crew_env *env, char *err, size_t err_cap)
{
	const struct config *config = env->config;
	struct crew *crew = calloc(1, sizeof(*crew));
	cpu_set_t allowed;
	int code;

	snprintf(err, err_cap, "%s", err_text(-ENOMEM));
	if (!crew)
		return -ENOMEM;
	allowed = env->cpus;
	crew->n = config->n_workers ? config->n_workers : count_cpus(&allowed);
	crew->has_room = env->n_pending;
	crew->tap = env->tap;
	crew->members = calloc(crew->n, sizeof(*crew->members));
	if (!crew->members) {
		free(crew);
		return -ENOMEM;
	}
	choose_cpus(crew, config, &allowed);
	code = open_all(crew, env, err, err_cap);
	if (code) {
		crew_close(crew);
		return code;
	}
	*out = crew;
	return 0;
}

void crew_close(struct crew *crew)
{
	unsigned int i;
	size_t k;

	if (!crew)
		return;
	for (i = 0; i < crew->n; i++)
		worker_stop(crew->members[i].worker);
	for (k = 0; k < crew->n_ports; k++)
		port_close(crew->ports[k].port);
	free(crew->ports);
	free(crew->listen);
	tcp_share_free(crew->tcp);
	refresh_close(crew->refresh);
	for (i = 0; i < crew->n; i++) {
		responder_free(crew->members[i].responder);
		tap_producer_free(crew->tap, crew->members[i].tap);
		engine_free(crew->members[i].engine);
	}
	free(crew->members);
	free(crew);
}

int crew_make_room(struct crew *crew, uint32_t n_pending)
{
	int err = 0;

	if (crew->has_room)
		return 0;
	for (unsigned int i = 0; !err && i < crew->n; i++)
		err = responder_make_room(crew->members[i].responder, share_of(crew, n_pending));
	for (unsigned int i = 0; err && i < crew->n; i++)
		(void)!responder_make_room(crew->members[i].responder, 0);
	crew->has_room = !err;
	return err;
}

static void free_places(struct engine_cache **places, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		engine_cache_free(places[i]);
	free(places);
}

/* On an error places that could not be seen unused are leaked, not torn. */
int crew_set_cache(struct crew *crew, struct cache *cache, cache_grace_fn *grace, void *user)
{
	struct engine_cache **places = calloc(crew->n, sizeof(struct engine_cache *));
	unsigned int i;
	int err = places ? 0 : -ENOMEM;

	for (i = 0; !err && i < crew->n; i++)
		err = engine_cache_new(&places[i], cache);
	if (err) {
		free_places(places, places ? crew->n : 0);
		return err;
	}
	for (i = 0; i < crew->n; i++)
		places[i] = engine_exchange_cache(crew->members[i].engine, places[i]);
	err = grace(user);
	free_places(places, err ? 0 : crew->n);
	return err;
}

/* --- Questions ----------------------------------------------------------------------------------- */

unsigned int crew_n(const struct crew *crew)
{
	return crew->n;
}

int crew_cpu(const struct crew *crew, unsigned int worker)
{
	return crew->members[worker].cpu;
}

int crew_node(const struct crew *crew, unsigned int worker)
{
	return crew->members[worker].node;
}

bool crew_has_cpu(const struct crew *crew, int cpu)
{
	unsigned int i;

	for (i = 0; i < crew->n; i++)
		if (crew->members[i].cpu == cpu)
			return true;
	return false;
}

unsigned int crew_worker_for(const struct crew *crew, unsigned int queue, int cpu, int node)
{
	int nodes[WORKERS_CAP];
	unsigned int i, n = crew->n < WORKERS_CAP ? crew->n : WORKERS_CAP;

	for (i = 0; i < n; i++) {
		if (cpu != WORKER_CPU_ANY && crew->members[i].cpu == cpu)
			return i;
		nodes[i] = crew->members[i].node;
	}
	return cores_worker(nodes, n, queue, node);
}

void crew_engine_counters(const struct crew *crew, struct engine_counters *sum)
{
	struct engine_counters one;
	unsigned int i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < crew->n; i++) {
		engine_counters_read(crew->members[i].engine, &one);
#define ADD(name, words) sum->name += one.name;
		ENGINE_COUNTERS(ADD)
#undef ADD
	}
}

void crew_answers_add(const struct crew *crew, struct engine_answers *sum)
{
	for (unsigned int i = 0; i < crew->n; i++)
		engine_answers_add(crew->members[i].engine, sum);
}

void crew_responder_counters(const struct crew *crew, struct responder_counters *sum)
{
	struct responder_counters one;
	unsigned int i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < crew->n; i++) {
		responder_counters_read(crew->members[i].responder, &one);
#define ADD(name, words) sum->name += one.name;
		RESPONDER_COUNTERS(ADD)
#undef ADD
	}
}

void crew_worker_stats(const struct crew *crew, unsigned int worker, struct worker_stats *stats)
{
	worker_stats_read(crew->members[worker].worker, stats);
}

struct sampler *crew_sampler(const struct crew *crew, unsigned int worker)
{
	return engine_sampler(crew->members[worker].engine);
}

size_t crew_n_ports(const struct crew *crew)
{
	return crew->n_ports;
}

const struct port *crew_port_at(const struct crew *crew, size_t i, unsigned int *worker)
{
	*worker = crew->ports[i].worker;
	return crew->ports[i].port;
}
