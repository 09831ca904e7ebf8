/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and closes the parts of the daemon, in the order of daemon/daemon.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "bpf/lock.h"
#include "broker/maps.h"
#include "config/addresses.h"
#include "daemon/answer_cache.h"
#include "daemon/commands.h"
#include "daemon/daemon_internal.h"
#include "daemon/service_addresses.h"
#include "iface/dpdk_iface.h"
#include "report/answers.h"
#include "report/metrics_report.h"
#include "report/top_names.h"

/* The longest stop, and the speed of a slow disk for the snapshot of a cache. */
#define STOP_S           60u
#define STOP_BYTES_PER_S (16u << 20)

static const struct report_view *view_of_daemon_open(void *user)
{
	return daemon_view(user);
}

static struct report_source reports_of(struct daemon *d)
{
	return (struct report_source){ view_of_daemon_open, d };
}

/* --- The cache -------------------------------------------------------------------------------- */

/* Called before any time is stored that the XDP program compares with its clock. */
static void follow_driver_clock(void)
{
	int64_t ahead_ns;

	if (maps_clock_offset(&ahead_ns) || !ahead_ns)
		return;
	clock_set_offset(ahead_ns);
	log_notice("volleyd is in a time namespace, %lld s %s the kernel's clock: times that the "
		   "driver compares are written by that clock",
		   (long long)((ahead_ns < 0 ? -ahead_ns : ahead_ns) / (int64_t)CLOCK_NS_PER_S),
		   ahead_ns < 0 ? "behind" : "ahead of");
}

/* The rate limits come before any engine, since an engine's pointer to its limits never changes. */
static int open_rate_limits(struct daemon *d)
{
	int err = rate_limits_open(&d->rate_limits,
				   d->cache.is_anonymous ? NULL : &d->cache.maps.limiter);

	if (err)
		return err;
	d->published.limiter = rate_limits_limiter(d->rate_limits);
	return daemon_configure_rate_limits(d, d->config);
}

static int open_memory(struct daemon *d)
{
	struct answer_cache *cache = &d->cache;
	int err = answer_cache_open_memory(cache);

	if (!err)
		err = open_rate_limits(d);
	if (!err)
		err = answer_cache_open(cache);
	if (!err)
		err = names_filter_open(&d->names, cache, d->config, &d->published);
	if (!err)
		err = cache_keeper_start(&cache->keeper, cache->cache, answer_cache_grace, cache);
	if (err)
		log_error("answer cache: %s", err_text(err));
	else if (cache->is_adopted)
		log_info("answer cache: adopted with its answers");
	return err;
}

static int open_observers(struct daemon *d)
{
	const struct report_source reports = reports_of(d);
	struct observers *o = &d->observers;
	int err = taps_open(&o->taps, d->config);

	if (err)
		return err;
	o->live = live_new(&o->taps, &reports);
	o->capture = capture_new(&o->taps, &reports);
	if (o->live && o->capture)
		return 0;
	log_error("start: top, capture: %s", err_text(-ENOMEM));
	return -ENOMEM;
}

static int open_cache(struct daemon *d)
{
	char why[CACHE_PLAN_TEXT_CAP];
	int err = cache_plan(&d->cache.sizes, d->config, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	follow_driver_clock();
	err = interfaces_attach_all(&d->interfaces);
	if (!err)
		err = open_memory(d);
	if (err)
		return err;
	interfaces_clean_others(&d->interfaces);
	d->cache.memory.state->max_udp_bytes = d->config->max_udp_size_bytes;
	reply_options_tell_driver(&d->options);
	err = open_observers(d);
	if (err)
		return err;
	heartbeat_serve_by(&d->heartbeat, d->cache.memory.state, NULL);
	return heartbeat_start(&d->heartbeat);
}

/* --- Control's thread ------------------------------------------------------------------------- */

static void write_metrics(void *user, struct metrics_text *out)
{
	metrics_report(daemon_view(user), out);
}

static int open_metrics(struct daemon *d)
{
	const struct config_addr *at = &d->config->metrics;
	const struct port_addr addr = config_port_addr(at);
	char err[512];
	int code;

	if (!at->family)
		return 0;
	code = metrics_open(&d->metrics, &addr, write_metrics, d, err, sizeof(err));
	if (!code)
		return events_watch(&d->events, metrics_fd(d->metrics));
	log_error("%s", err);
	return code;
}

static int watch_parts(struct daemon *d)
{
	const int fds[] = { background_fd(d->background), live_fd(d->observers.live),
			    ctl_fd(d->ctl) };
	int code = 0;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]) && !code; i++)
		code = events_watch(&d->events, fds[i]);
	return code;
}

