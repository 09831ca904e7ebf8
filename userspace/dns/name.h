/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domain names in wire form, uncompressed: length octet, label, ..., zero octet (RFC 1035 section
 * 3.1). A name is a pointer to its first length octet; the zero octet marks its end.
 *
 * 	 3  w  w  w  7  e  x  a  m  p  l  e  0
 * 	 `-- name    `-- name_parent(name)   `-- root
 *
 * Only name_check() and name_from_text() read untrusted bytes; every other function takes a name
 * that one of them has accepted, so it needs no length. All are pure; any thread.
 */
#ifndef VOLLEY_DNS_NAME_H
#define VOLLEY_DNS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"

/* A folded name with its zero padding, in whole 8-byte words. */
#define NAME_FOLDED_BYTES 256

/* The longest text with its NUL: 250 octets as \DDD and a dot for each of four labels. */
#define NAME_TEXT_MAX 1005

/*
 * Checks for a well-formed name in the cap bytes at p. Returns its length in octets including the
 * root octet (1..255), or ERR_SHORT (the bytes end too early), ERR_NAME (a compression pointer or
 * another label type), ERR_NAME_LONG. Reads no byte after the name.
 */
int name_check(const uint8_t *p, size_t cap) __attribute__((warn_unused_result));

/* Octets of a checked name, including the root octet. */
size_t name_bytes(const uint8_t *name);

/* Labels of a checked name, without the root: 0 for the root. */
unsigned int name_n_labels(const uint8_t *name);

/*
 * Copies n_bytes of a name with A-Z lower-cased. Length octets are below 0x40, so the whole wire
 * form is folded as bytes. Fills dst with zeros up to the next multiple of 8, so dst needs that
 * room; reads only n_bytes of src. dst == src is allowed if src has that room.
 */
void name_fold(uint8_t *dst, const uint8_t *src, size_t n_bytes);

/* True if it is the same name, ignoring letter case (RFC 4343). */
bool name_equal(const uint8_t *a, const uint8_t *b);

/* True if name is apex or below it, ignoring letter case. Every name is under the root. */
bool name_is_under(const uint8_t *name, const uint8_t *apex);

/* The name without its first label, inside the same bytes; NULL for the root. */
const uint8_t *name_parent(const uint8_t *name);

/* The name without its first n labels, inside the same bytes; it must have at least n labels. */
const uint8_t *name_skip_labels(const uint8_t *name, unsigned int n);

/*
 * Converts text of n_bytes, without a NUL, to wire form in dst of cap bytes (DNS_NAME_MAX is always
 * enough). The text is that of RFC 1035 section 5.1: dots, \DDD, \X; a name without a last dot is
 * absolute, too; "." is the root. Keeps letter case. Returns the wire length, or ERR_LABEL_EMPTY,
 * ERR_LABEL_LONG, ERR_NAME_LONG, ERR_ESCAPE, ERR_SPACE.
 */
int name_from_text(uint8_t *dst, size_t cap, const char *text, size_t n_bytes)
	__attribute__((warn_unused_result));

/*
 * Converts wire form to text with a last dot and a NUL; special characters as \X, octets that do
 * not print as \DDD. Returns the length without NUL, or ERR_SPACE (NAME_TEXT_MAX is always enough).
 */
int name_to_text(char *dst, size_t cap, const uint8_t *name);

/*
 * True if the pattern is that of the name, both as text: * stands for any characters, dots among
 * them, and ? for one. Other characters stand for themselves, letters in both cases. The last dot
 * of either does not matter. At most the product of both lengths in steps.
 */
bool name_is_like(const char *text, const char *pattern);

/*
 * The longest domain that has each name of the pattern, in folded wire form: that of
 * "*.example.com" is example.com, that of "a*" the root. Returns its length, 1 for the root.
 */
unsigned int name_of_pattern(uint8_t folded[static NAME_FOLDED_BYTES], const char *pattern);

/* The canonical order of two labels, each with its length octet: compared as lower-case octet
 * strings; the shorter one first if the longer begins with it. < 0, 0, > 0 as memcmp(). */
int name_label_cmp(const uint8_t *a, const uint8_t *b);

/* Canonical order (RFC 4034 section 6.1): label by label from the right, as lower-case octet
 * strings, a missing label first. < 0, 0, > 0 as memcmp(). */
int name_canonical_cmp(const uint8_t *a, const uint8_t *b);

/*
 * Expands names that are compressed in messages (RFC 1035 section 4.1.4).
 *
 * A pointer leads to "a prior occurrence of the same name": one that begins after the header and
 * ends before the run of labels that the pointer belongs to. So there are no loops, and no name
 * uses later octets; query_parse() has the same rule.
 */

/*
 * Expands the name at offset at of a message of len octets to dst, in its own letter case. *end
 * gets the offset after the name's own octets. Returns its length (1..255), or ERR_NAME,
 * ERR_NAME_LONG, ERR_SHORT; then dst is undefined. Pure; any thread.
 */
int name_follow(uint8_t dst[static NAME_FOLDED_BYTES], const uint8_t *msg, size_t len, size_t at,
		size_t *end) __attribute__((warn_unused_result));

/*
 * Names that have no place in the public DNS. A resolver answers for them by itself and asks no
 * server:
 *
 * 	localhost invalid test             RFC 6761
 * 	onion                              RFC 7686
 * 	home.arpa                          RFC 8375
 * 	resolver.arpa service.arpa         RFC 9462, RFC 9665
 * 	reverse zones of private, link-local, documentation and similar addresses
 * 	                                   RFC 6303, RFC 7793 (100.64.0.0/10)
 *
 * They are those of local-zone in unbound.conf(5). engine/special.h answers for them.
 */

/* As text in lower case with a last dot, none twice; NULL after the last. */
extern const char *const special_names[];

/* The number of names. */
#define SPECIAL_NAMES_N 104

#endif
