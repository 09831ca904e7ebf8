/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the daemon is made of, opened and closed: see the order in control/daemon.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/privilege.h"
#include "bpf/ktime.h"
#include "bpf/lock.h"
#include "cache/memory.h"
#include "control/cache_plan.h"
#include "control/commands.h"
#include "control/daemon_internal.h"
#include "control/metrics_report.h"
#include "iface/dpdk_iface.h"

#define LOADERS_MIN 2u        /* so that a small zone need not wait for a large one */
#define GUARD_NS    200000000 /* hits that do not leave meanwhile are lost */

/* --- Open --------------------------------------------------------------------------------------- */

static int watch(struct daemon *d, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The maps of a program that is attached, new ones, or (without BPF) anonymous memory. */
static int open_memory(struct daemon *d)
{
	int err = 0;

	if (!d->maps.is_open)
		err = object_maps_make(&d->maps, &d->sizes);
	if (!err) {
		d->memory = d->maps.memory;
		return 0;
	}
	log_warn("BPF maps: %s: the answer cache is this process's own, and nothing is answered in "
		 "the driver%s",
		 err_text(err),
		 (err == -EPERM || err == -EACCES) && !privilege_has_xdp() ?
			 ": start with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN" :
			 "");
	d->is_anonymous = true;
	return cache_memory_anonymous(&d->memory, &d->sizes);
}

/* Before anything is written that the program compares with its clock. */
static void follow_driver_clock(void)
{
	int64_t ahead_ns;

	if (ktime_offset(&ahead_ns) || !ahead_ns)
		return;
	clock_set_offset(ahead_ns);
	log_notice("volleyd is in a time namespace, %lld s %s the kernel's clock: what the driver "
		   "compares with that clock is written by it",
		   (long long)((ahead_ns < 0 ? -ahead_ns : ahead_ns) / (int64_t)CLOCK_NS_PER_S),
		   ahead_ns < 0 ? "behind" : "ahead of");
}

static int open_cache(struct daemon *d)
{
	char why[CACHE_PLAN_TEXT_CAP];
	int err = cache_plan(&d->sizes, d->config, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	follow_driver_clock();
	err = daemon_attach_all(d);
	if (err)
		return err;
	err = open_memory(d);
	if (!err)
		err = daemon_open_rrl(d);
	if (!err)
		err = cache_new(&d->cache, &d->memory, &d->is_adopted);
	if (!err && !d->is_anonymous)
		err = grace_open(&d->grace);
	if (!err)
		err = daemon_open_names(d);
	if (!err)
		err = cache_keeper_start(&d->keeper, d->cache, daemon_grace, d);
	if (err) {
		log_error("answer cache: %s", err_text(err));
		return err;
	}
	if (d->is_adopted)
		log_info("answer cache: adopted with its answers");
	daemon_clean_others(d);
	d->memory.state->max_udp_bytes = d->config->max_udp_size_bytes;
	daemon_tell_options(d);
	err = taps_open(d);
	if (err)
		return err;
	daemon_serve_by(d, d->memory.state, NULL);
	return daemon_start_heartbeat(d);
}

static void on_loaded(void *user, int code)
{
	struct daemon *d = user;

	(void)code; /* a zone that does not load has said so, and is SERVFAIL */
	d->is_loaded = true;
}

static void on_reset(void *user, const struct zones_entry *entry)
{
	struct daemon *d = user;

	if (!transfer_refresh(transfers_thread(d->transfers), entry->apex, true))
		return;
	log_warn("zone %s: its catalog resets it, but %s", entry->name,
		 zones_is_secondary(entry) ? "its transfers have not begun" :
					     "it has no primaries");
}

/* What other name servers bring and take. */
static int open_transfers(struct daemon *d)
{
	struct transfers_env env = {
		.published = &d->published,
		.engine_config = &d->engine_config,
		.n_conns_max = d->descriptors.n_transfer,
		.tap = d->tap,
	};
	char err[512];
	int code = daemon_open_store(d);

	if (code)
		return code;
	d->upkeep = upkeep_new(d->store, d->background);
	d->catalogs = catalogs_new(d->config, d->store);
	if (!d->upkeep || !d->catalogs)
		return -ENOMEM;
	catalogs_on_reset(d->catalogs, on_reset, d);
	env.store = d->store;
	env.upkeep = d->upkeep;
	code = transfers_new(&d->transfers, &env);
	if (!code)
		code = watch(d, transfers_fd(d->transfers));
	snprintf(err, sizeof(err), "transfers: %s", err_text(code ? code : -ENOMEM));
	if (!code)
		code = transfers_configure(d->transfers, d->config, err, sizeof(err));
	if (code)
		log_error("%s", err);
	return code;
}

static void on_served(void *user, struct zones_entry *entry, const struct load *fresh)
{
	struct daemon *d = user;

	upkeep_served(d->upkeep, entry, fresh);
	transfers_served(d->transfers, entry);
	catalogs_served(d->catalogs, entry);
	policies_zone_served(d->policies, entry->name);
}

static void on_sign(void *user, struct zones_entry *entry)
{
	struct daemon *d = user;

	signing_apply(&d->policies_of_signing, d->config->storage, entry);
}

static void on_configured(void *user, struct zones_entry *entry)
{
	struct daemon *d = user;

	transfers_configured(d->transfers, entry);
	catalogs_configured(d->catalogs, entry);
}

static void on_gone(void *user, struct zones_entry *entry)
{
	struct daemon *d = user;

	catalogs_gone(d->catalogs, entry);
	transfers_gone(d->transfers, entry);
	policies_zone_served(d->policies, entry->name);
	upkeep_gone(d->upkeep, entry);
}

static void on_gone_together(void *user)
{
	struct daemon *d = user;

	upkeep_gone_together(d->upkeep);
}

/* Begins to load; nobody else needs the processors yet. */
static int open_zones(struct daemon *d)
{
	struct zones_env env = {
		.cache = d->cache,
		.is_adopted = d->is_adopted,
		.names = d->names,
		.published = &d->published,
		.settings_digest = daemon_settings_digest(d),
		.others = d->other_slots,
		.n_others = DAEMON_N_SLOTS,
		.grace = daemon_grace,
		.grace_user = d,
		.grace_userspace = grace_wait_userspace,
		.loader = d->loader,
		.store = d->store,
		.sign = on_sign,
		.served = on_served,
		.configured = on_configured,
		.gone = on_gone,
		.gone_together = on_gone_together,
		.user = d,
	};
	int err = signing_policies_set(&d->policies_of_signing, d->config);
	struct clock_now now;

	if (!err)
		err = zones_new(&d->zones, &env);
	if (!err) {
		clock_read(&now);
		zones_set_time(d->zones, &now);
		upkeep_set_zones(d->upkeep, d->zones);
		transfers_set_zones(d->transfers, d->zones);
		catalogs_set_zones(d->catalogs, d->zones);
		err = zones_configure(d->zones, d->config, on_loaded, d);
	}
	if (err)
		log_error("zones: %s", err_text(err));
	return err;
}

static int open_loader(struct daemon *d)
{
	unsigned int n = (unsigned int)CPU_COUNT(&d->affinity.allowed);
	int err = loader_new(&d->loader, n > LOADERS_MIN ? n : LOADERS_MIN);

	if (!err)
		err = watch(d, loader_fd(d->loader));
	if (err)
		log_error("start: threads that read zones: %s", err_text(err));
	return err;
}

static void make_engine_config(struct daemon *d)
{
	d->engine_config = (struct engine_config){
		.max_udp_bytes = d->config->max_udp_size_bytes,
		.minimal_responses = d->config->minimal_responses,
		.any = (enum engine_any)d->config->any,
	};
}

static int open_identity(struct daemon *d)
{
	struct engine_identity *identity = daemon_make_identity(d->config);

	if (!identity) {
		log_error("start: %s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	daemon_put_identity(d, identity);
	return 0;
}

static void write_metrics(void *user, struct metrics_text *out)
{
	metrics_report(user, out);
}

static int open_metrics(struct daemon *d)
{
	const struct config_addr *at = &d->config->metrics;
	struct port_addr addr = { .family = (uint8_t)at->family, .port = at->net_port };
	char err[512];
	int code;

	if (!at->family)
		return 0;
	memcpy(addr.bytes, at->addr, sizeof(addr.bytes));
	code = metrics_open(&d->metrics, &addr, write_metrics, d, err, sizeof(err));
	if (!code)
		return watch(d, metrics_fd(d->metrics));
	log_error("%s", err);
	return code;
}

/* What wakes the control thread; *what is the one that could not be opened. */
static int open_sources(struct daemon *d, const char **what)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	*what = "epoll";
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll_fd < 0)
		return -errno;
	*what = "signals";
	d->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (d->signal_fd < 0)
		return -errno;
	*what = "timer";
	d->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->tick_fd < 0)
		return -errno;
	d->guard_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->guard_fd < 0)
		return -errno;
	*what = "links of the kernel";
	return links_open(&d->links);
}

