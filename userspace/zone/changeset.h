/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A change set: what leads from one version of a zone to the next, in the form of an IXFR sequence
 * (RFC 1995 section 4): the old SOA, what else is removed, the new SOA, what else is added. Flat
 * bytes, so that the same form goes into the journal, over the wire and to an edit.
 *
 *      │ op │ owner (wire) │ type │ TTL │ RDLENGTH │ rdata │ op │ ...     network order
 *
 * One thread at a time. Rdata and owners are uncompressed wire; owners keep their case.
 */
#ifndef VOLLEY_ZONE_CHANGESET_H
#define VOLLEY_ZONE_CHANGESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum changeset_op {
	CHANGESET_REMOVE,
	CHANGESET_ADD,
};

struct changeset {
	uint32_t serial_from, serial_to; /* of the SOA records, once both are in */
	uint32_t n_removed, n_added;     /* records, SOA among them */
	uint8_t *bytes;
	size_t n_bytes, cap;
};

struct changeset_record {
	const uint8_t *owner;
	const uint8_t *rdata;
	uint32_t ttl;
	uint16_t type;
	uint16_t rdata_bytes;
	uint8_t op; /* enum changeset_op */
};

/* All zeros is an empty one, too. */
void changeset_init(struct changeset *c);
void changeset_fini(struct changeset *c);

/*
 * Appends a record, which is copied, and notes the serial number of an SOA. The order is the
 * caller's. The owner is a checked name. Returns 0, -ENOMEM, or ERR_RDATA for an SOA that is none.
 */
int changeset_put(struct changeset *c, const struct changeset_record *record)
	__attribute__((warn_unused_result));

/*
 * The record at *@at, an offset into the bytes that begins with 0 and is moved behind it. False at
 * the end. What it points to lives as long as the set is not added to.
 */
bool changeset_next(const struct changeset *c, size_t *at, struct changeset_record *record);

/*
 * Takes a copy of @n octets from a journal. Checks all lengths and names, that removals come first,
 * and that each half begins with the only SOA of it. Returns 0, -ENOMEM, or ERR_RDATA.
 */
int changeset_load(struct changeset *c, const uint8_t *bytes, size_t n)
	__attribute__((warn_unused_result));

/* Moves the content of @from to @to, which is freed before; @from is empty then. */
void changeset_move(struct changeset *to, struct changeset *from);

#endif
