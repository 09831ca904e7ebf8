/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_names.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json_put.h"
#include "daemon/daemon.h"

/* Zones of which the driver denies nothing since a worker found a wrong answer. */
static json_t *report_stopped(const struct daemon *d)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < zones_n(d->zones); i++) {
		const struct zones_entry *entry = zones_at(d->zones, i);

		if (!entry->denials_fault)
			continue;
		o = json_object();
		json_put_text(o, "zone", entry->name);
		json_put_text(o, "why", entry->denials_fault);
		json_array_append_new(list, o);
	}
	return list;
}

/* What workers have compared with the driver's shared answers. */
static void put_checks(json_t *o, const struct daemon *d)
{
	struct engine_counters c;

	if (!d->crew)
		return;
	crew_engine_counters(d->crew, &c);
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

static json_t *report(const struct daemon *d)
{
	const struct names_care *care = &d->names_care;
	json_t *o = json_object();

	json_put_bool(o, "in_use", d->names && names_id(d->names));
	if (!d->names)
		return o;
	json_put_int(o, "size_bytes", (uint64_t)d->names->n_lines * VOLLEY_NAMES_LINE_BYTES);
	json_put_int(o, "names_served", care->n_live);
	json_put_int(o, "names_added", d->names->n_added);
	json_put_int(o, "names_gone", d->names->n_gone);
	json_put_percent(o, "fill_percent", care->use.fill);
	json_put_percent(o, "false_positives_percent", care->use.false_positives);
	put_intervals(o, &d->names->intervals);
	json_put_int(o, "rebuilds", care->n_rebuilds);
	if (care->rebuilt_ns) {
		json_put_int(o, "rebuilt_s_ago", (clock_ns() - care->rebuilt_ns) / CLOCK_NS_PER_S);
		json_put_int(o, "rebuild_ms", care->took_ns / CLOCK_NS_PER_MS);
	}
	put_checks(o, d);
	json_object_set_new(o, "zones_not_denied", report_stopped(d));
	return o;
}

int commands_names(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct daemon *d = user;

	(void)args, (void)err, (void)err_cap;
	if (d->names)
		daemon_look_at_names(d);
	*result = report(d);
	return *result ? 0 : -ENOMEM;
}

int commands_names_rebuild(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	struct daemon *d = user;
	int code;

	if (!d->names) {
		snprintf(
			err, err_cap,
			"there is no filter of names: cache.names is not set, or BPF maps cannot be used");
		return -EOPNOTSUPP;
	}
	if (!d->is_ready) {
		snprintf(err, err_cap,
			 "volleyd is starting: try again when volleyctl status says ready");
		return -EAGAIN;
	}
	code = daemon_rebuild_names(d, true);
	return code ? code : commands_names(user, args, result, err, err_cap);
}
