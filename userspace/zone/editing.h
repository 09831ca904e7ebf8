/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of an edit, shared by what changes the draft (edit.c, edit_apply.c) and what ends it
 * (finish.c). */
#ifndef VOLLEY_ZONE_EDITING_H
#define VOLLEY_ZONE_EDITING_H

#include "zone/overlay.h"
#include "zone/version.h"

struct zone_edit {
	struct zone *base;
	struct overlay_edit overlay; /* with the draft */
	uint8_t *records;            /* of an RRset that is being made */
	size_t records_cap;
	struct zone_rdata *rds; /* of a change set: records of one RRset, pointing into it */
	size_t rds_cap;
	int failed; /* memory ended, say: nothing but to cancel */
};

/*
 * Several records of one RRset, in canonical order: as zone_edit_add() of each. 1, and nothing is
 * done: one of several is there already, with whatever TTL, or is among them twice.
 */
int edit_add_all(struct zone_edit *e, const uint8_t *owner, uint16_t type, uint32_t ttl,
		 const struct zone_rdata *rds, unsigned n) __attribute__((warn_unused_result));

/* As zone_edit_remove() of each. ERR_NOT_FOUND, and nothing is done: one is not there. */
int edit_remove_all(struct zone_edit *e, const uint8_t *owner, uint16_t type,
		    const struct zone_rdata *rds, unsigned n) __attribute__((warn_unused_result));

/* Frees the edit and its reference, but not the draft. */
void edit_free(struct zone_edit *e);

#endif
