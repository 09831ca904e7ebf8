/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "config/addresses.h"
#include "config/words.h"
#include "report/answers.h"
#include "report/faults.h"
#include "report/progress.h"
#include "report/zone_list.h"
#include "iface/dpdk_iface.h"
#include "port/xsk.h"
#include "zonemgr/signing.h"

const char *report_state_text(enum report_state state)
{
	static const char *const texts[] = { "starting", "serving", "stopping" };

	return texts[state];
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *port_text(const struct report_view *v, const struct iface *iface)
{
	unsigned int worker;
	size_t i, k;

	for (k = 0; v->workers && k < VOLLEY_QUEUES; k++)
		for (i = 0; iface->ports[k] && i < workers_n_ports(v->workers); i++)
			if (workers_port_at(v->workers, i, &worker) == iface->ports[k])
				return port_kind_text(iface->ports[k]->kind);
	return port_kind_text(PORT_SOCKET);
}

static void put_dpdk(json_t *o, const struct dpdk_device *device)
{
	struct dpdk_iface_counters c;

	dpdk_iface_counters(device, &c);
	json_put_text(o, "dpdk_driver", dpdk_iface_driver(device));
	json_put_int(o, "dpdk_received", c.ipackets);
	json_put_int(o, "dpdk_sent", c.opackets);
	json_put_int(o, "dpdk_missed", c.imissed);
	json_put_int(o, "dpdk_errors", c.ierrors + c.oerrors + c.rx_nombuf);
}

static json_t *report_iface(const struct report_view *v, const struct iface *iface)
{
	json_t *o = json_object();
	char tag[PROGRAM_TAG_CAP];

	json_put_text(o, "name", iface->config.name);
	json_put_text(o, "state", iface_state_text(iface->state));
	json_put_int(o, "ifindex", iface->ifindex);
	json_put_text(o, "xdp",
		      iface->program ? program_mode_text(program_mode(iface->program)) : "off");
	if (iface->program) {
		json_put_text(o, "origin", program_origin_text(program_origin(iface->program)));
		json_put_int(o, "program_id", program_id(iface->program));
		json_put_text(o, "program_tag", program_tag_text(iface->program, tag));
		json_put_bool(o, "driver_answers", iface_driver_answers(iface));
	}
	json_put_text(o, "port", port_text(v, iface));
	json_put_int(o, "queues", iface->n_queues);
	if (iface->dpdk)
		put_dpdk(o, iface->dpdk);
	else if (iface->n_queues)
		json_put_bool(o, "zero_copy", iface->is_zerocopy);
	if (*iface->note)
		json_put_text(o, "note", iface->note);
	return o;
}

static void put_report_faults(json_t *list, const struct iface *iface)
{
	for (int i = 0; i < IFACE_N_TOPICS; i++)
		if (iface->remarks[i].is_fault)
			json_array_append_new(list, json_sprintf("%s: %s", iface->config.name,
								 iface->remarks[i].text));
}

/* Lists what is wrong with the zone, if it has a place. True: something is. */
static bool put_report_zone(json_t *list, bool has_place, const struct zones_entry *entry,
			    uint64_t now_s)
{
	char fault[128] = "", denials[128] = "";
	const char *const texts[] = { sentence_text(&entry->error),
				      sentence_text(&entry->stored.error),
				      sentence_text(&entry->stored.warning),
				      entry->behind_serial ? sentence_text(&entry->warning) : "",
				      fault,
				      denials };
	bool is_wrong = false;

	health_denials_text(entry, denials, sizeof(denials));
	(void)!signing_judge(entry, now_s, fault, sizeof(fault));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		is_wrong |= *texts[i] != 0;
		if (*texts[i] && has_place)
			json_array_append_new(list,
					      json_sprintf("zone %s: %s", entry->name, texts[i]));
	}
	return is_wrong;
}

struct zone_counts {
	uint64_t by_state[ZONES_N_STATES], loading;
};

static void count_zone(struct zone_counts *counts, const struct zones_entry *entry)
{
	counts->by_state[entry->state]++;
	counts->loading += zone_list_is_loading(entry);
}

static json_t *pack_zone_counts(const struct zone_counts *counts)
{
	json_t *o = json_object();

	json_put_int(o, "serving", counts->by_state[ZONES_SERVING]);
	json_put_int(o, "stale", counts->by_state[ZONES_STALE]);
	json_put_int(o, "awaited", counts->by_state[ZONES_AWAITED]);
	json_put_int(o, "expired", counts->by_state[ZONES_EXPIRED]);
	json_put_int(o, "failed", counts->by_state[ZONES_FAILED]);
	json_put_int(o, "loading", counts->loading);
	return o;
}

