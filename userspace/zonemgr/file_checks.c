/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/file_checks.h"

#include <stdlib.h>
#include <string.h>

#define PATH_GUESS 64 /* octets of a usual path */

struct file_checks *file_checks_new(void)
{
	struct file_checks *checks = malloc(sizeof(*checks));

	if (!checks)
		return NULL;
	checks->next = NULL;
	checks->n = 0;
	checks->n_bytes = 0;
	checks->cap = FILE_CHECKS_MAX * PATH_GUESS;
	checks->paths = malloc(checks->cap);
	if (checks->paths)
		return checks;
	free(checks);
	return NULL;
}

void file_checks_free(struct file_checks *checks)
{
	if (!checks)
		return;
	free(checks->paths);
	free(checks);
}

bool file_checks_add(struct file_checks *checks, struct zones_entry *entry, const char *path,
		     const struct zonefile_mark *mark)
{
	const size_t n = strlen(path) + 1;
	char *grown;

	if (checks->n == FILE_CHECKS_MAX)
		return false;
	if (checks->cap - checks->n_bytes < n) {
		grown = realloc(checks->paths, 2 * checks->cap + n);
		if (!grown)
			return false;
		checks->paths = grown;
		checks->cap = 2 * checks->cap + n;
	}
	memcpy(checks->paths + checks->n_bytes, path, n);
	checks->list[checks->n++] = (struct file_check){ entry, *mark, checks->n_bytes, false };
	checks->n_bytes += n;
	return true;
}

void file_checks_run(struct file_checks *checks, const bool *cancel)
{
	for (uint32_t i = 0; i < checks->n && !__atomic_load_n(cancel, __ATOMIC_RELAXED); i++) {
		struct file_check *check = &checks->list[i];

		check->is_changed =
			!zonefile_is_unchanged(checks->paths + check->path, &check->mark);
	}
}
