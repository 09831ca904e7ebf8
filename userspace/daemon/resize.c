/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/resize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "cache/memory.h"
#include "base/background.h"
#include "broker/maps.h"
#include "config/words.h"

/* One part in 16 must be available in addition: kernel and libraries need memory, too. */
#define MEMORY_SPARE 16u

enum stage { STAGE_NONE, STAGE_COPYING, STAGE_LATE, STAGE_FREEING, N_STAGES };

struct resize {
	struct resize_env env;
	struct background *background;
	struct background_job copying; /* run by `background` */
	struct background_job freeing; /* run by env.background, after every walk that has begun */
	enum stage stage;
	bool is_stopping;
	bool is_torn;              /* the cache to be freed may still have readers */
	struct answer_cache other; /* first the new one, then the old one */
	uint32_t since_s;
	uint64_t begun_ns;
	uint64_t entered_ns; /* the stage */
	uint64_t stage_ns[N_STAGES];
	struct resize_result result;
	resize_done_fn *done;
	void *user;
	uint64_t wanted_bytes; /* by the configuration; 0: nothing is left to do */
	char problem[300];     /* why the cache does not have that size; "": it has, or will */
};

static struct resize *of_copying(struct background_job *job)
{
	return (struct resize *)((char *)job - offsetof(struct resize, copying));
}

static struct resize *of_freeing(struct background_job *job)
{
	return (struct resize *)((char *)job - offsetof(struct resize, freeing));
}

static void enter_stage(struct resize *r, enum stage stage)
{
	uint64_t now_ns = clock_ns();

	r->stage_ns[r->stage] += now_ns - r->entered_ns;
	r->entered_ns = now_ns;
	r->stage = stage;
}

/* --- In the background ------------------------------------------------------------------------ */

static int make_memory(struct resize *r)
{
	const struct answer_cache *now = r->env.cache;
	int err;

	if (now->is_anonymous)
		return cache_memory_anonymous_beside(&r->other.memory, &r->other.sizes,
						     &now->memory);
	err = maps_make_beside(&r->other.maps, &r->other.sizes, &now->maps);
	r->other.memory = r->other.maps.memory;
	return err;
}

static void copy_resize(struct resize *r)
{
	const bool *cancel = &r->copying.is_cancelled;
	struct answer_cache *new = &r->other;
	int err = make_memory(r);

	if (!err)
		err = cache_new_beside(&new->cache, &new->memory, r->env.cache->cache);
	r->since_s = clock_coarse_s();
	if (!err)
		err = cache_copy(new->cache, r->since_s, cancel, &r->result.copied);
	r->result.code = err;
}

static void copy_late(struct resize *r)
{
	if (cache_copy_late(r->env.cache->cache, r->since_s, clock_coarse_s(),
			    &r->copying.is_cancelled, &r->result.copied))
		log_debug("answer cache: what came while it was copied is made again");
}

static void run_copying(struct background_job *job)
{
	struct resize *r = of_copying(job);

	if (r->stage == STAGE_COPYING)
		copy_resize(r);
	else
		copy_late(r);
}

/* For a large cache this takes the kernel long. */
static void free_other(struct resize *r)
{
	struct answer_cache *old = &r->other;

	if (r->is_torn)
		return;
	cache_free(old->cache);
	if (r->env.cache->is_anonymous)
		cache_memory_release_beside(&old->memory);
	object_maps_close(&old->maps);
	*old = (struct answer_cache){ 0 };
}

static void run_freeing(struct background_job *job)
{
	free_other(of_freeing(job));
}

/* --- The end ---------------------------------------------------------------------------------- */

static double as_seconds(uint64_t ns)
{
	return (double)ns / (double)CLOCK_NS_PER_S;
}

static void tell_resize(const struct resize *r)
{
	const struct resize_result *result = &r->result;
	char size[24];

	words_put_size(result->to_bytes, size, sizeof(size));
	if (result->code)
		log_error("answer cache: not resized to %s: %s", size, err_text(result->code));
	else
		log_notice("answer cache: resized to %s: %" PRIu64 " answers copied, %" PRIu64
			   " without room; %.3f s: memory and copy %.3f, what came meanwhile %.3f, "
			   "release %.3f",
			   size, result->copied.n_copied, result->copied.n_left_out,
			   as_seconds(result->took_ns), as_seconds(r->stage_ns[STAGE_COPYING]),
			   as_seconds(r->stage_ns[STAGE_LATE]),
			   as_seconds(r->stage_ns[STAGE_FREEING]));
}

static void ended_freeing(struct background_job *job)
{
	struct resize *r = of_freeing(job);

	free_other(r); /* does nothing if run_freeing() has freed it */
	enter_stage(r, STAGE_NONE);
	r->result.took_ns = clock_ns() - r->begun_ns;
	if (r->env.snapshots)
		snapshots_release(r->env.snapshots);
	tell_resize(r);
	if (r->done)
		r->done(r->user, &r->result);
}

