/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between two versions of a zone, so that only the answers that changed are
 * withdrawn. If edits made one version from the other, only the names that they touched are
 * compared. Otherwise both are walked once in canonical order.
 */
#ifndef VOLLEY_ZONE_DIFF_H
#define VOLLEY_ZONE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/changeset.h"
#include "zone/zone.h"

enum zone_change_kind {
	ZONE_CHANGE_ADDED,   /* the name is new (perhaps as an empty non-terminal) */
	ZONE_CHANGE_REMOVED, /* the name is gone */
	ZONE_CHANGE_RRSETS,  /* the name stayed; RRsets, TTLs or signatures differ */
};

struct zone_change {
	enum zone_change_kind kind;
	const uint8_t *owner; /* folded wire; valid during the call */
	unsigned owner_bytes;
	const struct zone_node *old_node; /* NULL when added */
	const struct zone_node *new_node; /* NULL when removed */
	/*
	 * Negative answers of other names may differ: the name came or went, or its NSEC or NSEC3
	 * came, went or changed. These names lie between its neighbours in canonical order; with
	 * NSEC3, anywhere in the zone.
	 */
	bool negatives;
	/*
	 * Answers of any name below @below may differ: its NS or DS (a cut) or its DNAME came, went
	 * or changed; the name itself came or went, which hides or shows wildcards; or a wildcard
	 * right below it came, went or changed.
	 */
	bool subtree;
	/* folded wire: the owner, or its parent when the owner is a wildcard */
	const uint8_t *below;
	unsigned below_bytes;
	/* At the apex: records that other answers carry. */
	bool soa; /* every negative answer */
	bool ns;  /* the authority section of positive answers */
};

/* Returns 0 to go on; anything else ends the walk and is returned by zone_diff(). */
typedef int zone_diff_visit(void *context, const struct zone_change *change);

/*
 * Calls @visit for each name that differs, in canonical order. Both versions must have the same
 * apex (else -EINVAL). Letter case and order in the file are no difference. An RRset that differs
 * is reported at its owner only: the caller must find the answers that carry it in their additional
 * section or at the end of a chain of aliases. Glue is reported like any other name. After edits it
 * allocates and takes O(names touched), else O(names). Returns 0 or the value that @visit returned.
 */
int zone_diff(const struct zone *old_zone, const struct zone *new_zone, zone_diff_visit *visit,
	      void *context);

/*
 * True if type, TTL and records are the same, without regard to the letter case of embedded names;
 * also if both RRsets are NULL. Pure.
 */
bool zone_rrset_equal(const struct zone *za, const struct zone_rrset *a, const struct zone *zb,
		      const struct zone_rrset *b);

/* The difference between two versions of a zone as records, for the journal. */

#define ZONE_DIFFERENCE_MAX (256u << 20) /* octets: above this an IXFR is of no use */

/*
 * Empties @net and adds to it, in the form of an IXFR, the records to remove from @old_zone and to
 * add to it to make @new_zone. Any thread; as zone_diff(). Returns 0, or with @net empty: ERR_LIMIT
 * for more than @max_bytes octets or for two versions with the same SOA, -EINVAL, -ENOMEM.
 */
int zone_difference(const struct zone *old_zone, const struct zone *new_zone, size_t max_bytes,
		    struct changeset *net) __attribute__((warn_unused_result));

#endif
