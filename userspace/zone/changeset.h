/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A change set: the difference between one version of a zone and the next, in the form of an IXFR
 * sequence (RFC 1995 section 4): the old SOA, the other removed records, the new SOA, the other
 * added records. The journal, transfers and edits use the same flat bytes.
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
	uint32_t serial_from, serial_to; /* of the SOA records, when both are added */
	uint32_t n_removed, n_added;     /* records, with the SOA */
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

/* A change set of all zeros is empty, too. */
void changeset_init(struct changeset *c);
void changeset_fini(struct changeset *c);

/*
 * Appends a copy of a record, and notes the serial number of an SOA. The caller keeps the order.
 * The owner is a checked name. Returns 0, -ENOMEM, or ERR_RDATA for a malformed SOA.
 */
int changeset_put(struct changeset *c, const struct changeset_record *record)
	__attribute__((warn_unused_result));

/*
 * Reads the record at *@at and moves *@at to the next one; the first one is at 0. False at the end.
 * Its pointers are valid until a record is added to the set.
 */
bool changeset_next(const struct changeset *c, size_t *at, struct changeset_record *record);

/*
 * Copies @n octets from a journal. Checks all lengths and names, that removals come first, and that
 * each half begins with an SOA and has no other one. Returns 0, -ENOMEM, or ERR_RDATA.
 */
int changeset_load(struct changeset *c, const uint8_t *bytes, size_t n)
	__attribute__((warn_unused_result));

/* Frees the content of @to and moves that of @from there; then @from is empty. */
void changeset_move(struct changeset *to, struct changeset *from);

#endif