json_t *report_zone_states(const struct zones *zones, json_t *list)
{
	const uint64_t now_s = clock_wall_s();
	struct zone_counts counts = { 0 };
	char text[HEALTH_TEXT_CAP];
	size_t n = 0;

	for (size_t i = 0; i < zones_n(zones); i++) {
		const struct zones_entry *entry = zones_at(zones, i);

		count_zone(&counts, entry);
		n += put_report_zone(list, n < HEALTH_LISTED_MAX, entry, now_s);
	}
	if (n > HEALTH_LISTED_MAX)
		json_array_append_new(list,
				      json_string(health_more_zones(text, n - HEALTH_LISTED_MAX)));
	return pack_zone_counts(&counts);
}

/* *COUNTS: the zones by their states, a new reference. */
static json_t *report_degraded(const struct report_view *v, json_t **counts)
{
	static const struct health_options all = { .zones = HEALTH_ALL };
	json_t *list = json_array();
	struct health h = { .options = &all, .reasons = list, .warnings = list };

	faults_say(&h, v);
	for (size_t i = 0; i < v->n_ifaces; i++)
		put_report_faults(list, &v->ifaces[i]);
	*counts = report_zone_states(v->zones, list);
	return list;
}

json_t *report_listen(const struct config_addr *listen, uint32_t n)
{
	char text[PORT_ADDR_TEXT_CAP];
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++) {
		const struct port_addr addr = config_port_addr(&listen[i]);

		json_array_append_new(list, json_string(port_addr_text(&addr, text)));
	}
	return list;
}

json_t *report_status(const struct report_view *v)
{
	json_t *o = json_object(), *ifaces = json_array(), *cache = json_object(), *zones;
	struct cache_stats stats;
	const struct config *config = v->configured;
	char text[512];
	size_t i;

	json_put_text(o, "version", VOLLEY_VERSION);
	json_put_int(o, "pid", (uint64_t)getpid());
	json_put_int(o, "uptime_s", (clock_ns() - v->started_ns) / CLOCK_NS_PER_S);
	json_put_int(o, "abi", VOLLEY_ABI);
	json_put_text(o, "state", report_state_text(v->state));
	json_put_bool(o, "ready", v->is_ready);
	json_put_bool(o, "drained", v->drain->is_on);
	if (progress_put(v->zones, clock_ns(), text, sizeof(text)))
		json_put_text(o, "progress", text);
	json_object_set_new(o, "degraded", report_degraded(v, &zones));
	for (i = 0; i < v->n_ifaces; i++)
		json_array_append_new(ifaces, report_iface(v, &v->ifaces[i]));
	json_object_set_new(o, "interfaces", ifaces);
	json_put_int(o, "workers", v->workers ? workers_n(v->workers) : 0);
	json_put_text(o, "control_cores", affinity_text(&v->affinity->control, text, sizeof(text)));
	json_put_bool(o, "control_cores_shared", !v->affinity->n_own);
	json_object_set_new(o, "listen", report_listen(config->listen, config->n_listen));
	json_object_set_new(o, "tls_listen",
			    report_listen(config->tls_listen, config->n_tls_listen));
	json_put_int(o, "services", v->services.n);
	json_object_set_new(o, "zones", zones);
	json_object_set_new(o, "recursion", report_recursion(v));
	json_object_set_new(o, "rrl", rate_limits_report(v->rate_limits, clock_coarse_s()));
	cache_stats_estimate(v->cache, &stats);
	json_put_int(cache, "size_bytes", stats.sizes.bytes);
	json_put_int(cache, "used_bytes", stats.used_bytes);
	json_put_int(cache, "entries", stats.n_entries);
	json_put_bool(cache, "adopted", v->is_adopted);
	json_object_set_new(o, "cache", cache);
	return o;
}

/* --- stats ------------------------------------------------------------------------------------ */

static void sum_programs(const struct report_view *v, struct volley_cpu *sum)
{
	struct volley_cpu one;
	size_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < v->n_ifaces; i++)
		if (v->ifaces[i].program && !program_counters(v->ifaces[i].program, &one))
			program_add_counters(sum, &one);
}

