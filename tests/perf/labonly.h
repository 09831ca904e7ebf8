/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load must never leave by an interface of the host: a generator runs only in a named namespace
 * (ip-netns(8)). */
#ifndef VOLLEY_TESTS_PERF_LABONLY_H
#define VOLLEY_TESTS_PERF_LABONLY_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#define LABONLY_NETNS_DIR "/run/netns"

/* Whether this process is in a named network namespace. False if that cannot be found out. */
static inline bool labonly_is_lab(void)
{
	DIR *names = opendir(LABONLY_NETNS_DIR);
	struct stat mine, named;
	struct dirent *entry;
	bool found = false;

	if (names && !stat("/proc/self/ns/net", &mine)) {
		while (!found && (entry = readdir(names)))
			found = !fstatat(dirfd(names), entry->d_name, &named, 0) &&
				named.st_ino == mine.st_ino && named.st_dev == mine.st_dev;
	}
	if (names)
		closedir(names);
	return found;
}

#endif