static int open_background(struct daemon *d)
{
	const struct report_source reports = reports_of(d);
	struct statistics *s = &d->statistics;
	int code = background_new(&d->background);

	if (code)
		return code;
	d->queries = (struct cache_queries){
		.cache = &d->cache,
		.background = d->background,
		.ctl = d->ctl,
		.reports = reports,
	};
	s->answers = answers_new();
	s->top_names = top_names_new();
	s->places = zone_places_new(&reports, &d->cache, d->background);
	if (!s->answers || !s->top_names || !s->places)
		return -ENOMEM;
	answers_read(daemon_view(d));
	return watch_parts(d);
}

static int open_daemon_open_events(struct daemon *d)
{
	const char *what;
	char err[512] = "";
	struct rights rights = { 0 };
	int code = events_open(&d->events, &what);

	if (!code) {
		what = "control socket";
		code = rights_read(&rights, d->config);
	}
	if (!code)
		code = ctl_open(&d->ctl, d->config->control_socket, d->config->control_mode,
				commands, d, err, sizeof(err));
	if (!code) {
		daemon_put_rights(d, &rights);
		d->zones.ctl = d->jobs.ctl = d->ctl;
		drain_open(&d->drain, d->config->control_socket);
		what = "background work";
		code = open_background(d);
	}
	if (!code)
		return open_metrics(d);
	rights_fini(&rights);
	if (*err)
		log_error("%s", err);
	else
		log_error("start: %s: %s", what, err_text(code));
	return code;
}

/* --- Zones, recursion, RPZ, blocks ------------------------------------------------------- */

static int open_resolution(struct daemon *d)
{
	int code = daemon_recursion_open(&d->recursion, d->config, d->background,
					 d->observers.taps.tap);

	d->queries.recursion = d->recursion.recursion;
	if (!code)
		code = zone_service_open_loader(&d->zones,
						(unsigned int)CPU_COUNT(&d->affinity.allowed));
	if (!code) {
		loader_set_runner(d->zones.loader, d->runner);
		code = events_watch(&d->events, loader_fd(d->zones.loader));
	}
	if (!code)
		code = daemon_recursion_open_rpz(&d->recursion, d->background);
	d->zones.rpz = d->recursion.rpz;
	return code;
}

static int open_transfers(struct daemon *d)
{
	const struct transfer_bridge_env env = {
		.published = &d->published,
		.engine_config = &d->engine_config,
		.tap = d->observers.taps.tap,
	};
	int code = zone_service_open_transfers(&d->zones, env, d->background);

	return code ? code : events_watch(&d->events, transfer_bridge_fd(d->zones.transfer_bridge));
}

static void put_block_kinds(void *user, uint32_t kinds)
{
	heartbeat_put_block_kinds(user, kinds);
}

static int open_blocks(struct daemon *d)
{
	const struct block_env env = {
		.published = &d->published,
		.background = d->background,
		.blocks_fd = answer_cache_fd(&d->cache, d->cache.maps.blocks_fd),
		.blocked_fd = answer_cache_fd(&d->cache, d->cache.maps.blocked_fd),
		.grace = answer_cache_grace,
		.grace_user = &d->cache,
		.tell = put_block_kinds,
		.tell_user = &d->heartbeat,
		.storage = d->config->storage,
	};
	int err = block_book_open(&d->blocks, &env, d->config);

	if (err)
		log_error("blocks: %s", err_text(err));
	return err;
}

/* Begins to load with all processors, since no other thread needs them yet. */
static int open_zones(struct daemon *d)
{
	const struct zones_env env = {
		.cache = d->cache.cache,
		.is_adopted = d->cache.is_adopted,
		.names = d->names.names,
		.published = &d->published,
		.settings_digest = daemon_recursion_settings_digest(&d->recursion),
		.others = d->recursion.other_slots,
		.n_others = N_OTHER_SLOTS,
		.grace = answer_cache_grace,
		.grace_user = &d->cache,
		.grace_userspace = grace_wait_userspace,
	};

	return zone_service_open_zones(&d->zones, env);
}

/* --- Open ------------------------------------------------------------------------------------- */

static void make_engine_config(struct daemon *d)
{
	d->engine_config = (struct engine_config){
		.max_udp_bytes = d->config->max_udp_size_bytes,
		.minimal_responses = d->config->minimal_responses,
		.any = d->config->any,
	};
}

