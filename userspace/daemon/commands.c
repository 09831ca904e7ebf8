/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "broker/broker.h"
#include "config/value.h"
#include "config/words.h"
#include "daemon/cache_queries.h"
#include "daemon/capture.h"
#include "daemon/daemon_internal.h"
#include "daemon/daemon_audit.h"
#include "report/report.h"
#include "report/top_names.h"
#include "report/zone_list.h"
#include "daemon/live.h"
#include "report/new_start.h"

static int give_daemon_command(json_t **result, json_t *object)
{
	*result = object;
	return object ? 0 : -ENOMEM;
}

static int run_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)args, (void)err, (void)err_cap;
	return give_daemon_command(result, report_status(user));
}

static int run_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct report_view *v = user;

	(void)args;
	return v->workers ? give_daemon_command(result, report_stats(v)) :
			    ctl_not_ready(err, err_cap);
}

static int run_port_status(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	const struct report_view *v = user;

	(void)args;
	return v->workers ? give_daemon_command(result, report_ports(v)) :
			    ctl_not_ready(err, err_cap);
}

/* --- zone ------------------------------------------------------------------------------------- */

static int no_such_zone(const char *name, char *err, size_t err_cap)
{
	snprintf(err, err_cap, "%s: no such zone is configured", name);
	return ERR_NOT_FOUND;
}

/* A client that waits for a load. */
struct call {
	struct daemon *daemon;
	uint64_t ticket;
	char *name; /* of the zone; NULL: all */
};

static void call_free(struct call *call)
{
	free(call->name);
	free(call);
}

static int call_new_daemon_command(struct call **out, struct daemon *d, const char *name, char *err,
				   size_t err_cap)
{
	struct call *call = calloc(1, sizeof(*call));
	int code;

	if (!call)
		return -ENOMEM;
	call->daemon = d;
	call->name = name ? strdup(name) : NULL;
	code = name && !call->name ? -ENOMEM :
				     ctl_defer_or_tell(d->ctl, &call->ticket, err, err_cap);
	if (code)
		call_free(call);
	else
		*out = call;
	return code;
}

static json_t *report_reloaded_zone(struct daemon *d, const char *name)
{
	return zone_list_one(d->zones.transfer_bridge, zones_find(d->zones.zones, name));
}

/* The number of zones in each state, what is wrong with zones, and the changed keys that need a new
 * start. */
static json_t *report_reload(struct daemon *d)
{
	json_t *warnings = json_array();
	json_t *o = json_pack("{s:o}", "zones", report_zone_states(d->zones.zones, warnings));

	new_start_append(d->config, zone_service_config(&d->zones), warnings);
	if (o && json_array_size(warnings))
		json_object_set(o, "warnings", warnings);
	json_decref(warnings);
	return o;
}

static void on_daemon_command_reloaded(void *user, int code)
{
	struct call *call = user;
	struct daemon *d = call->daemon;
	json_t *result = NULL;
	char err[1024] = "";

	code = daemon_tell_reload(d, call->name, code, err, sizeof(err));
	if (!code)
		result = call->name ? report_reloaded_zone(d, call->name) : report_reload(d);
	if (!code && !result)
		code = -ENOMEM;
	ctl_answer(d->ctl, call->ticket, clock_ns(), code, result, err);
	call_free(call);
}

/*
 * Sentences about a configuration quote it. It may include a file of somebody else, and that may be
 * a link to a file that the client cannot read: so only root and the daemon's user get the
 * sentence.
 */
static int reload_all(struct daemon *d, struct call *call, char *err, size_t err_cap)
{
	int code = daemon_reload(d, on_daemon_command_reloaded, call, err, err_cap);

	if (!code || ctl_is_owner(d->ctl))
		return code;
	log_error("zone reload: %s", err);
	snprintf(err, err_cap, "%s: the configuration is not accepted: volleyd's log says why",
		 d->config->path);
	return code;
}

static int run_zone_reload(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	struct daemon *d = user;
	const char *name = ctl_arg(args, 0);
	struct call *call;
	int code = call_new_daemon_command(&call, d, name, err, err_cap);

	(void)result;
	if (code)
		return code;
	if (name)
		code = zones_reload(d->zones.zones, name, on_daemon_command_reloaded, call);
	else
		code = reload_all(d, call, err, err_cap);
	if (!code)
		return CTL_LATER;
	call_free(call);
	return code == ERR_NOT_FOUND ? no_such_zone(name, err, err_cap) : code;
}

/* --- the daemon ------------------------------------------------------------------------------- */

