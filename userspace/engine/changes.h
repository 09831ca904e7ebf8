/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a reload or an edit changed in a zone, as a table to look names up in: zone_diff() once,
 * then a few nanoseconds for each name that an answer rests on (engine/affected.h).
 *
 *      name        in the table because                            changes
 *      x           x itself has other RRsets                       answers about x, records of x
 *      x, below    x came or went, or a cut or DNAME at x did      all at or below x
 *      x, wild     *.x came, went or changed                       what *.x stands for
 */
#ifndef VOLLEY_ENGINE_CHANGES_H
#define VOLLEY_ENGINE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

/*
 * More than so many names, and more than one of CHANGES_SHARE of the zone: all answers are
 * withdrawn by one store instead. The table is then some 4 MiB, of which lookups find most in the
 * processor's caches; and the answers that would be kept are few against those that are rendered
 * again.
 */
#define CHANGES_MANY_MIN 1024u
#define CHANGES_MANY_MAX 65536u
#define CHANGES_SHARE    4u

/* Why there is no table: all answers of the zone have to go. X(name, words) */
#define CHANGES_REFUSALS(X)                                                  \
	X(MANY, "too many names changed")                                    \
	X(CHAIN, "its chain of NSEC or NSEC3 is another, or does not close") \
	X(MEMORY, "out of memory")

enum changes_refusal {
	CHANGES_NO_REFUSAL,
#define CHANGES_REFUSAL(name, words) CHANGES_##name,
	CHANGES_REFUSALS(CHANGES_REFUSAL)
#undef CHANGES_REFUSAL
};

/* The words for a refusal; "" for none. */
const char *changes_refusal_text(enum changes_refusal refusal);

struct changes;

/*
 * Compares two versions of one zone; both must live as long as the result. NULL with *why where
 * the answers that change cannot be told, or not with profit. Any thread; allocates; costs what
 * zone_diff() costs.
 */
struct changes *changes_new(const struct zone *old_zone, const struct zone *new_zone,
			    enum changes_refusal *why) __attribute__((warn_unused_result));
void changes_free(struct changes *changes);

/* Names that came, went or have other RRsets. 0: nothing that an answer shows has changed. */
size_t changes_n_names(const struct changes *changes);

/* The servers of the zone changed: its NS RRset at the apex, or the signatures of it. */
bool changes_have_servers(const struct changes *changes);

/*
 * A name below the apex that has NS or DNAME records, in one of the versions, changed: what lies
 * below it may be in other hands, or not any more.
 */
bool changes_have_cuts(const struct changes *changes);

/* The SOA RRset changed, or the signatures of it. */
bool changes_have_soa(const struct changes *changes);

/*
 * Of the SOA RRset nothing changed but the serial number and the signatures, or not even these. An
 * older one is then as good in a negative answer: RFC 2308 section 5 uses its TTL and MINIMUM.
 */
bool changes_keep_soa(const struct changes *changes);

/* A name of the table, as it stands in it. */
struct changed_entry {
	const uint8_t *name; /* folded wire form; lives as long as the changes */
	bool has_rrsets;     /* changes_look() says CHANGES_SELF for it: n_types of these changed */
	bool is_below;       /* CHANGES_BELOW, at it and below it */
	bool is_wild;        /* CHANGES_BELOW for some below it */
	const uint16_t *types;
	unsigned n_types;
};

/* One after the other, from *at = 0 on; one may come twice, with a part each. False: there is no
 * more. */
bool changes_next(const struct changes *changes, size_t *at, struct changed_entry *entry);

/* A name that has other RRsets, and of which types. Signatures count to the type they cover. */
struct changed_name;
bool changed_has(const struct changed_name *name, const struct changes *changes, uint16_t type);

enum changes_verdict {
	CHANGES_NONE,  /* the way to the name is as before, and so is what is there */
	CHANGES_SELF,  /* the way is as before; *name has other RRsets */
	CHANGES_BELOW, /* whatever is asked of the name, the answer may be another */
};

/* What changed for a name (folded wire form), in the zone or not. *name is set for CHANGES_SELF.
 * Pure. */
enum changes_verdict changes_look(const struct changes *changes, const uint8_t *folded,
				  const struct changed_name **name);

#endif
