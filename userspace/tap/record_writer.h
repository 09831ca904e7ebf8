/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that writes records to a target that may be slow or absent: a collector, a disk. Records
 * wait for it in a ring (tap/ring.h). Records without room there, or refused by the sink, are lost
 * and counted.
 *
 *      tap's thread ─► tap_writer_reserve/commit ─► ring ─► thread ─► sink.write()
 */
#ifndef VOLLEY_TAP_RECORD_WRITER_H
#define VOLLEY_TAP_RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define TAP_WRITER_BATCH 64 /* records in one call, at most */

/* The output's thread calls all of these, except close(). */
struct tap_sink {
	void *ctx;
	/* Writes n records. Returns how many the sink has taken. It may wait, but must call
	 * tap_writer_stops() at least five times a second. */
	int (*write)(void *ctx, const struct iovec *records, int n);
	/*
	 * Called after each batch, and at least once a second: reconnect, flush. NULL: not needed.
	 */
	void (*tick)(void *ctx);
	/* Called after the thread has ended. Frees ctx. */
	void (*close)(void *ctx);
};

struct tap_writer;

/* Starts the thread, with a ring of cap octets. Takes the sink, also on an error. 0 or -errno. */
int tap_writer_open(struct tap_writer **out, const struct tap_sink *sink, size_t cap,
		    const char *name) __attribute__((warn_unused_result));
/* Writes the waiting records if the sink takes them within half a second. Adds the final
 * tap_writer_written() and tap_writer_lost(). NULL is allowed. */
void tap_writer_close(struct tap_writer *out, uint64_t *written, uint64_t *lost);

/* As tap_ring_reserve() and tap_ring_commit(); one thread. tap_writer_kick() wakes the thread. */
void *tap_writer_reserve(struct tap_writer *out, size_t most);
void tap_writer_commit(struct tap_writer *out, size_t bytes);
void tap_writer_kick(struct tap_writer *out);

/* True if a waiting sink must give up: the output is closing, and its time is over. Any thread. */
bool tap_writer_stops(const struct tap_writer *out);

/* Records that the sink has taken, and lost records. Any thread. */
uint64_t tap_writer_written(const struct tap_writer *out);
uint64_t tap_writer_lost(const struct tap_writer *out);

#endif
