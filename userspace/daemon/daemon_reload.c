/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts another configuration in place while the daemon answers, as a whole or not at all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "broker/broker.h"
#include "daemon/confine.h"
#include "daemon/daemon_audit.h"
#include "daemon/daemon_internal.h"
#include "daemon/service_addresses.h"
#include "report/health.h"
#include "report/new_start.h"

#define ZONE_TEXT_CAP 1280
/* the end of a sentence that has no room for all faults */
#define FAULTS_LEFT "; and %zu more: volleyctl zone list and status name them"

int daemon_configure_rate_limits(struct daemon *d, const struct config *config)
{
	const unsigned int n_cpus = (unsigned int)CPU_COUNT(&d->affinity.allowed);
	int err = rate_limits_configure(d->rate_limits, config,
					config->n_workers ? config->n_workers : n_cpus);

	if (err)
		log_error("rrl: %s", err_text(err));
	return err;
}

void daemon_put_rights(struct daemon *d, struct rights *rights)
{
	if (*rights->problem && strcmp(rights->problem, d->rights.problem) != 0)
		log_warn("%s", rights->problem);
	rights_fini(&d->rights);
	d->rights = *rights;
	*rights = (struct rights){ 0 };
	ctl_set_rights(d->ctl, &d->rights);
}

static void put_zone_error(const struct zones_entry *entry, char *err, size_t err_cap)
{
	snprintf(err, err_cap, "zone %s: %s%s", entry->name, sentence_text(&entry->error),
		 entry->zone ? "; the earlier version keeps serving" : "");
}

/* All zones of a host may be wrong at once: the first are listed, the others are counted. Returns
 * the number of all. */
static size_t add_zones(json_t *list, const struct zones *zones)
{
	char text[ZONE_TEXT_CAP];
	size_t n = 0;

	for (size_t i = 0; i < zones_n(zones); i++) {
		const struct zones_entry *entry = zones_at(zones, i);

		if (entry->is_member || !sentence_is_set(&entry->error))
			continue;
		if (n++ >= HEALTH_LISTED_MAX)
			continue;
		put_zone_error(entry, text, sizeof(text));
		json_array_append_new(list, json_string(text));
	}
	return n;
}

static void add_rpz_faults(json_t *list, const struct rpz_manager *rpz)
{
	char text[RPZ_MANAGER_TEXT_CAP];

	for (size_t i = 0; i < rpz_manager_n(rpz); i++)
		if (rpz_manager_entry_state(rpz_manager_at(rpz, i)) != RPZ_MANAGER_SERVING &&
		    rpz_manager_entry_tell(rpz_manager_at(rpz, i), text))
			json_array_append_new(list, json_string(text));
}

json_t *daemon_list_faults(const struct daemon *d, size_t *n)
{
	json_t *list = json_array();
	char of_taps[TAPS_ERROR_CAP], text[HEALTH_TEXT_CAP];
	size_t n_zones = add_zones(list, d->zones.zones), n_more = n_zones - json_array_size(list);

	add_rpz_faults(list, d->recursion.rpz);
	if (*block_book_error(d->blocks))
		json_array_append_new(list, json_sprintf("policy.block: %s",
							 block_book_error(d->blocks)));
	if (*confine_problem())
		json_array_append_new(list, json_string(confine_problem()));
	taps_error(&d->observers.taps, of_taps);
	if (*of_taps)
		json_array_append_new(list, json_string(of_taps));
	if (n)
		*n = json_array_size(list) + n_more;
	if (n_more)
		json_array_append_new(list, json_string(health_more_zones(text, n_more)));
	return list;
}

/* Writes the faults as one sentence: those that there is room for. 0: there are none. */
static int tell_reload_faults(const struct daemon *d, char *err, size_t err_cap)
{
	size_t n = 0, at = 0, i;
	json_t *list = daemon_list_faults(d, &n);
	const json_t *one;

	if (n == 1)
		at = (size_t)snprintf(err, err_cap, "all but this is in force: ");
	else if (n)
		at = (size_t)snprintf(err, err_cap, "all but these %zu is in force: ", n);
	json_array_foreach(list, i, one) {
		const char *text = json_string_value(one);

		if (i && at + strlen(text) + sizeof(FAULTS_LEFT) + 24 > err_cap) {
			snprintf(err + at, err_cap - at, FAULTS_LEFT, n - i);
			break;
		}
		at += (size_t)snprintf(err + at, err_cap - at, "%s%s", i ? "; " : "", text);
		if (at >= err_cap)
			break;
	}
	json_decref(list);
	return n ? ERR_ZONE : 0;
}

