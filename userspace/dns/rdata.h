/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record data in wire form, by the rows of dns/rdtypes.h: the check of its form, the place of its
 * names, its order. The row also has the rules for compressing and comparing its names. */
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

/* Octets of a field of fixed size; 0: its size varies. Pure. */
unsigned rdata_fixed_bytes(enum rdata_field field);

/* True for types that no data has: types of queries and messages (RFC 6895 section 3.1), OPT, 0,
 * 65535. Pure. */
bool rdata_is_meta(uint16_t type);

/*
 * Checks if @rdata of @len octets, without compressed names, is well formed for @type. All data
 * that people write passes this check: in files, UPDATE and commands, but for the generic form \#
 * of files (RFC 3597 section 5). A type without a row may have any data. Pure. Returns 0 or
 * ERR_RDATA.
 */
int rdata_check(uint16_t type, const uint8_t *rdata, unsigned len)
	__attribute__((warn_unused_result));

/* The same; returns what is wrong, as a clause, or NULL. */
const char *rdata_fault(uint16_t type, const uint8_t *rdata, unsigned len);

/*
 * The check of data that another server has given, and of data that was stored: as rdata_check(),
 * but values that a server only passes on may have any form (keys of SVCB, tags of CAA, numbers of
 * LOC and APL). Their lengths have to fit. So a mistake of a primary does not cost its secondary
 * the zone. Pure. Returns 0 or ERR_RDATA.
 */
int rdata_check_foreign(uint16_t type, const uint8_t *rdata, unsigned len)
	__attribute__((warn_unused_result));

/* The same; returns what is wrong, as a clause, or NULL. */
const char *rdata_fault_foreign(uint16_t type, const uint8_t *rdata, unsigned len);

/* A weaker check for code that only passes data on: numbers, addresses, names and strings must be
 * complete; other fields are not checked. Pure. Returns 0 or ERR_RDATA. */
int rdata_check_frame(uint16_t type, const uint8_t *rdata, unsigned len)
	__attribute__((warn_unused_result));

/* The octets [start, end) are uncompressed names whose letter case does not count. */
struct rdata_span {
	unsigned start, end;
};

/* Where the names are in checked rdata, for the canonical form (RFC 4034 section 6.2); start ==
 * end: there are none. Pure. */
struct rdata_span rdata_names(uint16_t type, const uint8_t *rdata, unsigned len);

/* Canonical order of two rdatas of @type (RFC 4034 section 6.3): < 0, 0, > 0. Pure. */
int rdata_cmp(uint16_t type, const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len);

/* The layout of rdata whose names may be compressed: octets, strings, names, octets. */
struct rdata_layout {
	uint8_t front_bytes;
	uint8_t n_strings; /* character strings after the front: RFC 1035 section 3.3 */
	uint8_t n_names;
	uint8_t tail_bytes;
};

/*
 * The layout for one use: RD_SEND, RD_RECEIVE and RD_EXPAND for compressing or expanding the names,
 * RD_KEEP for reading them. No names: for this use, the data is octets, whatever its type. Pure.
 */
struct rdata_layout rdata_layout(uint16_t type, enum rdata_names use);

#endif
