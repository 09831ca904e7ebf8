/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bells: one for each worker, by which any resolver's process wakes it. A bell is a pair of
 * sockets, not an eventfd: an eventfd's flags are shared by all that have it, so a process that has
 * been taken over could make the worker block in a read. Each access here says MSG_DONTWAIT by
 * itself.
 *
 * They outlive resolvers, because a worker waits for the same file as long as it runs.
 */
#ifndef VOLLEY_QUERIER_BELLS_H
#define VOLLEY_QUERIER_BELLS_H

#include <stddef.h>

struct bells {
	unsigned int n;
	int (*fds)[2]; /* [0]: the worker's end; [1]: for ringing */
};

/* 0 or -errno. */
int bells_open(struct bells *bells, unsigned int n) __attribute__((warn_unused_result));
void bells_close(struct bells *bells);

/* Readable after a ring. */
static inline int bells_fd(const struct bells *bells, unsigned int i)
{
	return bells->fds[i][0];
}

/* Wakes worker i. Any thread. */
void bells_ring(const struct bells *bells, unsigned int i);

/* Forgets all rings so far. The worker's thread. */
void bells_quiet(int fd);

#endif
