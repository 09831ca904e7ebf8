/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signatures and proofs of a zone: first all of them, later those that a change touches.
 *
 *      content (unsigned) ─► sign_all() ─► signed version ─► edit + sign_edit() ─► next version ...
 *                                            ├─► sign_renew(): what will expire, what new keys need
 *                                            └─► sign_strip(): the content again
 *
 * In a signed zone, DNSKEY, CDS, CDNSKEY, RRSIG, NSEC, NSEC3 and NSEC3PARAM are the signer's. Each
 * change is an edit of a version (zone/edit.h), so its cost depends on the change, not on the zone.
 * Time is an argument. A call may come from any thread; keys are only read.
 */
#ifndef VOLLEY_SIGN_SIGN_H
#define VOLLEY_SIGN_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sign/keys.h"
#include "zone/edit.h"
#include "zone/zone.h"

/* A policy for signatures and proofs; seconds. */
struct sign_options {
	bool nsec3;
	bool opt_out;
	bool cds; /* publish CDS and CDNSKEY of keys whose DS shall go to the parent: RFC 7344 */
	uint16_t nsec3_iterations;
	uint8_t nsec3_salt[255];
	uint8_t nsec3_salt_bytes;
	uint32_t signature_s; /* from now to their end; they begin an hour before now */
	uint32_t refresh_s;   /* renewed this long before their end */
	uint32_t jitter_s; /* at most; shortens each signature, depending on its owner and type */
	uint32_t dnskey_ttl_s;
};

/*
 * Makes *@out, the content of @from signed and proved; signatures and proofs in @from are ignored.
 * Takes signatures from @before, the signed version that is served (NULL: none), if they are still
 * good and by keys that sign now. The serial number is @serial. For a background thread; starts
 * @n_threads - 1 more, which end before it returns. Ends early if *@cancel becomes true (NULL:
 * never). Returns 0, -ENOMEM, -ECANCELED, or ERR_ZONE with @err.
 */
int sign_all(const struct zone *from, const struct zone *before, const struct sign_keys *keys,
	     const struct sign_options *options, uint64_t now_s, uint32_t serial,
	     unsigned int n_threads, const bool *cancel, struct zone **out, struct zone_error *err)
	__attribute__((warn_unused_result));

/* Makes *@out, @from without the signer's types and without a ZONEMD at its apex, with this serial
 * number. Otherwise as sign_all(). */
int sign_strip(const struct zone *from, uint32_t serial, const bool *cancel, struct zone **out,
	       struct zone_error *err) __attribute__((warn_unused_result));

/* True for DNSKEY, RRSIG, NSEC and the like, which are ignored in content to be signed. Pure. */
bool sign_is_own_type(uint16_t type);

/*
 * Completes an edit of the signed version @base: signs the changes and the SOA record, and
 * completes the chain. O(change). Call it last, before zone_edit_finish(). Undoes the edit's
 * changes to the signer's own RRsets. Returns 0, -ENOMEM, -EIO, ERR_ZONE, or ERR_LIMIT: all has to
 * be signed again, because the options ask for another chain than @base has, or because the TTL of
 * its proofs, which is the SOA's, changed.
 */
int sign_edit(struct zone_edit *edit, const struct zone *base, const struct sign_keys *keys,
	      const struct sign_options *options, uint64_t now_s, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * Renews signatures in an edit of the signed version @base: those that end within refresh_s, that
 * have not begun, that are by keys which sign no more, or that are missing for keys which sign.
 * Also brings the DNSKEY, CDS and CDNSKEY RRsets to what @keys says. Begins at the name *@at (0 at
 * first; 0 again at the end of the zone), and makes at most @n_max signatures plus those of one
 * name. *@n: the number of signatures. If there were any, it raises the serial number by one; else
 * the edit changed nothing. If *@at is 0 before and after and *@n is 0, all of @base is as @keys
 * say. ERR_LIMIT as above.
 */
int sign_renew(struct zone_edit *edit, const struct zone *base, const struct sign_keys *keys,
	       const struct sign_options *options, uint64_t now_s, size_t *at, size_t n_max,
	       size_t *n, struct zone_error *err) __attribute__((warn_unused_result));

/*
 * When signatures are valid, seconds since 1970: from begin_s until end_s. 0 and UINT64_MAX: there
 * are no signatures. Times in signatures have 32 bits; they are those nearest to @now_s (RFC 4034
 * section 3.1.5). Pure.
 */
struct sign_span {
	uint64_t begin_s, end_s;
};

/* When all signatures of the zone are valid: the last begin and the first end. O(zone). */
struct sign_span sign_span(const struct zone *z, uint64_t now_s);
/* The same for the SOA record, which is signed with each change; if it has several signatures, one
 * that is valid now. O(1). */
struct sign_span sign_span_of_soa(const struct zone *z, uint64_t now_s);

static inline bool sign_span_has(const struct sign_span *span, uint64_t now_s)
{
	return span->begin_s <= now_s && now_s < span->end_s;
}

/* When the first signature is due for renewal; UINT64_MAX: there is none. Pure. */
uint64_t sign_due(const struct sign_span *span, const struct sign_options *options);

/* The longest TTL in the zone in seconds, for rollovers. O(zone). */
uint32_t sign_ttl_max(const struct zone *z);

#endif
