/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/daemon.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "cache/memory.h"
#include "control/commands.h"
#include "control/lock.h"
#include "control/privilege.h"
#include "control/route.h"
#include "control/services.h"

#define HEARTBEAT_S  1u
#define ORPHAN_S_MIN 3u /* a heartbeat that is late by two must not silence the driver */
#define LOADERS_MIN  2u /* so that a small zone need not wait for a large one */

/* --- Heartbeat ----------------------------------------------------------------------------------- */

static void beat(struct daemon *d)
{
	uint32_t orphan_s = d->config->cache_orphan_serve_s;

	if (orphan_s < ORPHAN_S_MIN)
		orphan_s = ORPHAN_S_MIN;
	__atomic_store_n(&d->memory.state->serve_until_s, clock_coarse_s() + orphan_s,
			 __ATOMIC_RELEASE);
}

/* Of its own, so that what takes the control thread long does not look like a death. */
static void *heartbeat_main(void *arg)
{
	struct daemon *d = arg;

	while (!__atomic_load_n(&d->heartbeat_stops, __ATOMIC_ACQUIRE)) {
		beat(d);
		usleep(HEARTBEAT_S * 1000000 / 4);
	}
	return NULL;
}

static int start_heartbeat(struct daemon *d)
{
	int err = pthread_create(&d->heartbeat, NULL, heartbeat_main, d);

	d->has_heartbeat = !err;
	return -err;
}

static void stop_heartbeat(struct daemon *d)
{
	if (!d->has_heartbeat)
		return;
	__atomic_store_n(&d->heartbeat_stops, true, __ATOMIC_RELEASE);
	pthread_join(d->heartbeat, NULL);
	d->has_heartbeat = false;
}

/* --- Interfaces ---------------------------------------------------------------------------------- */

static int attach_where(struct daemon *d, bool where_found)
{
	size_t i;
	int err;

	for (i = 0; i < d->n_ifaces; i++) {
		struct iface *iface = &d->ifaces[i];
		bool is_there = iface->config.xdp != CONFIG_XDP_OFF &&
				program_is_there(iface->config.name);

		if (is_there != where_found)
			continue;
		err = iface_attach(iface, &d->maps, &d->sizes);
		if (err == -EPROTO || err == ERR_RUNNING) {
			/* it would go on answering beside us, from old data */
			log_error("%s", iface->note);
			return err;
		}
	}
	return 0;
}

/* Programs that are there come first: theirs are the maps with the answers. */
static int attach_all(struct daemon *d)
{
	int err = attach_where(d, true);

	return err ? err : attach_where(d, false);
}

static struct iface *find_iface(struct daemon *d, const char *ifname)
{
	size_t i;

	for (i = 0; i < d->n_ifaces; i++)
		if (!strcmp(d->ifaces[i].config.name, ifname))
			return &d->ifaces[i];
	return NULL;
}

/* What a daemon that was killed left on interfaces that are not ours any more. */
static void clean_others(struct daemon *d)
{
	struct if_nameindex *names = if_nameindex(), *name;

	for (name = names; name && name->if_name; name++) {
		const struct iface *iface = find_iface(d, name->if_name);

		if ((!iface || !iface->program) && program_clean_up(name->if_name))
			log_notice("%s: an earlier volleyd left its XDP program: it answers no "
				   "more",
				   name->if_name);
	}
	if_freenameindex(names);
}

/* Has the interface come, gone, lost its program, or lost the one that was in the way? */
static void check_iface(struct daemon *d, struct iface *iface)
{
	bool is_sound = iface->ifindex && iface_is_sound(iface);

	if (!iface->wanted || (is_sound && !iface_is_cleared(iface)))
		return;
	if (!iface->ifindex && !if_nametoindex(iface->config.name))
		return;
	if (iface->ifindex && !is_sound) {
		log_warn("%s: the interface or its XDP program is gone", iface->config.name);
		iface_close(iface, d->crew, false);
	}
	if (!iface_attach(iface, &d->maps, &d->sizes))
		iface_open_ports(iface, d->crew);
}

/* As an interface that the configuration does not know gets its defaults. */
static struct iface *add_iface(struct daemon *d, const char *ifname)
{
	struct config_interface config = { .driver_answers = true };
	struct iface *iface;

	if (d->n_ifaces == DAEMON_IFACES_CAP || strlen(ifname) >= sizeof(config.name))
		return NULL;
	snprintf(config.name, sizeof(config.name), "%s", ifname);
	iface = &d->ifaces[d->n_ifaces++];
	iface_init(iface, &config);
	return iface;
}

