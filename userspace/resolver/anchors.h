/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a file of trust anchors has one that validation can begin with. libunbound takes a file without any, and then
 * validates nothing, without a word: the operator has to hear of it.
 */
#ifndef VOLLEY_RESOLVER_ANCHORS_H
#define VOLLEY_RESOLVER_ANCHORS_H

#include <stddef.h>

/*
 * Is there a usable anchor in the file, a master file of DS and DNSKEY records, at path? Usable is a DS of digest type 1, 2 or 4, or
 * a DNSKEY that is a zone key and not revoked (RFC 5011), of an algorithm of RFC 8624 section 3.1 that validators implement.
 * 0; ERR_CONFIG with a clause in why of cap octets: what the file has, and what is missing; or -errno of regular_fopen(). Reads the
 * file. Any thread.
 */
int anchors_check(const char *path, char *why, size_t cap) __attribute__((warn_unused_result));

#endif
