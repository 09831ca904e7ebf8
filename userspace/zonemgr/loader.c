/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One lock for the lists; a thread holds it only to take a load and to give one back. */
#include "zonemgr/loader.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/sandbox.h"
#include "config/verify_run.h"
#include "zone/builder.h"
#include "zone/diff.h"
#include "zone/edit.h"
#include "zone/sums.h"
#include "zonemgr/file_checks.h"
#include "zonemgr/load_steps.h"
#include "zonemgr/signing_work.h"
#include "zonemgr/zonefile.h"

/* Fewer loads have too little memory for a look at the whole heap. */
#define TRIM_LOADS 1000u

struct list {
	struct load *first;
	struct load *last;
};

struct thread {
	struct loader *loader;
	pthread_t id;
	struct load *load; /* the load that it works on; under the lock */
	pid_t tid;         /* under the lock; 0: the thread has just started */
	unsigned int i;
};

struct loader {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct list queue;
	struct list ended;
	struct list discarded;
	struct thread threads[LOADER_THREADS_MAX];
	unsigned int n_threads;
	unsigned int n_freed; /* discarded loads since the heap was trimmed */
	unsigned int limit;   /* threads from this number on take no loads */
	bool is_behind;       /* the threads have a lower priority than the workers */
	bool is_stopping;
	int event_fd;
	struct runner *runner; /* not the loader's; NULL: no command can be run */
};

static void append_loader(struct list *list, struct load *load)
{
	load->next = NULL;
	if (list->last)
		list->last->next = load;
	else
		list->first = load;
	list->last = load;
}

static struct load *take_loader_first(struct list *list)
{
	struct load *load = list->first;

	if (!load)
		return NULL;
	list->first = load->next;
	if (!list->first)
		list->last = NULL;
	return load;
}

static bool take_out_loader(struct list *list, struct load *load)
{
	struct load **at = &list->first, *before = NULL;

	for (; *at && *at != load; at = &before->next)
		before = *at;
	if (!*at)
		return false;
	*at = load->next;
	if (list->last == load)
		list->last = before;
	return true;
}

/* --- The steps of a load ---------------------------------------------------------------------- */

static void set_loader_stage(struct load *load, enum load_stage stage)
{
	__atomic_store_n(&load->stage, (uint32_t)stage, __ATOMIC_RELAXED);
}

static void ask_command(struct runner *runner, struct load *load)
{
	char why[512] = "";

	set_loader_stage(load, LOAD_VERIFYING);
	load->code = verify_run(runner, &load->verify, load->zone, load->name, load->file,
				&load->progress.cancel, why, sizeof(why));
	if (!load->code)
		return;
	sentence_set(&load->why, "%s", why);
	load->serial = zone_serial(load->zone);
	load_drop_zone(load);
}

/*
 * Applies the journal. If it does not fit, acknowledged changes must not be lost silently: the load
 * fails until the operator gives a newer file. A zone from a primary is served without the changes,
 * until the primary is asked.
 */
static int add_journal(struct load *load)
{
	bool waits = load->absent == LOAD_ABSENT_WAITS;
	const char *and_so = waits ? "and is dropped" :
				     "and is dropped once the file has a newer serial number";
	struct zone_error why;
	int err = replay(load->store, &load->zone, load->file_digest, &load->n_replayed, and_so,
			 &why);

	if (!err)
		return 0;
	if (err == -ENOMEM || !waits) {
		memcpy(load->err->sentence, why.sentence, sizeof(why.sentence));
		return err;
	}
	load->gives_up_journal = true;
	load->err->n_warnings++;
	snprintf(load->err->warning, sizeof(load->err->warning), "%s: %s", load->file,
		 why.sentence);
	return 0;
}

