/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/top_names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "cache/entry_walk.h"
#include "report/report_view.h"
#include "base/json_put.h"
#include "census/frequent.h"
#include "config/value.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/sample.h"
#include "zone/set.h"

#define TOP_DEFAULT 10u

/* Up to so many answers in a second are all recorded, so there is no sampling. */
#define FINE_MAX 128u

enum by { BY_NAME, BY_TYPE, BY_ZONE, N_BY };

static const char *const by_words[N_BY] = { "name", "type", "zone" };

/* The position of a CPU's or worker's ring at the last read. */
struct seen {
	uint32_t n_samples;
	uint64_t n_answered;
};

struct seen_program {
	uint32_t id; /* 0: none was read yet */
	int n_cpus;
	struct seen *cpus;
};

struct top_names {
	struct frequent *most[N_BY];
	struct seen_program programs[CONFIG_INTERFACES_MAX];
	uint64_t *workers_seen; /* by worker */
	unsigned int n_workers;
	uint64_t fades_s; /* the next time; 0: not known yet */
	struct sample samples[SAMPLER_CAP];
};

struct top_names *top_names_new(void)
{
	struct top_names *top = calloc(1, sizeof(*top));

	for (int by = 0; top && by < N_BY; by++) {
		top->most[by] = frequent_new();
		if (top->most[by])
			continue;
		top_names_free(top);
		top = NULL;
	}
	return top;
}

void top_names_free(struct top_names *top)
{
	if (!top)
		return;
	for (int by = 0; by < N_BY; by++)
		frequent_free(top->most[by]);
	for (size_t i = 0; i < CONFIG_INTERFACES_MAX; i++)
		free(top->programs[i].cpus);
	free(top->workers_seen);
	free(top);
}

/* --- Gathering -------------------------------------------------------------------------------- */

/* The key of BY_ZONE for a name in no zone has no octets. */
static void add_top_names(struct top_names *top, const struct report_view *v, const uint8_t *folded,
			  size_t name_bytes, uint16_t qtype, double weight)
{
	const struct zone_member *zone =
		v->published->set ?
			zone_set_find(v->published->set, folded, (unsigned int)name_bytes, qtype) :
			NULL;

	frequent_add(top->most[BY_NAME], folded, name_bytes, weight);
	frequent_add(top->most[BY_TYPE], &qtype, sizeof(qtype), weight);
	frequent_add(top->most[BY_ZONE], zone ? zone->apex : folded, zone ? zone->apex_len : 0,
		     weight);
}

/* How finely to sample if there were `n` samples in the last second. */
static unsigned int finer_for(uint64_t n)
{
	unsigned int finer = 0;

	while (finer < VOLLEY_SAMPLE_FINEST && n << (finer + 1) <= FINE_MAX << VOLLEY_SAMPLE_FINEST)
		finer++;
	return finer;
}

static uint64_t cpu_hits(const struct volley_cpu *cpu)
{
	uint64_t n = 0;

	for (int i = 0; i < VOLLEY_N_REASONS; i++)
		if (program_reason_class((enum volley_reason)i) == VOLLEY_CLASS_HIT)
			n += cpu->reasons[i];
	return n;
}

/* `hits` is the result of cpu_hits(). Called in a QSBR read section. */
static void add_hits(struct top_names *top, const struct report_view *v,
		     const struct volley_cpu *cpu, uint64_t hits, struct seen *seen)
{
	uint32_t n = cpu->n_samples - seen->n_samples;
	double weight;

	if (!n)
		return;
	if (n > VOLLEY_SAMPLES)
		n = VOLLEY_SAMPLES;
	weight = (double)(hits - seen->n_answered) / n;
	for (uint32_t i = 1; i <= n && weight > 0; i++) {
		uint64_t hash = cpu->samples[(cpu->n_samples - i) % VOLLEY_SAMPLES];
		const struct volley_entry *e = cache_entry_by_hash(v->cache, hash);

		if (e)
			add_top_names(top, v, e->name, e->key.name_bytes, ntohs(e->key.qtype),
				      weight);
	}
	*seen = (struct seen){ cpu->n_samples, hits };
}

/* Begins at the present counts: earlier counts of an adopted program are not this daemon's. */
static int begin_program(struct seen_program *seen, uint32_t id, const struct volley_cpu *cpus,
			 int n_cpus)
{
	free(seen->cpus);
	*seen = (struct seen_program){ .cpus = calloc((size_t)n_cpus, sizeof(struct seen)) };
	if (!seen->cpus)
		return -ENOMEM;
	seen->id = id;
	seen->n_cpus = n_cpus;
	for (int i = 0; i < n_cpus; i++)
		seen->cpus[i] = (struct seen){ cpus[i].n_samples, cpu_hits(&cpus[i]) };
	return 0;
}

static void gather_program(struct top_names *top, const struct report_view *v,
			   struct program *program, struct seen_program *seen)
{
	struct volley_cpu *cpus;
	uint64_t most = 0;
	int n_cpus;

	if (program_cpus(program, &cpus, &n_cpus))
		return;
	if ((seen->id != program_id(program) || seen->n_cpus != n_cpus) &&
	    begin_program(seen, program_id(program), cpus, n_cpus)) {
		free(cpus);
		return;
	}
	rcu_thread_online();
	for (int i = 0; i < n_cpus; i++) {
		uint64_t hits = cpu_hits(&cpus[i]), n = hits - seen->cpus[i].n_answered;

		most = n > most ? n : most;
		add_hits(top, v, &cpus[i], hits, &seen->cpus[i]);
	}
	rcu_thread_offline();
	program_set_finer(program, finer_for(most));
	free(cpus);
}

