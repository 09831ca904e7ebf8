/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: a child that is killed by SIGKILL at a chosen system call or moment. At a call, it is
 * killed before the call runs, or after it ran but before the child sees the result. */
#ifndef VOLLEY_TESTS_KILLING_H
#define VOLLEY_TESTS_KILLING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/must.h"

#ifdef SYS_rename
#define KILLING_RENAME SYS_rename
#else
#define KILLING_RENAME SYS_renameat
#endif

#define KILLING_NO_PTRACE 77

typedef void killing_work(void *user);

/* Zeroed memory that the child shares with its parent. */
static inline void *killing_shared(size_t n_bytes)
{
	void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	return p;
}

static inline int killing_wait(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	return status;
}

static inline void killing_end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (!WIFSIGNALED(killing_wait(pid)))
		;
}

/* A child that is about to run @work, and stops at each system call from then on. Skips the test
 * where there is no ptrace(): in an emulator. */
static inline pid_t killing_begin(killing_work *work, void *user)
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(KILLING_NO_PTRACE);
		raise(SIGSTOP);
		work(user);
		_exit(0);
	}
	status = killing_wait(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == KILLING_NO_PTRACE)
		skip();
	MUST(WIFSTOPPED(status));
	MUST(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	return pid;
}

/* Runs @work in a child and kills it at the @nth stop, counted from 1. False: the child ended
 * before that. */
static inline bool killing_at_call(killing_work *work, void *user, unsigned nth)
{
	pid_t pid = killing_begin(work, user);
	int status;

	for (unsigned n = 0; n < nth; n++) {
		MUST(!ptrace(PTRACE_SYSCALL, pid, 0, 0));
		status = killing_wait(pid);
		if (WIFEXITED(status)) {
			MUST(!WEXITSTATUS(status));
			return false;
		}
		MUST(WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80));
	}
	killing_end(pid);
	return true;
}

/* Lists the calls of @work that sync or rename, in order, one letter each: s fsync or fdatasync, r
 * rename, m a mark that @work sets by getppid(). At most @cap - 1 letters. */
static inline void killing_list_syncs(killing_work *work, void *user, char *list, size_t cap)
{
	struct __ptrace_syscall_info info;
	pid_t pid = killing_begin(work, user);
	size_t n = 0;
	int status;

	for (;;) {
		MUST(!ptrace(PTRACE_SYSCALL, pid, 0, 0));
		status = killing_wait(pid);
		if (!WIFSTOPPED(status))
			break;
		MUST(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || n + 1 >= cap)
			continue;
		if (info.entry.nr == SYS_fsync || info.entry.nr == SYS_fdatasync)
			list[n++] = 's';
		else if (info.entry.nr == SYS_renameat2 || info.entry.nr == KILLING_RENAME)
			list[n++] = 'r';
		else if (info.entry.nr == SYS_getppid)
			list[n++] = 'm';
	}
	MUST(!status);
	list[n] = '\0';
}

/* Kills the child @after_us microseconds after *@has_begun became true. @work must not end by
 * itself. */
static inline void killing_at_time(killing_work *work, void *user, const bool *has_begun,
				   unsigned after_us)
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		work(user);
		abort();
	}
	while (!__atomic_load_n(has_begun, __ATOMIC_ACQUIRE)) {
		MUST(!waitpid(pid, NULL, WNOHANG));
		usleep(50);
	}
	usleep(after_us);
	killing_end(pid);
}

/* How often to repeat: VOLLEY_TEST_CRASHES=20 means 20 times as often as usual. */
static inline unsigned killing_times(unsigned usual)
{
	const char *more = getenv("VOLLEY_TEST_CRASHES");
	int factor = more ? atoi(more) : 1;

	return usual * (factor > 0 ? (unsigned)factor : 1);
}

#endif
