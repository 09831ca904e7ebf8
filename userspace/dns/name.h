/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domain names in wire form, uncompressed: length octet, label, ..., zero octet (RFC 1035 section
 * 3.1). A name is passed as a pointer to its first length octet; it ends itself.
 *
 *	 3  w  w  w  7  e  x  a  m  p  l  e  0
 *	 `-- name    `-- name_parent(name)   `-- root
 *
 * Only name_check() and name_from_text() look at untrusted bytes; every other function takes a
 * name that one of them has accepted, so it needs no length. All are pure; any thread.
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
 * Is there a well-formed name in the cap bytes at p? Returns its length in octets with the root
 * octet (1..255), or ERR_SHORT (the bytes end first), ERR_NAME (a compression pointer or another
 * label type), ERR_NAME_LONG. Reads no byte past the name.
 */
int name_check(const uint8_t *p, size_t cap) __attribute__((warn_unused_result));

/* Octets of a checked name, root octet included. */
size_t name_bytes(const uint8_t *name);

/* Labels of a checked name, root not counted: 0 for the root. */
unsigned int name_n_labels(const uint8_t *name);

/*
 * Copy n_bytes of a name with A-Z lower-cased. Length octets are below 0x40, so the whole wire form
 * is folded as bytes. dst is filled with zeros up to the next multiple of 8 and must have that
 * room; src is read for n_bytes only. dst == src is allowed where src has that room.
 */
void name_fold(uint8_t *dst, const uint8_t *src, size_t n_bytes);

/* The same name, letter case aside (RFC 4343)? */
bool name_equal(const uint8_t *a, const uint8_t *b);

/* Is name equal to apex or below it, letter case aside? Every name is under the root. */
bool name_is_under(const uint8_t *name, const uint8_t *apex);

/* The name without its first label, inside the same bytes; NULL for the root. */
const uint8_t *name_parent(const uint8_t *name);

/* The name without its first n labels, inside the same bytes; it has at least so many. */
const uint8_t *name_skip_labels(const uint8_t *name, unsigned int n);

/*
 * Text (RFC 1035 section 5.1: dots, \DDD, \X; a name without the last dot is taken as absolute,
 * "." is the root) of n_bytes, no NUL needed, to wire form in dst of cap bytes (DNS_NAME_MAX always
 * suffices). Letter case is kept. Returns the wire length, or ERR_LABEL_EMPTY, ERR_LABEL_LONG,
 * ERR_NAME_LONG, ERR_ESCAPE, ERR_SPACE.
 */
int name_from_text(uint8_t *dst, size_t cap, const char *text, size_t n_bytes)
	__attribute__((warn_unused_result));

/*
 * Wire form to text with a dot at the end and a NUL, special characters as \X, what does not
 * print as \DDD. Returns the length without NUL, or ERR_SPACE (NAME_TEXT_MAX always suffices).
 */
int name_to_text(char *dst, size_t cap, const uint8_t *name);

/*
 * The order of two labels, each with its length octet before it, in that of their names: as
 * lower-case octet strings, the shorter one first where it begins the longer. < 0, 0, > 0 as
 * memcmp() does.
 */
int name_label_cmp(const uint8_t *a, const uint8_t *b);

/*
 * Canonical order (RFC 4034 section 6.1): by label from the right, as lower-case octet strings, a
 * missing label first. Returns < 0, 0, > 0 as memcmp() does.
 */
int name_canonical_cmp(const uint8_t *a, const uint8_t *b);

#endif
