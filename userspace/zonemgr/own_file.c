/* SPDX-License-Identifier: GPL-2.0-only */
#include "zonemgr/own_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/file.h"

int own_file_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return -ENOMEM;
	if (slash && slash != folder) {
		*slash = 0;
		(void)mkdir(folder, 0755); /* the writing says what is wrong */
	}
	free(folder);
	return store_write_zone_file(z, path, cancel, why, why_cap);
}