static int choose_daemon_open_cpus(struct daemon *d)
{
	const struct config *config = d->config;
	char err[512];
	int code = affinity_init(&d->affinity, config->control_cores, config->n_control_cores, err,
				 sizeof(err));

	if (code)
		log_error("%s", err);
	return code;
}

/* Called before any part is opened that needs many descriptors. */
static int raise_descriptors(struct daemon *d)
{
	const unsigned int n_cpus = (unsigned int)CPU_COUNT(&d->affinity.allowed);
	const unsigned int n_workers = d->config->n_workers ? d->config->n_workers : n_cpus;
	char err[512];
	int code = descriptors_raise(&d->descriptors, d->config, n_workers, err, sizeof(err));

	if (code)
		log_error("%s", err);
	else if (*d->descriptors.problem)
		log_warn("%s", d->descriptors.problem);
	return code;
}

int daemon_open(struct daemon *d)
{
	static int (*const steps[])(struct daemon *) = { open_cache,      open_daemon_open_events,
							 open_resolution, open_transfers,
							 open_blocks,     open_zones };
	char err[512];
	int code;

	d->started_ns = clock_ns();
	d->lock_fd = lock_open(d->config->pid_file, err, sizeof(err));
	if (d->lock_fd < 0) {
		log_error("%s", err);
		return d->lock_fd;
	}
	code = choose_daemon_open_cpus(d);
	if (!code)
		code = raise_descriptors(d);
	if (!code) {
		dpdk_iface_begin(d->config);
		make_engine_config(d);
		code = reply_options_open(&d->options, d->config);
	}
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !code; i++)
		code = steps[i](d);
	return code;
}

/* --- When the zones are loaded ---------------------------------------------------------------- */

/* Called when zones are in place: only answers from zones that are served are loaded. */
static int open_snapshots(struct daemon *d)
{
	const char *path = d->config->cache_snapshot;
	int err = snapshots_new(&d->jobs.snapshots, d->cache.cache, &d->published);

	if (!err)
		err = events_watch(&d->events, snapshots_fd(d->jobs.snapshots));
	if (!err && path)
		err = snapshots_configure(d->jobs.snapshots, path,
					  d->config->cache_snapshot_interval_s,
					  !d->cache.is_adopted, clock_ns());
	if (err)
		log_error("snapshots of the cache: %s", err_text(err));
	return err;
}

/* For struct resize_env. */
static void on_moved(void *user, struct volley_state *old)
{
	struct daemon *d = user;
	struct cache *cache = d->cache.cache;

	zones_set_cache(d->zones.zones, cache);
	recursion_set_cache(d->recursion.recursion, cache);
	rpz_manager_set_cache(d->recursion.rpz, cache);
	snapshots_set_cache(d->jobs.snapshots, cache);
	taps_tell_driver(&d->observers.taps);
	reply_options_tell_driver(&d->options); /* they may have changed since they were copied */
	heartbeat_serve_by(&d->heartbeat, d->cache.memory.state, old);
	service_addresses_update(&d->interfaces, zone_service_config(&d->zones));
}

/* A cache that was adopted may be of another size. */
static int open_resize(struct daemon *d)
{
	const struct resize_env env = {
		.cache = &d->cache,
		.interfaces = &d->interfaces,
		.heartbeat = &d->heartbeat,
		.names = &d->names,
		.snapshots = d->jobs.snapshots,
		.background = d->background,
		.moved = on_moved,
		.user = d,
	};
	int err = resize_new(&d->jobs.resize, &env);

	if (!err)
		err = events_watch(&d->events, resize_fd(d->jobs.resize));
	if (!err && interfaces_have_own_programs(&d->interfaces))
		resize_want(d->jobs.resize, d->config->cache_size_bytes);
	return err;
}

