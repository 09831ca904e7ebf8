/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/metrics_report.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "cache/generations.h"
#include "config/words.h"
#include "port/xsk.h"
#include "report/answers.h"
#include "report/faults.h"
#include "report/missing.h"
#include "report/report.h"

#define NUMBER_CAP 24

static void gauge(struct metrics_text *out, const char *name, const char *help, uint64_t value)
{
	metrics_text_family(out, METRICS_GAUGE, name, help);
	metrics_text_sample(out, value, NULL);
}

static void counter(struct metrics_text *out, const char *part, const char *name, const char *help,
		    uint64_t value)
{
	char text[METRICS_NAME_CAP];

	snprintf(text, sizeof(text), "%s_%s", part, name);
	metrics_text_family(out, METRICS_COUNTER, text, help);
	metrics_text_sample(out, value, NULL);
}

/* --- The daemon ------------------------------------------------------------------------------- */

static void put_daemon(const struct report_view *v, struct metrics_text *out)
{
	struct recursion_report recursion;
	char abi[NUMBER_CAP];

	recursion_report(v->recursion, &recursion);
	snprintf(abi, sizeof(abi), "%d", VOLLEY_ABI);
	metrics_text_family(out, METRICS_GAUGE, "build_info",
			    "versions of volleyd and libunbound, and ABI of the maps");
	metrics_text_sample(out, 1, "version", VOLLEY_VERSION, "abi", abi, "libunbound",
			    recursion.libunbound, NULL);
	gauge(out, "uptime_seconds", "since volleyd was started",
	      (clock_ns() - v->started_ns) / CLOCK_NS_PER_S);
	gauge(out, "ready", "1 when zones are loaded and workers answer", v->is_ready);
	gauge(out, "healthy",
	      "1 when volleyctl health, without options, finds no reason against it",
	      health_facts_is_well(v));
	gauge(out, "drained", "1 when an operator has taken this host out", v->drain->is_on);
	gauge(out, "workers", "threads that answer", v->workers ? workers_n(v->workers) : 0);
	gauge(out, "control_cores", "processors of all other threads, not shared with workers",
	      v->affinity->n_own);
	gauge(out, "rrl_prefixes_over", "prefixes of clients that are over their rate limit",
	      rate_limits_n_limited(v->rate_limits, clock_coarse_s()));
	gauge(out, "services", "service addresses that the driver knows", v->services.n);
	gauge(out, "services_missing", "service addresses that no interface of this host has",
	      missing_count(v->configured));
	gauge(out, "storage_error", "1 when server.storage cannot be written to",
	      *v->faults[FAULT_STORAGE] != 0);
	faults_metrics(v, out);
	counter(out, "log", "dropped", "lines of the log that stderr did not take",
		log_n_dropped());
}

/* --- The driver ------------------------------------------------------------------------------- */

struct driver {
	const struct iface *iface;
	struct volley_cpu sum;
};

/* Reads the drivers of the interfaces with a program; returns their number. */
static size_t read_drivers(const struct report_view *v, struct driver *drivers)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_ifaces; i++) {
		const struct iface *iface = &v->ifaces[i];

		if (!iface->program || program_counters(iface->program, &drivers[n].sum))
			continue;
		drivers[n++].iface = iface;
	}
	return n;
}

static const char *class_text(enum volley_reason reason)
{
	static const char *const texts[] = { "hit", "up", "passed", "dropped" };

	return texts[program_reason_class(reason)];
}

static void put_reasons(const struct driver *drivers, size_t n, struct metrics_text *out)
{
	char key[WORDS_REASON_BYTES];

	metrics_text_family(
		out, METRICS_COUNTER, "driver_packets",
		"packets by why they went where they went; the sum is what was received");
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < VOLLEY_N_REASONS; k++)
			metrics_text_sample(out, drivers[i].sum.reasons[k], "interface",
					    drivers[i].iface->config.name, "class",
					    class_text((enum volley_reason)k), "reason",
					    words_reason_key((enum volley_reason)k, key), NULL);
}

/* A family of metrics from struct volley_cpu, with a row for each interface. */
static void put_driver_counter(const struct driver *drivers, size_t n, struct metrics_text *out,
			       const char *name, const char *help, size_t at)
{
	char family[METRICS_NAME_CAP];

	snprintf(family, sizeof(family), "driver_%s", name);
	metrics_text_family(out, METRICS_COUNTER, family, help);
	for (size_t i = 0; i < n; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&drivers[i].sum + at, sizeof(value));
		metrics_text_sample(out, value, "interface", drivers[i].iface->config.name, NULL);
	}
}

