/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/parent.h"
#include "base/sandbox.h"
#include "broker/broker.h"
#include "broker/network.h"
#include "daemon/confine.h"
#include "daemon/daemon_audit.h"
#include "daemon/daemon_internal.h"
#include "daemon/service_addresses.h"
#include "report/report.h"
#include "report/top_names.h"

/* Before heartbeat.c takes control's thread for one that hangs. Making maps of some hundred GiB
 * takes a minute. */
#define BROKER_PATIENCE_MS 240000
#define STOP_PATIENCE_MS   10000 /* for the end of the other processes */

/* --- Events ----------------------------------------------------------------------------------- */

static void on_daemon_signal(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->events.signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		daemon_audit_signal(&info);
		if (info.ssi_signo == SIGHUP || info.ssi_signo == SIGUSR1)
			(void)daemon_reopen_logs(d); /* logged */
		if (info.ssi_signo == SIGUSR1)
			continue;
		if (info.ssi_signo == SIGHUP)
			daemon_reload_by_signal(d);
		else
			d->stopping = true;
	}
}

static void on_load(struct daemon *d)
{
	loader_poll(d->zones.loader);
	if (d->zones.added)
		added_check(d->zones.added);
	zones_poll(d->zones.zones);
}

/* Called while there are workers. */
static void tick_serving(struct daemon *d, uint64_t now_ns)
{
	interfaces_check(&d->interfaces);
	interfaces_look_at_load(&d->interfaces);
	health_facts_tick(&d->health, d->interfaces.workers, d->zones.zones, d->is_ready);
	daemon_recursion_check_clock(&d->recursion);
	cookies_tick(d->options.cookies, clock_wall_s());
	top_names_gather(d->statistics.top_names, daemon_view(d), now_ns / CLOCK_NS_PER_S);
	if (d->zones.zones)
		zone_places_tick(d->statistics.places, now_ns / CLOCK_NS_PER_S);
	live_tick(d->observers.live, now_ns);
	capture_tick(d->observers.capture, now_ns);
}

static void on_daemon_tick(struct daemon *d)
{
	struct workers *workers = d->interfaces.workers;
	uint64_t n;

	if (read(d->events.tick_fd, &n, sizeof(n)) < 0)
		return;
	rate_limits_tick(d->rate_limits, clock_coarse_s());
	if (d->blocks)
		block_book_tick(d->blocks);
	if (d->jobs.snapshots)
		snapshots_tick(d->jobs.snapshots, clock_ns());
	if (d->jobs.resize)
		resize_tick(d->jobs.resize);
	zone_service_tick(&d->zones);
	if (d->zones.zones && d->is_ready)
		names_filter_tick(&d->names, d->zones.zones);
	if (workers)
		tick_serving(d, clock_ns());
	ctl_poll(d->ctl, clock_ns());
	audit_tick(clock_ns());
	sandbox_tick();
	log_flush();
	heartbeat_watch(&d->heartbeat, &d->health, workers ? workers_n(workers) : 0);
}

static void on_guard(struct daemon *d)
{
	uint64_t n;

	if (read(d->events.guard_fd, &n, sizeof(n)) > 0 && d->interfaces.workers)
		interfaces_guard(&d->interfaces);
}

static void on_links(struct daemon *d)
{
	links_drain(&d->events.links);
	if (!d->interfaces.workers)
		return; /* when there are workers, everything is read again */
	service_addresses_update(&d->interfaces, zone_service_config(&d->zones));
	interfaces_guard(&d->interfaces);
	interfaces_check(&d->interfaces);
	interfaces_update_links(&d->interfaces);
}

