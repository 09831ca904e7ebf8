/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "base/log.h"

#define TELL_AFTER_NS (3 * CLOCK_NS_PER_S)
#define LOG_EVERY_NS  (10 * CLOCK_NS_PER_S)
/* A start may take 60 s from now: sd_notify(3). A late tick does no harm: 60 s are many ticks. */
#define EXTEND "EXTEND_TIMEOUT_USEC=60000000"

static uint64_t look_progress(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

void progress_read(struct progress_load *p, const struct load *load, uint64_t now_ns)
{
	uint64_t total = look_progress(&load->progress.total_bytes),
		 begun_ns = look_progress(&load->begun_ns);

	*p = (struct progress_load){ .stage = load_stage(load) };
	p->n_bytes = look_progress(&load->progress.n_bytes);
	p->n_records = look_progress(&load->progress.n_records);
	p->has_percent = p->stage == LOAD_READING && total;
	if (p->has_percent)
		p->percent = p->n_bytes < total ? (unsigned int)(p->n_bytes * 100 / total) : 100;
	if (begun_ns && begun_ns < now_ns)
		p->s = (now_ns - begun_ns) / CLOCK_NS_PER_S;
}

static void put_progress_load(const struct zones_entry *entry, uint64_t now_ns, char *buf,
			      size_t cap)
{
	struct progress_load p;
	char percent[16] = "";

	progress_read(&p, entry->loading.load, now_ns);
	if (p.has_percent)
		snprintf(percent, sizeof(percent), ", %u %%", p.percent);
	snprintf(buf, cap, "%s: %s%s, %" PRIu64 " records, %" PRIu64 " s", entry->name,
		 load_stage_text(p.stage), percent, p.n_records, p.s);
}

bool progress_put(const struct zones *zones, uint64_t now_ns, char *buf, size_t cap)
{
	const struct zones_entry *first = NULL;
	size_t n = 0, i;
	int used;

	for (i = 0; zones_has_loads(zones) && i < zones_n(zones); i++) {
		const struct zones_entry *entry = zones_at(zones, i);

		n += zones_is_loading(entry);
		if (!entry->loading.load)
			continue;
		if (!first || (load_stage(first->loading.load) == LOAD_WAITING &&
			       load_stage(entry->loading.load) != LOAD_WAITING))
			first = entry;
	}
	if (!first)
		return false;
	used = snprintf(buf, cap, "%zu zone%s to load, ", n, n == 1 ? "" : "s");
	if (used > 0 && (size_t)used < cap)
		put_progress_load(first, now_ns, buf + used, cap - (size_t)used);
	return true;
}

void progress_tick(struct progress *p, const struct zones *zones, uint64_t now_ns)
{
	char text[512];

	if (!progress_put(zones, now_ns, text, sizeof(text))) {
		if (p->is_told)
			sd_notifyf(0, "STATUS=%zu zones", zones_n(zones));
		*p = (struct progress){ 0 };
		return;
	}
	if (!p->since_ns)
		p->since_ns = p->logged_ns = now_ns;
	if (now_ns - p->since_ns < TELL_AFTER_NS)
		return;
	p->is_told = true;
	sd_notifyf(0, "STATUS=%s\n" EXTEND, text);
	if (now_ns - p->logged_ns < LOG_EVERY_NS)
		return;
	p->logged_ns = now_ns;
	log_notice("%s", text);
}