static int read_loader_file(struct load *load)
{
	const uint64_t now_s = clock_wall_s(); /* before it is opened */
	struct stat st = { 0 };
	int err;

	if (zonefile_is_unchanged(load->file, &load->known))
		return 0;
	load->progress.st = &st;
	err = zone_load(&load->zone, load->name, load->file, &load->progress, load->err);
	load->progress.st = NULL;
	if (st.st_mode)
		zonefile_mark_of(&st, now_s, &load->file_mark);
	if (load->progress.has_included)
		load->file_mark.is_settled = false; /* it says nothing of the other files */
	return load->absent == LOAD_ABSENT_FAILS ? err : load_make_own(load, err);
}

static int make_plain(struct load *load)
{
	int err = read_loader_file(load);

	if (err || !load->zone || load->own == LOAD_OWN_DUE)
		return err;
	zone_digest(load->zone, load->file_digest);
	err = load_set_serial(load);
	load->file_serial = zone_serial(load->zone);
	return err || !load->store ? err : add_journal(load);
}

static int make_signed(struct load *load)
{
	int err;

	if (*load->signing->why) {
		zonefile_mark_read(load->file, &load->file_mark);
		return load_make_without_keys(load);
	}
	err = read_loader_file(load);
	return err ? load_make_without_content(load, err) : load_make_signed(load);
}

static int make_unsigned(struct load *load)
{
	int err = read_loader_file(load);

	return err ? err : load_make_unsigned(load);
}

static int make_loader(struct load *load)
{
	switch (load->source) {
	case LOAD_FILE:
		return make_plain(load);
	case LOAD_SIGNED_FILE:
		return make_signed(load);
	case LOAD_UNSIGNED_FILE:
		return make_unsigned(load);
	case LOAD_TRANSFER:
		zone_builder_watch(load->builder, &load->progress.cancel);
		return zone_builder_finish(load->builder, &load->zone, load->err);
	case LOAD_VERSION:
		return zone_compact(load->version, &load->progress.cancel, &load->zone, load->err);
	case LOAD_CHECKS:
		file_checks_run(load->checks, &load->progress.cancel);
		return 0;
	case LOAD_RESIGN:
		break;
	}
	return load_sign_again(load);
}

/* Compares the zone with its base, for the cache and for the journal. */
static void compare_loader(struct load *load)
{
	load->changes = changes_new(load->base, load->zone, &load->refusal);
	if (!load->wants_net || load->source == LOAD_UNSIGNED_FILE)
		return;
	if (zone_difference(load->base, load->zone, ZONE_DIFFERENCE_MAX, &load->net))
		changeset_fini(&load->net);
}

/*
 * A zone that was made here is written to its file before it is served, because the journal of its
 * changes begins there. A zone that the command has refused is not written: the journal of the
 * served version begins at the file before.
 */
static void write_own(struct load *load)
{
	load->file_serial = zone_serial(load->zone);
	zone_digest(load->zone, load->file_digest);
	load->n_replayed = 0;
	load->code = load_announce_own(load);
	if (load->code) {
		snprintf(load->err->sentence, sizeof(load->err->sentence), "journal: %s",
			 err_text(load->code));
		return;
	}
	load->code = zonefile_write(load->zone, load->signing ? load->signing->file : load->file,
				    &load->progress.cancel, load->err->sentence,
				    sizeof(load->err->sentence));
}

static void refuse_without_zonemd(struct load *load)
{
	if (!load->needs_zonemd || zonemd_is_stated(load->zone))
		return;
	load->code =
		zone_error_set(load->err, load->file, 0,
			       "it has no ZONEMD record with the scheme 1 and the hash 1 or 2, "
			       "and one is required");
	load_drop_zone(load);
}

static void run_loader(struct runner *runner, struct load *load)
{
	set_loader_stage(load, LOAD_READING);
	load->err = calloc(1, sizeof(*load->err));
	load->code = load->err ? make_loader(load) : -ENOMEM;
	/* The loader's thread reads the clock itself: a load may take minutes. */
	load->took_ns = clock_ns() - load->begun_ns;
	load->ended_wall_s = clock_wall_s();
	if (load->code || !load->zone)
		return;
	refuse_without_zonemd(load);
	if (load->code)
		return;
	if (load->base)
		compare_loader(load);
	if (load->verify.argv)
		ask_command(runner, load);
	if (load->code || load->own != LOAD_OWN_DUE)
		return;
	write_own(load);
	if (load->code && load->source == LOAD_SIGNED_FILE && !load->base)
		load_fall_back(load);
}

