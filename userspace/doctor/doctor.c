/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_put.h"
#include "config/config.h"
#include "doctor/finding.h"
#include "doctor/gather.h"
#include "iface/cores.h"
#include "port/xsk.h"

#define WORKERS_CAP     1024 /* the bound of server.workers */
#define NICS_CAP        64u
#define SMALL_MTU       1500 /* up to this MTU a frame has 2048 bytes, above it 4096 */
#define FRAME_BYTES     2048u
#define FRAME_BYTES_MTU 4096u

/* The state of one run. It is too large for a stack. */
struct doctor {
	const char *socket;
	const char *config_path;
	bool is_config_given;
	const char *names[NICS_CAP];
	size_t n_names;

	struct config *config;
	char config_err[512];
	struct doctor_daemon daemon;
	json_t *status, *ports; /* the daemon's replies */
	struct doctor_host host;
	struct doctor_nic nics[NICS_CAP];
	/* without a daemon: as volleyd would choose */
	int worker_cpus[WORKERS_CAP], worker_nodes[WORKERS_CAP];
	uint64_t umem_bytes;
	json_t *checks;
	int counts[DOCTOR_FAIL + 1];
};

/* --- Arguments -------------------------------------------------------------------------------- */

static int take_words(struct doctor *d, int n, char *const *words)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(words[i], "--config") || !strcmp(words[i], "-c")) {
			if (++i == n)
				return -EINVAL;
			d->config_path = words[i];
			d->is_config_given = true;
		} else if (words[i][0] == '-' || strlen(words[i]) >= IF_NAMESIZE ||
			   d->n_names == NICS_CAP) {
			return -EINVAL;
		} else {
			d->names[d->n_names++] = words[i];
		}
	}
	return 0;
}

/* A missing file is an error only if --config names it. A wrong file is always an error. */
static void read_config(struct doctor *d)
{
	if (config_load(&d->config, d->config_path, d->config_err, sizeof(d->config_err)) &&
	    !d->is_config_given && access(d->config_path, F_OK))
		d->config_err[0] = 0;
}

/* If no interface is named: takes those of the configuration, or else those of the daemon. */
static void choose_interfaces(struct doctor *d)
{
	const json_t *all = json_object_get(d->status, "interfaces");
	size_t i;
	json_t *one;

	if (d->n_names)
		return;
	for (uint32_t k = 0; d->config && k < d->config->n_interfaces && k < NICS_CAP; k++)
		d->names[d->n_names++] = d->config->interfaces[k].name;
	if (d->config)
		return;
	json_array_foreach(all, i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));

		if (name && d->n_names < NICS_CAP)
			d->names[d->n_names++] = name;
	}
}

/* The configuration of an interface, or the defaults. */
static const struct config_interface *find_want(const struct doctor *d, const char *name)
{
	static const struct config_interface defaults = {
		.driver_answers = true,
		.n_umem_frames = XSK_N_FRAMES_DEFAULT,
		.ring_size = XSK_RING_DEFAULT,
	};

	for (uint32_t i = 0; d->config && i < d->config->n_interfaces; i++)
		if (!strcmp(d->config->interfaces[i].name, name))
			return &d->config->interfaces[i];
	return &defaults;
}

/* --- Workers ---------------------------------------------------------------------------------- */

/* Notes the processors that the daemon reports for its workers. */
static void take_ports(struct doctor *d)
{
	const json_t *all = json_object_get(d->ports, "ports");
	size_t i;
	json_t *one;

	json_array_foreach(all, i, one) {
		json_int_t core = json_integer_value(json_object_get(one, "core"));

		if (core >= 0 && core < CPU_SETSIZE)
			CPU_SET((size_t)core, &d->host.workers);
	}
}

/* Lists the processors in left, those near the interfaces' cards first. Returns how many. */
static size_t list_left(const struct doctor *d, const cpu_set_t *left, int cpus[CPU_SETSIZE])
{
	int nodes[NICS_CAP];
	size_t n = 0, cpu, i;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, left))
			cpus[n++] = (int)cpu;
	for (i = 0; i < d->n_names; i++)
		nodes[i] = cores_link_node(d->names[i]);
	cores_order(cpus, n, nodes, d->n_names);
	return n;
}