static void start_freeing(struct resize *r)
{
	enter_stage(r, STAGE_FREEING);
	r->freeing = (struct background_job){ .run = run_freeing, .ended = ended_freeing };
	background_start(r->env.background, &r->freeing);
}

static void give_up_resize(struct resize *r, int code)
{
	r->result.code = code;
	for (size_t i = 0; i < r->env.interfaces->n; i++)
		if (r->env.interfaces->at[i].program)
			program_unprepare(r->env.interfaces->at[i].program);
	cache_keeper_stop(r->other.keeper);
	r->other.keeper = NULL;
	names_filter_tell(r->env.names, r->env.cache->memory.state, NULL);
	if (r->other.cache)
		cache_copy_give_up(r->other.cache);
	start_freeing(r);
}

/* --- Switching -------------------------------------------------------------------------------- */

/* An interface that cannot switch is attached anew, as if its program had been detached. */
static void switch_iface(struct resize *r, struct iface *iface)
{
	int err;

	if (!iface->program)
		return;
	err = program_switch(iface->program, &r->env.cache->maps);
	if (!err)
		return;
	log_warn("%s: the XDP program could not be replaced (%s): it is attached anew",
		 iface->config.name, err_text(err));
	iface_close(iface, r->env.interfaces->workers, false);
}

static void switch_programs(struct resize *r)
{
	struct answer_cache *now = r->env.cache;

	for (size_t i = 0; i < r->env.interfaces->n; i++)
		switch_iface(r, &r->env.interfaces->at[i]);
	r->is_torn |= answer_cache_grace(now) != 0;
	heartbeat_serve_by(r->env.heartbeat, now->memory.state, NULL);
	names_filter_tell(r->env.names, now->memory.state, NULL);
	cache_copy_end(now->cache);
	cache_keeper_stop(r->other.keeper);
	r->other.keeper = NULL;
	start_freeing(r);
}

/* --- Moving ----------------------------------------------------------------------------------- */

static int prepare_programs(struct resize *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->env.interfaces->n; i++)
		if (r->env.interfaces->at[i].program)
			err = program_prepare(r->env.interfaces->at[i].program, &r->other.maps);
	return err;
}

/* Afterwards env.cache is the new cache, r->other the old one. */
static void exchange_resize(struct resize *r)
{
	struct answer_cache *now = r->env.cache, *new = &r->other;
	struct answer_cache old = { .maps = now->maps,
				    .memory = now->memory,
				    .sizes = now->sizes,
				    .cache = now->cache,
				    .keeper = now->keeper };

	now->maps = new->maps;
	now->memory = new->memory;
	now->sizes = new->sizes;
	now->cache = new->cache;
	now->keeper = new->keeper;
	r->other = old;
	object_maps_keep_shared(&now->maps, &r->other.maps);
	r->env.moved(r->env.user, old.memory.state);
}

static void start_copying(struct resize *r, enum stage stage)
{
	enter_stage(r, stage);
	r->copying.is_cancelled = false;
	background_start(r->background, &r->copying);
}

/* All steps that may fail come before the first use of the new cache. */
static void move_workers(struct resize *r)
{
	struct answer_cache *now = r->env.cache, *new = &r->other;
	int err = prepare_programs(r);

	names_filter_tell(r->env.names, now->memory.state,
			  new->memory.state); /* workers put denials into the new one */
	if (!err)
		err = cache_keeper_start(&new->keeper, new->cache, answer_cache_grace, now);
	if (!err) {
		err = workers_set_cache(r->env.interfaces->workers, new->cache, answer_cache_grace,
					now);
		r->is_torn = err && err != -ENOMEM;
	}
	if (err && !r->is_torn) {
		give_up_resize(r, err);
		return;
	}
	cache_copy_counters(new->cache);
	exchange_resize(r);
	start_copying(r, STAGE_LATE);
}

static void ended_copying(struct background_job *job)
{
	struct resize *r = of_copying(job);

	if (r->stage == STAGE_LATE)
		switch_programs(r);
	else if (r->result.code || r->is_stopping)
		give_up_resize(r, r->result.code ? r->result.code : -ECANCELED);
	else
		move_workers(r);
}

/* --- The beginning ---------------------------------------------------------------------------- */

/* MemAvailable of /proc/meminfo; UINT64_MAX: not known. */
static uint64_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = UINT64_MAX;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib < UINT64_MAX >> 10 ? kib << 10 : UINT64_MAX;
}