static int watch_all(struct daemon *d, const char **what)
{
	const int fds[] = { background_fd(d->background),
			    d->signal_fd,
			    d->tick_fd,
			    d->guard_fd,
			    d->links.fd,
			    live_fd(d->live),
			    ctl_fd(d->ctl) };
	int code = 0;

	*what = "epoll";
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]) && !code; i++)
		code = watch(d, fds[i]);
	return code;
}

static int open_background(struct daemon *d, const char **what)
{
	int code;

	*what = "background work";
	d->hot = hot_new();
	d->answers = answers_new();
	d->places = zone_places_new(d);
	code = d->hot && d->answers && d->places ? background_new(&d->background) : -ENOMEM;
	if (code)
		return code;
	answers_read(d);
	return watch_all(d, what);
}

static int open_events(struct daemon *d)
{
	const struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	const struct itimerspec fifth = { { 0, GUARD_NS }, { 0, GUARD_NS } };
	const char *what;
	char err[512] = "";
	int code = open_sources(d, &what);

	if (!code) {
		timerfd_settime(d->tick_fd, 0, &second, NULL);
		timerfd_settime(d->guard_fd, 0, &fifth, NULL);
		code = ctl_open(&d->ctl, d->config->control_socket, d->config->control_mode,
				commands, d, err, sizeof(err));
	}
	if (!code) {
		drain_open(&d->drain, d->config->control_socket);
		code = open_background(d, &what);
	}
	if (!code)
		return open_metrics(d);
	if (*err)
		log_error("%s", err);
	else
		log_error("start: %s: %s", what, err_text(code));
	return code;
}

