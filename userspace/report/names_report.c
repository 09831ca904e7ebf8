/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include "base/clock.h"
#include "base/json_put.h"
#include "report/report_view.h"

/* Zones in which the driver stopped denying, since a worker found a wrong answer. */
static json_t *report_stopped(const struct report_view *v)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < zones_n(v->zones); i++) {
		const struct zones_entry *entry = zones_at(v->zones, i);

		if (!entry->denials_fault)
			continue;
		o = json_object();
		json_put_text(o, "zone", entry->name);
		json_put_text(o, "why", entry->denials_fault);
		json_array_append_new(list, o);
	}
	return list;
}

/* Counts of the workers' checks of the driver's shared answers. */
static void put_checks(json_t *o, const struct report_view *v)
{
	struct engine_counters c;

	if (!v->workers)
		return;
	workers_engine_counters(v->workers, &c);
	json_put_int(o, "answers_compared", c.shared_compared);
	json_put_int(o, "answers_undecided", c.shared_undecided);
	json_put_int(o, "answers_wrong", c.shared_wrong);
	json_put_int(o, "denials_wrong", c.denials_wrong);
}

static void put_intervals(json_t *o, const struct intervals *in)
{
	json_put_int(o, "intervals_size_bytes", (uint64_t)in->n_lines * VOLLEY_NAMES_LINE_BYTES);
	json_put_int(o, "intervals_used_bytes", (uint64_t)in->used * VOLLEY_NAMES_LINE_BYTES);
	json_put_int(o, "intervals_refused", in->n_refused);
}

json_t *names_report(const struct report_view *v)
{
	const struct names_care *care = v->names_care;
	json_t *o = json_object();

	json_put_bool(o, "in_use", v->names && names_id(v->names));
	if (!v->names)
		return o;
	json_put_int(o, "size_bytes", (uint64_t)v->names->n_lines * VOLLEY_NAMES_LINE_BYTES);
	json_put_int(o, "names_served", care->n_live);
	json_put_int(o, "names_added", v->names->n_added);
	json_put_int(o, "names_gone", v->names->n_gone);
	json_put_percent(o, "fill_percent", care->use.fill);
	json_put_percent(o, "false_positives_percent", care->use.false_positives);
	put_intervals(o, &v->names->intervals);
	json_put_int(o, "rebuilds", care->n_rebuilds);
	if (care->rebuilt_ns) {
		json_put_int(o, "rebuilt_s_ago", (clock_ns() - care->rebuilt_ns) / CLOCK_NS_PER_S);
		json_put_int(o, "rebuild_ms", care->took_ns / CLOCK_NS_PER_MS);
	}
	put_checks(o, v);
	json_object_set_new(o, "zones_not_denied", report_stopped(v));
	return o;
}