/* From now on control's threads run only on processors that have no worker. */
static int leave_cores(struct daemon *d)
{
	struct affinity *affinity = &d->affinity;
	const struct workers *workers = d->interfaces.workers;
	unsigned int n = workers_n(workers), i;
	int *cpus = calloc(n, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		cpus[i] = workers_cpu(workers, i);
	affinity_settle(affinity, cpus, n);
	free(cpus);
	affinity_move_threads(affinity);
	loader_limit(d->zones.loader, affinity->n_own > ZONE_SERVICE_LOADERS_MIN ?
					      affinity->n_own :
					      ZONE_SERVICE_LOADERS_MIN);
	return 0;
}

static int open_crew(struct daemon *d, const struct config *wanted)
{
	const struct config_recursion *recursion = recursion_config(d->recursion.recursion);
	struct workers_env env = {
		.config = d->config,
		.listen = wanted->listen,
		.n_listen = wanted->n_listen,
		.engine = &d->engine_config,
		.cache = d->cache.cache,
		.data = &d->published,
		.resolver = recursion_resolver(d->recursion.recursion),
		.bells = recursion_bells(d->recursion.recursion),
		.n_pending = recursion->n_allow ? recursion->max_outstanding : 0,
		.n_tcp_conns = d->descriptors.n_tcp,
		.n_tcp_peers = d->descriptors.n_transfer,
		.refresh_fd = answer_cache_fd(&d->cache, d->cache.maps.refresh_fd),
		.handover = transfer_bridge_handover(d->zones.transfer_bridge),
		.intake = transfer_bridge_intake(d->zones.transfer_bridge),
		.tap = d->observers.taps.tap,
	};
	char err[512];
	int code;

	affinity_for_workers(&d->affinity, &env.cpus);
	code = workers_open(&d->interfaces.workers, &env, err, sizeof(err));
	if (code)
		log_error("%s", err);
	return code;
}

int daemon_open_workers(struct daemon *d)
{
	const struct config *wanted =
		zone_service_config(&d->zones); /* a reload may have changed it */
	int code = open_crew(d, wanted);

	if (code)
		return code;
	heartbeat_let_old_go(&d->heartbeat); /* their deadlines are seconds away */
	interfaces_open_ports(&d->interfaces);
	service_addresses_update(&d->interfaces, wanted);
	service_addresses_log_missing(wanted);
	interfaces_take_places(&d->interfaces);
	interfaces_catch_up(&d->interfaces, d->config, wanted);
	code = leave_cores(d);
	if (!code)
		code = open_snapshots(d);
	return code ? code : open_resize(d);
}

/* --- Close ------------------------------------------------------------------------------------ */

/*
 * systemd kills a service that does not end within TimeoutStopSec: sd_notify(3). volleyd asks for
 * more time only once, so a disk that hangs does not keep the host from stopping. The watchdog is
 * off by then, since STOPPING=1 was sent.
 */
static void ask_for_time(const struct daemon *d)
{
	struct cache_stats stats;
	uint64_t usec;

	if (!d->jobs.snapshots || !d->config->cache_snapshot)
		return;
	cache_stats_estimate(d->cache.cache, &stats);
	usec = (STOP_S + stats.used_bytes / STOP_BYTES_PER_S) * 1000000;
	sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRIu64, usec);
}

static void free_statistics(struct statistics *s)
{
	top_names_free(s->top_names);
	answers_free(s->answers);
	zone_places_free(s->places);
}

static void close_observers(struct observers *o)
{
	taps_close(&o->taps);
	live_free(o->live);
	capture_free(o->capture);
}

/* Ends questions and commands. */
static void stop_serving(struct daemon *d)
{
	metrics_close(d->metrics);
	resize_stop(d->jobs.resize); /* before heartbeat_stop(): on_moved() renews the heartbeat */
	ask_for_time(d);
	heartbeat_stop(&d->heartbeat, d->keep);
	ctl_stop(d->ctl);
	transfer_bridge_stop(d->zones.transfer_bridge);
	rpz_manager_cancel(d->recursion.rpz);
	background_free(d->background);
	resize_free(d->jobs.resize);
	free_statistics(&d->statistics);
	zone_service_stop_loading(&d->zones);
	daemon_recursion_stop(&d->recursion);
	interfaces_close(&d->interfaces, d->keep);
	workers_close(d->interfaces.workers);
	dpdk_iface_end(d->keep);
	transfer_bridge_free(d->zones.transfer_bridge);
	close_observers(&d->observers);
}

void daemon_close(struct daemon *d)
{
	d->is_ready = false;
	sd_notify(0, "STOPPING=1");
	stop_serving(d);
	snapshots_finish(d->jobs.snapshots);
	snapshots_free(d->jobs.snapshots);
	cache_keeper_stop(d->cache.keeper);
	zone_service_close(&d->zones);
	block_book_close(d->blocks);
	daemon_recursion_close(&d->recursion);
	reply_options_close(&d->options);
	zone_service_free_loader(&d->zones);
	regular_set_helper(NULL, NULL);
	runner_free(d->runner);
	names_fini(&d->names.memory);
	rate_limits_close(d->rate_limits);
	answer_cache_close(&d->cache);
	ctl_unlink(d->ctl);
	events_close(&d->events);
	if (d->lock_fd >= 0)
		lock_close(d->lock_fd, d->config->pid_file);
	ctl_close(d->ctl);
	rights_fini(&d->rights);
	config_free(d->config);
}
