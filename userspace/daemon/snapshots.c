/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/snapshots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/background.h"
#include "base/kernel.h"
#include "invalidate/affected.h"

#define WHY_CAP 640

struct job {
	struct background_job background; /* first: both have the same address */
	struct snapshots *owner;
	char *path;
	int file; /* opened by a client; -1: none */
	struct snapshot *snapshot;
	struct cache_writer *writer; /* if it is a load */
	char why[WHY_CAP];
	struct snapshots_result result;
	snapshots_done_fn *done;
	void *user;
};

struct snapshots {
	struct cache *cache;
	const struct engine_data *zones;
	struct background *background; /* NULL after the end */
	struct job *job;               /* the running job, or NULL */
	bool is_held;                  /* no job may start */

	char *path; /* cache.snapshot; NULL: none */
	uint64_t interval_ns;
	uint64_t last_ns; /* when the last dump by the configuration began */
	bool is_ripe;     /* the file is loaded, or cannot be */
	char error[WHY_CAP];
};

/* --- Jobs ------------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
	if (!job)
		return;
	snapshot_end(job->snapshot);
	cache_writer_free(job->writer);
	if (job->file >= 0)
		close(job->file);
	free(job->path);
	free(job);
}

/*
 * True if the entry still answers by the zones of now: new zones may have taken its name. A zone
 * that comes now waits for this read section.
 */
static bool holds_snapshots(void *user, const struct volley_entry *entry)
{
	const struct engine_data *zones = user;
	const struct zone_set *set = rcu_dereference(zones->set);

	return routes_hold(set, entry);
}

static int work_on_file(struct job *job, struct snapshot_source *source)
{
	struct snapshots_result *r = &job->result;
	const size_t cap = sizeof(job->why);

	if (r->kind == SNAPSHOTS_DUMP)
		return snapshot_file_write_to(job->file, job->path, job->snapshot, source->cancel,
					      &r->written, job->why, cap);
	return snapshot_file_read_from(job->file, job->path, job->snapshot, source, &r->read,
				       job->why, cap);
}

static void work_snapshot(struct job *job)
{
	struct snapshot_source source = { .writer = job->writer,
					  .holds = holds_snapshots,
					  .holds_user = (void *)job->owner->zones,
					  .cancel = &job->background.is_cancelled };
	struct snapshots_result *r = &job->result;
	uint64_t begun_ns = clock_ns();

	if (job->file >= 0)
		r->code = work_on_file(job, &source);
	else if (r->kind == SNAPSHOTS_DUMP)
		r->code = snapshot_file_write(job->path, job->snapshot, source.cancel, &r->written,
					      job->why, sizeof(job->why));
	else
		r->code = snapshot_file_read(job->path, job->snapshot, &source, &r->read, job->why,
					     sizeof(job->why));
	r->took_ns = clock_ns() - begun_ns;
}

static void run_snapshot(struct background_job *background)
{
	if (privilege_drop_thread())
		log_debug("snapshots: capabilities that are not needed could not be given up");
	work_snapshot((struct job *)background);
}

static void snapshot_ended(struct background_job *background)
{
	struct job *job = (struct job *)background;

	job->owner->job = NULL;
	job->done(job->user, &job->result);
	job_free(job);
}

static int job_new(struct job **out, struct snapshots *snapshots, enum snapshots_kind kind,
		   const char *path)
{
	struct job *job = calloc(1, sizeof(*job));
	int err = -ENOMEM;

	if (!job)
		return err;
	job->background = (struct background_job){ .run = run_snapshot, .ended = snapshot_ended };
	job->owner = snapshots;
	job->file = -1;
	job->path = strdup(path);
	/* the result if the job is cancelled before it runs */
	job->result = (struct snapshots_result){
		.kind = kind, .path = job->path, .code = -ECANCELED, .why = job->why
	};
	if (job->path)
		err = snapshot_begin(&job->snapshot, snapshots->cache);
	if (!err && kind == SNAPSHOTS_LOAD)
		err = cache_writer_new(&job->writer, snapshots->cache);
	if (err)
		job_free(job);
	else
		*out = job;
	return err;
}

int snapshots_start(struct snapshots *snapshots, enum snapshots_kind kind, const char *path,
		    int file, snapshots_done_fn *done, void *user)
{
	struct job *job;
	int err;

	if (snapshots->job || snapshots->is_held)
		return -EBUSY;
	err = job_new(&job, snapshots, kind, path);
	if (err)
		return err;
	job->file = file;
	job->done = done;
	job->user = user;
	snapshots->job = job;
	background_start(snapshots->background, &job->background);
	return 0;
}

void snapshots_set_cache(struct snapshots *snapshots, struct cache *cache)
{
	snapshots->cache = cache;
}