static bool is_loader_cancelled(const struct load *load)
{
	return __atomic_load_n(&load->progress.cancel, __ATOMIC_RELAXED);
}

/* --- Threads ---------------------------------------------------------------------------------- */

/* With the lock held. */
static void give_back_loader(struct loader *loader, struct load *load)
{
	if (is_loader_cancelled(load)) {
		load_drop_zone(load);
		load->code = -ECANCELED;
	}
	set_loader_stage(load, LOAD_ENDED);
	if (!loader->ended.first) /* else control has not taken the list since it was woken */
		loader_wake(loader);
	append_loader(&loader->ended, load);
}

/* With the lock held. */
static void stand_behind(const struct thread *thread)
{
	if (!thread->loader->is_behind || !thread->tid)
		return;
	if (affinity_stand_behind(thread->tid))
		log_debug("volley-load%u: has the priority of the others", thread->i);
}

static void become_loader(struct thread *thread)
{
	char name[16];

	snprintf(name, sizeof(name), "volley-load%u", thread->i);
	pthread_setname_np(pthread_self(), name);
	if (privilege_drop_thread())
		log_warn("%s: capabilities that are not needed could not be given up", name);
	sandbox_enter(SANDBOX_FILES);
}

/* With the lock held, which is released meanwhile. False: there is none to free. */
static bool free_discarded(struct loader *loader)
{
	struct load *load = take_loader_first(&loader->discarded);

	if (!load)
		return false;
	loader->n_freed++;
	pthread_mutex_unlock(&loader->lock);
	load_free(load);
	pthread_mutex_lock(&loader->lock);
	return true;
}

/* After many loads have ended, gives the memory that they had back to the kernel. glibc itself
 * gives only the end of a heap back, which some zone of the last load holds. With the lock held,
 * which is released meanwhile. */
static bool trim_memory(struct loader *loader)
{
	if (loader->n_freed < TRIM_LOADS)
		return false;
	loader->n_freed = 0;
	pthread_mutex_unlock(&loader->lock);
	malloc_trim(0);
	pthread_mutex_lock(&loader->lock);
	return true;
}

