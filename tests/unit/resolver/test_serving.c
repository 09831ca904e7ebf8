/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The resolver's process, started by another server than its own. */
#include "resolver/serving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "resolver/shared_memory.h"

/* The first message, with an empty memory file. */
static void say_hello(int socket_fd, const struct shared_hello *hello)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)hello, sizeof(*hello) };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = memfd_create("hello", MFD_CLOEXEC);

	assert_true(fd >= 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	assert_int_equal(sendmsg(socket_fd, &msg, 0), sizeof(*hello));
	close(fd);
}

static struct shared_started answer_to(const struct shared_hello *hello)
{
	struct shared_started started;
	int ends[2], status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	say_hello(ends[0], hello);
	pid = fork();
	if (!pid)
		_exit(serve_run(ends[1]));
	close(ends[1]);
	assert_true(pid > 0);
	assert_int_equal(recv(ends[0], &started, sizeof(started), 0), sizeof(started));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
	close(ends[0]);
	return started;
}

static void another_build_is_refused(void **state)
{
	struct shared_hello hello = { .version = "99.0", .sizes = { .n_threads = 1 } };
	struct shared_started started = answer_to(&hello);

	(void)state;
	assert_int_equal(started.code, ERR_CONFIG);
	assert_string_equal(started.err, "volley-resolver is " VOLLEY_VERSION
					 ", and volleyd is 99.0: install both from one package");
}

/* Another layout of the same version: the file has not the size that follows from the sizes. */
static void another_layout_is_refused(void **state)
{
	struct shared_hello hello = { .version = VOLLEY_VERSION, .sizes = { .n_threads = 1 } };

	(void)state;
	assert_true(answer_to(&hello).code < 0);
	hello.sizes.n_threads = RESOLVER_THREADS_MAX + 1;
	assert_true(answer_to(&hello).code < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_build_is_refused),
		cmocka_unit_test(another_layout_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