static json_t *report_driver(const struct report_view *v, uint64_t *hits)
{
	json_t *o = json_object(), *reasons = json_object();
	uint64_t classes[4] = { 0 };
	struct volley_cpu sum;
	char key[64];
	int k;

	sum_programs(v, &sum);
	for (k = 0; k < VOLLEY_N_REASONS; k++) {
		enum volley_reason reason = (enum volley_reason)k;

		classes[program_reason_class(reason)] += sum.reasons[k];
		if (sum.reasons[k])
			json_put_int(reasons, words_reason_key(reason, key), sum.reasons[k]);
	}
	*hits = classes[VOLLEY_CLASS_HIT];
	json_put_int(o, "received", sum.received);
	json_put_int(o, "hit", classes[VOLLEY_CLASS_HIT]);
	json_put_int(o, "up", classes[VOLLEY_CLASS_UP]);
	json_put_int(o, "passed", classes[VOLLEY_CLASS_PASSED]);
	json_put_int(o, "dropped", classes[VOLLEY_CLASS_DROPPED]);
	json_put_int(o, "to_worker", sum.to_worker);
#define PUT(name, words) json_put_int(o, #name, sum.name);
	VOLLEY_NOTES(PUT)
#undef PUT
	json_object_set_new(o, "reasons", reasons);
	return o;
}

static json_t *report_engine(const struct report_view *v)
{
	struct engine_counters c;
	json_t *o = json_object();

	workers_engine_counters(v->workers, &c);
#define PUT(name, words) json_put_int(o, #name, c.name);
	ENGINE_COUNTERS(PUT)
#undef PUT
	return o;
}

static json_t *report_transfers(const struct report_view *v)
{
	struct transfer_counters c;
	json_t *o = json_object();

	transfer_counters_read(transfer_bridge_thread(v->transfer_bridge), &c);
#define PUT(name, words) json_put_int(o, #name, c.name);
	TRANSFER_COUNTERS(PUT)
#undef PUT
	return o;
}

/* Deferred messages are included: they will be answered later. */
static void sum_answered(const struct report_view *v, uint64_t by_kind[PORT_N_KINDS])
{
	struct worker_stats stats;
	unsigned int i, k;

	memset(by_kind, 0, PORT_N_KINDS * sizeof(*by_kind));
	for (i = 0; i < workers_n(v->workers); i++) {
		workers_stats(v->workers, i, &stats);
		for (k = 0; k < PORT_N_KINDS; k++)
			by_kind[k] += stats.by_kind[k].answered + stats.by_kind[k].deferred;
	}
}

static json_t *report_tap(struct tap *tap)
{
	json_t *o = json_object();
	struct tap_counters c;

	tap_counters_read(tap, &c);
#define PUT(name, words) json_put_int(o, #name, c.name);
	TAP_COUNTERS(PUT)
#undef PUT
	json_put_int(o, "one_in", tap_every(tap));
	json_put_bool(o, "dnstap_connected", c.is_connected);
	return o;
}

json_t *report_stats(const struct report_view *v)
{
	json_t *o = json_object(), *answered = json_object();
	uint64_t by_kind[PORT_N_KINDS];
	uint64_t hits;
	json_t *driver = report_driver(v, &hits);

	sum_answered(v, by_kind);
	json_put_int(answered, "driver", hits);
	json_put_int(answered, "worker", by_kind[PORT_XSK] + by_kind[PORT_DPDK]);
	json_put_int(answered, "kernel_socket", by_kind[PORT_SOCKET]);
	json_put_int(answered, "tcp", by_kind[PORT_TCP]);
	json_put_int(answered, "tls", by_kind[PORT_TLS]);
	json_object_set_new(o, "answered", answered);
	json_object_set_new(o, "answers", answers_report(v));
	json_object_set_new(o, "driver", driver);
	json_object_set_new(o, "engine", report_engine(v));
	json_object_set_new(o, "transfers", report_transfers(v));
	json_object_set_new(o, "tap", report_tap(v->tap));
	report_recursion_counters(o, v);
	json_object_update_new(o, report_ports(v));
	return o;
}

/* --- ports ------------------------------------------------------------------------------------ */

/* Packets that the driver dropped before they came to the port. */
static void put_shed(json_t *o, const struct volley_queue *queue)
{
	uint64_t n = __atomic_load_n(&queue->shed, __ATOMIC_RELAXED);

	if (n)
		json_put_int(o, "shed", n);
}

