/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an image from records in any order. The caller adds records one by one, from text or a
 * transfer. zone_builder_finish() sorts them, joins them to RRsets, checks the zone as a whole and
 * fills the arrays of zone/image.h.
 *
 * Control plane only; one thread per builder.
 */
#ifndef VOLLEY_ZONE_BUILDER_H
#define VOLLEY_ZONE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "zone/builder_record.h"
#include "zone/zone.h"

struct zone_builder;

/* @apex is a checked wire name, any case. Returns 0 or -ENOMEM. */
int zone_builder_new(struct zone_builder **out, const uint8_t *apex)
	__attribute__((warn_unused_result));
void zone_builder_free(struct zone_builder *b); /* NULL is allowed */

/*
 * Registers a source of records; the name is copied. Returns its number for zone_origin, or
 * -ENOMEM, ERR_LIMIT.
 */
int zone_builder_file(struct zone_builder *b, const char *name) __attribute__((warn_unused_result));

/*
 * Adds a copy of a record. The owner is a checked name. Returns 0; -ENOMEM; ERR_ZONE with @err
 * filled in for an owner outside the zone, a meta type, a SOA off the apex, a TTL above
 * DNS_TTL_MAX, rdata that rdata_check() refuses, or a zone that is too large for 32-bit offsets.
 */
int zone_builder_add(struct zone_builder *b, const struct zone_builder_record *rec,
		     struct zone_error *err) __attribute__((warn_unused_result));

/* Why zone_builder_add() refuses this record below @apex (folded); NULL: it does not. Pure. */
const char *zone_record_refusal(const uint8_t *apex, const struct zone_builder_record *rec);

/* From now on a record outside of the zone is left out, with a warning, except the SOA of another
 * zone as the first record. */
void zone_builder_skip_outside(struct zone_builder *b);

/* From now on zone_builder_finish() ends with -ECANCELED soon after *@cancel has become true. */
void zone_builder_watch(struct zone_builder *b, const bool *cancel);

/*
 * Makes the image, which the caller owns. Afterwards only zone_builder_free() may be called.
 * Returns 0, -ENOMEM, -ECANCELED, or ERR_ZONE with @err filled in; warnings go to @err in either
 * case.
 */
int zone_builder_finish(struct zone_builder *b, struct zone **out, struct zone_error *err)
	__attribute__((warn_unused_result));

/* Writes file, line and sentence into @err; returns ERR_ZONE. */
int zone_error_set(struct zone_error *err, const char *file, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Counts a warning and keeps its text if it is the first. The place is left out if FILE is "". */
void zone_error_warn(struct zone_error *err, const char *file, uint32_t line, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));

#endif
