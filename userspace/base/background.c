/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/background.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/affinity.h"
#include "base/sandbox.h"

struct background {
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_t thread;
	struct background_job *waiting; /* oldest first; the first one runs */
	struct background_job *ended;
	bool is_stopping;
	int event_fd;
};

static void append_job(struct background_job **list, struct background_job *job)
{
	while (*list)
		list = &(*list)->next;
	job->next = NULL;
	*list = job;
}

static void tell_job(const struct background *background)
{
	const uint64_t one = 1;
	ssize_t n = write(background->event_fd, &one, sizeof(one));

	(void)n; /* an error means a full counter, which is readable */
}

/* A running job stays first in the list, so that background_free() can cancel it. */
static void work_job(struct background *background, struct background_job *job)
{
	pthread_mutex_unlock(&background->lock);
	if (!background_is_cancelled(job))
		job->run(job);
	pthread_mutex_lock(&background->lock);
	background->waiting = job->next;
	append_job(&background->ended, job);
	tell_job(background);
}

static void *serve_job(void *user)
{
	struct background *background = user;

	sandbox_enter(SANDBOX_FILES);
	rcu_register_thread();
	rcu_thread_offline();
	(void)!affinity_stand_behind(0); /* on failure it keeps the normal priority */
	pthread_mutex_lock(&background->lock);
	while (background->waiting || !background->is_stopping) {
		if (background->waiting)
			work_job(background, background->waiting);
		else
			pthread_cond_wait(&background->work, &background->lock);
	}
	pthread_mutex_unlock(&background->lock);
	rcu_unregister_thread();
	return NULL;
}

int background_new(struct background **out)
{
	struct background *background = calloc(1, sizeof(*background));
	int err;

	*out = NULL;
	if (!background)
		return -ENOMEM;
	background->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (background->event_fd < 0) {
		err = -errno;
		free(background);
		return err;
	}
	pthread_mutex_init(&background->lock, NULL);
	pthread_cond_init(&background->work, NULL);
	err = -pthread_create(&background->thread, NULL, serve_job, background);
	if (!err) {
		pthread_setname_np(background->thread, "background");
		*out = background;
		return 0;
	}
	close(background->event_fd);
	free(background);
	return err;
}

void background_free(struct background *background)
{
	if (!background)
		return;
	pthread_mutex_lock(&background->lock);
	background->is_stopping = true;
	for (struct background_job *job = background->waiting; job; job = job->next)
		__atomic_store_n(&job->is_cancelled, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&background->work);
	pthread_mutex_unlock(&background->lock);
	pthread_join(background->thread, NULL);
	background_poll(background);
	pthread_cond_destroy(&background->work);
	pthread_mutex_destroy(&background->lock);
	close(background->event_fd);
	free(background);
}

int background_fd(const struct background *background)
{
	return background->event_fd;
}

void background_start(struct background *background, struct background_job *job)
{
	pthread_mutex_lock(&background->lock);
	append_job(&background->waiting, job);
	pthread_cond_signal(&background->work);
	pthread_mutex_unlock(&background->lock);
}

void background_poll(struct background *background)
{
	struct background_job *job, *next;
	uint64_t n;
	ssize_t got = read(background->event_fd, &n, sizeof(n));

	(void)got; /* on failure nothing has ended, and the list is empty */
	pthread_mutex_lock(&background->lock);
	job = background->ended;
	background->ended = NULL;
	pthread_mutex_unlock(&background->lock);
	for (; job; job = next) {
		next = job->next;
		job->ended(job);
	}
}