/* The interface and queue of an AF_XDP port. */
static void put_queue(json_t *o, const struct report_view *v, const struct port *port)
{
	size_t i, queue;

	for (i = 0; i < v->n_ifaces; i++)
		for (queue = 0; queue < VOLLEY_QUEUES; queue++) {
			if (v->ifaces[i].ports[queue] != port)
				continue;
			json_put_text(o, "interface", v->ifaces[i].config.name);
			json_put_int(o, "queue", queue);
			if (v->ifaces[i].program)
				put_shed(o, program_queue(v->ifaces[i].program, (uint32_t)queue));
			if (port->kind == PORT_XSK)
				json_put_text(o, "mode",
					      xsk_is_zerocopy(port) ? "zero-copy" : "copy");
		}
}

/* The kernel's counters of an AF_XDP socket, except zeros. */
static void put_kernel_counters(json_t *o, const struct port *port)
{
	struct xdp_statistics stats;

	if (port->kind != PORT_XSK || xsk_kernel_stats(port, &stats))
		return;
#define PUT(name, words) \
	if (stats.name)  \
		json_put_int(o, "kernel_" #name, stats.name);
	XSK_KERNEL_LIST(PUT)
#undef PUT
}

static json_t *report_port(const struct report_view *v, const struct port *port,
			   unsigned int worker)
{
	json_t *o = json_object();
	struct port_stats stats;

	port_stats_read(port, &stats);
	json_put_text(o, "name", port->name);
	json_put_text(o, "kind", port_kind_text(port->kind));
	put_queue(o, v, port);
	json_put_int(o, "worker", worker);
	json_object_set_new(o, "core", json_integer(workers_cpu(v->workers, worker)));
#define PUT(name, words)                                                \
	if (stats.name || !strcmp(#name, "rx") || !strcmp(#name, "tx")) \
		json_put_int(o, #name, stats.name);
	PORT_COUNTER_LIST(PUT)
#undef PUT
	put_kernel_counters(o, port);
	return o;
}

json_t *report_ports(const struct report_view *v)
{
	json_t *o = json_object(), *ports = json_array();
	const struct port *port;
	unsigned int worker;
	size_t i;

	for (i = 0; i < workers_n_ports(v->workers); i++) {
		port = workers_port_at(v->workers, i, &worker);
		json_array_append_new(ports, report_port(v, port, worker));
	}
	json_object_set_new(o, "ports", ports);
	return o;
}

/* --- cache ------------------------------------------------------------------------------------ */

/* Resident memory of this process, with the touched pages of the cache's mapped maps. */
static uint64_t resident_bytes(void)
{
	unsigned long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_resize(json_t *o, const struct report_view *v)
{
	if (!v->resize.stage)
		return;
	json_put_int(o, "resizing_to_bytes", v->resize.to_bytes);
	json_put_text(o, "resizing_stage", v->resize.stage);
	json_put_int(o, "resizing_percent", v->resize.percent);
}

json_t *report_cache(const struct report_view *v)
{
	json_t *o = json_object();
	struct cache_stats s;

	cache_stats_read(v->cache, &s);
	json_put_int(o, "size_bytes", s.sizes.bytes);
	json_put_int(o, "total_bytes", s.sizes.total_bytes);
	json_put_int(o, "index_bytes", (uint64_t)s.sizes.n_buckets * VOLLEY_BUCKET_SLOTS * 8);
	json_put_int(o, "store_bytes", (uint64_t)s.sizes.n_segments * VOLLEY_SEGMENT_BYTES);
	json_put_int(o, "used_bytes", s.used_bytes);
	json_put_bool(o, "within_budget", s.sizes.total_bytes <= s.sizes.bytes);
	json_put_int(o, "entries", s.n_entries);
	json_put_int(o, "capacity_entries", (uint64_t)s.sizes.n_buckets * VOLLEY_BUCKET_SLOTS);
	json_put_int(o, "segments", s.sizes.n_segments);
	json_put_int(o, "segments_free", s.n_free);
	json_put_int(o, "segments_probation", s.n_probation);
	json_put_int(o, "segments_main", s.n_main);
	json_put_bool(o, "adopted", v->is_adopted);
#define PUT(name, words) json_put_int(o, #name, s.counters.name);
	CACHE_COUNTERS(PUT)
#undef PUT
	json_put_int(o, "rss_bytes", resident_bytes());
	put_resize(o, v);
	return o;
}