static void put_metrics_state(const struct iface *iface, struct metrics_text *out)
{
	for (int k = 0; k < IFACE_N_STATES; k++)
		metrics_text_sample(out, iface->state == (enum iface_state)k, "interface",
				    iface->config.name, "state",
				    iface_state_text((enum iface_state)k), NULL);
}

static void put_mode(const struct iface *iface, struct metrics_text *out)
{
	const char *const modes[] = { program_mode_text(PROGRAM_NATIVE),
				      program_mode_text(PROGRAM_GENERIC), "off" };
	const char *mode = iface->program ? program_mode_text(program_mode(iface->program)) : "off";

	for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++)
		metrics_text_sample(out, !strcmp(modes[k], mode), "interface", iface->config.name,
				    "mode", modes[k], NULL);
}

static void put_ifaces(const struct report_view *v, struct metrics_text *out)
{
	metrics_text_family(out, METRICS_GAUGE, "interface_up", "1 when all is as configured");
	for (size_t i = 0; i < v->n_ifaces; i++)
		metrics_text_sample(out, v->ifaces[i].state == IFACE_UP, "interface",
				    v->ifaces[i].config.name, NULL);
	metrics_text_family(out, METRICS_GAUGE, "interface_state",
			    "1 for the state that it is in, 0 for the others");
	for (size_t i = 0; i < v->n_ifaces; i++)
		put_metrics_state(&v->ifaces[i], out);
	metrics_text_family(out, METRICS_GAUGE, "interface_xdp",
			    "1 for the mode of its program, 0 for the others");
	for (size_t i = 0; i < v->n_ifaces; i++)
		put_mode(&v->ifaces[i], out);
	metrics_text_family(out, METRICS_GAUGE, "interface_queues", "queues with a port of ours");
	for (size_t i = 0; i < v->n_ifaces; i++)
		metrics_text_sample(out, v->ifaces[i].n_queues, "interface",
				    v->ifaces[i].config.name, NULL);
}

