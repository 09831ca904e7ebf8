/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/record_writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/sandbox.h"
#include "tap/ring.h"

#define CLOSE_NS (CLOCK_NS_PER_S / 2)

struct tap_writer {
	struct tap_sink sink;
	struct tap_ring ring;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_kicked; /* under the lock */
	/* atomic; 0: it runs. From this time on nothing is written. */
	uint64_t stop_at_ns;
	uint64_t written; /* atomic; only the thread writes it, and refused */
	uint64_t refused; /* by the sink */
};

bool tap_writer_stops(const struct tap_writer *out)
{
	uint64_t at = __atomic_load_n(&out->stop_at_ns, __ATOMIC_ACQUIRE);

	return at && clock_ns() >= at;
}

static bool is_closing(const struct tap_writer *out)
{
	return __atomic_load_n(&out->stop_at_ns, __ATOMIC_ACQUIRE);
}

static void count_tap_writer(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Writes a batch. True if there was one. */
static bool write_some(struct tap_writer *out)
{
	struct iovec records[TAP_WRITER_BATCH];
	uint64_t at = tap_ring_begin(&out->ring);
	int n = 0, taken;

	while (n < TAP_WRITER_BATCH) {
		records[n].iov_base = tap_ring_next(&out->ring, &at, &records[n].iov_len);
		if (!records[n].iov_base)
			break;
		n++;
	}
	if (!n)
		return false;
	taken = tap_writer_stops(out) ? 0 : out->sink.write(out->sink.ctx, records, n);
	count_tap_writer(&out->written, (uint64_t)taken);
	count_tap_writer(&out->refused, (uint64_t)(n - taken));
	tap_ring_release(&out->ring, at);
	return true;
}

static void wait_kick(struct tap_writer *out)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	pthread_mutex_lock(&out->lock);
	while (!out->is_kicked && !is_closing(out))
		if (pthread_cond_timedwait(&out->wake, &out->lock, &until))
			break;
	out->is_kicked = false;
	pthread_mutex_unlock(&out->lock);
}

static void *run_tap_writer(void *arg)
{
	struct tap_writer *out = arg;
	bool is_last;

	sandbox_enter(SANDBOX_REPORTER);
	do {
		is_last = is_closing(out); /* so the last round sees all earlier commits */
		while (write_some(out))
			;
		if (out->sink.tick)
			out->sink.tick(out->sink.ctx);
		if (!is_last)
			wait_kick(out);
	} while (!is_last);
	return NULL;
}

/* Only the main thread handles signals: the new thread inherits a full mask. */
static int start_tap_writer(struct tap_writer *out, const char *name)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&out->thread, NULL, run_tap_writer, out);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(out->thread, name);
	return -err;
}

int tap_writer_open(struct tap_writer **to, const struct tap_sink *sink, size_t cap,
		    const char *name)
{
	struct tap_writer *out = aligned_alloc(64, (sizeof(*out) + 63) / 64 * 64);
	pthread_condattr_t attr;
	int err = -ENOMEM;

	if (out) {
		*out = (struct tap_writer){ .sink = *sink };
		pthread_mutex_init(&out->lock, NULL);
		pthread_condattr_init(&attr);
		pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
		pthread_cond_init(&out->wake, &attr);
		pthread_condattr_destroy(&attr);
		err = tap_ring_open(&out->ring, cap);
		if (!err) {
			*to = out; /* the sink may use it from its first call on */
			err = start_tap_writer(out, name);
		}
	}
	if (!err)
		return 0;
	*to = NULL;
	sink->close(sink->ctx);
	if (out)
		tap_ring_close(&out->ring);
	free(out);
	return err;
}

void tap_writer_kick(struct tap_writer *out)
{
	pthread_mutex_lock(&out->lock);
	out->is_kicked = true;
	pthread_cond_signal(&out->wake);
	pthread_mutex_unlock(&out->lock);
}

void tap_writer_close(struct tap_writer *out, uint64_t *written, uint64_t *lost)
{
	if (!out)
		return;
	__atomic_store_n(&out->stop_at_ns, clock_ns() + CLOSE_NS, __ATOMIC_RELEASE);
	tap_writer_kick(out);
	pthread_join(out->thread, NULL);
	out->sink.close(out->sink.ctx);
	*written += tap_writer_written(out);
	*lost += tap_writer_lost(out);
	tap_ring_close(&out->ring);
	pthread_cond_destroy(&out->wake);
	pthread_mutex_destroy(&out->lock);
	free(out);
}

void *tap_writer_reserve(struct tap_writer *out, size_t most)
{
	return tap_ring_reserve(&out->ring, most);
}

void tap_writer_commit(struct tap_writer *out, size_t bytes)
{
	tap_ring_commit(&out->ring, bytes);
}

uint64_t tap_writer_written(const struct tap_writer *out)
{
	return __atomic_load_n(&out->written, __ATOMIC_RELAXED);
}

uint64_t tap_writer_lost(const struct tap_writer *out)
{
	return tap_ring_lost(&out->ring) + __atomic_load_n(&out->refused, __ATOMIC_RELAXED);
}