static int refuse_resize(int code, uint64_t bytes, char *err, size_t err_cap)
{
	char size[24];

	words_put_size(bytes, size, sizeof(size));
	if (code == -ENOMEM)
		snprintf(err, err_cap,
			 "there is not enough memory for %s beside the cache that is in use", size);
	else
		snprintf(err, err_cap, "%s is too %s for the number of zones", size,
			 code == -E2BIG ? "large" : "small");
	return code;
}

static int plan_resize(const struct resize *r, uint64_t bytes, struct cache_sizes *sizes, char *err,
		       size_t err_cap)
{
	int code = cache_sizes_plan_beside(sizes, bytes, r->env.cache->memory.sizes.n_zones);
	uint64_t available = available_bytes();

	if (!code && sizes->total_bytes + sizes->total_bytes / MEMORY_SPARE > available)
		code = -ENOMEM;
	return code ? refuse_resize(code, bytes, err, err_cap) : 0;
}

static int find_hindrance(struct resize *r, char *err, size_t err_cap)
{
	if (r->stage != STAGE_NONE)
		snprintf(err, err_cap, "the cache is being resized already, try again later");
	else if (snapshots_hold(r->env.snapshots))
		snprintf(err, err_cap,
			 "a snapshot of the cache is being written or loaded, try again later");
	else
		return 0;
	return -EBUSY;
}

static bool is_resize_same(const struct cache_sizes *a, const struct cache_sizes *b)
{
	return a->n_segments == b->n_segments && a->n_buckets == b->n_buckets;
}

int resize_start(struct resize *r, uint64_t bytes, resize_done_fn *done, void *user, char *err,
		 size_t err_cap)
{
	const struct cache_sizes *now = &r->env.cache->memory.sizes;
	struct cache_sizes sizes;
	int code = plan_resize(r, bytes, &sizes, err, err_cap);

	if (!code)
		code = find_hindrance(r, err, err_cap);
	if (code)
		return code;
	r->result = (struct resize_result){ .from_bytes = now->bytes, .to_bytes = bytes };
	r->other = (struct answer_cache){ .sizes = sizes };
	r->problem[0] = '\0';
	r->done = done;
	r->user = user;
	r->begun_ns = r->entered_ns = clock_ns();
	memset(r->stage_ns, 0, sizeof(r->stage_ns));
	r->is_torn = false;
	if (is_resize_same(&sizes, now))
		start_freeing(r); /* there is no other cache */
	else
		start_copying(r, STAGE_COPYING);
	return 0;
}

void resize_want(struct resize *r, uint64_t bytes)
{
	r->wanted_bytes = bytes;
	r->problem[0] = '\0';
	resize_tick(r);
}

void resize_tick(struct resize *r)
{
	struct cache_sizes sizes;
	char err[256];
	int code;

	if (!r->wanted_bytes || r->stage != STAGE_NONE)
		return;
	code = plan_resize(r, r->wanted_bytes, &sizes, err, sizeof(err));
	if (!code && !is_resize_same(&sizes, &r->env.cache->memory.sizes))
		code = resize_start(r, r->wanted_bytes, NULL, NULL, err, sizeof(err));
	if (code == -EBUSY)
		return;
	r->wanted_bytes = 0;
	if (!code)
		return;
	snprintf(r->problem, sizeof(r->problem), "cache.size: %s: the size stays as it is", err);
	log_error("%s", r->problem);
}

/* --- From start to end ------------------------------------------------------------------------ */

int resize_new(struct resize **out, const struct resize_env *env)
{
	struct resize *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->env = *env;
	r->copying = (struct background_job){ .run = run_copying, .ended = ended_copying };
	err = background_new(&r->background);
	if (err)
		free(r);
	else
		*out = r;
	return err;
}

void resize_stop(struct resize *r)
{
	if (!r)
		return;
	r->is_stopping = true;
	background_free(r->background);
	r->background = NULL;
}

void resize_free(struct resize *r)
{
	free(r);
}

int resize_fd(const struct resize *r)
{
	return background_fd(r->background);
}

void resize_poll(struct resize *r)
{
	background_poll(r->background);
}

const char *resize_problem(const struct resize *r)
{
	return r ? r->problem : "";
}

bool resize_is_running(const struct resize *r, const char **stage, unsigned int *percent,
		       uint64_t *to_bytes)
{
	static const char *const texts[] = { "none", "copying", "copying what came meanwhile",
					     "freeing" };
	uint64_t done = __atomic_load_n(&r->result.copied.words_done, __ATOMIC_RELAXED);
	uint64_t n = __atomic_load_n(&r->result.copied.n_words, __ATOMIC_RELAXED);

	*stage = texts[r->stage];
	*percent = n && done < n ? (unsigned int)(done * 100 / n) : n ? 100 : 0;
	*to_bytes = r->result.to_bytes;
	return r->stage != STAGE_NONE;
}
