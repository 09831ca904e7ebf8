/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <errno.h>

#include "base/clock.h"
#include "report/faults.h"
#include "report/health.h"
#include "report/progress.h"
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

static void note_zones(struct health_watch *watch, const struct zones *zones, bool is_ready)
{
	if (is_ready && !watch->have_zones_come)
		watch->have_zones_come =
			health_have_zones_come(health_facts_zone_at, zones, zones_n(zones));
}

static void judge_ifaces(struct health *h, const struct report_view *v)
{
	struct health_iface ifaces[CONFIG_INTERFACES_MAX];

	for (size_t i = 0; i < v->n_ifaces; i++)
		ifaces[i] = (struct health_iface){ &v->ifaces[i], iface_is_sound(&v->ifaces[i]) };
	health_ifaces(h, ifaces, v->n_ifaces);
}

static void judge_health_facts(struct health *h, const struct report_view *v)
{
	judge_daemon(h, v);
	faults_say(h, v);
	if (!v->workers)
		return; /* the start is still opening the other parts */
	judge_ifaces(h, v);
	health_zones(h, health_facts_zone_at, v->zones, zones_n(v->zones));
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
		health_look(&watch->heartbeats, i, faults_n_rounds(workers, i));
	note_zones(watch, zones, is_ready);
}
