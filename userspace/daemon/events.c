/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/events.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define GUARD_NS 200000000 /* for so long hits that cannot leave are lost */

void events_init(struct events *e)
{
	*e = (struct events){ .epoll_fd = -1,
			      .signal_fd = -1,
			      .tick_fd = -1,
			      .guard_fd = -1,
			      .links = { .fd = -1 } };
}

static int open_timer(int *fd, time_t s, long ns)
{
	const struct itimerspec each = { { s, ns }, { s, ns } };

	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return *fd < 0 || timerfd_settime(*fd, 0, &each, NULL) ? -errno : 0;
}

sigset_t events_signals(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&signals, numbers[i]);
	return signals;
}

static int open_signals(int *fd)
{
	const sigset_t signals = events_signals();

	*fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static int watch_own(struct events *e)
{
	const int fds[] = { e->signal_fd, e->tick_fd, e->guard_fd, e->links.fd };
	int code = 0;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]) && !code; i++)
		code = events_watch(e, fds[i]);
	return code;
}

int events_open(struct events *e, const char **what)
{
	int code;

	*what = "epoll";
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (e->epoll_fd < 0)
		return -errno;
	*what = "signals";
	code = open_signals(&e->signal_fd);
	if (code)
		return code;
	*what = "timer";
	code = open_timer(&e->tick_fd, 1, 0);
	if (!code)
		code = open_timer(&e->guard_fd, 0, GUARD_NS);
	if (code)
		return code;
	*what = "links of the kernel";
	code = links_open(&e->links);
	if (code)
		return code;
	*what = "epoll";
	return watch_own(e);
}

int events_watch(struct events *e, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void close_event_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void events_close(struct events *e)
{
	close_event_fd(e->epoll_fd);
	close_event_fd(e->signal_fd);
	links_close(&e->links);
	close_event_fd(e->tick_fd);
	close_event_fd(e->guard_fd);
}