static void *thread_main(void *arg)
{
	struct thread *thread = arg;
	struct loader *loader = thread->loader;
	struct load *load;

	become_loader(thread);
	pthread_mutex_lock(&loader->lock);
	thread->tid = gettid();
	stand_behind(thread);
	while (!loader->is_stopping) {
		if (free_discarded(loader))
			continue;
		load = thread->i < loader->limit ? take_loader_first(&loader->queue) : NULL;
		if (!load && trim_memory(loader))
			continue;
		if (!load) {
			pthread_cond_wait(&loader->work, &loader->lock);
			continue;
		}
		thread->load = load;
		__atomic_store_n(&load->begun_ns, clock_ns(), __ATOMIC_RELAXED);
		pthread_mutex_unlock(&loader->lock);
		run_loader(loader->runner, load);
		pthread_mutex_lock(&loader->lock);
		thread->load = NULL;
		give_back_loader(loader, load);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

static int start_loader_threads(struct loader *loader, unsigned int n)
{
	int err = 0;

	loader->limit = n;
	while (!err && loader->n_threads < n) {
		struct thread *thread = &loader->threads[loader->n_threads];

		*thread = (struct thread){ .loader = loader, .i = loader->n_threads };
		err = pthread_create(&thread->id, NULL, thread_main, thread);
		loader->n_threads += !err;
	}
	return loader->n_threads ? 0 : -err;
}

int loader_new(struct loader **out, unsigned int n)
{
	struct loader *loader = calloc(1, sizeof(*loader));
	int err;

	*out = NULL;
	if (!loader)
		return -ENOMEM;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->work, NULL);
	loader->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	err = loader->event_fd < 0 ?
		      -errno :
		      start_loader_threads(loader, n < LOADER_THREADS_MAX ? n : LOADER_THREADS_MAX);
	if (err) {
		loader_free(loader);
		return err;
	}
	*out = loader;
	return 0;
}

void loader_set_runner(struct loader *loader, struct runner *runner)
{
	loader->runner = runner;
}

void loader_limit(struct loader *loader, unsigned int n)
{
	unsigned int i;

	pthread_mutex_lock(&loader->lock);
	loader->limit = n;
	loader->is_behind = true;
	for (i = 0; i < loader->n_threads; i++)
		stand_behind(&loader->threads[i]);
	pthread_cond_broadcast(&loader->work);
	pthread_mutex_unlock(&loader->lock);
}

/* With the lock held. */
static void cancel(struct loader *loader, struct load *load)
{
	__atomic_store_n(&load->progress.cancel, true, __ATOMIC_RELAXED);
	if (take_out_loader(&loader->queue, load))
		give_back_loader(loader, load);
}

void loader_stop(struct loader *loader)
{
	unsigned int i;

	pthread_mutex_lock(&loader->lock);
	loader->is_stopping = true;
	while (loader->queue.first)
		cancel(loader, loader->queue.first);
	for (i = 0; i < loader->n_threads; i++)
		if (loader->threads[i].load)
			cancel(loader, loader->threads[i].load);
	pthread_cond_broadcast(&loader->work);
	pthread_mutex_unlock(&loader->lock);
	for (i = 0; i < loader->n_threads; i++)
		pthread_join(loader->threads[i].id, NULL);
	loader->n_threads = 0;
}

void loader_free(struct loader *loader)
{
	struct load *load;

	if (!loader)
		return;
	while ((load = take_loader_first(&loader->discarded)))
		load_free(load);
	if (loader->event_fd >= 0)
		close(loader->event_fd);
	pthread_cond_destroy(&loader->work);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

/* --- Control's side --------------------------------------------------------------------------- */

int loader_fd(const struct loader *loader)
{
	return loader->event_fd;
}

void loader_wake(struct loader *loader)
{
	eventfd_write(loader->event_fd, 1);
}

void loader_poll(struct loader *loader)
{
	struct load *load, *next;
	eventfd_t n;

	eventfd_read(loader->event_fd, &n);
	pthread_mutex_lock(&loader->lock);
	load = loader->ended.first;
	loader->ended = (struct list){ NULL, NULL };
	pthread_mutex_unlock(&loader->lock);
	for (; load; load = next) {
		next = load->next;
		load->ended(load);
	}
}

/* With the lock held. */
static void wake_threads(struct loader *loader)
{
	if (!loader->queue.first && !loader->discarded.first)
		pthread_cond_broadcast(&loader->work);
}

void loader_start(struct loader *loader, struct load *load)
{
	pthread_mutex_lock(&loader->lock);
	wake_threads(loader);
	append_loader(&loader->queue, load);
	pthread_mutex_unlock(&loader->lock);
}

void loader_discard(struct loader *loader, struct load *load)
{
	pthread_mutex_lock(&loader->lock);
	wake_threads(loader);
	append_loader(&loader->discarded, load);
	pthread_mutex_unlock(&loader->lock);
}

void loader_cancel(struct loader *loader, struct load *load)
{
	pthread_mutex_lock(&loader->lock);
	cancel(loader, load);
	pthread_mutex_unlock(&loader->lock);
}

bool loader_has_begun(struct loader *loader, const struct load *load)
{
	bool has_begun;

	pthread_mutex_lock(&loader->lock);
	has_begun = load->begun_ns != 0;
	pthread_mutex_unlock(&loader->lock);
	return has_begun;
}
