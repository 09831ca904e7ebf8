/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/faults.h"

#include "config/words.h"
#include "report/new_start.h"

static const struct rpz_manager_entry *fault_rpz_at(const void *user, size_t i)
{
	return rpz_manager_at(user, i);
}

uint64_t faults_n_rounds(const struct workers *workers, unsigned int worker)
{
	struct worker_stats stats;

	workers_stats(workers, worker, &stats);
	return stats.heartbeat;
}

static void judge_workers(struct health *h, const struct report_view *v)
{
	for (unsigned int i = 0; v->workers && i < workers_n(v->workers) && i < HEALTH_WORKERS_CAP;
	     i++)
		health_worker(h, &v->health->heartbeats, i, faults_n_rounds(v->workers, i));
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

static bool is_fault(const struct report_view *v, int i)
{
	return v->faults[i] && *v->faults[i];
}

static void judge_daemon_faults(struct health *h, const struct report_view *v)
{
	for (int i = 0; i < N_FAULTS; i++)
		if (is_fault(v, i))
			health_say(h, words_faults[i].is_reason ? HEALTH_FAILS : HEALTH_WARNS,
				   "%s%s", words_faults[i].before, v->faults[i]);
}

/* The reload that changed the keys has said so, too. */
static void judge_new_start(struct health *h, const struct report_view *v)
{
	json_t *list = json_array(), *one;
	size_t i;

	new_start_append(v->config, v->configured, list);
	json_array_foreach(list, i, one)
		health_say(h, HEALTH_NOTED, "%s", json_string_value(one));
	json_decref(list);
}

void faults_say(struct health *h, const struct report_view *v)
{
	judge_new_start(h, v);
	health_addresses(h, v->configured);
	judge_workers(h, v);
	if (v->rpz)
		health_rpz(h, fault_rpz_at, v->rpz, rpz_manager_n(v->rpz));
	judge_overload(h, v);
	judge_daemon_faults(h, v);
}

void faults_metrics(const struct report_view *v, struct metrics_text *out)
{
	metrics_text_family(out, METRICS_GAUGE, "fault",
			    "1 for a fault that status and health name: see volleyctl(8)");
	for (int i = 0; i < N_FAULTS; i++)
		metrics_text_sample(out, is_fault(v, i), "fault", words_faults[i].name, NULL);
}
