/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that wake control's thread: signals, timers, changes of links, the parts' descriptors.
 */
#ifndef VOLLEY_DAEMON_EVENTS_H
#define VOLLEY_DAEMON_EVENTS_H

#include <signal.h>

#include "link/links.h"

struct events {
	int epoll_fd;
	int signal_fd; /* the signals of events_signals() */
	int tick_fd;   /* once a second */
	int guard_fd;  /* interfaces_guard() is due */
	struct links links;
};

/* SIGTERM, SIGINT, SIGHUP, SIGUSR1: the main thread blocks them before it starts other threads, and
 * signal_fd brings them. */
sigset_t events_signals(void);

/* Opens nothing; afterwards events_close() is allowed. */
void events_init(struct events *e);
/* 0; or -errno, with the name of the failed part in *what. events_close() follows in any case. */
int events_open(struct events *e, const char **what) __attribute__((warn_unused_result));
void events_close(struct events *e);

/* From now on control's thread wakes when FD is readable. 0 or -errno. */
int events_watch(struct events *e, int fd) __attribute__((warn_unused_result));

#endif
