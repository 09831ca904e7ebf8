/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports see of the daemon. */
#include "daemon/daemon.h"

static enum report_state state_of(const struct daemon *d)
{
	if (d->stopping)
		return REPORT_STOPPING;
	return d->is_ready ? REPORT_SERVING : REPORT_STARTING;
}

static struct report_resize resize_of(const struct daemon *d)
{
	struct report_resize r = { 0 };
	const char *stage;

	if (d->resize && resize_is_running(d->resize, &stage, &r.percent, &r.to_bytes))
		r.stage = stage;
	return r;
}

static void put_faults(struct report_view *v, const struct daemon *d)
{
	v->storage_error = d->storage_error;
	v->tap_error = d->tap_error;
	v->resize_problem = resize_problem(d->resize);
	v->snapshots_error = snapshots_error(d->snapshots);
	v->descriptors_problem = d->descriptors.problem;
}

const struct report_view *daemon_view(struct daemon *d)
{
	d->view = (struct report_view){
		.config = d->config,
		.configured = d->catalogs ? catalogs_config(d->catalogs) : d->config,
		.started_ns = d->started_ns,
		.state = state_of(d),
		.is_ready = d->is_ready,
		.is_anonymous = d->is_anonymous,
		.is_adopted = d->is_adopted,
		.has_policies = d->has_policies,
		.drain = &d->drain,
		.affinity = &d->affinity,
		.ifaces = d->ifaces,
		.n_ifaces = d->n_ifaces,
		.services = { d->n_services, d->services_overflow, d->ends_overflow },
		.crew = d->crew,
		.cache = d->cache,
		.other_slots = d->other_slots,
		.resize = resize_of(d),
		.names = d->names,
		.names_care = &d->names_care,
		.published = &d->published,
		.zones = d->zones,
		.transfers = d->transfers,
		.recursion = d->recursion,
		.root_copy = d->root_copy,
		.policies = d->policies,
		.blocks = d->blocks,
		.rate_limits = d->rate_limits,
		.tap = d->tap,
		.health = &d->health,
		.answers = d->answers,
		.top_names = d->top_names,
	};
	put_faults(&d->view, d);
	return &d->view;
}
