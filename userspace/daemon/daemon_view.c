/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills the view of the daemon that reports read. */
#include "daemon/daemon_internal.h"

static enum report_state state_of_view(const struct daemon *d)
{
	if (d->stopping)
		return REPORT_STOPPING;
	return d->is_ready ? REPORT_SERVING : REPORT_STARTING;
}

static struct report_resize resize_of(const struct daemon *d)
{
	struct report_resize r = { 0 };
	const char *stage;

	if (d->jobs.resize && resize_is_running(d->jobs.resize, &stage, &r.percent, &r.to_bytes))
		r.stage = stage;
	return r;
}

static void put_view_faults(struct report_view *v, struct daemon *d)
{
	v->storage_error = d->zones.storage_error;
	taps_error(&d->observers.taps, d->observers.taps_error);
	v->tap_error = d->observers.taps_error;
	v->resize_problem = resize_problem(d->jobs.resize);
	v->snapshots_error = snapshots_error(d->jobs.snapshots);
	v->descriptors_problem = d->descriptors.problem;
	v->rights_problem = d->rights.problem;
}

const struct report_view *daemon_view(struct daemon *d)
{
	d->view = (struct report_view){
		.config = d->config,
		.configured = zone_service_config(&d->zones),
		.started_ns = d->started_ns,
		.state = state_of_view(d),
		.is_ready = d->is_ready,
		.is_anonymous = d->cache.is_anonymous,
		.is_adopted = d->cache.is_adopted,
		.has_policies = d->resolution.has_policies,
		.drain = &d->drain,
		.affinity = &d->affinity,
		.ifaces = d->interfaces.at,
		.n_ifaces = d->interfaces.n,
		.services = d->interfaces.services,
		.workers = d->interfaces.workers,
		.cache = d->cache.cache,
		.other_slots = d->resolution.other_slots,
		.resize = resize_of(d),
		.names = d->names.names,
		.names_care = &d->names.care,
		.published = &d->published,
		.zones = d->zones.zones,
		.transfers = d->zones.transfers,
		.recursion = d->resolution.recursion,
		.root_copy = d->resolution.root_copy,
		.policies = d->resolution.policies,
		.blocks = d->blocks,
		.rate_limits = d->rate_limits,
		.tap = d->observers.taps.tap,
		.health = &d->health,
		.answers = d->statistics.answers,
		.top_names = d->statistics.top_names,
	};
	put_view_faults(&d->view, d);
	return &d->view;
}