int daemon_attach(struct daemon *d, const char *ifname, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(d, ifname);
	int code;

	if (!if_nametoindex(ifname)) {
		snprintf(err, err_cap, "%s: no such interface", ifname);
		return -ENODEV;
	}
	if (d->is_anonymous) {
		snprintf(err, err_cap,
			 "BPF maps could not be made when volleyd started: it "
			 "needs CAP_BPF and CAP_NET_ADMIN");
		return -EPERM;
	}
	if (!iface)
		iface = add_iface(d, ifname);
	if (!iface)
		return ERR_LIMIT;
	iface->wanted = true;
	if (iface->program)
		return 0;
	if (iface->config.xdp == CONFIG_XDP_OFF)
		iface->config.xdp = CONFIG_XDP_AUTO;
	code = iface_attach(iface, &d->maps, &d->sizes);
	if (code)
		snprintf(err, err_cap, "%s", iface->note);
	else
		iface_open_ports(iface, d->crew);
	return code;
}

int daemon_detach(struct daemon *d, const char *ifname, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(d, ifname);
	int code;

	if (!iface || !iface->program) {
		snprintf(err, err_cap, "%s: nothing of ours is attached", ifname);
		return -ENOENT;
	}
	iface->wanted = false;
	code = program_detach(iface->program);
	if (code)
		snprintf(err, err_cap, "%s: %s", ifname, err_text(code));
	iface_close(iface, d->crew, true);
	return code;
}

/* --- Start --------------------------------------------------------------------------------------- */

/* The processors that we may use and to which no worker of `crew` is pinned, if any; how many. */
static unsigned int find_cpus(const struct crew *crew, cpu_set_t *cpus)
{
	cpu_set_t allowed;
	unsigned int i;

	if (sched_getaffinity(0, sizeof(allowed), &allowed)) {
		CPU_ZERO(&allowed);
		CPU_SET(0, &allowed);
	}
	*cpus = allowed;
	for (i = 0; crew && i < crew_n(crew); i++)
		if (crew_cpu(crew, i) >= 0)
			CPU_CLR((size_t)crew_cpu(crew, i), cpus);
	if (!CPU_COUNT(cpus)) {
		*cpus = allowed;
		return 0;
	}
	return (unsigned int)CPU_COUNT(cpus);
}

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
	log_warn("BPF maps: %s: the answer cache is this process's own", err_text(err));
	d->is_anonymous = true;
	return cache_memory_anonymous(&d->memory, &d->sizes);
}

int daemon_grace(void *user)
{
	const struct daemon *d = user;

	return d->grace ? grace_wait(d->grace) : grace_wait_userspace(NULL);
}

static int open_cache(struct daemon *d)
{
	int err = cache_sizes_plan(&d->sizes, d->config->cache_size_bytes, d->config->n_zones);

	if (err) {
		log_error("cache.size of %llu bytes is too %s for %u zones",
			  (unsigned long long)d->config->cache_size_bytes,
			  err == -E2BIG ? "large" : "small", d->config->n_zones);
		return err;
	}
	err = attach_all(d);
	if (err)
		return err;
	err = open_memory(d);
	if (!err)
		err = cache_new(&d->cache, &d->memory, &d->is_adopted);
	if (!err && !d->is_anonymous)
		err = grace_open(&d->grace);
	if (!err)
		err = cache_keeper_start(&d->keeper, d->cache, daemon_grace, d);
	if (err) {
		log_error("answer cache: %s", err_text(err));
		return err;
	}
	if (d->is_adopted)
		log_info("answer cache: adopted with its answers");
	clean_others(d);
	d->memory.state->max_udp_bytes = d->config->max_udp_size_bytes;
	d->memory.state->option_up_mask = engine_option_mask(&d->engine_config);
	return start_heartbeat(d);
}

static void on_loaded(void *user, int code)
{
	struct daemon *d = user;

	(void)code; /* a zone that does not load has said so, and is SERVFAIL */
	d->is_loaded = true;
}

/* Begins to load; nobody else needs the processors yet. */
static int open_zones(struct daemon *d)
{
	cpu_set_t cpus;
	unsigned int n = find_cpus(NULL, &cpus);
	struct zones_env env = {
		.cache = d->cache,
		.is_adopted = d->is_adopted,
		.published = &d->published,
		.settings_digest = engine_config_digest(&d->engine_config),
		.grace = daemon_grace,
		.grace_user = d,
	};
	int err = loader_new(&d->loader, n > LOADERS_MIN ? n : LOADERS_MIN);

	env.loader = d->loader;
	if (!err)
		err = watch(d, loader_fd(d->loader));
	if (!err)
		err = zones_new(&d->zones, &env);
	if (!err)
		err = zones_configure(d->zones, d->config, on_loaded, d);
	if (err)
		log_error("zones: %s", err_text(err));
	return err;
}