static void put_driver(const struct report_view *v, struct metrics_text *out)
{
	struct driver *drivers = calloc(CONFIG_INTERFACES_MAX, sizeof(*drivers));
	size_t n;

	if (!drivers) {
		out->is_failed = true;
		return;
	}
	n = read_drivers(v, drivers);
	put_driver_counter(drivers, n, out, "received", "packets that the program saw",
			   offsetof(struct volley_cpu, received));
	put_reasons(drivers, n, out);
	put_driver_counter(drivers, n, out, "to_worker",
			   "of those that went up, handed to a worker's queue",
			   offsetof(struct volley_cpu, to_worker));
#define PUT(name, words) \
	put_driver_counter(drivers, n, out, #name, words, offsetof(struct volley_cpu, name));
	VOLLEY_NOTES(PUT)
#undef PUT
	free(drivers);
}

/* --- Workers ---------------------------------------------------------------------------------- */

static void put_engine(const struct report_view *v, struct metrics_text *out)
{
	struct engine_counters c;

	workers_engine_counters(v->workers, &c);
#define PUT(name, words) counter(out, "engine", #name, words, c.name);
	ENGINE_COUNTERS(PUT)
#undef PUT
}

/* A family of metrics from struct worker_kind_stats: a row for each worker and kind of port. */
static void put_kind(const struct worker_stats *stats, unsigned int n, struct metrics_text *out,
		     const char *name, const char *help, size_t at)
{
	char worker[NUMBER_CAP];

	metrics_text_family(out, METRICS_COUNTER, name, help);
	for (unsigned int i = 0; i < n; i++)
		for (int k = 0; k < PORT_N_KINDS; k++) {
			uint64_t value;

			memcpy(&value, (const char *)&stats[i].by_kind[k] + at, sizeof(value));
			snprintf(worker, sizeof(worker), "%u", i);
			metrics_text_sample(out, value, "worker", worker, "kind",
					    port_kind_text((enum port_kind)k), NULL);
		}
}

/* Summed over all workers. */
static void put_took(const struct worker_stats *stats, unsigned int n, struct metrics_text *out)
{
	metrics_text_family(out, METRICS_HISTOGRAM, "worker_answer_seconds",
			    "answers at once, from the receive of their burst to its send, by kind "
			    "of port");
	for (int k = 0; k < PORT_N_KINDS; k++) {
		struct histogram sum = { .sum_ns = 0 };

		for (unsigned int i = 0; i < n; i++)
			histogram_read(&stats[i].by_kind[k].took, &sum);
		metrics_text_histogram(out, &sum, "kind", port_kind_text((enum port_kind)k));
	}
}

static void put_rounds(const struct worker_stats *stats, unsigned int n, struct metrics_text *out)
{
	char worker[NUMBER_CAP];

	metrics_text_family(out, METRICS_COUNTER, "worker_rounds",
			    "times round its loop: 4 a second at least while it lives");
	for (unsigned int i = 0; i < n; i++) {
		snprintf(worker, sizeof(worker), "%u", i);
		metrics_text_sample(out, stats[i].heartbeat, "worker", worker, NULL);
	}
}

static void put_workers(const struct report_view *v, struct metrics_text *out)
{
	unsigned int n = workers_n(v->workers);
	struct worker_stats *stats = calloc(n, sizeof(*stats));

	if (!stats) {
		out->is_failed = true;
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		workers_stats(v->workers, i, &stats[i]);
	put_rounds(stats, n, out);
	put_kind(stats, n, out, "worker_queries", "messages that a worker took",
		 offsetof(struct worker_kind_stats, queries));
	put_kind(stats, n, out, "worker_answered", "of these, answered at once",
		 offsetof(struct worker_kind_stats, answered));
	put_kind(stats, n, out, "worker_deferred", "of these, to be answered later",
		 offsetof(struct worker_kind_stats, deferred));
	put_took(stats, n, out);
	free(stats);
}

/* --- Ports ------------------------------------------------------------------------------------ */

/* The sums over a worker's ports of one kind. */
struct port_row {
	unsigned int n; /* number of ports; 0: no row */
	struct port_stats stats;
};

static void add_port(struct port_row *row, const struct port *port)
{
	struct port_stats one;

	port_stats_read(port, &one);
	row->n++;
#define ADD(name, words) row->stats.name += one.name;
	PORT_COUNTER_LIST(ADD)
#undef ADD
}

/* rows: PORT_N_KINDS for each worker. */
static void put_port_counter(const struct port_row *rows, size_t n, struct metrics_text *out,
			     const char *name, const char *help, size_t at)
{
	char family[METRICS_NAME_CAP], worker[NUMBER_CAP];

	snprintf(family, sizeof(family), "port_%s", name);
	metrics_text_family(out, METRICS_COUNTER, family, help);
	for (size_t i = 0; i < n; i++) {
		uint64_t value;

		if (!rows[i].n)
			continue;
		memcpy(&value, (const char *)&rows[i].stats + at, sizeof(value));
		snprintf(worker, sizeof(worker), "%zu", i / PORT_N_KINDS);
		metrics_text_sample(out, value, "kind",
				    port_kind_text((enum port_kind)(i % PORT_N_KINDS)), "worker",
				    worker, NULL);
	}
}

static void put_port_numbers(const struct port_row *rows, size_t n, struct metrics_text *out)
{
	uint64_t by_kind[PORT_N_KINDS] = { 0 };

	for (size_t i = 0; i < n; i++)
		by_kind[i % PORT_N_KINDS] += rows[i].n;
	metrics_text_family(out, METRICS_GAUGE, "ports", "ports of all workers, by kind");
	for (int k = 0; k < PORT_N_KINDS; k++)
		metrics_text_sample(out, by_kind[k], "kind", port_kind_text((enum port_kind)k),
				    NULL);
}

static void put_ports(const struct report_view *v, struct metrics_text *out)
{
	size_t n = (size_t)workers_n(v->workers) * PORT_N_KINDS;
	struct port_row *rows = calloc(n, sizeof(*rows));
	unsigned int worker;

	if (!rows) {
		out->is_failed = true;
		return;
	}
	for (size_t i = 0; i < workers_n_ports(v->workers); i++) {
		const struct port *port = workers_port_at(v->workers, i, &worker);

		add_port(&rows[(size_t)worker * PORT_N_KINDS + port->kind], port);
	}
	put_port_numbers(rows, n, out);
#define PUT(name, words) \
	put_port_counter(rows, n, out, #name, words, offsetof(struct port_stats, name));
	PORT_COUNTER_LIST(PUT)
#undef PUT
	free(rows);
}

/* --- AF_XDP sockets --------------------------------------------------------------------------- */

/* A family from struct xdp_statistics: a row for each queue with a socket. */
static void put_kernel_counter(const struct report_view *v, struct metrics_text *out,
			       const char *name, const char *help, size_t at)
{
	char family[METRICS_NAME_CAP], number[NUMBER_CAP];
	struct xdp_statistics stats;

	snprintf(family, sizeof(family), "xsk_%s", name);
	metrics_text_family(out, METRICS_COUNTER, family, help);
	for (size_t i = 0; i < v->n_ifaces; i++)
		for (unsigned int queue = 0; queue < VOLLEY_QUEUES; queue++) {
			const struct port *port = v->ifaces[i].ports[queue];
			uint64_t value;

			if (!port || port->kind != PORT_XSK || xsk_kernel_stats(port, &stats))
				continue;
			memcpy(&value, (const char *)&stats + at, sizeof(value));
			snprintf(number, sizeof(number), "%u", queue);
			metrics_text_sample(out, value, "interface", v->ifaces[i].config.name,
					    "queue", number, NULL);
		}
}

static void put_kernel_sockets(const struct report_view *v, struct metrics_text *out)
{
#define PUT(name, words) \
	put_kernel_counter(v, out, #name, words, offsetof(struct xdp_statistics, name));
	XSK_KERNEL_LIST(PUT)
#undef PUT
}

/* --- Recursion -------------------------------------------------------------------------------- */

static void put_recursion(const struct report_view *v, struct metrics_text *out)
{
	struct recursion_report report;
	struct responder_counters responder;

	recursion_report(v->recursion, &report);
	gauge(out, "recursion", "1 when names outside the zones are asked upstream", report.is_on);
	if (!report.is_on)
		return;
#define PUT(name, words) counter(out, "resolver", #name, words, report.process.counters.name);
	RESOLVER_COUNTERS(PUT)
#undef PUT
	metrics_text_family(out, METRICS_HISTOGRAM, "resolver_answer_seconds",
			    "answers of upstreams: to a question of libunbound, to a query of the "
			    "forwarder over UDP");
	metrics_text_histogram(out, &report.process.counters.took, NULL, NULL);
	gauge(out, "resolver_outstanding", "questions that wait for upstreams",
	      report.process.counters.outstanding);
	counter(out, "resolver", "restarts", "ends of the resolver's process that were not ordered",
		report.process.n_restarts);
	gauge(out, "resolver_resident_bytes", "memory of the resolver's process",
	      report.process.rss_bytes);
	workers_responder_counters(v->workers, &responder);
#define PUT(name, words) counter(out, "responder", #name, words, responder.name);
	RESPONDER_COUNTERS(PUT)
#undef PUT
}

/* Without server.tls the family has no sample. */
static void put_certificate(const struct transfer *t, struct metrics_text *out)
{
	uint64_t end_s = transfer_certificate_end(t);

	metrics_text_family(out, METRICS_GAUGE, "tls_certificate_expiry_timestamp_seconds",
			    "when the certificate of server.tls that is in use ends");
	if (end_s)
		metrics_text_sample(out, end_s, NULL);
}

static void put_transfers(const struct report_view *v, struct metrics_text *out)
{
	const struct transfer *t = transfer_bridge_thread(v->transfer_bridge);
	struct transfer_counters c;

	put_certificate(t, out);
	transfer_counters_read(t, &c);
#define PUT(name, words) counter(out, "transfer", #name, words, c.name);
	TRANSFER_COUNTERS(PUT)
#undef PUT
}

/* --- The cache -------------------------------------------------------------------------------- */

static void put_segments(const struct cache_stats *s, struct metrics_text *out)
{
	metrics_text_family(out, METRICS_GAUGE, "cache_segments", "segments of the store by use");
	metrics_text_sample(out, s->n_free, "use", "free", NULL);
	metrics_text_sample(out, s->n_probation, "use", "probation", NULL);
	metrics_text_sample(out, s->n_main, "use", "main", NULL);
	metrics_text_sample(out, s->sizes.n_segments - s->n_free - s->n_probation - s->n_main,
			    "use", "other", NULL);
}

static void put_cache(const struct report_view *v, struct metrics_text *out)
{
	struct cache_stats s;

	cache_stats_estimate(v->cache, &s);
	gauge(out, "cache_size_bytes", "cache.size: the budget", s.sizes.bytes);
	gauge(out, "cache_total_bytes", "memory of the whole cache, taken at the start",
	      s.sizes.total_bytes);
	gauge(out, "cache_used_bytes", "of entries, those not yet reclaimed included",
	      s.used_bytes);
	gauge(out, "cache_entries", "answers; of a large cache an estimate", s.n_entries);
	gauge(out, "cache_capacity_entries", "places in the index",
	      (uint64_t)s.sizes.n_buckets * VOLLEY_BUCKET_SLOTS);
	put_segments(&s, out);
#define PUT(name, words) counter(out, "cache", #name, words, s.counters.name);
	CACHE_COUNTERS(PUT)
#undef PUT
}

#define PER_MILLION(share) ((uint64_t)((share)*1e6))

static void put_names(const struct report_view *v, struct metrics_text *out)
{
	const struct names_care *care = v->names_care;

	gauge(out, "names_in_use", "1 when the driver has a filter of the names that exist",
	      names_id(v->names) != 0);
	if (!v->names)
		return;
	gauge(out, "names_size_bytes", "cache.names: memory of the filter",
	      (uint64_t)v->names->n_lines * VOLLEY_NAMES_LINE_BYTES);
	gauge(out, "names_served", "names of all zones", care->n_live);
	gauge(out, "names_added", "names that were added to the filter since it began",
	      v->names->n_added);
	gauge(out, "names_gone", "names in the filter that no zone has any more", v->names->n_gone);
	gauge(out, "names_fill_ppm", "of a million bits of the filter, those that are set",
	      PER_MILLION(care->use.fill));
	gauge(out, "names_false_positives_ppm",
	      "of a million names that do not exist, those that the filter knows by mistake",
	      PER_MILLION(care->use.false_positives));
	gauge(out, "names_intervals_size_bytes",
	      "cache.intervals: memory of signed zones' intervals",
	      (uint64_t)v->names->intervals.n_lines * VOLLEY_NAMES_LINE_BYTES);
	gauge(out, "names_intervals_used_bytes",
	      "of that, what zones have, or had before the last rebuild",
	      (uint64_t)v->names->intervals.used * VOLLEY_NAMES_LINE_BYTES);
	gauge(out, "names_intervals_refused",
	      "versions of zones that had no room in it since it began",
	      v->names->intervals.n_refused);
	counter(out, "names", "rebuilds", "times that the filter was rebuilt", care->n_rebuilds);
}

static const struct zones_entry *metrics_zone_at(const void *user, size_t i)
{
	return zones_at(user, i);
}

/* Zones with counters of their own come first. */
static bool has_counter(const void *user, const struct zones_entry *entry)
{
	const struct report_view *v = user;

	return cache_zone_counter(v->cache, entry->published.slot) >= VOLLEY_COUNT_FIRST_ZONE;
}

static void put_zones(const struct report_view *v, struct metrics_text *out)
{
	const char *names[ANSWERS_ZONES_MAX];
	size_t n = answers_zones(v->answers, names);
	struct metrics_zone_list list = {
		.at = metrics_zone_at,
		.user = v->zones,
		.n = zones_n(v->zones),
		.is_first = has_counter,
		.first_user = v,
	};

	for (size_t i = 0; i < n; i++) {
		list.first[list.n_first] = zones_find(v->zones, names[i]);
		list.n_first += list.first[list.n_first] != NULL;
	}
	metrics_zones(&list, clock_wall_s(), out);
}

void metrics_report(const struct report_view *v, struct metrics_text *out)
{
	metrics_process(out);
	put_daemon(v, out);
	if (v->blocks)
		block_book_metrics(v->blocks, out);
	put_ifaces(v, out);
	put_driver(v, out);
	answers_metrics(v, out);
	if (v->workers) {
		put_engine(v, out);
		put_workers(v, out);
		put_ports(v, out);
		put_kernel_sockets(v, out);
		put_recursion(v, out);
	}
	put_transfers(v, out);
	if (v->has_rpz)
		rpz_manager_metrics(v->rpz, out);
	put_cache(v, out);
	put_names(v, out);
	if (v->zones)
		put_zones(v, out);
}
