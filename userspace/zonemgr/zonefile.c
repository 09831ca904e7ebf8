/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/zonefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/store.h"

int zonefile_write(const struct zone *z, const char *path, const bool *cancel, char *why,
		   size_t why_cap)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return -ENOMEM;
	if (slash && slash != folder) {
		*slash = 0;
		(void)mkdir(folder, 0755); /* the write reports an error */
	}
	free(folder);
	return store_write_zone_file(z, path, cancel, why, why_cap);
}

void zonefile_mark_read(const char *path, struct zonefile_mark *mark)
{
	struct stat st;

	*mark = (struct zonefile_mark){ 0 };
	if (stat(path, &st))
		return;
	mark->device = st.st_dev;
	mark->number = st.st_ino;
	mark->n_bytes = (uint64_t)st.st_size;
	mark->changed = st.st_mtim;
}

bool zonefile_is_other(const char *path, const struct zonefile_mark *mark)
{
	struct zonefile_mark now;

	zonefile_mark_read(path, &now);
	return now.number &&
	       (now.device != mark->device || now.number != mark->number ||
		now.n_bytes != mark->n_bytes || now.changed.tv_sec != mark->changed.tv_sec ||
		now.changed.tv_nsec != mark->changed.tv_nsec);
}
