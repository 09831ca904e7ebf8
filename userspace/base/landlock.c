/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Debian 12's linux/landlock.h ends with ABI 2. */
#define GET_VERSION 1u
#define PATH_RULE   1

#define EXECUTE      (1ull << 0)
#define WRITE_FILE   (1ull << 1)
#define READ_FILE    (1ull << 2)
#define READ_FOLDER  (1ull << 3)
#define OF_ABI_1     ((1ull << 13) - 1)
#define REFER        (1ull << 13) /* ABI 2 */
#define TRUNCATE     (1ull << 14) /* ABI 3 */
#define IOCTL_DEV    (1ull << 15) /* ABI 5 */
#define MAKE_DEVICES (1ull << 6 | 1ull << 11)

#define OF_FILES (WRITE_FILE | READ_FILE | TRUNCATE)

struct path_rule {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

static uint64_t rights_of_abi(long abi)
{
	return OF_ABI_1 | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) |
	       (abi >= 5 ? IOCTL_DEV : 0);
}

static long get_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);
}

int landlock_open(void)
{
	const long abi = get_abi();
	const uint64_t handled = abi > 0 ? rights_of_abi(abi) : 0;
	long fd;

	if (abi < 0)
		return -errno;
	fd = syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	return fd < 0 ? -errno : (int)fd;
}

int landlock_allow(int rules, const char *path, enum landlock_right right)
{
	struct path_rule rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	int err = 0;

	if (rule.fd < 0)
		return -errno;
	rule.rights = right == LANDLOCK_READ ?
			      READ_FILE | READ_FOLDER :
			      rights_of_abi(get_abi()) & ~(EXECUTE | IOCTL_DEV | MAKE_DEVICES);
	if (fstat(rule.fd, &st))
		err = -errno;
	else if (!S_ISDIR(st.st_mode))
		rule.rights &= OF_FILES;
	if (!err && syscall(SYS_landlock_add_rule, rules, PATH_RULE, &rule, 0))
		err = -errno;
	close(rule.fd);
	return err;
}

int landlock_enforce(int rules)
{
	int err = syscall(SYS_landlock_restrict_self, rules, 0) ? -errno : 0;

	close(rules);
	return err;
}
