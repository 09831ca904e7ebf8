/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences that a reload or an edit made in a zone, as a table of names: zone_diff() fills
 * it once, then a look-up takes a few nanoseconds for each name that an answer depends on
 * (invalidate/affected.h).
 *
 *      name        in the table because                            changes
 *      x           x itself has other RRsets                       answers about x, records of x
 *      x, below    x, or a cut or DNAME at x, came or went         all at or below x
 *      x, wild     *.x came, went or changed                       names that *.x stands for
 */
#ifndef VOLLEY_INVALIDATE_CHANGES_H
#define VOLLEY_INVALIDATE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

/*
 * The most names that may change: one CHANGES_SHARE-th of the zone, but at least CHANGES_MANY_MIN
 * and at most CHANGES_MANY_MAX. If more changed, one store withdraws all answers of the zone
 * instead. The largest table is some 4 MiB, most of which is in the processor's caches during
 * look-ups. With more changes, few answers would be kept against those that are rendered again.
 */
#define CHANGES_MANY_MIN 1024u
#define CHANGES_MANY_MAX 65536u
#define CHANGES_SHARE    4u

/* Why there is no table. All answers of the zone have to go then. X(name, words) */
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
 * Compares two versions of one zone; both must live as long as the result. NULL with *why if the
 * changed answers cannot be found, or finding them is not worth it. Any thread; allocates; costs
 * what zone_diff() costs.
 */
struct changes *changes_new(const struct zone *old_zone, const struct zone *new_zone,
			    enum changes_refusal *why) __attribute__((warn_unused_result));
void changes_free(struct changes *changes);

/* The number of names that were added, removed or have other RRsets. 0: nothing that an answer
 * shows has changed. */
size_t changes_n_names(const struct changes *changes);

/* True if the NS RRset at the apex changed, or its signatures. */
bool changes_have_servers(const struct changes *changes);

/*
 * True if a name below the apex changed that has NS or DNAME records in one of the versions. Then
 * the names below it may belong to another zone, or to this one again.
 */
bool changes_have_cuts(const struct changes *changes);

/* True if the SOA RRset changed, or its signatures. */
bool changes_have_soa(const struct changes *changes);

/*
 * True if at most the serial number and the signatures of the SOA RRset changed. An older SOA is
 * then as good in a negative answer: RFC 2308 section 5 uses its TTL and MINIMUM.
 */
bool changes_keep_soa(const struct changes *changes);

/* An entry of the table. */
struct changed_entry {
	const uint8_t *name; /* folded wire form; lives as long as the changes */
	/* changes_look() says CHANGES_SELF for it: these n_types types changed */
	bool has_rrsets;
	bool is_below; /* CHANGES_BELOW for it and all names below it */
	bool is_wild;  /* CHANGES_BELOW for some names below it */
	const uint16_t *types;
	unsigned n_types;
};

/* The next entry, from *at = 0 on. A name may have two entries. False: there are no more. */
bool changes_next(const struct changes *changes, size_t *at, struct changed_entry *entry);

/* A name whose RRsets changed. changed_has(): true if one of this type did. Signatures count as the
 * type they cover. */
struct changed_name;
bool changed_has(const struct changed_name *name, const struct changes *changes, uint16_t type);

enum changes_verdict {
	CHANGES_NONE,  /* neither the path to the name nor the name changed */
	CHANGES_SELF,  /* the path is unchanged; *name has other RRsets */
	CHANGES_BELOW, /* any answer about the name may have changed */
};

/* What changed for a name (folded wire form), which need not be in the zone. *name is set for
 * CHANGES_SELF. Pure. */
enum changes_verdict changes_look(const struct changes *changes, const uint8_t *folded,
				  const struct changed_name **name);

#endif
