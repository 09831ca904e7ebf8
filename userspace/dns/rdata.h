/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record data in wire form, by the rows of dns/rdtypes.h: is it well formed, where are the names in
 * it, which of two comes first. The rules that names follow when they are compressed or compared
 * are in the row too.
 */
#ifndef VOLLEY_DNS_RDATA_H
#define VOLLEY_DNS_RDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/rdtypes.h"

#define RDATA_FIELDS_MAX 10 /* with RD_END */

struct rdata_type {
	uint16_t number;
	uint16_t min, max;                /* octets */
	uint8_t names;                    /* enum rdata_names */
	uint8_t print;                    /* enum rdata_print */
	uint8_t fields[RDATA_FIELDS_MAX]; /* enum rdata_field */
	const char *mnemonic;
	const char *source;
};

/* The row of a type; NULL: none. Pure. */
const struct rdata_type *rdata_type(uint16_t type);

/* The row at @i, in the order of dns/rdtypes.h; NULL behind the last. Pure. */
const struct rdata_type *rdata_type_at(size_t i);

/* Octets of a field that has always as many; 0: others. Pure. */
unsigned rdata_fixed_bytes(enum rdata_field field);

/* No data has this type: types of queries and messages (RFC 6895 section 3.1), OPT, 0, 65535.
 * Pure. */
bool rdata_is_meta(uint16_t type);

/*
 * Is @rdata of @len octets, with no compressed name, well formed for @type? The one check of what
 * comes into a zone: by files, UPDATE, transfers, commands. A type without a row may have any.
 * Pure. Returns 0 or ERR_RDATA.
 */
int rdata_check(uint16_t type, const uint8_t *rdata, unsigned len)
	__attribute__((warn_unused_result));

/* The same; what is wrong, as a clause, or NULL. */
const char *rdata_fault(uint16_t type, const uint8_t *rdata, unsigned len);

/*
 * The same as far as those go who pass data on and do not own it: numbers, addresses, names and
 * strings are whole; what else a field must be is for its reader to judge. Pure. Returns 0 or
 * ERR_RDATA.
 */
int rdata_check_frame(uint16_t type, const uint8_t *rdata, unsigned len)
	__attribute__((warn_unused_result));

/* The octets [start, end) are uncompressed names whose case does not count. */
struct rdata_span {
	unsigned start, end;
};

/*
 * Where the names are in rdata that was checked, for canonical form (RFC 4034 section 6.2); start
 * == end when there are none. Pure.
 */
struct rdata_span rdata_names(uint16_t type, const uint8_t *rdata, unsigned len);

/* Canonical order of two rdatas of @type (RFC 4034 section 6.3): < 0, 0, > 0. Pure. */
int rdata_cmp(uint16_t type, const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len);

/* Where the names are in rdata that may have them compressed: octets, strings, names, octets. */
struct rdata_layout {
	uint8_t front_bytes;
	uint8_t n_strings; /* character strings behind the front: RFC 1035 section 3.3 */
	uint8_t n_names;
	uint8_t tail_bytes;
};

/*
 * For those who compress or expand the names: RD_SEND, RD_RECEIVE, RD_EXPAND; RD_KEEP: for those
 * who read them. No names: the data is octets for this use, whatever its type. Pure.
 */
struct rdata_layout rdata_layout(uint16_t type, enum rdata_names use);

#endif