/* Without a daemon: chooses processors as iface/workers.c will, configured cores first. */
static void plan_workers(struct doctor *d)
{
	const struct config *config = d->config;
	cpu_set_t left = d->host.cpus.allowed;
	int cpus[CPU_SETSIZE], n_all = CPU_COUNT(&left), i = 0;
	size_t n, k = 0;

	if (config && config->n_workers)
		n_all = (int)config->n_workers;
	for (uint32_t w = 0; config && w < config->n_interfaces; w++)
		for (uint32_t q = 0; q < config->interfaces[w].n_cores && i < n_all; q++) {
			d->worker_cpus[i++] = config->interfaces[w].cores[q];
			CPU_CLR(config->interfaces[w].cores[q], &left);
		}
	n = list_left(d, CPU_COUNT(&left) ? &left : &d->host.cpus.allowed, cpus);
	for (; i < n_all && i < WORKERS_CAP && n; i++)
		d->worker_cpus[i] = cpus[k++ % n];
	d->host.n_workers = i;
	while (i-- > 0) {
		d->worker_nodes[i] = cores_cpu_node(d->worker_cpus[i]);
		CPU_SET((size_t)d->worker_cpus[i], &d->host.workers);
	}
}

static void place_workers(struct doctor *d)
{
	CPU_ZERO(&d->host.workers);
	if (sched_getaffinity(0, sizeof(d->host.cpus.allowed), &d->host.cpus.allowed))
		CPU_ZERO(&d->host.cpus.allowed);
	take_ports(d);
	if (CPU_COUNT(&d->host.workers))
		d->host.n_workers = d->daemon.n_workers;
	else
		plan_workers(d);
	doctor_gather_cpus(&d->host.cpus, &d->host.workers);
}

