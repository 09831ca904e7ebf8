/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/health_facts.h"

#include <errno.h>

#include "base/clock.h"
#include "report/health.h"
#include "report/progress.h"
#include "report/report.h"
#include "base/json_put.h"

/* --- The facts -------------------------------------------------------------------------------- */

static void judge_daemon(struct health *h, const struct report_view *v)
{
	char text[DRAIN_WHY_CAP + 16], progress[512] = "";

	if (v->drain->is_on)
		health_say(h, HEALTH_FAILS, "%s", drain_text(v->drain, text, sizeof(text)));
	if (v->state == REPORT_STOPPING)
		health_say(h, HEALTH_FAILS, "volleyd is stopping");
	else if (!v->is_ready)
		health_say(h, HEALTH_FAILS, "volleyd is starting%s%s",
			   progress_put(v->zones, clock_ns(), progress, sizeof(progress)) ? ": " :
											    "",
			   progress);
}

static const struct zones_entry *health_facts_zone_at(const void *user, size_t i)
{
	return zones_at(user, i);
}

static const struct policies_entry *policy_at(const void *user, size_t i)
{
	return policies_at(user, i);
}

static void note_zones(struct health_watch *watch, const struct zones *zones, bool is_ready)
{
	if (is_ready && !watch->have_zones_come)
		watch->have_zones_come =
			health_have_zones_come(health_facts_zone_at, zones, zones_n(zones));
}

static uint64_t n_rounds(const struct workers *workers, unsigned int worker)
{
	struct worker_stats stats;

	workers_stats(workers, worker, &stats);
	return stats.heartbeat;
}

static void judge_workers(struct health *h, const struct report_view *v)
{
	for (unsigned int i = 0; i < workers_n(v->workers) && i < HEALTH_WORKERS_CAP; i++)
		health_worker(h, &v->health->heartbeats, i, n_rounds(v->workers, i));
}

static void judge_ifaces(struct health *h, const struct report_view *v)
{
	struct health_iface ifaces[CONFIG_INTERFACES_MAX];

	for (size_t i = 0; i < v->n_ifaces; i++)
		ifaces[i] = (struct health_iface){ &v->ifaces[i], iface_is_sound(&v->ifaces[i]) };
	health_ifaces(h, ifaces, v->n_ifaces);
}

static void judge_overload(struct health *h, const struct report_view *v)
{
	char text[OVERLOAD_TEXT_CAP];

	for (size_t i = 0; i < v->n_ifaces; i++)
		for (uint32_t queue = 0; queue < VOLLEY_QUEUES; queue++)
			if (overload_text(&v->ifaces[i].overload, v->ifaces[i].config.name, queue,
					  text))
				health_say(h, HEALTH_WARNS, "%s", text);
}

/* If putting policies in place failed at a start, none is in force: that is a reason. */
static void judge_policies(struct health *h, const struct report_view *v)
{
	const char *error = policies_error(v->policies);
	size_t n = policies_n(v->policies);

	health_policies(h, policy_at, v->policies, n);
	if (*error)
		health_say(h, n ? HEALTH_WARNS : HEALTH_FAILS, "%s", error);
	if (*block_book_error(v->blocks))
		health_say(h, block_book_lacks_list(v->blocks) ? HEALTH_FAILS : HEALTH_WARNS,
			   "policy.block: %s", block_book_error(v->blocks));
	if (*block_book_journal_error(v->blocks))
		health_say(h, HEALTH_WARNS, "%s", block_book_journal_error(v->blocks));
}

static void judge_rest(struct health *h, const struct report_view *v)
{
	struct recursion_report recursion;

	recursion_report(v->recursion, &recursion);
	if (recursion.problem)
		health_say(h, HEALTH_WARNS, "%s", recursion.problem);
	if (*v->storage_error)
		health_say(h, HEALTH_WARNS, "%s", v->storage_error);
	if (*v->tap_error)
		health_say(h, HEALTH_WARNS, "%s", v->tap_error);
	if (v->is_anonymous && v->n_ifaces)
		health_say(h, HEALTH_WARNS, "no BPF maps: the driver cannot answer");
	if (v->services.has_overflow)
		health_say(h, HEALTH_WARNS, "more service addresses than the driver can know");
	if (v->services.ends_overflow)
		health_say(h, HEALTH_WARNS,
			   "more addresses than the driver can know as ends of tunnels");
}

static void judge_health_facts(struct health *h, const struct report_view *v)
{
	judge_daemon(h, v);
	health_addresses(h, v->configured);
	if (!v->workers)
		return; /* the start is still opening the other parts */
	judge_workers(h, v);
	judge_ifaces(h, v);
	health_zones(h, health_facts_zone_at, v->zones, zones_n(v->zones));
	judge_policies(h, v);
	judge_overload(h, v);
	judge_rest(h, v);
}

/* --- Commands --------------------------------------------------------------------------------- */

/* *WELL: there is no reason. It is false if memory was short. */
static json_t *report_health_facts(const struct report_view *v,
				   const struct health_options *options, bool *well)
{
	const struct config *config = v->configured;
	struct health h = { options, json_array(), json_array(), v->health->have_zones_come,
			    clock_wall_s() };
	json_t *o = json_object();

	if (h.reasons && h.warnings)
		judge_health_facts(&h, v);
	*well = h.reasons && h.warnings && !json_array_size(h.reasons);
	json_put_bool(o, "healthy", *well);
	json_object_set_new(o, "reasons", h.reasons);
	json_object_set_new(o, "warnings", h.warnings);
	json_put_bool(o, "drained", v->drain->is_on);
	json_put_text(o, "state", report_state_text(v->state));
	json_object_set_new(o, "services", report_listen(config->listen, config->n_listen));
	return o;
}

int health_facts_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct report_view *v = user;
	struct health_options options;
	int code = health_read_options(&options, args, err, err_cap);
	bool well;

	if (code)
		return code;
	note_zones(v->health, v->zones, v->is_ready);
	*result = report_health_facts(v, &options, &well);
	return *result ? 0 : -ENOMEM;
}

bool health_facts_is_well(const struct report_view *v)
{
	const struct health_options options = { .zones = HEALTH_ALL };
	bool well;

	json_decref(report_health_facts(v, &options, &well));
	return well;
}

void health_facts_tick(struct health_watch *watch, const struct workers *workers,
		       const struct zones *zones, bool is_ready)
{
	for (unsigned int i = 0; i < workers_n(workers) && i < HEALTH_WORKERS_CAP; i++)
		health_look(&watch->heartbeats, i, n_rounds(workers, i));
	note_zones(watch, zones, is_ready);
}