static int open_crew(struct daemon *d)
{
	char err[512];
	unsigned int n;
	cpu_set_t cpus;
	size_t i;
	int code = crew_open(&d->crew, d->config, &d->engine_config, d->cache, &d->published, err,
			     sizeof(err));

	if (code) {
		log_error("%s", err);
		return code;
	}
	for (i = 0; i < d->n_ifaces; i++)
		iface_open_ports(&d->ifaces[i], d->crew);
	n = find_cpus(d->crew, &cpus);
	loader_limit(d->loader, n > LOADERS_MIN ? n : LOADERS_MIN, &cpus);
	return 0;
}

static void update_services(struct daemon *d)
{
	int err = services_update(d->memory.state, d->config->listen, d->config->n_listen,
				  &d->n_services);

	d->services_overflow = err == -ENOSPC;
	if (err)
		log_warn("service addresses: %s: the driver knows %u of them", err_text(err),
			 d->n_services);
}

static int make_engine_config(struct daemon *d)
{
	struct engine_config *e = &d->engine_config;

	*e = (struct engine_config){
		.max_udp_bytes = d->config->max_udp_size_bytes,
		.minimal_responses = d->config->minimal_responses,
		.any = (enum engine_any)d->config->any,
		.version = d->config->version,
		.identity = d->config->identity,
		.nsid = d->config->nsid,
		.nsid_bytes = (uint16_t)d->config->n_nsid,
		.cookies = true,
	};
	if (d->config->has_cookie_secret)
		memcpy(e->cookie_secrets.active, d->config->cookie_secret,
		       sizeof(e->cookie_secrets.active));
	else if (getrandom(e->cookie_secrets.active, sizeof(e->cookie_secrets.active), 0) < 0)
		return -errno;
	return 0;
}

static int open_events(struct daemon *d)
{
	struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	char err[512] = "";
	sigset_t signals;
	int code;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	d->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	d->route_fd = route_open();
	if (d->epoll_fd < 0 || d->signal_fd < 0 || d->tick_fd < 0)
		return -errno;
	if (d->route_fd < 0)
		return d->route_fd;
	timerfd_settime(d->tick_fd, 0, &second, NULL);
	code = ctl_open(&d->ctl, d->config->control_socket, d->config->control_mode, commands, d,
			err, sizeof(err));
	if (code) {
		log_error("%s", err);
		return code;
	}
	code = chores_new(&d->chores);
	if (!code)
		code = watch(d, chores_fd(d->chores));
	if (!code)
		code = watch(d, d->signal_fd);
	if (!code)
		code = watch(d, d->tick_fd);
	if (!code)
		code = watch(d, d->route_fd);
	return code ? code : watch(d, ctl_fd(d->ctl));
}

/* --- Life ---------------------------------------------------------------------------------------- */

static void put_zone_error(const struct zones_entry *entry, char *err, size_t err_cap)
{
	snprintf(err, err_cap, "zone %s: %s%s", entry->name, entry->error,
		 entry->zone ? "; the earlier version keeps serving" : "");
}

/* Of the zones that did not load, the first. */
static int tell_first_error(const struct daemon *d, char *err, size_t err_cap)
{
	size_t i;

	for (i = 0; i < zones_n(d->zones); i++) {
		const struct zones_entry *entry = zones_at(d->zones, i);

		if (!*entry->error)
			continue;
		put_zone_error(entry, err, err_cap);
		return ERR_ZONE;
	}
	return 0;
}

