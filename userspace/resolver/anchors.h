/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that a file of trust anchors has at least one usable anchor. libunbound accepts a file
 * without any, and then validates nothing and reports nothing. So the operator must be told.
 */
#ifndef VOLLEY_RESOLVER_ANCHORS_H
#define VOLLEY_RESOLVER_ANCHORS_H

#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

/*
 * Checks that the master file at path, with DS and DNSKEY records, has a usable anchor. Usable are
 * a DS of digest type 1, 2 or 4, and a DNSKEY that is a zone key and not revoked (RFC 5011), if
 * their algorithm is one of RFC 8624 section 3.1 that validators implement. Returns 0; ERR_CONFIG
 * with a clause in why (cap octets) that says what the file has and what is missing; or -errno of
 * regular_fopen(). Any thread.
 */
int anchors_check(const char *path, char *why, size_t cap) __attribute__((warn_unused_result));

#define ANCHORS_SHOWN    8
#define ANCHORS_TEXT_CAP 64

/* Usable anchors of one owner, for people. */
struct anchors_at {
	uint8_t owner[NAME_FOLDED_BYTES]; /* folded */
	unsigned int n;                   /* the first ANCHORS_SHOWN of them have a text */
	char texts[ANCHORS_SHOWN][ANCHORS_TEXT_CAP]; /* "DS 20326 8 2": tag, algorithm, digest */
};

/*
 * Reads from the file at path the anchors that apply to a folded name: those of the deepest owner
 * at or above the name. Returns 0 (out->n may be 0), ERR_ZONE if the file is no master file, or
 * -errno of regular_fopen(). Any thread.
 */
int anchors_find(const char *path, const uint8_t *folded, struct anchors_at *out)
	__attribute__((warn_unused_result));

#endif
