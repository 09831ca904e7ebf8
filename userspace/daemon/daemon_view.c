/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills the view of the daemon that reports read. */
#include "base/sandbox.h"
#include "broker/broker.h"
#include "daemon/confine.h"
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
static const char *rpz_fault(const struct daemon *d, bool is_any_in_force)
{
	const struct rpz_manager *rpz = d->recursion.rpz;

	return rpz && (rpz_manager_n(rpz) > 0) == is_any_in_force ? rpz_manager_error(rpz) : NULL;
}

static const char *blocks_fault(const struct daemon *d, bool lacks_list)
{
	return d->blocks && block_book_lacks_list(d->blocks) == lacks_list ?
		       block_book_error(d->blocks) :
		       NULL;
}

static const char *fault_if(enum fault fault, bool is_there)
{
	return is_there ? words_faults[fault].text : NULL;
}

static const char *taps_fault(struct daemon *d)
{
	taps_error(&d->observers.taps, d->observers.taps_error);
	return d->observers.taps_error;
}

/* The sentence of a fault; NULL or "": there is none. A row of FAULT_LIST without a case here does
 * not compile. */
static const char *fault_of_daemon(struct daemon *d, enum fault fault)
{
	switch (fault) {
	case FAULT_STORAGE:
		return d->zones.storage_error;
	case FAULT_ZONES_ADDED:
		return d->zones.added ? added_problem(d->zones.added) : NULL;
	case FAULT_ZONES_UNCACHED:
		return fault_if(fault, d->zones.zones && zones_has_uncached(d->zones.zones));
	case FAULT_TAPS:
		return taps_fault(d);
	case FAULT_RPZ_ABSENT:
	case FAULT_RPZ_OLD:
		return rpz_fault(d, fault == FAULT_RPZ_OLD);
	case FAULT_BLOCKS_ABSENT:
	case FAULT_BLOCKS_OLD:
		return blocks_fault(d, fault == FAULT_BLOCKS_ABSENT);
	case FAULT_BLOCK_JOURNAL:
		return d->blocks ? block_book_journal_error(d->blocks) : NULL;
	case FAULT_RECURSION_CLIENTS:
		return recursion_problem(d->recursion.recursion);
	case FAULT_RESOLVER:
		return recursion_process_problem(d->recursion.recursion);
	case FAULT_RESIZE:
		return resize_problem(d->jobs.resize);
	case FAULT_SNAPSHOTS:
		return snapshots_error(d->jobs.snapshots);
	case FAULT_DESCRIPTORS:
		return d->descriptors.problem;
	case FAULT_RIGHTS:
		return d->rights.problem;
	case FAULT_SANDBOX:
		return sandbox_problem();
	case FAULT_CONFINED:
		return confine_problem();
	case FAULT_RUNNER:
		return runner_problem(d->runner);
	case FAULT_BROKER:
		return broker_problem();
	case FAULT_PRIVILEGED:
		return fault_if(fault, daemon_has_dpdk(d->config));
	case FAULT_NO_MAPS:
		return fault_if(fault, d->cache.is_anonymous && d->interfaces.n);
	case FAULT_SERVICES:
		return fault_if(fault, d->interfaces.services.has_overflow);
	case FAULT_TUNNEL_ENDS:
		return fault_if(fault, d->interfaces.services.ends_overflow);
	case N_FAULTS:
		break;
	}
	return NULL;
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
	for (enum fault fault = 0; fault < N_FAULTS; fault++)
		d->view.faults[fault] = fault_of_daemon(d, fault);
	return &d->view;
}
