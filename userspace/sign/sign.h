/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signatures and proofs for a zone: all of them at first, then those that a change touches.
 *
 *      content (unsigned) ─► sign_all() ─► signed version ─► edit + sign_edit() ─► next version ─► ...
 *                                                  ├─► sign_renew(): what will expire, what new keys need
 *                                                  └─► sign_strip(): content once more
 *
 * DNSKEY, CDS, CDNSKEY, RRSIG, NSEC, NSEC3 and NSEC3PARAM of such a zone are the signer's.
 * Everything is said as an edit of a version (zone/edit.h), so that what a signature costs is what
 * it is for. Time is an argument. Any one thread for each call; keys are read only.
 */
#ifndef VOLLEY_SIGN_SIGN_H
#define VOLLEY_SIGN_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sign/keys.h"
#include "zone/edit.h"
#include "zone/zone.h"

/* What a policy says of signatures and proofs; seconds. */
struct sign_options {
	bool nsec3;
	bool opt_out;
	bool cds; /* CDS and CDNSKEY of keys whose DS the parent is to take: RFC 7344 */
	uint16_t nsec3_iterations;
	uint8_t nsec3_salt[255];
	uint8_t nsec3_salt_bytes;
	uint32_t signature_s; /* from now to their end; they begin an hour before now */
	uint32_t refresh_s;   /* renewed so long before their end */
	uint32_t jitter_s;    /* at most, off the end of each, by its owner and type */
	uint32_t dnskey_ttl_s;
};

/*
 * Makes *@out: the content of @from, of which its own signatures and proofs count for nothing,
 * signed and proved. Signatures of @before, the signed version that is served (NULL: none), which
 * still hold and are by the keys that sign now, are taken over. The serial number is @serial. For a
 * background thread, and @n_threads - 1 of its own that do not outlive the call; ended soon by
 * *@cancel (NULL: never). Returns 0, -ENOMEM, -ECANCELED, ERR_ZONE with @err.
 */
int sign_all(const struct zone *from, const struct zone *before, const struct sign_keys *keys,
	     const struct sign_options *options, uint64_t now_s, uint32_t serial,
	     unsigned int n_threads, const bool *cancel, struct zone **out, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * Makes *@out: @from without what is a signer's, and without a ZONEMD at its apex, with this serial
 * number. As sign_all().
 */
int sign_strip(const struct zone *from, uint32_t serial, const bool *cancel, struct zone **out,
	       struct zone_error *err) __attribute__((warn_unused_result));

/* DNSKEY, RRSIG, NSEC and such: in content that is to be signed they count for nothing. Pure. */
bool sign_is_own_type(uint16_t type);

/*
 * Completes an edit of the signed version @base: signs what changed, with the SOA record, and
 * completes the chain. O(change). To be called last, before zone_edit_finish(). What the edit did
 * to the signer's own RRsets is undone. Returns 0, -ENOMEM, -EIO, ERR_ZONE, or ERR_LIMIT where all
 * has to be signed again: options ask for another chain than @base has, or the TTL of its proofs,
 * which is the SOA's, changed.
 */
int sign_edit(struct zone_edit *edit, const struct zone *base, const struct sign_keys *keys,
	      const struct sign_options *options, uint64_t now_s, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * Renews in an edit of the signed version @base the signatures that end within refresh_s, or have
 * not begun, or are by keys that sign no more, or are missing for keys that do, and brings the
 * DNSKEY, CDS and CDNSKEY RRsets to what
 * @keys says: names from *@at on (0 at first; 0 again when it has come to the end), at most @n_max
 * signatures and those of one name more. *@n: how many. The serial number is raised by one if there
 * were any; else the edit did nothing. Where *@at is 0 before and after and *@n is 0, all of @base
 * is as @keys say. ERR_LIMIT as above.
 */
int sign_renew(struct zone_edit *edit, const struct zone *base, const struct sign_keys *keys,
	       const struct sign_options *options, uint64_t now_s, size_t *at, size_t n_max,
	       size_t *n, struct zone_error *err) __attribute__((warn_unused_result));

/*
 * When signatures are valid, seconds since 1970: from begin_s on, and until end_s. 0 and
 * UINT64_MAX: there are none. Times in signatures have 32 bits and mean those near @now_s (RFC 4034
 * section 3.1.5). Pure.
 */
struct sign_span {
	uint64_t begin_s, end_s;
};

/* All of the zone's together: the last begin, the first end. O(zone). */
struct sign_span sign_span(const struct zone *z, uint64_t now_s);
/* That of its SOA record, which is made anew with each change; of several one that is valid.
 * O(1). */
struct sign_span sign_span_of_soa(const struct zone *z, uint64_t now_s);

static inline bool sign_span_has(const struct sign_span *span, uint64_t now_s)
{
	return span->begin_s <= now_s && now_s < span->end_s;
}

/* When the first signature is due for renewal; UINT64_MAX: there is none. Pure. */
uint64_t sign_due(const struct sign_span *span, const struct sign_options *options);

/* The longest TTL in the zone, seconds: for rollovers. O(zone). */
uint32_t sign_ttl_max(const struct zone *z);

#endif
