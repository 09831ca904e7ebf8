/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_CAP 512

bool sysfs_shows_link(const char *folder, const char *ifname, unsigned int ifindex)
{
	char path[PATH_CAP], line[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/ifindex", folder, ifname);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	(void)fclose(file);
	return ifindex && strtoul(line, NULL, 10) == ifindex;
}

uint32_t sysfs_count_tx_queues(const char *folder, const char *ifname, unsigned int ifindex)
{
	const struct dirent *entry;
	char path[PATH_CAP];
	uint32_t n = 0;
	DIR *dir;

	if (!sysfs_shows_link(folder, ifname, ifindex))
		return 0;
	snprintf(path, sizeof(path), "%s/%s/queues", folder, ifname);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, "tx-", 3);
	closedir(dir);
	return n;
}
