/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies changes to a version of a zone. The result is a new, immutable version that shares all
 * unchanged parts with the old one. Time and memory depend on the size of the change, not on that
 * of the zone (zone/overlay.h says how).
 *
 *	version k ──edit──► k + 1 ──edit──► k + 2        readers keep theirs until they give it back
 *	    └───────────────┴───────────────┴── one image, and an overlay of each version
 *
 * Only the first successor of a version is cheap: an edit of a version that has a successor already
 * ends with a copy of the whole zone. One thread per edit; any thread may read the versions.
 */
#ifndef VOLLEY_ZONE_EDIT_H
#define VOLLEY_ZONE_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

struct changeset;
struct zone_edit;

/* Takes a reference on @base. Returns 0 or -ENOMEM. */
int zone_edit_begin(struct zone_edit **out, struct zone *base) __attribute__((warn_unused_result));

/*
 * Lets the next calls copy at most so many octets of records: then they return ERR_LIMIT. Each
 * change of an RRset copies all records of its name, so without a limit many changes of a large
 * RRset, one by one, take a time that grows with the square of their number.
 */
void zone_edit_limit(struct zone_edit *e, uint64_t n_bytes);

/*
 * Adds one record: @owner is a checked wire name, any case; @rdata is uncompressed wire. The TTL
 * becomes that of the whole RRset (RFC 2181 section 5.2). The TTL of signatures is ignored, since
 * they are sent with the TTL of the RRset that they cover. Rules about more than one record are
 * checked at the end.
 *
 * Returns 0; 1 if the record was there already with this TTL; ERR_ZONE for a record that
 * zone_builder_add() refuses; ERR_LIMIT; -ENOMEM. After -ENOMEM or ERR_LIMIT the edit can only be
 * cancelled.
 */
int zone_edit_add(struct zone_edit *e, const uint8_t *owner, uint16_t type, uint32_t ttl,
		  const uint8_t *rdata, uint16_t rdata_bytes) __attribute__((warn_unused_result));

/* Removes one record, without regard to its TTL. ERR_NOT_FOUND if it is not there; -ENOMEM. */
int zone_edit_remove(struct zone_edit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata,
		     uint16_t rdata_bytes) __attribute__((warn_unused_result));

/* Removes all records of a type, or of a name. ERR_NOT_FOUND if there are none; -ENOMEM. */
int zone_edit_remove_rrset(struct zone_edit *e, const uint8_t *owner, uint16_t type)
	__attribute__((warn_unused_result));
int zone_edit_remove_name(struct zone_edit *e, const uint8_t *owner)
	__attribute__((warn_unused_result));

/*
 * The zone as edited so far, for lookups by this thread: valid until the next call with @e. It may
 * break rules of a finished zone: for example, it may have no SOA, or two. Its digest and number of
 * records are those of the base. zone_denial() must not be called for it.
 */
const struct zone *zone_edit_view(struct zone_edit *e);

/*
 * The names (folded wire) that the edit has touched so far, each once, in canonical order, one
 * after the other in *@names, which the caller frees; *@n_bytes octets. A signer needs them to
 * complete an edit. Returns 0; -ENOMEM, also if there were too many names to note.
 */
int zone_edit_touched(const struct zone_edit *e, uint8_t **names, size_t *n_bytes)
	__attribute__((warn_unused_result));

/*
 * Applies a whole change set, strictly: ERR_ZONE, with @err filled in, if a record to remove is not
 * there, a record to add is there already, or the first SOA is not that of the zone. After an error
 * the edit can only be cancelled; a secondary falls back to AXFR. An RRset is copied once for all
 * its records that follow each other.
 */
int zone_edit_apply(struct zone_edit *e, const struct changeset *changes, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * Makes the version *@out, which the caller owns, and frees the edit in every case. The changes are
 * checked by the rules of zone_load(), except ZONEMD: its digest is not verified again, since
 * that would take O(zone). @net, unless NULL, becomes the real difference to the base: the old SOA,
 * the removed records, the new SOA, the added records, with signatures under the TTL of the RRset
 * that they cover. It is empty if nothing changed. The serial number need not be higher.
 *
 * O(change). O(zone) if the zone gets or loses a chain, or changes its kind or its NSEC3
 * parameters, and if the base has a successor: then the result is an image of its own.
 *
 * Returns 0, -ENOMEM, or ERR_ZONE with @err filled in.
 */
int zone_edit_finish(struct zone_edit *e, struct zone **out, struct changeset *net,
		     struct zone_error *err) __attribute__((warn_unused_result));

void zone_edit_cancel(struct zone_edit *e); /* NULL is allowed */

/*
 * Makes an image of a version, with the same content and digest: for a thread in the background,
 * when the overlay has grown. The image begins a new family of versions, so the caller must apply
 * to it the changes made in the meantime. Ends with -ECANCELED soon after *@cancel (NULL: never)
 * has become true. Returns 0, -ENOMEM, or ERR_ZONE.
 */
int zone_compact(const struct zone *z, const bool *cancel, struct zone **out,
		 struct zone_error *err) __attribute__((warn_unused_result));

/* The memory of the overlay of this version, and the number of names in it. */
size_t zone_overlay_bytes(const struct zone *z);
size_t zone_overlay_names(const struct zone *z);

#endif
