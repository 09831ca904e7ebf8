/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dns/name.h"
#include "zone/edit.h"
#include "zone/editing.h"

int zone_edit_touched(const struct zone_edit *e, uint8_t **names, size_t *n_bytes)
{
	struct name_list list;
	uint8_t *noted, *at;
	size_t n;
	int err;

	*names = NULL;
	*n_bytes = 0;
	if (!version_touched(e->overlay.z, &noted, &n))
		return -ENOMEM;
	err = name_list_make(&list, noted, n);
	at = err ? NULL : malloc(n + 1);
	for (size_t i = 0; at && i < list.n; i++) {
		size_t bytes = name_bytes(list.names[i]);

		memcpy(at + *n_bytes, list.names[i], bytes);
		*n_bytes += bytes;
	}
	*names = at;
	if (!err)
		name_list_free(&list);
	free(noted);
	return at ? 0 : -ENOMEM;
}
