/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of an edit, shared by what changes the draft (edit.c) and what ends it (finish.c). */
#ifndef VOLLEY_ZONE_EDITING_H
#define VOLLEY_ZONE_EDITING_H

#include "zone/edit.h"
#include "zone/over.h"
#include "zone/version.h"

struct zone_edit {
	struct zone *base;
	struct over_edit over; /* with the draft */
	uint8_t *records;      /* of an RRset that is being made */
	size_t records_cap;
	int failed; /* memory ended, say: nothing but to cancel */
};

/* Frees the edit and its reference, but not the draft. */
void edit_free(struct zone_edit *e);

#endif
