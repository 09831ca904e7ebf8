/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a file of trust anchors has one that validation can begin with. libunbound takes a file
 * without any, and then validates nothing, without a word: the operator has to hear of it.
 */
#ifndef VOLLEY_RESOLVER_ANCHORS_H
#define VOLLEY_RESOLVER_ANCHORS_H

#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

/*
 * Is there a usable anchor in the file, a master file of DS and DNSKEY records, at path? Usable is
 * a DS of digest type 1, 2 or 4, or a DNSKEY that is a zone key and not revoked (RFC 5011), of an
 * algorithm of RFC 8624 section 3.1 that validators implement. 0; ERR_CONFIG with a clause in why
 * of cap octets: what the file has, and what is missing; or -errno of regular_fopen(). Reads the
 * file. Any thread.
 */
int anchors_check(const char *path, char *why, size_t cap) __attribute__((warn_unused_result));

#define ANCHORS_SHOWN    8
#define ANCHORS_TEXT_CAP 64

/* Usable anchors of one owner, for people. */
struct anchors_at {
	uint8_t owner[NAME_FOLDED_BYTES]; /* folded */
	unsigned int n;                   /* of that owner; the first ANCHORS_SHOWN have a text */
	char texts[ANCHORS_SHOWN]
		  [ANCHORS_TEXT_CAP]; /* "DS 20326 8 2", "DNSKEY 20326 8": tag, algorithm, digest type */
};

/*
 * The anchors in the file at path that hold for a folded name: those of the deepest owner that is
 * the name or above it. 0, out->n may be 0; ERR_ZONE: the file is no master file; or -errno of
 * regular_fopen(). Reads the file. Any thread.
 */
int anchors_find(const char *path, const uint8_t *folded, struct anchors_at *out)
	__attribute__((warn_unused_result));

#endif
