/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills the view of the daemon that reports read. */
#include "base/sandbox.h"
#include "broker/broker.h"
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

/* If putting RPZ in place failed at a start, no rule is in force. */
static void put_rpz_faults(const char **faults, const struct daemon *d)
{
	const struct rpz_manager *rpz = d->recursion.rpz;

	if (rpz)
		faults[rpz_manager_n(rpz) ? FAULT_RPZ_OLD : FAULT_RPZ_ABSENT] =
			rpz_manager_error(rpz);
	if (!d->blocks)
		return;
	faults[block_book_lacks_list(d->blocks) ? FAULT_BLOCKS_ABSENT : FAULT_BLOCKS_OLD] =
		block_book_error(d->blocks);
	faults[FAULT_BLOCK_JOURNAL] = block_book_journal_error(d->blocks);
}

static void put_driver_faults(const char **faults, const struct daemon *d)
{
	if (d->cache.is_anonymous && d->interfaces.n)
		faults[FAULT_NO_MAPS] = words_faults[FAULT_NO_MAPS].text;
	if (d->interfaces.services.has_overflow)
		faults[FAULT_SERVICES] = words_faults[FAULT_SERVICES].text;
	if (d->interfaces.services.ends_overflow)
		faults[FAULT_TUNNEL_ENDS] = words_faults[FAULT_TUNNEL_ENDS].text;
}

static void put_view_faults(const char **faults, struct daemon *d)
{
	faults[FAULT_STORAGE] = d->zones.storage_error;
	taps_error(&d->observers.taps, d->observers.taps_error);
	faults[FAULT_TAPS] = d->observers.taps_error;
	put_rpz_faults(faults, d);
	faults[FAULT_RECURSION_CLIENTS] = recursion_problem(d->recursion.recursion);
	faults[FAULT_RESOLVER] = recursion_process_problem(d->recursion.recursion);
	faults[FAULT_RESIZE] = resize_problem(d->jobs.resize);
	faults[FAULT_SNAPSHOTS] = snapshots_error(d->jobs.snapshots);
	faults[FAULT_DESCRIPTORS] = d->descriptors.problem;
	faults[FAULT_RIGHTS] = d->rights.problem;
	faults[FAULT_SANDBOX] = sandbox_problem();
	faults[FAULT_RUNNER] = runner_problem(d->runner);
	faults[FAULT_BROKER] = broker_problem();
	put_driver_faults(faults, d);
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
		.has_rpz = d->recursion.has_rpz,
		.drain = &d->drain,
		.affinity = &d->affinity,
		.ifaces = d->interfaces.at,
		.n_ifaces = d->interfaces.n,
		.services = d->interfaces.services,
		.workers = d->interfaces.workers,
		.cache = d->cache.cache,
		.other_slots = d->recursion.other_slots,
		.resize = resize_of(d),
		.names = d->names.names,
		.names_care = &d->names.care,
		.published = &d->published,
		.zones = d->zones.zones,
		.transfer_bridge = d->zones.transfer_bridge,
		.recursion = d->recursion.recursion,
		.root_copy = d->recursion.root_copy,
		.rpz = d->recursion.rpz,
		.blocks = d->blocks,
		.rate_limits = d->rate_limits,
		.tap = d->observers.taps.tap,
		.health = &d->health,
		.answers = d->statistics.answers,
		.top_names = d->statistics.top_names,
	};
	put_view_faults(d->view.faults, d);
	return &d->view;
}