int daemon_tell_reload(const struct daemon *d, const char *name, int code, char *err,
		       size_t err_cap)
{
	const struct zones_entry *entry = name ? zones_find(d->zones, name) : NULL;
	int first = name || code == -ECANCELED ? 0 : tell_first_error(d, err, err_cap);

	if (first)
		return first;
	if (code == -ECANCELED)
		snprintf(err, err_cap, "volleyd stops: what was being loaded is given up");
	else if (name && code == ERR_NOT_FOUND)
		snprintf(err, err_cap, "%s: taken out of the configuration meanwhile", name);
	else if (code && entry && *entry->error)
		put_zone_error(entry, err, err_cap);
	else if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

int daemon_reload(struct daemon *d, zones_done_fn *done, void *user, char *err, size_t err_cap)
{
	struct config *config;
	int code = config_load(&config, d->config->path, err, err_cap);

	if (code)
		return code;
	code = zones_configure(d->zones, config, done, user);
	config_free(config);
	if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

/* Before it is ready, systemd is not told of reloads. */
static void tell_systemd(const struct daemon *d, const char *state)
{
	if (d->is_ready)
		sd_notify(0, state);
}

static void on_reloaded(void *user, int code)
{
	struct daemon *d = user;
	char err[1024];

	if (daemon_tell_reload(d, NULL, code, err, sizeof(err)))
		log_error("reload: %s", err);
	tell_systemd(d, "READY=1");
}

static void on_hangup(struct daemon *d)
{
	char err[1024];

	tell_systemd(d, "RELOADING=1");
	if (!daemon_reload(d, on_reloaded, d, err, sizeof(err)))
		return;
	log_error("reload: %s", err);
	tell_systemd(d, "READY=1");
}

static void on_signal(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			on_hangup(d);
		else
			d->stopping = true;
	}
}

static void on_load(struct daemon *d)
{
	loader_poll(d->loader);
	zones_poll(d->zones);
}

static void on_tick(struct daemon *d)
{
	uint64_t n;
	size_t i;

	if (read(d->tick_fd, &n, sizeof(n)) < 0)
		return;
	for (i = 0; d->crew && i < d->n_ifaces; i++)
		check_iface(d, &d->ifaces[i]);
	if (d->zones)
		progress_tick(&d->progress, d->zones, clock_ns());
	ctl_poll(d->ctl, clock_ns());
}

static void on_route(struct daemon *d)
{
	size_t i;

	route_drain(d->route_fd);
	if (!d->crew)
		return; /* all is looked at again when there are workers */
	update_services(d);
	for (i = 0; i < d->n_ifaces; i++) {
		check_iface(d, &d->ifaces[i]);
		iface_update_mac(&d->ifaces[i]);
	}
}

static void wait_for_event(struct daemon *d)
{
	struct epoll_event event;

	if (epoll_wait(d->epoll_fd, &event, 1, -1) < 1)
		return;
	if (event.data.fd == d->signal_fd)
		on_signal(d);
	else if (event.data.fd == d->tick_fd)
		on_tick(d);
	else if (event.data.fd == d->route_fd)
		on_route(d);
	else if (event.data.fd == loader_fd(d->loader))
		on_load(d);
	else if (event.data.fd == chores_fd(d->chores))
		chores_poll(d->chores);
	else
		ctl_poll(d->ctl, clock_ns());
}

/* --- From start to life -------------------------------------------------------------------------- */

static int start(struct daemon *d)
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
	for (i = 0; i < d->config->n_interfaces && i < DAEMON_IFACES_CAP; i++)
		iface_init(&d->ifaces[d->n_ifaces++], &d->config->interfaces[i]);
	code = make_engine_config(d);
	if (!code)
		code = open_cache(d);
	if (!code)
		code = open_events(d);
	if (!code)
		code = open_zones(d);
	while (!code && !d->is_loaded && !d->stopping)
		wait_for_event(d);
	if (code || d->stopping)
		return code;
	code = open_crew(d);
	if (!code)
		update_services(d);
	return code;
}

static void live(struct daemon *d)
{
	d->is_ready = true;
	sd_notify(0, "READY=1");
	log_notice("ready: %u workers, %zu zones, %zu interfaces", crew_n(d->crew),
		   zones_n(d->zones), d->n_ifaces);
	while (!d->stopping)
		wait_for_event(d);
}

/* --- Stop ---------------------------------------------------------------------------------------- */

/* A program that stays although we go must not answer any more, unless a next daemon comes. */
static void silence(struct daemon *d)
{
	stop_heartbeat(d);
	if (!d->memory.state)
		return;
	if (d->keep)
		beat(d);
	else
		__atomic_store_n(&d->memory.state->serve_until_s, 0, __ATOMIC_RELEASE);
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

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void stop(struct daemon *d)
{
	size_t i;

	d->is_ready = false;
	sd_notify(0, "STOPPING=1");
	silence(d);
	chores_free(d->chores);
	stop_loading(d);
	for (i = 0; i < d->n_ifaces; i++)
		iface_close(&d->ifaces[i], d->crew, d->keep);
	crew_close(d->crew);
	cache_keeper_stop(d->keeper);
	zones_free(d->zones);
	loader_free(d->loader);
	cache_free(d->cache);
	grace_close(d->grace);
	if (d->is_anonymous)
		cache_memory_release(&d->memory);
	object_maps_close(&d->maps);
	ctl_close(d->ctl);
	close_fd(d->epoll_fd);
	close_fd(d->signal_fd);
	close_fd(d->route_fd);
	close_fd(d->tick_fd);
	if (d->lock_fd >= 0)
		lock_close(d->lock_fd, d->config->pid_file);
	config_free(d->config);
}

static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int daemon_run(struct config *config, bool keep)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int err;

	if (!d) {
		config_free(config);
		return -ENOMEM;
	}
	d->config = config;
	d->keep = keep;
	d->lock_fd = d->epoll_fd = d->signal_fd = d->route_fd = d->tick_fd = -1;
	block_signals();
	if (privilege_drop())
		log_warn("capabilities that are not needed could not be given up");
	rcu_register_thread();
	rcu_thread_offline();
	err = start(d);
	if (!err && !d->stopping)
		live(d);
	stop(d);
	rcu_unregister_thread();
	free(d);
	return err;
}
