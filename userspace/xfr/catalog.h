/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Catalog zones (RFC 9432): a list of zones in the form of a zone. This module reads a catalog from
 * a version of its zone, compares it with an earlier one, and writes it. The floors above decide
 * what to do with a zone that comes or goes.
 *
 *	version.$CATZ               TXT "2"
 *	<unique>.zones.$CATZ        PTR member.example.        one zone
 *	group.<unique>.zones.$CATZ  TXT "template"
 *	coo.<unique>.zones.$CATZ    PTR other.catalog.         may move to this catalog
 *
 * Pure. Only one thread at a time may change a struct catalog. Names are wire names; names in a
 * catalog are folded.
 */
#ifndef VOLLEY_XFR_CATALOG_H
#define VOLLEY_XFR_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

#define CATALOG_UNIQUE_BYTES 32 /* length of a label that we make */

struct catalog_member {
	const uint8_t *name;   /* of the zone */
	const uint8_t *unique; /* label with its length octet before it */
	const uint8_t *coo;    /* the catalog that the zone may move to, or NULL */
	/* octets, or NULL; of several groups, the first in canonical order */
	const uint8_t *group;
	uint8_t group_bytes;
};

/* Members in the order of memcmp() of their names, and their octets. All zeros: empty. */
struct catalog {
	struct catalog_member *members;
	size_t n, cap;
	struct catalog_block *blocks;
};

void catalog_init(struct catalog *c);
void catalog_fini(struct catalog *c);

/*
 * Reads the catalog @z into @c, whose old content is freed first. Returns 0, -ENOMEM, or ERR_FORMAT
 * if the catalog is broken (section 5.1: it has no version, more than one or an unknown one; a
 * member node or coo has more than one PTR; a zone is listed twice). With ERR_FORMAT, @why says
 * what is wrong, @c is empty, and the caller keeps the catalog that it read before. Other
 * properties, such as "ext", are ignored.
 */
int catalog_read(struct catalog *c, const struct zone *z, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

/*
 * Builds a catalog from members, for example those in a store: catalog_add() for each member in any
 * order, then catalog_sort(). All is copied; names and labels are folded. -ENOMEM; ERR_FORMAT if a
 * name is listed twice.
 */
int catalog_add(struct catalog *c, const struct catalog_member *member)
	__attribute__((warn_unused_result));
int catalog_sort(struct catalog *c) __attribute__((warn_unused_result));

/* NULL if the zone is no member. @name is folded. O(log n). */
const struct catalog_member *catalog_find(const struct catalog *c, const uint8_t *name);

enum catalog_change {
	CATALOG_COME,
	CATALOG_GO,
	CATALOG_RESET, /* another label: treat the zone as removed and added again (section 5.4) */
	CATALOG_GROUP, /* the group or coo has changed, the zone stays */
};

/* @before is NULL for a new member, @now for one that is gone. Not 0 ends the comparison. */
typedef int catalog_visit(void *user, enum catalog_change change,
			  const struct catalog_member *before, const struct catalog_member *now);

/* Visits the changes from @before to @now: first the members that are gone, then the others.
 * Returns 0 or the value that ended it. O(n). */
int catalog_compare(const struct catalog *before, const struct catalog *now, catalog_visit *visit,
		    void *user) __attribute__((warn_unused_result));

enum catalog_move {
	CATALOG_STAYS, /* the first catalog keeps the zone (section 5.2) */
	CATALOG_MOVES, /* the zone keeps its state */
	CATALOG_MOVES_RESET,
};

/*
 * Decides which catalog has a zone that two catalogs list (section 4.3.1). @from is the member in
 * the first catalog, @now in the other one, whose apex (folded) is @to.
 */
enum catalog_move catalog_may_move(const struct catalog_member *from, const uint8_t *to,
				   const struct catalog_member *now);

/* --- Writing ---------------------------------------------------------------------------------- */

/* Takes one record: for a zone_builder, or for a zone_edit that adds or removes it. A return value
 * other than 0 ends the writing. */
typedef int catalog_put(void *user, const uint8_t *owner, uint16_t type, uint32_t ttl,
			const uint8_t *rdata, uint16_t rdata_bytes);

/* Writes SOA, NS and version. Returns what @put returned, or ERR_NAME_LONG. */
int catalog_put_head(const uint8_t *apex, uint32_t serial, catalog_put *put, void *user)
	__attribute__((warn_unused_result));
/* Writes the records of a member: its PTR, group and coo. Returns the same. */
int catalog_put_member(const uint8_t *apex, const struct catalog_member *member, catalog_put *put,
		       void *user) __attribute__((warn_unused_result));

/*
 * Makes a label for the zone @name (folded), with its length octet. The same name and @turn give
 * the same label. Another @turn makes consumers of the catalog reset the zone.
 */
void catalog_unique(const uint8_t *name, uint32_t turn,
		    uint8_t label[static 1 + CATALOG_UNIQUE_BYTES]);

#endif
