/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start of a configuration's loads: a walk over its zones, of which most are unchanged after a
 * reload. These share loads that only look at their files; a zone whose file has changed gets a
 * load of its own then.
 *
 *	zones->entries  | begun: 0 to checks.at | waiting: to checks.end | not named ...
 *	                          └ CHECKS_AT_ONCE of them run; when one ends, the walk goes on
 *
 * So a reload of a million zones needs the memory of a few thousand, and holds control only for
 * some of them at a time.
 */
#include <errno.h>

#include "zonemgr/file_checks.h"
#include "zonemgr/loader.h"
#include "zonemgr/zones_state.h"

#define CHECKS_AT_ONCE 8u

static void walk_on(struct zones *zones);

/* Begins a load that the configuration waits for. */
static void ask_configured(struct zones *zones, struct zones_entry *entry)
{
	uint32_t number = zones_ask(entry);

	if (entry->loading.n_ended >= number)
		return; /* it could not begin, or there was nothing to do */
	entry->loading.awaited_number = number;
	zones->n_awaited++;
}

static void forget_checks(struct zones *zones, struct file_checks *checks)
{
	struct file_checks **at = &zones->checks.running;

	while (*at != checks)
		at = &(*at)->next;
	*at = checks->next;
	zones->checks.n_running--;
	file_checks_free(checks);
}

static void on_checked(struct load *load)
{
	struct zones *zones = load->user;
	struct file_checks *checks = load->checks;
	const bool is_cancelled = load->code == -ECANCELED || zones->checks.is_cancelled;

	load->checks = NULL;
	load_free(load);
	for (uint32_t i = 0; i < checks->n && !is_cancelled; i++)
		if (checks->list[i].entry && checks->list[i].is_changed)
			ask_configured(zones, checks->list[i].entry);
	forget_checks(zones, checks);
	walk_on(zones);
}

/* False: no memory. */
static bool start_checks(struct zones *zones, struct file_checks *checks)
{
	struct load *load = load_new("zones", "files", NULL, on_checked, zones);

	if (!load)
		return false;
	load->source = LOAD_CHECKS;
	load->checks = checks;
	checks->next = zones->checks.running;
	zones->checks.running = checks;
	zones->checks.n_running++;
	loader_start(zones->env.loader, load);
	return true;
}

/* Begins the next zones. */
static void begin_some(struct zones *zones)
{
	struct file_checks *checks = file_checks_new();

	while (zones->checks.at < zones->checks.end && (!checks || checks->n < FILE_CHECKS_MAX)) {
		struct zones_entry *entry = zones->entries[zones->checks.at++];

		if (!checks || entry->loading.is_changed || zones_is_loading(entry) ||
		    !zones_may_stay(entry) ||
		    !file_checks_add(checks, entry, entry->file, &entry->on_disk.mark))
			ask_configured(zones, entry);
	}
	if (checks && checks->n && start_checks(zones, checks))
		return;
	for (uint32_t i = 0; checks && i < checks->n; i++)
		ask_configured(zones, checks->list[i].entry);
	file_checks_free(checks);
}

static void walk_on(struct zones *zones)
{
	struct zones_checks *c = &zones->checks;

	while (c->at < c->end && c->n_running < CHECKS_AT_ONCE)
		begin_some(zones);
	if (!c->is_walking || c->at < c->end || c->n_running)
		return;
	c->is_walking = false;
	zones->n_awaited--;
	loader_wake(zones->env.loader); /* there may be no load to wait for */
}

void zones_checks_begin(struct zones *zones, size_t n)
{
	zones->checks.at = 0;
	zones->checks.end = n;
	zones->checks.is_walking = true;
	zones->n_awaited++;
	walk_on(zones);
}

void zones_checks_cancel(struct zones *zones)
{
	zones->checks.end = zones->checks.at;
	zones->checks.is_cancelled = true;
}

void zones_checks_forget_gone(struct zones *zones)
{
	struct zones_checks *c = &zones->checks;
	size_t n = 0;

	if (!c->is_walking)
		return;
	for (struct file_checks *checks = c->running; checks; checks = checks->next)
		for (uint32_t i = 0; i < checks->n; i++)
			if (checks->list[i].entry && checks->list[i].entry->life == ZONES_GONE)
				checks->list[i].entry = NULL;
	for (size_t i = 0; i < c->end; i++) {
		if (i == c->at)
			c->at = n;
		n += zones->entries[i]->life != ZONES_GONE;
	}
	if (c->at == c->end)
		c->at = n;
	c->end = n;
}
