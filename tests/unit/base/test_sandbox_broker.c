/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libraries of other releases do in the broker, and its threads. Each case is a process of its
 * own, since a sandbox cannot be left. */
#include "base/sandbox.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What the process tells by its exit status. */
enum { ALL_WELL, NO_SANDBOX, IS_REFUSED, IS_COUNTED, OTHER_KIND };

/* The exit status of a broker that runs `run`; -1: it was killed. */
static int status_of(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(SANDBOX_BROKER) ?
			      NO_SANDBOX :
			      run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* libbpf 1.5 of Debian 13: a place for each map when it opens an object, and a token when it loads
 * one, which no kernel gives for this descriptor. */
static int call_as_libbpf(void)
{
	union bpf_attr attr = { .map_fd = (uint32_t)-1 };
	const int fd = memfd_create("libbpf-placeholder-fd", MFD_CLOEXEC);
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct sandbox_state state;

	if (fd < 0 || copy < 0 || dup3(fd, copy, O_CLOEXEC) != copy)
		return IS_REFUSED;
	(void)!syscall(SYS_bpf, 36 /* BPF_TOKEN_CREATE of Linux 6.9 */, &attr, sizeof(attr));
	sandbox_state(&state);
	return state.n_refused ? IS_COUNTED : ALL_WELL;
}

static void a_new_libbpf_lacks_no_call(void **state)
{
	(void)state;
	assert_int_equal(status_of(call_as_libbpf), ALL_WELL);
}

static void *trace_parent(void *arg)
{
	(void)!ptrace(PTRACE_SEIZE, getppid(), NULL, NULL);
	return arg;
}

static int refuse_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, trace_parent, NULL) || pthread_join(thread, NULL))
		return IS_REFUSED;
	sandbox_tick();
	return strstr(sandbox_problem(), "of kind broker has") ? ALL_WELL : OTHER_KIND;
}

/* The broker has a thread for each of its channels. */
static void each_thread_has_the_kind_of_the_process(void **state)
{
	(void)state;
	assert_int_equal(status_of(refuse_in_thread), ALL_WELL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_libbpf_lacks_no_call),
		cmocka_unit_test(each_thread_has_the_kind_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