static int choose_cpus(struct daemon *d)
{
	const struct config *config = d->config;
	char err[512];
	int code = affinity_init(&d->affinity, config->control_cores, config->n_control_cores, err,
				 sizeof(err));

	if (code)
		log_error("%s", err);
	return code;
}

/* Before anything is opened that needs many. */
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
	char err[512];
	size_t i;
	int code;

	d->started_ns = clock_ns();
	d->lock_fd = lock_open(d->config->pid_file, err, sizeof(err));
	if (d->lock_fd < 0) {
		log_error("%s", err);
		return d->lock_fd;
	}
	for (i = 0; i < d->config->n_interfaces; i++)
		iface_init(&d->ifaces[d->n_ifaces++], &d->config->interfaces[i]);
	code = choose_cpus(d);
	if (!code)
		code = raise_descriptors(d);
	if (!code) {
		dpdk_iface_begin(d->config);
		make_engine_config(d);
		code = open_identity(d);
	}
	if (!code)
		code = daemon_open_cookies(d);
	if (!code)
		code = open_cache(d);
	if (!code)
		code = open_events(d);
	if (!code)
		code = daemon_open_recursion(d);
	if (!code)
		code = open_loader(d);
	if (!code)
		code = daemon_open_policies(d);
	if (!code)
		code = open_transfers(d);
	if (!code)
		code = daemon_open_blocks(d);
	if (!code)
		code = open_zones(d);
	return code;
}

/* When zones are in place: answers are taken back only for what is served. */
static int open_snapshots(struct daemon *d)
{
	const char *path = d->config->cache_snapshot;
	int err = snapshots_new(&d->snapshots, d->cache, &d->published);

	if (!err)
		err = watch(d, snapshots_fd(d->snapshots));
	if (!err && path)
		err = snapshots_configure(d->snapshots, path, d->config->cache_snapshot_interval_s,
					  !d->is_adopted, clock_ns());
	if (err)
		log_error("snapshots of the cache: %s", err_text(err));
	return err;
}

/* What somebody else loaded keeps its cache. */
static bool are_programs_ours(const struct daemon *d)
{
	size_t i;

	for (i = 0; i < d->n_ifaces; i++)
		if (d->ifaces[i].program && !program_is_by_daemon(d->ifaces[i].program))
			return false;
	return true;
}

/* A cache that was adopted may be of another size. */
static int open_resize(struct daemon *d)
{
	int err = resize_new(&d->resize, d);

	if (!err)
		err = watch(d, resize_fd(d->resize));
	if (!err && are_programs_ours(d))
		resize_want(d->resize, d->config->cache_size_bytes);
	return err;
}

