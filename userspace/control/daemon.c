/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "control/daemon_audit.h"
#include "control/daemon_internal.h"
#include "control/health_ask.h"
#include "control/new_start.h"
#include "base/privilege.h"

#define WALL_DRIFT_S 2 /* in a second: more is a step */

int daemon_grace(void *user)
{
	const struct daemon *d = user;

	return d->grace ? grace_wait(d->grace) : grace_wait_userspace(NULL);
}

static void put_zone_error(const struct zones_entry *entry, char *err, size_t err_cap)
{
	snprintf(err, err_cap, "zone %s: %s%s", entry->name, entry->error,
		 entry->zone ? "; the earlier version keeps serving" : "");
}

/*
 * Of the zones, lists and local data that did not load, the first. Members of catalogs are not the
 * configuration's: their status and the log tell.
 */
static int tell_first_error(const struct daemon *d, char *err, size_t err_cap)
{
	char text[POLICIES_TEXT_CAP];
	size_t i;

	for (i = 0; i < zones_n(d->zones); i++) {
		const struct zones_entry *entry = zones_at(d->zones, i);

		if (entry->is_member || !*entry->error)
			continue;
		put_zone_error(entry, err, err_cap);
		return ERR_ZONE;
	}
	for (i = 0; i < policies_n(d->policies); i++) {
		const struct policies_entry *entry = policies_at(d->policies, i);

		if (!policies_entry_tell(entry, text))
			continue;
		snprintf(err, err_cap, "%s", text);
		return ERR_ZONE;
	}
	if (*block_book_error(d->blocks)) {
		snprintf(err, err_cap, "policy.block: %s", block_book_error(d->blocks));
		return ERR_CONFIG;
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

/* What `cache resize` has done stays while the configuration says what it said before. */
static void want_size(struct daemon *d, uint64_t bytes)
{
	if (bytes == d->config->cache_size_bytes)
		return;
	d->config->cache_size_bytes = bytes;
	if (d->resize)
		resize_want(d->resize, bytes);
}

/* Zones, policies and lists of blocks are read side by side; all are in place when the reload is over. */
struct reload {
	zones_done_fn *done;
	void *user;
	int code;
	unsigned int n_left;
};

static void part_ended(void *user, int code)
{
	struct reload *reload = user;

	if (!reload->code)
		reload->code = code;
	if (--reload->n_left)
		return;
	reload->done(reload->user, reload->code);
	free(reload);
}

static int start_reload(struct daemon *d, struct config *config, zones_done_fn *done, void *user)
{
	struct reload *reload = malloc(sizeof(*reload));
	int code;

	if (!reload)
		return -ENOMEM;
	*reload = (struct reload){ .done = done, .user = user, .n_left = 3 };
	code = zones_configure(d->zones, config, part_ended, reload);
	if (code) {
		free(reload);
		return code;
	}
	code = policies_reload(d->policies, part_ended, reload);
	if (code)
		part_ended(reload, code);
	code = block_book_reload(d->blocks, config, part_ended, reload);
	if (code)
		part_ended(reload, code);
	return 0;
}

static void tell_not_taken_back(int code, const char *what)
{
	if (code)
		log_error("what held before the reload: %s: %s", what, err_text(code));
}

/* Of a configuration that is not put in place nothing is to stay, whatever part of it cannot be taken back. */
static void take_back(struct daemon *d)
{
	const struct config *before = catalogs_config(d->catalogs);
	char err[512];

	snprintf(err, sizeof(err), "keys");
	tell_not_taken_back(transfers_configure(d->transfers, before, err, sizeof(err)), err);
	tell_not_taken_back(signing_policies_set(&d->policies_of_signing, before), "signing");
	tell_not_taken_back(daemon_configure_rrl(d, before), "rrl");
	snprintf(err, sizeof(err), "cookies");
	tell_not_taken_back(cookies_configure(d->cookies, before, clock_wall_s(), err, sizeof(err)),
			    err);
	daemon_settle_ifaces(d, before, before);
	daemon_settle_listen(d);
}

/* With recursion in place, which policies are read by. */
static int put_behind_recursion(struct daemon *d, struct config *config, zones_done_fn *done,
				void *user, char *err, size_t err_cap)
{
	int code = daemon_configure_rrl(d, config);

	if (code)
		snprintf(err, err_cap, "rrl: %s", err_text(code));
	else
		code = cookies_configure(d->cookies, config, clock_wall_s(), err, err_cap);
	if (code)
		return code;
	code = start_reload(d, config, done, user);
	if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

/* What may be refused: the rest is taken back then. */
static int put_parts(struct daemon *d, struct config *config, zones_done_fn *done, void *user,
		     char *err, size_t err_cap)
{
	int code = transfers_configure(d->transfers, config, err, err_cap);

	if (!code) {
		code = signing_policies_set(&d->policies_of_signing, config);
		if (code)
			snprintf(err, err_cap, "signing: %s", err_text(code));
	}
	if (!code)
		code = daemon_listen(d, config, err, err_cap);
	if (!code)
		code = daemon_add_ifaces(d, config, err, err_cap);
	if (!code)
		code = daemon_configure_recursion(d, config, err, err_cap);
	if (!code) {
		code = put_behind_recursion(d, config, done, user, err, err_cap);
		if (code)
			daemon_take_back_recursion(d, config);
	}
	if (code)
		take_back(d);
	return code;
}

/* Before anything is changed. *identity is the caller's. */
static int check_config(struct daemon *d, const struct config *config,
			struct engine_identity **identity, char *err, size_t err_cap)
{
	int code = new_start_check(d, config, err, err_cap);

	if (!code)
		code = signing_check(d->zones, config, d->config->storage, err, err_cap);
	*identity = code ? NULL : daemon_make_identity(config);
	if (code || *identity)
		return code;
	snprintf(err, err_cap, "%s", err_text(-ENOMEM));
	return -ENOMEM;
}

/* Puts CONFIG in place, or frees it and leaves all as it is. */
static int put_config(struct daemon *d, struct config *config, zones_done_fn *done, void *user,
		      char *err, size_t err_cap)
{
	struct engine_identity *identity;
	int code = check_config(d, config, &identity, err, err_cap);

	if (!code)
		code = put_parts(d, config, done, user, err, err_cap);
	if (code) {
		free(identity);
		config_free(config);
		return code;
	}
	config_recursion_fini(&config->recursion); /* that of before */
	daemon_put_identity(d, identity);
	want_size(d, config->cache_size_bytes);
	daemon_configure_log(d, config);
	daemon_settle_ifaces(d, catalogs_config(d->catalogs), config);
	catalogs_take_config(d->catalogs, config);
	daemon_settle_listen(d);
	taps_configure(d, config);
	new_start_log(d);
	return 0;
}

int daemon_reload(struct daemon *d, zones_done_fn *done, void *user, char *err, size_t err_cap)
{
	struct config *config;
	int code = config_load(&config, d->config->path, err, err_cap);

	return code ? code : put_config(d, config, done, user, err, err_cap);
}

/* --- Events -------------------------------------------------------------------------------------- */

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

	code = daemon_tell_reload(d, NULL, code, err, sizeof(err));
	if (code)
		log_error("reload: %s", err);
	daemon_audit_reload(code);
	tell_systemd(d, "READY=1");
}

static void on_hangup(struct daemon *d)
{
	char err[1024];
	int code;

	tell_systemd(d, "RELOADING=1");
	code = daemon_reload(d, on_reloaded, d, err, sizeof(err));
	if (!code)
		return;
	log_error("reload: %s", err);
	daemon_audit_reload(code);
	tell_systemd(d, "READY=1");
}

int daemon_apply(struct daemon *d, const char *from, char *err, size_t err_cap)
{
	struct config *config;
	int code = config_load_as(&config, from, d->config->path, err, err_cap);

	if (code)
		return code;
	tell_systemd(d, "RELOADING=1");
	code = put_config(d, config, on_reloaded, d, err, err_cap);
	if (code)
		tell_systemd(d, "READY=1");
	return code;
}

static void on_signal(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		daemon_audit_signal(&info);
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

static int64_t wall_ahead_s(void)
{
	return (int64_t)clock_wall_s() - (int64_t)(clock_ns() / CLOCK_NS_PER_S);
}

/*
 * libunbound counts by the wall clock when what it remembers expires. So when that was set, another one
 * takes its place, which remembers nothing. Ours is the monotonic clock.
 */
static void check_wall_clock(struct daemon *d)
{
	int64_t ahead_s = wall_ahead_s(), step_s = ahead_s - d->wall_ahead_s;
	char err[512];

	d->wall_ahead_s = ahead_s;
	if (step_s >= -WALL_DRIFT_S && step_s <= WALL_DRIFT_S)
		return;
	log_notice("the wall clock was set by %+lld s", (long long)step_s);
	if (recursion_forget(d->recursion, err, sizeof(err)))
		log_error("what the resolver remembers may be too old or too young now: %s", err);
}

static void on_tick(struct daemon *d)
{
	uint64_t n;

	if (read(d->tick_fd, &n, sizeof(n)) < 0)
		return;
	if (d->crew) {
		daemon_check_ifaces(d);
		daemon_look_at_load(d);
		health_ask_tick(d);
		check_wall_clock(d);
		cookies_tick(d->cookies, clock_wall_s());
	}
	rrl_tick(d->rrl, clock_coarse_s());
	if (d->blocks)
		block_book_tick(d->blocks);
	if (d->snapshots)
		snapshots_tick(d->snapshots, clock_ns());
	if (d->resize)
		resize_tick(d->resize);
	if (d->upkeep)
		upkeep_tick(d->upkeep);
	if (d->catalogs)
		catalogs_tick(d->catalogs);
	if (d->zones)
		daemon_check_names(d);
	if (d->zones)
		progress_tick(&d->progress, d->zones, clock_ns());
	if (d->crew)
		hot_gather(d->hot, d, clock_ns() / CLOCK_NS_PER_S);
	if (d->crew && d->zones)
		zone_places_tick(d->places, clock_ns() / CLOCK_NS_PER_S);
	if (d->crew)
		live_tick(d, clock_ns());
	if (d->crew)
		capture_tick(d, clock_ns());
	ctl_poll(d->ctl, clock_ns());
	audit_tick(clock_ns());
	log_flush();
	daemon_watch_workers(d);
}

static void on_guard(struct daemon *d)
{
	uint64_t n;

	if (read(d->guard_fd, &n, sizeof(n)) > 0 && d->crew)
		daemon_guard_ifaces(d);
}

static void on_links(struct daemon *d)
{
	size_t i;

	links_drain(&d->links);
	if (!d->crew)
		return; /* all is looked at again when there are workers */
	daemon_update_services(d);
	daemon_guard_ifaces(d);
	daemon_check_ifaces(d);
	for (i = 0; i < d->n_ifaces; i++)
		iface_update_link(&d->ifaces[i]);
}

/* Until changes of zones are to be put in place; -1: there are none. */
static int timeout_ms(const struct daemon *d)
{
	uint64_t at = d->zones ? zones_flush_at(d->zones) : UINT64_MAX, now = clock_ns();

	if (at == UINT64_MAX)
		return -1;
	return at <= now ? 0 : (int)((at - now + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS);
}

static void on_event(struct daemon *d, const struct epoll_event *at)
{
	struct epoll_event event = *at;

	if (event.data.fd == d->signal_fd)
		on_signal(d);
	else if (event.data.fd == d->tick_fd)
		on_tick(d);
	else if (event.data.fd == d->guard_fd)
		on_guard(d);
	else if (event.data.fd == d->links.fd)
		on_links(d);
	else if (event.data.fd == loader_fd(d->loader))
		on_load(d);
	else if (d->transfers && event.data.fd == transfers_fd(d->transfers))
		transfers_poll(d->transfers);
	else if (event.data.fd == background_fd(d->background))
		background_poll(d->background);
	else if (d->snapshots && event.data.fd == snapshots_fd(d->snapshots))
		snapshots_poll(d->snapshots);
	else if (d->resize && event.data.fd == resize_fd(d->resize))
		resize_poll(d->resize);
	else if (event.data.fd == live_fd(d->live))
		live_poll(d, clock_ns());
	else if (d->metrics && event.data.fd == metrics_fd(d->metrics))
		metrics_poll(d->metrics);
	else
		ctl_poll(d->ctl, clock_ns());
}

static void wait_for_event(struct daemon *d)
{
	struct epoll_event event;
	int n = epoll_wait(d->epoll_fd, &event, 1, timeout_ms(d));
	struct clock_now now;

	clock_read(&now);
	if (d->zones)
		zones_set_time(d->zones, &now);
	if (n == 1)
		on_event(d, &event);
	if (d->zones && now.ns >= zones_flush_at(d->zones))
		zones_flush(d->zones);
	if (d->catalogs)
		catalogs_poll(d->catalogs);
	if (d->upkeep)
		upkeep_poll(d->upkeep);
	if (d->root_copy)
		root_copy_poll(d->root_copy, now.ns);
	if (d->has_policies)
		policies_poll(d->policies);
}

/* --- From start to life -------------------------------------------------------------------------- */

static int start(struct daemon *d)
{
	int code = daemon_open(d);

	while (!code && !d->stopping &&
	       !(d->is_loaded && d->has_policies && policies_is_idle(d->policies)))
		wait_for_event(d);
	if (code || d->stopping)
		return code;
	return daemon_open_crew(d);
}

static void live(struct daemon *d)
{
	d->is_ready = true;
	d->wall_ahead_s = wall_ahead_s();
	sd_notify(0, "READY=1");
	daemon_audit_start(d);
	log_notice("ready: %u workers, %zu zones, %zu interfaces", crew_n(d->crew),
		   zones_n(d->zones), d->n_ifaces);
	while (!d->stopping)
		wait_for_event(d);
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
	bool has_started;
	int err;

	if (!d) {
		config_free(config);
		return -ENOMEM;
	}
	d->config = config;
	d->keep = keep;
	d->lock_fd = d->epoll_fd = d->signal_fd = d->tick_fd = d->guard_fd = -1;
	d->links = (struct links){ .fd = -1 };
	pthread_mutex_init(&d->alive_lock, NULL);
	block_signals();
	daemon_find_watchdog(d);
	if (privilege_drop())
		log_warn("capabilities that are not needed could not be given up");
	rcu_register_thread();
	rcu_thread_offline();
	err = start(d);
	if (!err && !d->stopping)
		live(d);
	has_started = d->is_ready;
	daemon_close(d);
	if (has_started)
		daemon_audit_stop(d);
	rcu_unregister_thread();
	pthread_mutex_destroy(&d->alive_lock);
	free(d);
	return err;
}