static void gather_worker(struct top_names *top, const struct report_view *v,
			  struct sampler *sampler, uint64_t *seen)
{
	uint64_t n_seen, n_new;
	size_t n = sampler_take(sampler, top->samples, SAMPLER_CAP, &n_seen);

	n_new = n_seen - *seen;
	sampler_set_finer(sampler, finer_for(n_new));
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		add_top_names(top, v, top->samples[i].folded, top->samples[i].name_bytes,
			      top->samples[i].qtype, (double)n_new / (double)n);
	*seen = n_seen;
}

static bool has_workers(struct top_names *top, const struct report_view *v)
{
	if (top->workers_seen)
		return true;
	top->n_workers = workers_n(v->workers);
	top->workers_seen = calloc(top->n_workers, sizeof(*top->workers_seen));
	return top->workers_seen;
}

void top_names_gather(struct top_names *top, const struct report_view *v, uint64_t now_s)
{
	for (size_t i = 0; i < v->n_ifaces; i++)
		if (v->ifaces[i].program)
			gather_program(top, v, v->ifaces[i].program, &top->programs[i]);
	for (unsigned int i = 0; has_workers(top, v) && i < top->n_workers; i++)
		gather_worker(top, v, workers_sampler(v->workers, i), &top->workers_seen[i]);
	if (top->fades_s && now_s < top->fades_s)
		return;
	for (int by = 0; top->fades_s && by < N_BY; by++)
		frequent_fade(top->most[by], 0.5);
	top->fades_s = now_s + TOP_NAMES_HALF_LIFE_S;
}

void top_names_zone_answers(const struct top_names *top, const uint8_t *apex, unsigned int apex_len,
			    double *least, double *most)
{
	frequent_bounds(top->most[BY_ZONE], apex, apex_len, least, most);
}

void top_names_each_zone(const struct top_names *top, top_names_zone_fn *each, void *user)
{
	const struct frequent_counter *rows[TOP_NAMES_MAX];
	size_t n = frequent_top(top->most[BY_ZONE], rows, TOP_NAMES_MAX);

	for (size_t i = 0; i < n; i++)
		if (rows[i]->key_bytes) /* an empty key stands for no zone */
			each(user, rows[i]->key, rows[i]->key_bytes, rows[i]->count);
}

/* --- The command ------------------------------------------------------------------------------ */

struct asked {
	enum by by;
	uint64_t n;
};

static int read_top_names_option(struct asked *asked, const char *option, const char *value)
{
	static const struct words_key key = { .type = WORDS_COUNT, .min = 1, .max = TOP_NAMES_MAX };

	if (!value)
		return -EINVAL;
	if (!strcmp(option, "-n"))
		return value_read_number(&key, value, &asked->n);
	for (int by = 0; !strcmp(option, "--by") && by < N_BY; by++) {
		if (strcmp(by_words[by], value) != 0)
			continue;
		asked->by = (enum by)by;
		return 0;
	}
	return -EINVAL;
}

static int read_asked(struct asked *asked, const json_t *args, char *err, size_t err_cap)
{
	*asked = (struct asked){ BY_NAME, TOP_DEFAULT };
	for (size_t i = 0; i < json_array_size(args); i += 2) {
		if (!read_top_names_option(asked, json_string_value(json_array_get(args, i)),
					   json_string_value(json_array_get(args, i + 1))))
			continue;
		snprintf(err, err_cap,
			 "give -n and a number from 1 to %u, and --by name, type or zone",
			 TOP_NAMES_MAX);
		return -EINVAL;
	}
	return 0;
}

static json_t *key_text(enum by by, const struct frequent_counter *c)
{
	char text[NAME_TEXT_MAX];
	uint16_t type;

	if (by == BY_ZONE && !c->key_bytes)
		return json_string("none");
	if (by == BY_TYPE) {
		memcpy(&type, c->key, sizeof(type));
		proto_type_to_text(text, type);
	} else if (name_to_text(text, sizeof(text), c->key) < 0) {
		return json_null();
	}
	return json_string(text);
}

static json_t *report_counter(const struct frequent *f, enum by by,
			      const struct frequent_counter *c)
{
	json_t *row = json_object();
	double least, most;

	frequent_bounds(f, c->key, c->key_bytes, &least, &most);
	json_object_set_new(row, by_words[by], key_text(by, c));
	json_put_percent(row, "share_percent", fmin(most / frequent_total(f), 1));
	json_put_percent(row, "error_percent", frequent_share_error(f, c));
	json_put_int(row, "answers", (uint64_t)(most + 0.5));
	return row;
}

int top_names_run_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct frequent_counter *top[TOP_NAMES_MAX];
	const struct report_view *v = user;
	const struct frequent *f;
	struct asked asked;
	json_t *rows;
	size_t n;
	int code = read_asked(&asked, args, err, err_cap);

	if (code)
		return code;
	if (v->workers)
		top_names_gather(v->top_names, v, clock_ns() / CLOCK_NS_PER_S);
	f = v->top_names->most[asked.by];
	n = frequent_top(f, top, asked.n);
	rows = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, report_counter(f, asked.by, top[i]));
	*result = json_pack("{s:s, s:I, s:I, s:i, s:o}", "figures",
			    "estimates; error percent holds 95 times of 100", "answers",
			    (json_int_t)(frequent_total(f) + 0.5), "samples",
			    (json_int_t)(frequent_samples(f) + 0.5), "half_life_s",
			    (int)TOP_NAMES_HALF_LIFE_S, "top", rows);
	return *result ? 0 : -ENOMEM;
}