/* To the workers. */
static int leave_cores(struct daemon *d)
{
	struct affinity *affinity = &d->affinity;
	unsigned int n = crew_n(d->crew), i;
	int *cpus = calloc(n, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		cpus[i] = crew_cpu(d->crew, i);
	affinity_settle(affinity, cpus, n);
	free(cpus);
	affinity_move_threads(affinity);
	loader_limit(d->loader, affinity->n_own > LOADERS_MIN ? affinity->n_own : LOADERS_MIN);
	return 0;
}

int daemon_open_crew(struct daemon *d)
{
	char err[512];
	size_t i;
	const struct config_recursion *recursion = recursion_config(d->recursion);
	const struct config *config = catalogs_config(d->catalogs); /* it may be of a reload */
	struct crew_env env = {
		.config = d->config,
		.listen = config->listen,
		.n_listen = config->n_listen,
		.engine = &d->engine_config,
		.cache = d->cache,
		.data = &d->published,
		.resolver = recursion_resolver(d->recursion),
		.n_pending = recursion->n_allow ? recursion->max_outstanding : 0,
		.n_tcp_conns = d->descriptors.n_tcp,
		.refresh_fd = d->is_anonymous ? -1 : d->maps.refresh_fd,
		.handover = transfers_handover(d->transfers),
		.relay = transfers_relay(d->transfers),
		.intake = transfers_intake(d->transfers),
		.tap = d->tap,
	};
	int code;

	affinity_for_workers(&d->affinity, &env.cpus);
	code = crew_open(&d->crew, &env, err, sizeof(err));
	if (code) {
		log_error("%s", err);
		return code;
	}
	daemon_let_old_go(d); /* they have some seconds left at least */
	for (i = 0; i < d->n_ifaces; i++)
		iface_open_ports(&d->ifaces[i], d->crew);
	daemon_update_services(d);
	daemon_take_places(d);
	daemon_catch_up_ifaces(d);
	code = leave_cores(d);
	if (code)
		return code;
	code = open_snapshots(d);
	return code ? code : open_resize(d);
}

/* --- Close --------------------------------------------------------------------------------------- */

static void free_statistics(struct daemon *d)
{
	hot_free(d->hot);
	answers_free(d->answers);
	zone_places_free(d->places);
}

static void stop_loading(struct daemon *d)
{
	if (!d->loader)
		return;
	loader_stop(d->loader);
	if (d->zones)
		zones_cancel(d->zones);
	loader_poll(d->loader);
}

/* Nobody asks the authority of the copy any more. */
static void stop_recursion(struct daemon *d)
{
	recursion_stop(d->recursion);
	root_copy_free(d->root_copy);
	d->root_copy = NULL;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_zones(struct daemon *d)
{
	zones_free(d->zones);
	upkeep_free(d->upkeep);
	catalogs_free(d->catalogs);
	signing_policies_fini(&d->policies_of_signing);
	store_close(d->store);
}

void daemon_close(struct daemon *d)
{
	size_t i;

	d->is_ready = false;
	sd_notify(0, "STOPPING=1");
	metrics_close(d->metrics);
	resize_stop(d->resize); /* else it would speak for the daemon once more */
	daemon_silence(d);
	ctl_stop(d->ctl);
	transfers_stop(d->transfers);
	policies_cancel(d->policies);
	background_free(d->background);
	resize_free(d->resize);
	free_statistics(d);
	stop_loading(d);
	stop_recursion(d);
	for (i = 0; i < d->n_ifaces; i++)
		iface_close(&d->ifaces[i], d->crew, d->keep);
	crew_close(d->crew);
	dpdk_iface_end(d->keep);
	transfers_free(d->transfers);
	taps_close(d);
	snapshots_finish(d->snapshots);
	snapshots_free(d->snapshots);
	cache_keeper_stop(d->keeper);
	close_zones(d);
	block_book_close(d->blocks);
	policies_free(d->policies);
	recursion_free(d->recursion);
	cookies_free(d->cookies);
	free(d->published.identity);
	loader_free(d->loader);
	names_fini(&d->names_memory);
	cache_free(d->cache);
	grace_close(d->grace);
	rrl_close(d->rrl);
	if (d->is_anonymous)
		cache_memory_release(&d->memory);
	object_maps_close(&d->maps);
	ctl_unlink(d->ctl);
	close_fd(d->epoll_fd);
	close_fd(d->signal_fd);
	links_close(&d->links);
	close_fd(d->tick_fd);
	close_fd(d->guard_fd);
	if (d->lock_fd >= 0)
		lock_close(d->lock_fd, d->config->pid_file);
	ctl_close(d->ctl);
	config_free(d->config);
}
