/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of an edit: edit.c and edit_apply.c change the draft, finish.c makes it a version. */
#ifndef VOLLEY_ZONE_EDITING_H
#define VOLLEY_ZONE_EDITING_H

#include "zone/overlay.h"
#include "zone/version.h"

struct zone_edit {
	struct zone *base;
	struct overlay_edit overlay; /* with the draft */
	uint8_t *records;            /* of the RRset that is being made */
	size_t records_cap;
	struct zone_rdata *rds; /* records of one RRset of a change set, pointing into it */
	size_t rds_cap;
	/* Octets of records that were copied, and may be: zone_edit_limit(). */
	uint64_t n_copied, copied_max;
	int failed; /* 0, or an error: the edit can only be cancelled */
};

/*
 * As zone_edit_add() for several records of one RRset, in canonical order. Returns 1 and changes
 * nothing if one of several records is there already, with any TTL, or is in @rds twice.
 */
int edit_add_all(struct zone_edit *e, const uint8_t *owner, uint16_t type, uint32_t ttl,
		 const struct zone_rdata *rds, unsigned n) __attribute__((warn_unused_result));

/*
 * As zone_edit_remove() for each record. If one is not there: ERR_NOT_FOUND, and nothing changes.
 */
int edit_remove_all(struct zone_edit *e, const uint8_t *owner, uint16_t type,
		    const struct zone_rdata *rds, unsigned n) __attribute__((warn_unused_result));

/* Frees the edit, not the draft, and gives back the reference to the base. */
void edit_free(struct zone_edit *e);

#endif
