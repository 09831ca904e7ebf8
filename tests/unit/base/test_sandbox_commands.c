/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that parent and runner execute inherit their filter: what they may do. */
#include "base/sandbox.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/base/sandboxed.h"

/* What the process tells by its exit status. */
enum { ALL_WELL, NO_SANDBOX, HAS_WORKED, IS_REFUSED };

/* What commands of zones[].verify do. */
static const char command_script[] =
	"set -e; umask 077; folder=$(mktemp -d); cd $folder; "
	"mkfifo fifo; (echo a >fifo) & read word <fifo; test $word = a; "
	"sleep 60 & kill $!; wait; ln -s fifo link; chmod 600 fifo; chown $(id -u) fifo; cp -p fifo -r "
	"copy; tar cf - fifo | tar tf - | grep -q fifo; seq 1000 | sort -rn --parallel=2 | head -1 "
	"| grep -q 1000; timeout 9 nice setsid true; unlink link; cd /; rm -r $folder; "
	"python3 -c \"import subprocess, threading, socket, multiprocessing, mmap\n"
	"subprocess.run(['true'], check=True)\nthread = threading.Thread(target=int)\n"
	"thread.start(); thread.join(); socket.socketpair(); mmap.mmap(-1, 4096)\n"
	"with multiprocessing.Pool(2) as pool: assert pool.map(abs, [-1, 2]) == [1, 2]\"";

static int run_command(enum sandbox_kind kind)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(kind))
		return NO_SANDBOX;
	execl("/bin/sh", "sh", "-c", command_script, NULL);
	return IS_REFUSED;
}

static void commands_lack_no_call(void **state)
{
	(void)state;
	assert_int_equal(status_of(run_command, SANDBOX_PARENT), ALL_WELL);
	assert_int_equal(status_of(run_command, SANDBOX_RUNNER), ALL_WELL);
}

#ifdef __x86_64__
/* As a 32-bit program does it. */
static long call_as_32_bit(long number)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(0), "c"(0), "d"(0)
			 : "memory");
	return (int)result;
}

/* The kernel ends the process if it has no such calls. */
static int call_32_bit(enum sandbox_kind kind)
{
	(void)kind;
	return call_as_32_bit(20 /* getpid */) == getpid() ? ALL_WELL : IS_REFUSED;
}

static int call_32_bit_sandboxed(enum sandbox_kind kind)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(kind))
		return NO_SANDBOX;
	if (call_32_bit(kind))
		return IS_REFUSED;
	return call_as_32_bit(21 /* mount */) == -EPERM ? ALL_WELL : HAS_WORKED;
}
#endif

/* A command may be a 32-bit program, and is refused the same. */
static void commands_of_32_bit_run(void **state)
{
	(void)state;
#ifdef __x86_64__
	if (status_of(call_32_bit, SANDBOX_RUNNER) != ALL_WELL)
		skip();
	assert_int_equal(status_of(call_32_bit_sandboxed, SANDBOX_PARENT), ALL_WELL);
	assert_int_equal(status_of(call_32_bit_sandboxed, SANDBOX_RUNNER), ALL_WELL);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_lack_no_call),
		cmocka_unit_test(commands_of_32_bit_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
