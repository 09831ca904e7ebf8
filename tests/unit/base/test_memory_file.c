/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in memory, also on hosts that refuse those that could be executed. */
#include "base/files.h"

#include <fcntl.h>
#include <linux/version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#define SEAL_EXEC 0x0020 /* F_SEAL_EXEC, Linux 6.3 */

static bool knows_seal(void)
{
	struct utsname name;
	int major, minor;

	assert_int_equal(uname(&name), 0);
	assert_int_equal(sscanf(name.release, "%d.%d", &major, &minor), 2);
	return KERNEL_VERSION(major, minor, 0) >= KERNEL_VERSION(6, 3, 0);
}

static void nobody_executes_it(void **state)
{
	int fd = memory_file_open("test", 0), seals;
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "octets", 6), 6);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	seals = fcntl(fd, F_GET_SEALS);
	assert_int_equal(fstat(fd, &st), 0);
	if (knows_seal()) {
		assert_int_equal(seals, SEAL_EXEC);
		assert_int_equal(st.st_mode & 0111, 0);
	}
	close(fd);
}

/* The caller's seals are possible, too. */
static void it_can_be_sealed(void **state)
{
	int fd = memory_file_open("test", MFD_ALLOW_SEALING);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_true(ftruncate(fd, 0) < 0 && ftruncate(fd, 8192) < 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_executes_it),
		cmocka_unit_test(it_can_be_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
