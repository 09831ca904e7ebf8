/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between two versions of a zone, so that only the answers that changed are withdrawn.
 * Where one came from the other by edits, the names that these touched are looked at; else both are
 * walked once in canonical order.
 */
#ifndef VOLLEY_ZONE_DIFF_H
#define VOLLEY_ZONE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "zone/zone.h"

enum zone_change_kind {
	ZONE_CHANGE_ADDED,   /* the name is new (perhaps as an empty non-terminal) */
	ZONE_CHANGE_REMOVED, /* the name went */
	ZONE_CHANGE_RRSETS,  /* the name stayed; RRsets, TTLs or signatures differ */
};

struct zone_change {
	enum zone_change_kind kind;
	const uint8_t *owner; /* folded wire; valid during the call */
	unsigned owner_bytes;
	const struct zone_node *old_node; /* NULL when added */
	const struct zone_node *new_node; /* NULL when removed */
	/*
	 * Negative answers of other names change: a name came or went, or its NSEC or NSEC3 did.
	 * They lie between its neighbours in canonical order; with NSEC3, anywhere in the zone.
	 */
	bool negatives;
	/*
	 * Answers of any name below @below may differ: a cut (its NS or DS) or a DNAME at it came,
	 * went or changed; it came or went itself, which hides or bares wildcards; or a wildcard
	 * below it did or changed.
	 */
	bool subtree;
	/* folded wire: the owner, or its parent when the owner is a wildcard */
	const uint8_t *below;
	unsigned below_bytes;
	/* At the apex: what other answers carry. */
	bool soa; /* every negative answer */
	bool ns;  /* the authority section of positive answers */
};

/* Returns 0 to go on; anything else ends the walk and is returned by zone_diff(). */
typedef int zone_diff_visit(void *context, const struct zone_change *change);

/*
 * Calls @visit for each name that differs, in canonical order. Both snapshots have the same apex
 * (-EINVAL otherwise). Letter case and order in the file are no difference. An RRset that differs
 * is reported at its owner only: answers that carry it in their additional section or at the end of
 * a chain of aliases are the caller's to find. Glue is reported like any other name. Allocates for
 * edits; O(names touched) then, else O(names).
 * Returns 0 or what @visit returned.
 */
int zone_diff(const struct zone *old_zone, const struct zone *new_zone, zone_diff_visit *visit,
	      void *context);

/* Are the records the same, letter case of embedded names and TTL included or not? Pure. */
bool zone_rrset_equal(const struct zone *za, const struct zone_rrset *a, const struct zone *zb,
		      const struct zone_rrset *b);

#endif