int snapshots_hold(struct snapshots *snapshots)
{
	if (snapshots->job)
		return -EBUSY;
	snapshots->is_held = true;
	return 0;
}

void snapshots_release(struct snapshots *snapshots)
{
	snapshots->is_held = false;
}

/* --- As configured ---------------------------------------------------------------------------- */

/* Logs a fault once, not at each interval. */
static void note_snapshot_error(struct snapshots *snapshots, const struct snapshots_result *r)
{
	char error[WHY_CAP] = "";

	if (r->code)
		snprintf(error, sizeof(error), "cache.snapshot: %s",
			 *r->why ? r->why : err_text(r->code));
	if (*error && strcmp(error, snapshots->error) != 0)
		log_error("%s", error);
	memcpy(snapshots->error, error, sizeof(error));
}

static void on_snapshot_loaded(void *user, const struct snapshots_result *r)
{
	struct snapshots *snapshots = user;
	const struct snapshot_read *n = &r->read;

	if (r->code == -ECANCELED)
		return;
	snapshots->is_ripe = true;
	if (r->code == -ENOENT) {
		log_info("cache.snapshot: %s does not exist yet", r->path);
		return;
	}
	note_snapshot_error(snapshots, r);
	if (!r->code)
		log_notice("answer cache: %llu of %llu answers of %s loaded; %llu of zones whose "
			   "content is another or that are not served, %llu expired, %llu without "
			   "room",
			   (unsigned long long)n->n_loaded, (unsigned long long)n->n_entries,
			   r->path, (unsigned long long)n->n_foreign,
			   (unsigned long long)n->n_expired, (unsigned long long)n->n_no_room);
}

static void on_dumped(void *user, const struct snapshots_result *r)
{
	if (r->code == -ECANCELED)
		return;
	note_snapshot_error(user, r);
	if (!r->code)
		log_info("answer cache: %llu answers written to %s",
			 (unsigned long long)r->written.n_entries, r->path);
}

int snapshots_configure(struct snapshots *snapshots, const char *path, uint32_t interval_s,
			bool load, uint64_t now_ns)
{
	snapshots->path = strdup(path);
	if (!snapshots->path)
		return -ENOMEM;
	snapshots->interval_ns = interval_s * CLOCK_NS_PER_S;
	snapshots->last_ns = now_ns;
	snapshots->is_ripe = !load;
	return load ? snapshots_start(snapshots, SNAPSHOTS_LOAD, path, -1, on_snapshot_loaded,
				      snapshots) :
		      0;
}

void snapshots_tick(struct snapshots *snapshots, uint64_t now_ns)
{
	int err;

	if (!snapshots->path || !snapshots->interval_ns || !snapshots->is_ripe || snapshots->job ||
	    snapshots->is_held || now_ns - snapshots->last_ns < snapshots->interval_ns)
		return;
	snapshots->last_ns = now_ns;
	err = snapshots_start(snapshots, SNAPSHOTS_DUMP, snapshots->path, -1, on_dumped, snapshots);
	if (err)
		note_snapshot_error(snapshots,
				    &(struct snapshots_result){ .code = err, .why = "" });
}

void snapshots_finish(struct snapshots *snapshots)
{
	struct job *job;
	int err;

	if (!snapshots)
		return;
	background_free(snapshots->background); /* calls done() of a running job */
	snapshots->background = NULL;
	if (!snapshots->path || !snapshots->is_ripe)
		return;
	err = job_new(&job, snapshots, SNAPSHOTS_DUMP, snapshots->path);
	if (err) {
		log_error("cache.snapshot: %s", err_text(err));
		return;
	}
	work_snapshot(job);
	on_dumped(snapshots, &job->result);
	job_free(job);
}

const char *snapshots_error(const struct snapshots *snapshots)
{
	return snapshots ? snapshots->error : "";
}

/* --- From start to end ------------------------------------------------------------------------ */

int snapshots_new(struct snapshots **out, struct cache *cache, const struct engine_data *zones)
{
	struct snapshots *snapshots = calloc(1, sizeof(*snapshots));
	int err;

	if (!snapshots)
		return -ENOMEM;
	snapshots->cache = cache;
	snapshots->zones = zones;
	err = background_new(&snapshots->background);
	if (err)
		free(snapshots);
	else
		*out = snapshots;
	return err;
}

void snapshots_free(struct snapshots *snapshots)
{
	if (!snapshots)
		return;
	background_free(snapshots->background);
	free(snapshots->path);
	free(snapshots);
}

int snapshots_fd(const struct snapshots *snapshots)
{
	return background_fd(snapshots->background);
}

void snapshots_poll(struct snapshots *snapshots)
{
	background_poll(snapshots->background);
}
