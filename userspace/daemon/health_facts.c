/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/health_facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/health.h"
#include "daemon/report.h"
#include "base/json_put.h"

static const char *state_text(const struct daemon *d)
{
	return d->stopping ? "stopping" : d->is_ready ? "serving" : "starting";
}

/* --- What is looked at --------------------------------------------------------------------------- */

static void judge_daemon(struct health *h, const struct daemon *d)
{
	char text[DRAIN_WHY_CAP + 16], progress[512] = "";

	if (d->drain.is_on)
		health_say(h, HEALTH_FAILS, "%s", drain_text(&d->drain, text, sizeof(text)));
	if (d->stopping)
		health_say(h, HEALTH_FAILS, "volleyd is stopping");
	else if (!d->is_ready)
		health_say(h, HEALTH_FAILS, "volleyd is starting%s%s",
			   progress_put(d->zones, clock_ns(), progress, sizeof(progress)) ? ": " :
											    "",
			   progress);
}

static const struct zones_entry *zone_at(const void *user, size_t i)
{
	return zones_at(user, i);
}

static const struct policies_entry *policy_at(const void *user, size_t i)
{
	return policies_at(user, i);
}

static void note_zones(struct daemon *d)
{
	if (d->is_ready && !d->have_zones_come)
		d->have_zones_come = health_have_zones_come(zone_at, d->zones, zones_n(d->zones));
}

static uint64_t n_rounds(const struct daemon *d, unsigned int worker)
{
	struct worker_stats stats;

	crew_worker_stats(d->crew, worker, &stats);
	return stats.heartbeat;
}

static void judge_workers(struct health *h, const struct daemon *d)
{
	for (unsigned int i = 0; i < crew_n(d->crew) && i < HEALTH_WORKERS_CAP; i++)
		health_worker(h, &d->beats, i, n_rounds(d, i));
}

static void judge_ifaces(struct health *h, const struct daemon *d)
{
	struct health_iface ifaces[CONFIG_INTERFACES_MAX];

	for (size_t i = 0; i < d->n_ifaces; i++)
		ifaces[i] = (struct health_iface){ &d->ifaces[i], iface_is_sound(&d->ifaces[i]) };
	health_ifaces(h, ifaces, d->n_ifaces);
}

static void judge_overload(struct health *h, const struct daemon *d)
{
	char text[OVERLOAD_TEXT_CAP];

	for (size_t i = 0; i < d->n_ifaces; i++)
		for (uint32_t queue = 0; queue < VOLLEY_QUEUES; queue++)
			if (overload_text(&d->ifaces[i].overload, d->ifaces[i].config.name, queue,
					  text))
				health_say(h, HEALTH_WARNS, "%s", text);
}

/* What could not be put in place as a whole was, at a start, nothing. */
static void judge_policies(struct health *h, const struct daemon *d)
{
	const char *error = policies_error(d->policies);
	size_t n = policies_n(d->policies);

	health_policies(h, policy_at, d->policies, n);
	if (*error)
		health_say(h, n ? HEALTH_WARNS : HEALTH_FAILS, "%s", error);
	if (*block_book_error(d->blocks))
		health_say(h, block_book_lacks_list(d->blocks) ? HEALTH_FAILS : HEALTH_WARNS,
			   "policy.block: %s", block_book_error(d->blocks));
}

static void judge_rest(struct health *h, const struct daemon *d)
{
	struct recursion_report recursion;

	recursion_report(d->recursion, &recursion);
	if (recursion.problem)
		health_say(h, HEALTH_WARNS, "%s", recursion.problem);
	if (*d->storage_error)
		health_say(h, HEALTH_WARNS, "%s", d->storage_error);
	if (d->is_anonymous && d->n_ifaces)
		health_say(h, HEALTH_WARNS, "no BPF maps: the driver cannot answer");
	if (d->services_overflow)
		health_say(h, HEALTH_WARNS, "more service addresses than the driver can know");
	if (d->ends_overflow)
		health_say(h, HEALTH_WARNS,
			   "more addresses than the driver can know as ends of tunnels");
}

static void judge(struct health *h, const struct daemon *d)
{
	const struct config *config = catalogs_config(d->catalogs);

	judge_daemon(h, d);
	for (uint32_t i = 0; i < config->n_listen; i++)
		health_address(h, &config->listen[i]);
	if (!d->crew)
		return; /* what is not there yet is being made */
	judge_workers(h, d);
	judge_ifaces(h, d);
	health_zones(h, zone_at, d->zones, zones_n(d->zones));
	judge_policies(h, d);
	judge_overload(h, d);
	judge_rest(h, d);
}

/* --- Commands ------------------------------------------------------------------------------------ */

/* *WELL: no reason was found, and memory was there to tell one. */
static json_t *report(const struct daemon *d, const struct health_options *options, bool *well)
{
	const struct config *config = catalogs_config(d->catalogs);
	struct health h = { options, json_array(), json_array(), d->have_zones_come,
			    clock_wall_s() };
	json_t *o = json_object();

	if (h.reasons && h.warnings)
		judge(&h, d);
	*well = h.reasons && h.warnings && !json_array_size(h.reasons);
	json_put_bool(o, "healthy", *well);
	json_object_set_new(o, "reasons", h.reasons);
	json_object_set_new(o, "warnings", h.warnings);
	json_put_bool(o, "drained", d->drain.is_on);
	json_put_text(o, "state", state_text(d));
	json_object_set_new(o, "services", report_listen(config->listen, config->n_listen));
	return o;
}

int health_ask(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct health_options options;
	int code = health_read_options(&options, args, err, err_cap);
	bool well;

	if (code)
		return code;
	note_zones(user);
	*result = report(user, &options, &well);
	return *result ? 0 : -ENOMEM;
}

bool health_ask_is_well(const struct daemon *d)
{
	const struct health_options options = { .zones = HEALTH_ALL };
	bool well;

	json_decref(report(d, &options, &well));
	return well;
}

static void say_drain(const struct drain *drain, bool was_on)
{
	char text[DRAIN_WHY_CAP + 16];

	if (drain->is_on)
		log_notice("%s: volleyctl health says so until volleyctl drain off",
			   drain_text(drain, text, sizeof(text)));
	else if (was_on)
		log_notice("drained no more");
}

int health_ask_drain(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const char *word = json_string_value(json_array_get(args, 0));
	const char *why = json_string_value(json_array_get(args, 1));
	struct daemon *d = user;
	bool was_on = d->drain.is_on, is_on = word && !strcmp(word, "on");
	int code = 0;

	if (word && ((!is_on && strcmp(word, "off") != 0) || (!is_on && why))) {
		snprintf(err, err_cap, "drain takes on, with a reason if there is one, or off");
		return -EINVAL;
	}
	if (word) {
		code = drain_set(&d->drain, is_on, why);
		say_drain(&d->drain, was_on);
	}
	if (code) {
		snprintf(err, err_cap, "it holds until volleyd ends, but %s: %s", d->drain.path,
			 err_text(code));
		return code;
	}
	*result = json_pack("{s:b, s:s}", "drained", d->drain.is_on, "why", d->drain.why);
	return *result ? 0 : -ENOMEM;
}

void health_ask_tick(struct daemon *d)
{
	for (unsigned int i = 0; i < crew_n(d->crew) && i < HEALTH_WORKERS_CAP; i++)
		health_look(&d->beats, i, n_rounds(d, i));
	note_zones(d);
}
