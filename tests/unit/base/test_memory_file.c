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

/* Not by its descriptor, and not by another that is opened by its name. */
static void nobody_changes_what_is_sealed(void **state)
{
	int fd = memory_file_open("test", MFD_ALLOW_SEALING), other;
	char path[32];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "octets", 6), 6);
	assert_false(memory_file_is_sealed(fd));
	assert_int_equal(memory_file_seal(fd), 0);
	assert_true(memory_file_is_sealed(fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_RDWR | O_CLOEXEC);
	assert_true(other >= 0);
	assert_true(pwrite(fd, "other!", 6, 0) < 0 && pwrite(other, "other!", 6, 0) < 0);
	assert_true(ftruncate(other, 0) < 0 && ftruncate(other, 8192) < 0);
	assert_true(fcntl(other, F_ADD_SEALS, F_SEAL_SHRINK) < 0);
	close(other);
	close(fd);
}

/* Without MFD_ALLOW_SEALING, and a file that is none in memory. */
static void other_files_are_not_sealed(void **state)
{
	int fd = memfd_create("test", MFD_CLOEXEC), null = open("/proc/self/cmdline", O_RDONLY);

	(void)state;
	assert_true(fd >= 0 && null >= 0);
	assert_true(memory_file_seal(fd) < 0 && memory_file_seal(null) < 0);
	assert_false(memory_file_is_sealed(fd));
	assert_false(memory_file_is_sealed(null));
	assert_false(memory_file_is_sealed(-1));
	close(null);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_executes_it),
		cmocka_unit_test(it_can_be_sealed),
		cmocka_unit_test(nobody_changes_what_is_sealed),
		cmocka_unit_test(other_files_are_not_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
