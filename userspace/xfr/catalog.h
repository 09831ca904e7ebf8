/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Catalog zones (RFC 9432): a list of zones in the form of a zone. Here it is read from a version
 * of the zone, compared with the one before, and written; what a zone that comes or goes means is
 * for those above.
 *
 *	version.$CATZ               TXT "2"
 *	<unique>.zones.$CATZ        PTR member.example.        one zone
 *	group.<unique>.zones.$CATZ  TXT "template"
 *	coo.<unique>.zones.$CATZ    PTR other.catalog.         may move to there
 *
 * Pure; one thread for each struct catalog that is changed. Names are wire names; those in a
 * catalog are folded.
 */
#ifndef VOLLEY_XFR_CATALOG_H
#define VOLLEY_XFR_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

#define CATALOG_UNIQUE_BYTES 32 /* of a label that we make */

struct catalog_member {
	const uint8_t *name;   /* of the zone */
	const uint8_t *unique; /* label with its length octet before it */
	const uint8_t *coo;    /* the catalog that it may go to, or NULL */
	const uint8_t *group;  /* octets, or NULL; of several the first in canonical order */
	uint8_t group_bytes;
};

/* Members by name, in the order of memcmp(). All zeros is an empty one. Owns what its members point
 * to. */
struct catalog {
	struct catalog_member *members;
	size_t n, cap;
	struct catalog_block *blocks;
};

void catalog_init(struct catalog *c);
void catalog_fini(struct catalog *c);

/*
 * Reads the catalog @z into @c, which is freed before. 0; -ENOMEM; ERR_FORMAT for one that is
 * broken (section 5.1: no version, or more than one or another; a member node or coo with more than
 * one PTR; a zone that is there twice), with a clause in @why: then @c is empty, and what was read
 * last goes on to hold. Other properties, "ext" among them, are no concern of ours.
 */
int catalog_read(struct catalog *c, const struct zone *z, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

/*
 * Or it is put together, from what a store has, say: members in any order, all of which is copied
 * (names and label are folded), then catalog_sort(). -ENOMEM; ERR_FORMAT for a name that is there
 * twice.
 */
int catalog_add(struct catalog *c, const struct catalog_member *member)
	__attribute__((warn_unused_result));
int catalog_sort(struct catalog *c) __attribute__((warn_unused_result));

/* NULL where it is no member. @name is folded. O(log n). */
const struct catalog_member *catalog_find(const struct catalog *c, const uint8_t *name);

enum catalog_change {
	CATALOG_COME,
	CATALOG_GO,
	CATALOG_RESET, /* another label: to be treated as gone and come anew (section 5.4) */
	CATALOG_GROUP, /* it or coo is another one, the zone is the same */
};

/* @before or @now is NULL where there is none. Not 0 ends it. */
typedef int catalog_visit(void *user, enum catalog_change change,
			  const struct catalog_member *before, const struct catalog_member *now);

/* What leads from @before to @now: members that go first, then the others. O(n). */
int catalog_compare(const struct catalog *before, const struct catalog *now, catalog_visit *visit,
		    void *user) __attribute__((warn_unused_result));

enum catalog_move {
	CATALOG_STAYS, /* the catalog that had it first keeps it (section 5.2) */
	CATALOG_MOVES, /* with all that is known of it */
	CATALOG_MOVES_RESET,
};

/*
 * A zone of one catalog has come in another one too, whose apex (folded) is @to: whose is it
 * (section 4.3.1)? @from: as the first catalog lists it.
 */
enum catalog_move catalog_may_move(const struct catalog_member *from, const uint8_t *to,
				   const struct catalog_member *now);

/* --- Writing ---------------------------------------------------------------------------------- */

/* A record for a zone_builder or, to add or to remove it, a zone_edit. Not 0 ends it. */
typedef int catalog_put(void *user, const uint8_t *owner, uint16_t type, uint32_t ttl,
			const uint8_t *rdata, uint16_t rdata_bytes);

/* SOA, NS, version of an empty catalog. What @put returned, or ERR_NAME_LONG. */
int catalog_put_head(const uint8_t *apex, uint32_t serial, catalog_put *put, void *user)
	__attribute__((warn_unused_result));
/* The records of a member: the PTR, group and coo where it has them. As above. */
int catalog_put_member(const uint8_t *apex, const struct catalog_member *member, catalog_put *put,
		       void *user) __attribute__((warn_unused_result));

/*
 * A label for the zone @name (folded), with its length octet: the same for the same name and @turn.
 * Another
 * @turn resets the zone at those who consume the catalog.
 */
void catalog_unique(const uint8_t *name, uint32_t turn,
		    uint8_t label[static 1 + CATALOG_UNIQUE_BYTES]);

#endif