int daemon_tell_reload(const struct daemon *d, const char *name, int code, char *err,
		       size_t err_cap)
{
	const struct zones_entry *entry = name ? zones_find(d->zones.zones, name) : NULL;
	int first = name || code == -ECANCELED ? 0 : tell_reload_faults(d, err, err_cap);

	if (first)
		return first;
	if (code == -ECANCELED)
		snprintf(err, err_cap, "volleyd stops: the load is given up");
	else if (name && code == ERR_NOT_FOUND)
		snprintf(err, err_cap,
			 "%s: the zone was removed from the configuration before it was loaded",
			 name);
	else if (code && entry && sentence_is_set(&entry->error))
		put_zone_error(entry, err, err_cap);
	else if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

/* The size that `cache resize` has set stays until cache.size changes. */
static void want_size(struct daemon *d, uint64_t bytes)
{
	if (bytes == d->config->cache_size_bytes)
		return;
	d->config->cache_size_bytes = bytes;
	if (d->jobs.resize)
		resize_want(d->jobs.resize, bytes);
}

/*
 * Zones, RPZ and lists of blocks are read in parallel. The reload ends when all are in place.
 * A list that is a zone may be read before its zone is served: then it is put in place last.
 */
struct reload {
	struct rpz_manager *rpz;
	zones_done_fn *done;
	void *user;
	int code;
	unsigned int n_left;
	bool has_awaited_zones;
};

static void part_ended(void *user, int code)
{
	struct reload *reload = user;

	if (!reload->code)
		reload->code = code;
	if (--reload->n_left)
		return;
	if (reload->code != -ECANCELED && !reload->has_awaited_zones &&
	    !rpz_manager_is_idle(reload->rpz)) {
		reload->n_left = 1;
		reload->has_awaited_zones = true;
		if (!rpz_manager_await_zones(reload->rpz, part_ended, reload))
			return;
	}
	reload->done(reload->user, reload->code);
	free(reload);
}

static int start_reload(struct daemon *d, struct config *config, zones_done_fn *done, void *user)
{
	struct reload *reload = malloc(sizeof(*reload));
	int code;

	if (!reload)
		return -ENOMEM;
	*reload =
		(struct reload){ .rpz = d->recursion.rpz, .done = done, .user = user, .n_left = 3 };
	code = zones_configure(d->zones.zones, config, part_ended, reload);
	if (code) {
		free(reload);
		return code;
	}
	code = rpz_manager_reload(d->recursion.rpz, part_ended, reload);
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
		log_error("the reload was refused, and earlier settings cannot be restored: %s: %s",
			  what, err_text(code));
}

/* Restores the settings before a refused reload; a part that fails does not stop the rest. */
static void take_back_reload(struct daemon *d)
{
	const struct config *before = zone_service_config(&d->zones);
	char err[512];

	snprintf(err, sizeof(err), "keys");
	tell_not_taken_back(
		transfer_bridge_configure(d->zones.transfer_bridge, before, err, sizeof(err)), err);
	tell_not_taken_back(signing_policies_set(&d->zones.signing, before), "signing");
	tell_not_taken_back(daemon_configure_rate_limits(d, before), "rrl");
	snprintf(err, sizeof(err), "cookies");
	tell_not_taken_back(cookies_configure(d->options.cookies, before, clock_wall_s(), err,
					      sizeof(err)),
			    err);
	interfaces_settle(&d->interfaces, before, before);
	service_addresses_settle(&d->interfaces, before);
}

/* Reading RPZ needs the settings of recursion, which are in place. */
static int put_behind_recursion(struct daemon *d, struct config *config, zones_done_fn *done,
				void *user, char *err, size_t err_cap)
{
	int code = daemon_configure_rate_limits(d, config);

	if (code)
		snprintf(err, err_cap, "rrl: %s", err_text(code));
	else
		code = cookies_configure(d->options.cookies, config, clock_wall_s(), err, err_cap);
	if (code)
		return code;
	code = start_reload(d, config, done, user);
	if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

/* Configures all parts that may refuse; if one refuses, the earlier ones are restored. */
static int put_parts(struct daemon *d, struct config *config, zones_done_fn *done, void *user,
		     char *err, size_t err_cap)
{
	int code = transfer_bridge_configure(d->zones.transfer_bridge, config, err, err_cap);

	if (!code) {
		code = signing_policies_set(&d->zones.signing, config);
		if (code)
			snprintf(err, err_cap, "signing: %s", err_text(code));
	}
	if (!code)
		code = service_addresses_add(&d->interfaces, &d->descriptors, d->config, config,
					     err, err_cap);
	if (!code)
		code = interfaces_add(&d->interfaces, config, err, err_cap);
	if (!code)
		code = daemon_recursion_configure(&d->recursion, config, err, err_cap);
	if (!code) {
		code = put_behind_recursion(d, config, done, user, err, err_cap);
		if (code)
			daemon_recursion_take_back(&d->recursion, config);
	}
	if (code)
		take_back_reload(d);
	return code;
}

/* Called before anything is changed. The caller owns *identity and *rights. */
static int check_config(struct daemon *d, const struct config *config, struct rights *rights,
			struct engine_identity **identity, char *err, size_t err_cap)
{
	int code = new_start_check(d->config, zone_service_config(&d->zones), config, err, err_cap);

	if (!code)
		code = signing_check(d->zones.zones, config, d->config->storage, err, err_cap);
	*identity = code ? NULL : reply_options_make_identity(config);
	if (code || (*identity && !rights_read(rights, config)))
		return code;
	free(*identity);
	*identity = NULL;
	snprintf(err, err_cap, "%s", err_text(-ENOMEM));
	return -ENOMEM;
}

/* Puts CONFIG in place, or frees it and changes nothing. */
static int put_reload_config(struct daemon *d, struct config *config, zones_done_fn *done,
			     void *user, char *err, size_t err_cap)
{
	struct engine_identity *identity;
	struct rights rights = { 0 };
	int code = check_config(d, config, &rights, &identity, err, err_cap);

	if (!code) {
		confine_look(config);
		code = put_parts(d, config, done, user, err, err_cap);
	}
	if (code) {
		rights_fini(&rights);
		free(identity);
		config_free(config);
		return code;
	}
	runner_keep_config(d->runner);
	confine_put();
	daemon_put_rights(d, &rights);
	config_recursion_fini(&config->recursion); /* the earlier one */
	reply_options_put_identity(&d->options, identity);
	want_size(d, config->cache_size_bytes);
	daemon_configure_log(d->config, config);
	interfaces_settle(&d->interfaces, zone_service_config(&d->zones), config);
	catalogs_take_config(d->zones.catalogs, config);
	added_reconfigure(d->zones.added);
	service_addresses_settle(&d->interfaces, config);
	service_addresses_log_missing(config);
	taps_configure(&d->observers.taps, config);
	new_start_log(d->config, config);
	return 0;
}

int daemon_reload(struct daemon *d, zones_done_fn *done, void *user, char *err, size_t err_cap)
{
	struct config *config;
	int code;

	runner_read_config(d->runner, -1); /* meanwhile */
	code = config_load_again(
		&config, d->config->path,
		zones_have_configuration(d->zones.zones) ? zone_service_config(&d->zones) : NULL,
		err, err_cap);
	if (!code)
		code = put_reload_config(d, config, done, user, err, err_cap);
	if (!code)
		broker_keep_text(BROKER_TEXT_NOW, -1);
	return code;
}

/* Does not report a reload to systemd before the daemon is ready. */
static void tell_systemd(const struct daemon *d, const char *state)
{
	if (d->is_ready)
		sd_notify(0, state);
}

/* Answers the clients of daemon_await_loads(). */
static void answer_waiters(struct daemon *d)
{
	struct awaited *w = &d->awaited;

	for (unsigned int i = 0; i < w->n_tickets; i++)
		ctl_answer(d->ctl, w->tickets[i], clock_ns(), 0,
			   json_pack("{s:o}", "failed", daemon_list_faults(d, NULL)), "");
	w->n_tickets = 0;
}

static void on_reload_reloaded(void *user, int code)
{
	struct daemon *d = user;
	char err[1024];

	code = daemon_tell_reload(d, NULL, code, err, sizeof(err));
	if (code)
		log_error("reload: %s", err);
	daemon_audit_reload(code);
	tell_systemd(d, "READY=1");
	if (!--d->awaited.n_reloads)
		answer_waiters(d);
}

int daemon_await_loads(struct daemon *d, json_t **result, char *err, size_t err_cap)
{
	struct awaited *w = &d->awaited;
	uint64_t ticket;
	int code;

	if (!w->n_reloads) {
		*result = json_pack("{s:o}", "failed", daemon_list_faults(d, NULL));
		return *result ? 0 : -ENOMEM;
	}
	code = w->n_tickets < AWAITED_CAP ? ctl_defer_or_tell(d->ctl, &ticket, err, err_cap) :
					    -EBUSY;
	if (code)
		return code;
	w->tickets[w->n_tickets++] = ticket;
	return CTL_LATER;
}

int daemon_reopen_logs(struct daemon *d)
{
	return taps_reopen(&d->observers.taps, zone_service_config(&d->zones));
}

void daemon_reload_by_signal(struct daemon *d)
{
	char err[1024];
	int code;

	tell_systemd(d, "RELOADING=1");
	d->awaited.n_reloads++;
	code = daemon_reload(d, on_reload_reloaded, d, err, sizeof(err));
	if (!code)
		return;
	d->awaited.n_reloads--;
	log_error("reload: %s", err);
	daemon_audit_reload(code);
	tell_systemd(d, "READY=1");
}

int daemon_apply(struct daemon *d, int fd, const char *from, char *err, size_t err_cap)
{
	struct config *config;
	int code = config_load_as(&config, fd, from, d->config->path, err, err_cap);

	if (code)
		return code;
	tell_systemd(d, "RELOADING=1");
	d->awaited.n_reloads++;
	broker_keep_text(BROKER_TEXT_NEXT, fd);
	code = put_reload_config(d, config, on_reload_reloaded, d, err, err_cap);
	broker_keep_text(BROKER_TEXT_NEXT, -1);
	if (!code)
		broker_keep_text(BROKER_TEXT_NOW, fd);
	if (!code)
		return 0;
	d->awaited.n_reloads--;
	tell_systemd(d, "READY=1");
	return code;
}
