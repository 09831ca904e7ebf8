/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A change set applied to a version of a zone: the result is a new, immutable version that shares
 * with the old one all that is as before. Time and memory are those of the change, whatever the
 * size of the zone (zone/overlay.h says how).
 *
 *	version k ──edit──► k + 1 ──edit──► k + 2        readers stay on theirs until they let go
 *	    └───────────────┴───────────────┴── one frozen image, and of each an overlay
 *
 * Each version has one successor at most for nothing: an edit of one that has a successor already
 * ends with a copy of the whole zone. One thread per edit; the versions are for any thread.
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
 * Adds one record: @owner is a checked wire name, any case; @rdata is uncompressed wire. The TTL
 * holds for all of the RRset from now on (RFC 2181 section 5.2); that of signatures counts for
 * nothing, since they are sent with that of what they cover. Rules that concern more than the
 * record are checked at the end.
 *
 * Returns 0; 1 if it was there already with this TTL; ERR_ZONE for a record that
 * zone_builder_add() would refuse; ERR_LIMIT; -ENOMEM. After -ENOMEM or ERR_LIMIT the edit can only
 * be cancelled.
 */
int zone_edit_add(struct zone_edit *e, const uint8_t *owner, uint16_t type, uint32_t ttl,
		  const uint8_t *rdata, uint16_t rdata_bytes) __attribute__((warn_unused_result));

/* Removes one record; its TTL does not count. ERR_NOT_FOUND if it is not there; -ENOMEM. */
int zone_edit_remove(struct zone_edit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata,
		     uint16_t rdata_bytes) __attribute__((warn_unused_result));

/* Removes all records of a type, or of a name. ERR_NOT_FOUND where there are none; -ENOMEM. */
int zone_edit_remove_rrset(struct zone_edit *e, const uint8_t *owner, uint16_t type)
	__attribute__((warn_unused_result));
int zone_edit_remove_name(struct zone_edit *e, const uint8_t *owner)
	__attribute__((warn_unused_result));

/*
 * The zone as edited so far, for lookups by this thread: valid until the next call with @e. Between
 * two edits it may break a rule that a finished zone keeps: no SOA, say, or two. Its digest and
 * number of records are those of the base, and it is not asked for proofs (zone_denial()).
 */
const struct zone *zone_edit_view(struct zone_edit *e);

/*
 * The names (folded wire) that the edit has touched so far, each once, in canonical order, one
 * behind the other in *@names, which the caller frees; *@n_bytes octets. For who completes an edit:
 * a signer. Returns 0; -ENOMEM, also where there were too many to be noted.
 */
int zone_edit_touched(const struct zone_edit *e, uint8_t **names, size_t *n_bytes)
	__attribute__((warn_unused_result));

/*
 * All of a change set, strictly: to remove what is not there, or to add what is, is ERR_ZONE, and
 * so is a first SOA that is not the zone's. @err is filled in. After an error the edit can only be
 * cancelled; a secondary falls back to AXFR. An RRset is copied once for all records of it that
 * follow each other.
 */
int zone_edit_apply(struct zone_edit *e, const struct changeset *changes, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * Makes the version *@out, which the caller owns, and frees the edit in every case. What changed is
 * checked by the rules of zone_load_file(), but for ZONEMD, whose digest would cost the whole zone:
 * it is not verified again. @net, unless NULL, is emptied and gets what really changed against the
 * base: the old SOA, what went, the new SOA, what came; empty when nothing did (signatures with the
 * TTL of what they cover). It is not asked for that the serial number has grown.
 *
 * O(change); but O(zone) where the zone gets, loses or changes its kind of chain or the parameters
 * of NSEC3, and for a base that has a successor: then the result is a frozen image of its own.
 *
 * Returns 0, -ENOMEM, or ERR_ZONE with @err filled in.
 */
int zone_edit_finish(struct zone_edit *e, struct zone **out, struct changeset *net,
		     struct zone_error *err) __attribute__((warn_unused_result));

void zone_edit_cancel(struct zone_edit *e); /* NULL is allowed */

/*
 * A version as one frozen image again, of the same content and digest: for a thread in the
 * background, when the overlay has grown. Edits of the image begin a new line of versions: what was
 * changed in the meantime is applied to it by the caller. Ends with -ECANCELED soon after *@cancel
 * (NULL: never) has become true. Returns 0, -ENOMEM, or ERR_ZONE.
 */
int zone_compact(const struct zone *z, const bool *cancel, struct zone **out,
		 struct zone_error *err) __attribute__((warn_unused_result));

/* What the overlay of this version takes, and how many names it has in place of the image's. */
size_t zone_overlay_bytes(const struct zone *z);
size_t zone_overlay_names(const struct zone *z);

#endif