/* A text that names the interface comes with it (cmd/passed_file.c), for one that the configuration
 * does not name. The broker believes root and the configuration's owner, so a text of another user
 * does not take the place of theirs. */
static int run_attach(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const char *ifname = ctl_arg(args, 0);
	struct daemon *d = user;
	char none[64];
	int fd = ctl_take_file_or_tell(d->ctl, none, sizeof(none)), code;

	if (fd >= 0 && !config_find_interface(zone_service_config(&d->zones), ifname) &&
	    memory_file_is_of_owner(fd, d->config->path))
		broker_keep_text(ifname, fd);
	if (fd >= 0)
		close(fd);
	code = d->interfaces.workers ? interfaces_attach(&d->interfaces, ifname, err, err_cap) :
				       ctl_not_ready(err, err_cap);
	return code ? code : give_daemon_command(result, report_status(daemon_view(d)));
}

static int run_detach(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const char *ifname = ctl_arg(args, 0);
	struct interfaces *all = user;
	int code = all->workers ? interfaces_detach(all, ifname, err, err_cap) :
				  ctl_not_ready(err, err_cap);

	(void)result;
	if (!code)
		broker_keep_text(ifname, -1);
	return code;
}

/*
 * The kernel does not remove a queue that has an AF_XDP socket. So volleyd closes these sockets
 * before ethtool -L removes queues. Meanwhile the kernel's sockets get the packets of these queues.
 */
static int run_port_queues(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	const struct words_key *key = words_find_key("interfaces[].queues");
	const char *text = ctl_arg(args, 1);
	struct daemon *d = user;
	char accepts[128];
	uint64_t n;
	int code;

	if (value_read_number(key, text, &n)) {
		words_accepts(key, accepts, sizeof(accepts));
		snprintf(err, err_cap, "%s: give %s", text, accepts);
		return -EINVAL;
	}
	code = interfaces_set_queues(&d->interfaces, ctl_arg(args, 0), (uint32_t)n, err, err_cap);
	return code ? code : give_daemon_command(result, report_ports(daemon_view(d)));
}

static int run_names(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct daemon *d = user;

	(void)args, (void)err, (void)err_cap;
	if (d->names.names)
		names_filter_look(&d->names, d->zones.zones);
	return give_daemon_command(result, names_report(daemon_view(d)));
}

static int run_names_rebuild(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap)
{
	struct daemon *d = user;
	int code;

	if (!d->names.names) {
		snprintf(err, err_cap,
			 "there is no filter of names: cache.names is not set, or BPF maps cannot "
			 "be used");
		return -EOPNOTSUPP;
	}
	if (!d->is_ready)
		return ctl_not_ready(err, err_cap);
	code = names_filter_rebuild(&d->names, d->zones.zones, true);
	return code ? code : run_names(user, args, result, err, err_cap);
}

/* "--await" is from volleyctl, which has made a path of the name of a file. */
static int run_daemon_command_config_apply(void *user, const json_t *args, json_t **result,
					   char *err, size_t err_cap)
{
	struct daemon *d = user;
	const char *from = ctl_arg(args, 0);
	int fd, code;

	if (!strcmp(from, "--await"))
		return daemon_await_loads(d, result, err, err_cap);
	fd = ctl_take_file_or_tell(d->ctl, err, err_cap);
	if (fd < 0)
		return fd;
	code = commands_config_examine(&d->zones, fd, from, result, err, err_cap);
	if (!code)
		code = daemon_apply(d, fd, from, err, err_cap);
	close(fd);
	if (code) {
		json_decref(*result);
		*result = NULL;
	}
	return code;
}

static int run_log_reopen(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap)
{
	struct daemon *d = user;
	int code = daemon_reopen_logs(d);

	(void)args, (void)result;
	if (code)
		snprintf(err, err_cap, "%s", d->observers.taps.error);
	return code;
}

static int run_stop(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct daemon *d = user;
	const char *option = ctl_arg(args, 0);

	(void)result;
	if (option && strcmp(option, "--keep")) {
		snprintf(err, err_cap, "%s: stop takes no argument but --keep", option);
		return -EINVAL;
	}
	d->keep = d->keep || option;
	d->stopping = true;
	return 0;
}

/* --- The part that a command works on --------------------------------------------------------- */

/* A run() has no const user. */
static void *view_of_daemon_command(void *user)
{
	return (void *)(uintptr_t)daemon_view(user);
}

#define PART(name, member)                               \
	static void *name##_of(void *user)               \
	{                                                \
		return &((struct daemon *)user)->member; \
	}
