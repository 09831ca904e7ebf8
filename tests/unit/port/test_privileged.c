/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that this process may not make, and the helper that is asked then. */
#include "port/privileged.h"

#include <arpa/inet.h>
#include <cap-ng.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/must.h"

#define HELPERS_CODE -ENOTNAM /* none of the kernel's */

static struct {
	unsigned int n;
	int fd;
	struct port_addr addr;
	uint32_t n_bytes;
} asked;

static int note_bind(int fd, const struct port_addr *addr)
{
	asked.n++;
	asked.fd = fd;
	asked.addr = *addr;
	return HELPERS_CODE;
}

static int note_buffer(int fd, uint32_t n_bytes)
{
	asked.n++;
	asked.fd = fd;
	asked.n_bytes = n_bytes;
	return 0;
}

static const struct port_helper helper = { .bind = note_bind, .force_buffer = note_buffer };

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0);
	memset(&asked, 0, sizeof(asked));
	return fd;
}

static unsigned int read_limit(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int value = 0;

	MUST(file && fscanf(file, "%u", &value) == 1);
	fclose(file);
	return value;
}

static struct port_addr at_port(uint16_t port)
{
	return port_addr_make(AF_INET, (const uint8_t[]){ 127, 0, 0, 1 }, htons(port));
}

static void test_a_port_that_this_process_may_not_bind(void **state)
{
	const struct port_addr addr = at_port(1);
	int fd = new_socket();

	(void)state;
	if (!read_limit("/proc/sys/net/ipv4/ip_unprivileged_port_start"))
		skip();
	port_set_helper(NULL);
	assert_int_equal(port_bind(fd, &addr), -EACCES);
	port_set_helper(&helper);
	assert_int_equal(port_bind(fd, &addr), HELPERS_CODE);
	assert_int_equal(asked.n, 1);
	assert_int_equal(asked.fd, fd);
	assert_true(port_addr_is_same(&asked.addr, &addr));
	close(fd);
}

static void test_other_errors_are_the_callers(void **state)
{
	struct port_addr addr = at_port(0);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int first = new_socket(), second = new_socket();

	(void)state;
	port_set_helper(&helper);
	assert_int_equal(port_bind(first, &addr), 0);
	MUST(!getsockname(first, (struct sockaddr *)&ss, &len));
	MUST(!port_addr_from_sockaddr(&addr, (struct sockaddr *)&ss));
	assert_int_equal(port_bind(second, &addr), -EADDRINUSE);
	assert_int_equal(asked.n, 0);
	close(first);
	close(second);
}

static int buffer_of(int fd)
{
	int value = 0;
	socklen_t len = sizeof(value);

	MUST(!getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &len));
	return value;
}

static void test_a_buffer_beyond_the_limit(void **state)
{
	const uint32_t max = read_limit("/proc/sys/net/core/rmem_max");
	int fd = new_socket();

	(void)state;
	port_set_helper(&helper);
	port_set_buffer(fd, max);
	assert_int_equal(asked.n, 0);
	assert_int_equal(buffer_of(fd), 2 * max);
	port_set_buffer(fd, max + 4096);
	assert_int_equal(asked.n, 1);
	assert_int_equal(asked.fd, fd);
	assert_int_equal(asked.n_bytes, max + 4096);
	port_set_helper(NULL);
	port_set_buffer(fd, max + 8192); /* as much as the system allows */
	assert_int_equal(buffer_of(fd), 2 * max);
	assert_int_equal(port_force_buffer(fd, max + 4096), -EPERM);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_that_this_process_may_not_bind),
		cmocka_unit_test(test_other_errors_are_the_callers),
		cmocka_unit_test(test_a_buffer_beyond_the_limit),
	};

	capng_clear(CAPNG_SELECT_CAPS);
	MUST(!capng_apply(CAPNG_SELECT_CAPS));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