/* The processor of a queue's worker, as reported, configured or planned. -1: not known. */
static int cpu_of_queue(const struct doctor *d, const struct doctor_nic *nic, int queue)
{
	const struct config_interface *want = find_want(d, nic->name);
	const json_t *all = json_object_get(d->ports, "ports");
	size_t i;
	json_t *one;

	json_array_foreach(all, i, one) {
		const char *name = json_string_value(json_object_get(one, "interface"));

		if (name && !strcmp(name, nic->name) &&
		    json_integer_value(json_object_get(one, "queue")) == queue)
			return (int)json_integer_value(json_object_get(one, "core"));
	}
	if ((uint32_t)queue < want->n_cores)
		return want->cores[queue];
	if (!d->daemon.err || !d->host.n_workers)
		return -1;
	return d->worker_cpus[cores_worker(d->worker_nodes, (unsigned int)d->host.n_workers,
					   (unsigned int)queue, cores_link_node(nic->name))];
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* If we may not read the program, the daemon says whether it is Volley's. */
static void ask_whose(const struct doctor *d, struct doctor_nic *nic)
{
	const json_t *all = json_object_get(d->status, "interfaces");
	size_t i;
	json_t *one;

	if (nic->xdp_program >= 0)
		return;
	json_array_foreach(all, i, one)
		if (json_integer_value(json_object_get(one, "program_id")) == nic->xdp_id)
			nic->xdp_program = DOCTOR_VOLLEY;
}

static void gather_interface(struct doctor *d, struct doctor_nic *nic, const char *name)
{
	const struct config_interface *want = find_want(d, name);
	uint64_t frame = FRAME_BYTES;

	nic->serves = (int)want->n_queues;
	doctor_gather_nic(nic, name);
	ask_whose(d, nic);
	for (int q = 0; q < (int)DOCTOR_QUEUES; q++)
		nic->queue_cpus[q] = cpu_of_queue(d, nic, q);
	if (nic->mtu > SMALL_MTU)
		frame = FRAME_BYTES_MTU;
	if (nic->ifindex > 0 && doctor_wants_xsk(want))
		d->umem_bytes += (uint64_t)nic->serves * want->n_umem_frames * frame;
}

/* --- Checks ----------------------------------------------------------------------------------- */

static void add_doctor(struct doctor *d, const char *where, const char *check,
		       const struct doctor_finding *f)
{
	json_t *row;

	if (f->level == DOCTOR_NOTHING)
		return;
	row = json_object();
	json_put_text(row, "where", where);
	json_put_text(row, "check", check);
	json_put_text(row, "state", doctor_level_text(f->level));
	json_put_text(row, "text", f->text);
	if (*f->fix)
		json_put_text(row, "do", f->fix);
	json_array_append_new(d->checks, row);
	d->counts[f->level]++;
}

static void run_doctor_here(struct doctor *d, const char *where, const struct doctor_check *checks,
			    const struct doctor_case *c)
{
	for (; checks->name; checks++) {
		struct doctor_finding f = { .level = DOCTOR_NOTHING };

		checks->run(c, &f);
		add_doctor(d, where, checks->name, &f);
	}
}

static void run_services(struct doctor *d, struct doctor_case *c)
{
	for (uint32_t i = 0; d->config && i < d->config->n_listen; i++) {
		struct doctor_service service;

		doctor_gather_service(&service, &d->config->listen[i], d->daemon.pid);
		c->service = &service;
		run_doctor_here(d, service.text, doctor_service_checks, c);
	}
	c->service = NULL;
}

static void run_all(struct doctor *d)
{
	struct doctor_case c = {
		.host = &d->host,
		.daemon = &d->daemon,
		.config = d->config,
		.config_path = d->config_path,
		.config_err = d->config_err,
		.umem_bytes = d->umem_bytes,
	};

	run_doctor_here(d, "host", doctor_host_checks, &c);
	run_services(d, &c);
	for (size_t i = 0; i < d->n_names; i++) {
		c.nic = &d->nics[i];
		c.want = find_want(d, d->names[i]);
		run_doctor_here(d, d->names[i], doctor_nic_checks, &c);
		run_doctor_here(d, d->names[i], doctor_queue_checks, &c);
	}
}

/* --- The result ------------------------------------------------------------------------------- */

static json_t *make_doctor_result(struct doctor *d)
{
	json_t *o = json_object();

	if (d->config)
		json_put_text(o, "config", d->config_path);
	json_put_text(o, "daemon",
		      !d->daemon.err           ? "running" :
		      d->daemon.err == -EACCES ? "no permission" :
						 "not running");
	json_put_int(o, "ok", (uint64_t)d->counts[DOCTOR_OK]);
	json_put_int(o, "warnings", (uint64_t)d->counts[DOCTOR_WARN]);
	json_put_int(o, "failures", (uint64_t)d->counts[DOCTOR_FAIL]);
	json_put_int(o, "unknown", (uint64_t)d->counts[DOCTOR_UNKNOWN]);
	json_object_set_new(o, "checks", json_incref(d->checks));
	return o;
}

static void gather_doctor(struct doctor *d)
{
	read_config(d);
	doctor_gather_daemon(&d->daemon, d->socket, &d->status, &d->ports);
	choose_interfaces(d);
	doctor_gather_host(&d->host, d->daemon.pid);
	doctor_gather_libunbound(&d->host.libunbound, d->status, d->config);
	place_workers(d);
	for (size_t i = 0; i < d->n_names; i++)
		gather_interface(d, &d->nics[i], d->names[i]);
}

int doctor_run(const char *socket, int n, char *const *words, json_t **result)
{
	struct doctor *d = calloc(1, sizeof(*d));
	int err;

	*result = NULL;
	if (!d)
		return -ENOMEM;
	d->socket = socket;
	d->config_path = VOLLEY_CONFIG; /* the default of volleyd, too */
	err = take_words(d, n, words);
	d->checks = json_array();
	if (!err && d->checks) {
		gather_doctor(d);
		run_all(d);
		*result = make_doctor_result(d);
	}
	json_decref(d->checks);
	json_decref(d->status);
	json_decref(d->ports);
	config_free(d->config);
	free(d);
	return err ? err : *result ? 0 : -ENOMEM;
}