#define POINTER(name, member)                           \
	static void *name##_of(void *user)              \
	{                                               \
		return ((struct daemon *)user)->member; \
	}
PART(zones, zones)
PART(queries, queries)
PART(jobs, jobs)
PART(interfaces, interfaces)
PART(drain, drain)
POINTER(live, observers.live)
POINTER(capture, observers.capture)
POINTER(limits, rate_limits)
POINTER(blocks, blocks)
POINTER(cookies, options.cookies)
#undef PART
#undef POINTER

const struct ctl_command commands[] = {
	{ "status", run_status, CTL_READS, view_of_daemon_command },
	{ "stats", run_stats, CTL_READS, view_of_daemon_command },
	{ "zone list", zone_list_run, CTL_READS, view_of_daemon_command },
	{ "zone status", zone_list_run_status, CTL_READS, view_of_daemon_command },
	{ "zone reload", run_zone_reload, CTL_CHANGES, NULL },
	{ "zone edit", commands_zone_edit, CTL_CHANGES, zones_of },
	{ "zone add", commands_zone_add, CTL_CHANGES, zones_of },
	{ "zone remove", commands_zone_remove, CTL_CHANGES, zones_of },
	{ "zone refresh", commands_zone_refresh, CTL_CHANGES, zones_of },
	{ "zone retransfer", commands_zone_retransfer, CTL_CHANGES, zones_of },
	{ "zone notify", commands_zone_notify, CTL_CHANGES, zones_of },
	{ "zone flush", commands_zone_flush, CTL_CHANGES, zones_of },
	{ "zone ds", commands_zone_ds, CTL_READS, zones_of },
	{ "zone keys", commands_zone_keys, CTL_READS, zones_of },
	{ "zone rollover", commands_zone_rollover, CTL_CHANGES, zones_of },
	{ "zone ds-seen", commands_zone_ds_seen, CTL_CHANGES, zones_of },
	{ "cache stats", cache_queries_stats, CTL_READS, queries_of },
	{ "cache lookup", cache_queries_lookup, CTL_READS, queries_of },
	{ "cache flush", cache_queries_flush, CTL_CHANGES, queries_of },
	{ "cache top", top_names_run_top, CTL_READS, view_of_daemon_command },
	{ "cache dump", cache_jobs_dump, CTL_CHANGES, jobs_of },
	{ "cache load", cache_jobs_load, CTL_CHANGES, jobs_of },
	{ "cache resize", cache_jobs_resize, CTL_CHANGES, jobs_of },
	{ "top", live_run_top, CTL_READS, live_of },
	{ "capture", capture_run, CTL_CHANGES, capture_of },
	{ "names", run_names, CTL_READS, NULL },
	{ "names rebuild", run_names_rebuild, CTL_CHANGES, NULL },
	{ "rrl status", commands_rrl_status, CTL_READS, limits_of },
	{ "rrl top", commands_rrl_top, CTL_READS, limits_of },
	{ "policy list", commands_policy_list, CTL_READS, view_of_daemon_command },
	{ "resolver lookup", commands_resolver_lookup, CTL_READS, queries_of },
	{ "resolver infra", commands_resolver_infra, CTL_READS, view_of_daemon_command },
	{ "block add", commands_block_add, CTL_CHANGES, blocks_of },
	{ "block remove", commands_block_remove, CTL_CHANGES, blocks_of },
	{ "block list", commands_block_list, CTL_READS, blocks_of },
	{ "cookies", commands_cookies, CTL_READS, cookies_of },
	{ "cookies rotate", commands_cookies_rotate, CTL_CHANGES, cookies_of },
	{ "attach", run_attach, CTL_CHANGES, NULL },
	{ "detach", run_detach, CTL_CHANGES, interfaces_of },
	{ "port status", run_port_status, CTL_READS, view_of_daemon_command },
	{ "port queues", run_port_queues, CTL_CHANGES, NULL },
	{ "health", health_facts_run, CTL_HEALTH, view_of_daemon_command },
	{ "drain", drain_run, CTL_CHANGES, drain_of },
	{ "config show", commands_config_show, CTL_CHANGES, zones_of },
	{ "config diff", commands_config_diff, CTL_OWNS, zones_of },
	{ "config apply", run_daemon_command_config_apply, CTL_OWNS, NULL },
	{ "log level", daemon_audit_log_level, CTL_CHANGES, NULL },
	{ "log reopen", run_log_reopen, CTL_CHANGES, NULL },
	{ "stop", run_stop, CTL_CHANGES, NULL },
	{ NULL, NULL, CTL_READS, NULL },
};
