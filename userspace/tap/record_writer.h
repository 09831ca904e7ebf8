/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that writes records to what may be slow, or not there: a collector, a disk. The records
 * wait for it in a ring (tap/ring.h); what finds no room there, and what the sink does not take, is
 * lost and counted.
 *
 *      tap's thread ─► tap_writer_reserve/commit ─► ring ─► thread ─► sink.write()
 */
#ifndef VOLLEY_TAP_RECORD_WRITER_H
#define VOLLEY_TAP_RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define TAP_WRITER_BATCH 64 /* records that are written at a time, at most */

/* All are called by the thread of the output, but close(). */
struct tap_sink {
	void *ctx;
	/*
	 * Writes n records. How many of them the sink has taken. It may wait, but looks at
	 * tap_writer_stops() five times in a second at least.
	 */
	int (*write)(void *ctx, const struct iovec *records, int n);
	/* Some time has gone by, at most a second, or a batch was written: reconnect, flush. NULL:
	 * nothing to do. */
	void (*tick)(void *ctx);
	/* When the thread has ended. Frees ctx. */
	void (*close)(void *ctx);
};

struct tap_writer;

/* Starts the thread, with a ring of cap octets. The sink is the output's, on an error too. 0 or
 * -errno. */
int tap_writer_open(struct tap_writer **out, const struct tap_sink *sink, size_t cap,
		    const char *name) __attribute__((warn_unused_result));
/*
 * What waits is written if the sink takes it within half a second. Adds what tap_writer_written()
 * and tap_writer_lost() were at the end. NULL is allowed.
 */
void tap_writer_close(struct tap_writer *out, uint64_t *written, uint64_t *lost);

/* As tap_ring_reserve() and tap_ring_commit(); one thread. The thread is woken by
 * tap_writer_kick(). */
void *tap_writer_reserve(struct tap_writer *out, size_t most);
void tap_writer_commit(struct tap_writer *out, size_t bytes);
void tap_writer_kick(struct tap_writer *out);

/* A sink that waits must give up: the output is being closed and its time is over. Any thread. */
bool tap_writer_stops(const struct tap_writer *out);

/* Records that the sink has taken, and those that were lost on this way. Any thread. */
uint64_t tap_writer_written(const struct tap_writer *out);
uint64_t tap_writer_lost(const struct tap_writer *out);

#endif
