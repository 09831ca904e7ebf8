/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sign/signer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_JOBS  4096u      /* about 100 ms of one processor */
#define BATCH_BYTES (4u << 20) /* RRsets may be large */
#define THREADS_MAX 64u

struct job {
	size_t owner, records; /* offsets in bytes */
	uint16_t type, n;
	uint32_t ttl;
	bool is_signed;
	struct sign_old old;
	struct sign_list sigs;
};

struct worker {
	struct sign_batch *batch;
	struct signer signer;
	pthread_t id;
	int rc;
};

struct sign_batch {
	sign_emit_fn *emit;
	void *user;
	uint8_t *bytes;
	size_t n_bytes, cap;
	struct job jobs[BATCH_JOBS];
	uint32_t n, next; /* next: the first that no thread has taken; all threads */
	unsigned int n_workers;
	struct worker workers[THREADS_MAX];
};

struct sign_batch *sign_batch_new(const struct sign_keys *keys, const struct sign_options *options,
				  uint64_t now_s, unsigned int n_threads, sign_emit_fn *emit,
				  void *user)
{
	struct sign_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->emit = emit;
	b->user = user;
	b->n_workers = n_threads < 1 ? 1 : n_threads > THREADS_MAX ? THREADS_MAX : n_threads;
	for (unsigned int i = 0; i < b->n_workers; i++) {
		b->workers[i].batch = b;
		signer_init(&b->workers[i].signer, keys, options, now_s);
	}
	return b;
}

void sign_batch_free(struct sign_batch *b)
{
	if (!b)
		return;
	for (unsigned int i = 0; i < b->n_workers; i++)
		signer_fini(&b->workers[i].signer);
	for (unsigned int i = 0; i < BATCH_JOBS; i++)
		sign_list_free(&b->jobs[i].sigs);
	free(b->bytes);
	free(b);
}

/* --- In --------------------------------------------------------------------------------------- */

static int put_batch_bytes(struct sign_batch *b, const uint8_t *from, size_t n, size_t *at)
{
	uint8_t *bytes;

	if (b->n_bytes + n > b->cap) {
		bytes = realloc(b->bytes, 2 * (b->n_bytes + n));
		if (!bytes)
			return -ENOMEM;
		b->bytes = bytes;
		b->cap = 2 * (b->n_bytes + n);
	}
	if (n)
		memcpy(b->bytes + b->n_bytes, from, n);
	*at = b->n_bytes;
	b->n_bytes += n;
	return 0;
}

int sign_batch_add(struct sign_batch *b, const struct sign_rrset *rrset, const struct sign_old *old)
{
	struct job *job = &b->jobs[b->n];
	int rc;

	job->type = rrset->type;
	job->n = rrset->n;
	job->ttl = rrset->ttl;
	job->is_signed = old;
	job->old = old ? *old : (struct sign_old){ 0 };
	sign_list_clear(&job->sigs);
	rc = put_batch_bytes(b, rrset->owner, name_bytes(rrset->owner), &job->owner);
	if (!rc)
		rc = put_batch_bytes(b, rrset->records,
				     sign_records_bytes(rrset->records, rrset->n), &job->records);
	if (rc)
		return rc;
	b->n++;
	return b->n == BATCH_JOBS || b->n_bytes >= BATCH_BYTES ? sign_batch_flush(b) : 0;
}

/* --- Out -------------------------------------------------------------------------------------- */

static struct sign_rrset rrset_of_batch(const struct sign_batch *b, const struct job *job)
{
	return (struct sign_rrset){ b->bytes + job->owner, job->type, job->n, job->ttl,
				    b->bytes + job->records };
}

static void *work_batch(void *arg)
{
	struct worker *w = arg;
	struct sign_batch *b = w->batch;
	size_t n_new;
	uint32_t i;

	w->rc = 0;
	while (!w->rc && (i = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED)) < b->n) {
		struct job *job = &b->jobs[i];
		struct sign_rrset rrset = rrset_of_batch(b, job);

		if (job->is_signed)
			w->rc = signer_sign_rrset(&w->signer, &rrset, &job->old, &job->sigs,
						  &n_new);
	}
	return NULL;
}

/* If fewer threads can be started, fewer do the work. */
static int sign_sign_batch(struct sign_batch *b)
{
	unsigned int n = 1;
	int rc;

	b->next = 0;
	while (n < b->n_workers && n < b->n &&
	       !pthread_create(&b->workers[n].id, NULL, work_batch, &b->workers[n]))
		n++;
	work_batch(&b->workers[0]);
	rc = b->workers[0].rc;
	for (unsigned int i = 1; i < n; i++) {
		pthread_join(b->workers[i].id, NULL);
		rc = rc ? rc : b->workers[i].rc;
	}
	return rc;
}

int sign_batch_flush(struct sign_batch *b)
{
	int rc = sign_sign_batch(b);

	for (uint32_t i = 0; !rc && i < b->n; i++) {
		struct sign_rrset rrset = rrset_of_batch(b, &b->jobs[i]);

		rc = b->emit(b->user, &rrset, &b->jobs[i].sigs);
	}
	b->n = 0;
	b->n_bytes = 0;
	return rc;
}