/* The time until changes of zones must be put in place; -1: there are none. */
static int daemon_timeout_ms(const struct daemon *d)
{
	uint64_t at = d->zones.zones ? zones_flush_at(d->zones.zones) : UINT64_MAX,
		 now = clock_ns();

	if (at == UINT64_MAX)
		return -1;
	return at <= now ? 0 : (int)((at - now + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS);
}

static void on_daemon_event(struct daemon *d, const struct epoll_event *at)
{
	struct epoll_event event = *at;

	if (event.data.fd == d->events.signal_fd)
		on_daemon_signal(d);
	else if (event.data.fd == d->events.tick_fd)
		on_daemon_tick(d);
	else if (event.data.fd == d->events.guard_fd)
		on_guard(d);
	else if (event.data.fd == d->events.links.fd)
		on_links(d);
	else if (event.data.fd == loader_fd(d->zones.loader))
		on_load(d);
	else if (d->zones.transfer_bridge &&
		 event.data.fd == transfer_bridge_fd(d->zones.transfer_bridge))
		transfer_bridge_poll(d->zones.transfer_bridge);
	else if (event.data.fd == background_fd(d->background))
		background_poll(d->background);
	else if (d->jobs.snapshots && event.data.fd == snapshots_fd(d->jobs.snapshots))
		snapshots_poll(d->jobs.snapshots);
	else if (d->jobs.resize && event.data.fd == resize_fd(d->jobs.resize))
		resize_poll(d->jobs.resize);
	else if (event.data.fd == live_fd(d->observers.live))
		live_poll(d->observers.live, clock_ns());
	else if (d->metrics && event.data.fd == metrics_fd(d->metrics))
		metrics_poll(d->metrics);
	else
		ctl_poll(d->ctl, clock_ns());
}

static void wait_daemon_for_event(struct daemon *d)
{
	struct epoll_event event;
	int n = epoll_wait(d->events.epoll_fd, &event, 1, daemon_timeout_ms(d));
	struct clock_now now;

	clock_read(&now);
	if (d->zones.zones)
		zones_set_time(d->zones.zones, &now);
	if (n == 1)
		on_daemon_event(d, &event);
	if (d->zones.added)
		added_check(d->zones.added);
	if (d->zones.zones && now.ns >= zones_flush_at(d->zones.zones))
		zones_flush(d->zones.zones);
	if (d->zones.added)
		added_poll(d->zones.added);
	if (d->zones.catalogs)
		catalogs_poll(d->zones.catalogs);
	if (d->zones.maintenance)
		maintenance_poll(d->zones.maintenance);
	if (d->recursion.root_copy)
		root_copy_poll(d->recursion.root_copy, now.ns);
	if (d->recursion.has_rpz)
		rpz_manager_poll(d->recursion.rpz);
}

/* --- From start to life ----------------------------------------------------------------------- */

static int start_daemon_here(struct daemon *d)
{
	int code = daemon_open(d);

	while (!code && !d->stopping &&
	       !(d->zones.is_loaded && d->recursion.has_rpz &&
		 rpz_manager_is_idle(d->recursion.rpz)))
		wait_daemon_for_event(d);
	if (code || d->stopping)
		return code;
	return daemon_open_workers(d);
}

static void live(struct daemon *d)
{
	d->is_ready = true;
	sd_notify(0, "READY=1");
	daemon_audit_start(d->config);
	log_notice("ready: %u workers, %zu zones, %zu interfaces", workers_n(d->interfaces.workers),
		   zones_n(d->zones.zones), d->interfaces.n);
	while (!d->stopping)
		wait_daemon_for_event(d);
}

static void block_signals(void)
{
	const sigset_t signals = events_signals();

	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* The process that started volleyd may have ignored it. Then waitpid() tells no status: a
	 * verify command that refuses a zone would count as one that accepts it. */
	signal(SIGCHLD, SIG_DFL);
}

/*
 * The resolver's process has our user. It may not open our memory, nor our files, by /proc; so no
 * capability of ours is needed to keep it out. Processes that are forked from here are closed, too.
 */
static void close_memory(void)
{
	(void)!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Each part gets the parts that it works with; most of these are not open yet. */
static void join_parts(struct daemon *d)
{
	heartbeat_init(&d->heartbeat, d->config->cache_orphan_serve_s);
	interfaces_init(&d->interfaces, d->config, &d->cache, &d->heartbeat);
	d->zones.config = d->config;
	d->options = (struct reply_options){
		.published = &d->published,
		.cache = &d->cache,
		.heartbeat = &d->heartbeat,
	};
	d->observers.taps = (struct taps){
		.published = &d->published,
		.cache = &d->cache,
		.heartbeat = &d->heartbeat,
	};
	d->recursion = (struct daemon_recursion){
		.published = &d->published,
		.engine_config = &d->engine_config,
		.cache = &d->cache,
		.zones = &d->zones,
		.interfaces = &d->interfaces,
		.heartbeat = &d->heartbeat,
	};
}

/* DPDK reads cards in this process and needs all capabilities there. */
bool daemon_has_dpdk(const struct config *config)
{
	for (uint32_t i = 0; i < config->n_interfaces; i++)
		if (config->interfaces[i].port == CONFIG_PORT_DPDK)
			return true;
	return false;
}

/* Broker and runner, and who starts them. Before any thread. */
static int start_processes(struct daemon *d)
{
	const bool has_broker = !daemon_has_dpdk(d->config);
	struct executable program;
	char why[320]; /* if it is not there, recursion says so */
	int err;

	if (executable_open(&program, NULL, why, sizeof(why)))
		log_debug("start: %s", why);
	err = runner_prepare(&d->runner, d->config);
	if (!err && has_broker)
		err = broker_prepare(d->config, BROKER_PATIENCE_MS);
	if (!err)
		err = parent_start(&program,
				   has_broker ? privilege_drop_broker : privilege_drop_thread);
	executable_close(&program);
	if (err)
		log_error("start: the parent of broker and runner: %s", err_text(err));
	return err;
}

/* Before any thread. */
static void drop_privileges(const struct config *config)
{
	if (!daemon_has_dpdk(config))
		port_set_helper(&network_helper);
	if (daemon_has_dpdk(config) ? privilege_drop_broker() : privilege_drop())
		log_warn("capabilities that are not needed could not be given up");
}

/* DPDK has threads, devices and files of its own, whose calls are not known. */
static void start_sandbox(const struct config *config)
{
	if (daemon_has_dpdk(config))
		log_notice("port: dpdk: threads may make each system call");
	else if (sandbox_start(SANDBOX_CONTROL))
		log_warn("%s", sandbox_problem());
}

int daemon_run(struct config *config, bool keep)
{
	struct daemon *d = calloc(1, sizeof(*d));
	bool has_started;
	int err;

	if (!d) {
		config_free(config);
		return -ENOMEM;
	}
	d->config = config;
	d->keep = keep;
	d->lock_fd = -1;
	events_init(&d->events);
	join_parts(d);
	block_signals();
	close_memory();
	err = start_processes(d);
	if (!err) {
		regular_set_helper(runner_open, d->runner);
		d->zones.runner = d->runner;
		drop_privileges(config);
		if (!daemon_has_dpdk(config)) /* it opens devices that are not known */
			confine_start(config);
		start_sandbox(config);
	}
	rcu_register_thread();
	rcu_thread_offline();
	if (!err)
		err = start_daemon_here(d);
	if (!err && !d->stopping)
		live(d);
	has_started = d->is_ready;
	daemon_close(d);
	sandbox_tick();
	if (has_started)
		daemon_audit_stop(d->started_ns, d->keep);
	rcu_unregister_thread();
	parent_stop(broker_stop() ? STOP_PATIENCE_MS : 0);
	heartbeat_fini(&d->heartbeat);
	free(d);
	return err;
}
