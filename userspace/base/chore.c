/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/chore.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/affinity.h"

struct chores {
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_t thread;
	struct chore *waiting; /* oldest first; the first one runs */
	struct chore *ended;
	bool is_stopping;
	int event_fd;
};

static void append(struct chore **list, struct chore *chore)
{
	while (*list)
		list = &(*list)->next;
	chore->next = NULL;
	*list = chore;
}

static void tell(const struct chores *chores)
{
	const uint64_t one = 1;
	ssize_t n = write(chores->event_fd, &one, sizeof(one));

	(void)n; /* an error means a full counter, which is readable */
}

/* A running chore stays first in the list, so that chores_free() can cancel it. */
static void work(struct chores *chores, struct chore *chore)
{
	pthread_mutex_unlock(&chores->lock);
	if (!chore_is_cancelled(chore))
		chore->run(chore);
	pthread_mutex_lock(&chores->lock);
	chores->waiting = chore->next;
	append(&chores->ended, chore);
	tell(chores);
}

static void *serve(void *user)
{
	struct chores *chores = user;

	rcu_register_thread();
	rcu_thread_offline();
	(void)!affinity_stand_behind(0); /* on failure it keeps the normal priority */
	pthread_mutex_lock(&chores->lock);
	while (chores->waiting || !chores->is_stopping) {
		if (chores->waiting)
			work(chores, chores->waiting);
		else
			pthread_cond_wait(&chores->work, &chores->lock);
	}
	pthread_mutex_unlock(&chores->lock);
	rcu_unregister_thread();
	return NULL;
}

int chores_new(struct chores **out)
{
	struct chores *chores = calloc(1, sizeof(*chores));
	int err;

	*out = NULL;
	if (!chores)
		return -ENOMEM;
	chores->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (chores->event_fd < 0) {
		err = -errno;
		free(chores);
		return err;
	}
	pthread_mutex_init(&chores->lock, NULL);
	pthread_cond_init(&chores->work, NULL);
	err = -pthread_create(&chores->thread, NULL, serve, chores);
	if (!err) {
		pthread_setname_np(chores->thread, "chores");
		*out = chores;
		return 0;
	}
	close(chores->event_fd);
	free(chores);
	return err;
}

void chores_free(struct chores *chores)
{
	if (!chores)
		return;
	pthread_mutex_lock(&chores->lock);
	chores->is_stopping = true;
	for (struct chore *chore = chores->waiting; chore; chore = chore->next)
		__atomic_store_n(&chore->is_cancelled, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&chores->work);
	pthread_mutex_unlock(&chores->lock);
	pthread_join(chores->thread, NULL);
	chores_poll(chores);
	pthread_cond_destroy(&chores->work);
	pthread_mutex_destroy(&chores->lock);
	close(chores->event_fd);
	free(chores);
}

int chores_fd(const struct chores *chores)
{
	return chores->event_fd;
}

void chores_start(struct chores *chores, struct chore *chore)
{
	pthread_mutex_lock(&chores->lock);
	append(&chores->waiting, chore);
	pthread_cond_signal(&chores->work);
	pthread_mutex_unlock(&chores->lock);
}

void chores_poll(struct chores *chores)
{
	struct chore *chore, *next;
	uint64_t n;
	ssize_t got = read(chores->event_fd, &n, sizeof(n));

	(void)got; /* on failure nothing has ended, and the list is empty */
	pthread_mutex_lock(&chores->lock);
	chore = chores->ended;
	chores->ended = NULL;
	pthread_mutex_unlock(&chores->lock);
	for (; chore; chore = next) {
		next = chore->next;
		chore->ended(chore);
	}
}
