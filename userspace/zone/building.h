/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a builder, shared by builder.c (adds records), gather.c (gathers RRsets),
 * zone_rules.c (checks) and freeze.c (makes the image).
 *
 * Nodes are numbered in the order in which they are made, so a parent always has a lower number
 * than its children. Parts are numbered in the order of the file.
 *
 * A part is a run of records of one owner and type that follow each other. When another owner or
 * type follows, the rdata of the part are put in canonical order, in the place where they stay.
 * Most RRsets are one part, so that nothing is copied when the image is made. Signatures have an
 * arena of their own: in a file they stand between the RRsets that they cover.
 *
 * A part has the form of the RRset that it becomes, and the array of parts becomes the array of
 * RRsets: freeze.c sorts it in place, so memory never holds a zone twice. The data of a part that
 * only the loader needs is in another array, under the same number.
 */
#ifndef VOLLEY_ZONE_BUILDING_H
#define VOLLEY_ZONE_BUILDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"
#include "zone/builder_record.h"
#include "zone/zone.h"

struct build_node {
	uint32_t label; /* in labels, as in struct zone_node */
	uint32_t parent;
};

/* The hash saves reading nodes that do not match, and all nodes when the table grows. */
struct build_slot {
	uint32_t node; /* its number + 1, 0 for empty */
	uint32_t hash;
};

/* Rdata seen lately. @check, the other half of the hash, saves comparing octets that differ. */
struct build_shared {
	uint32_t behind; /* its offset + 1, 0 for empty */
	uint32_t check;
};

/* The origin of the part with the same number. */
struct build_origin {
	union {
		uint32_t node;
		uint32_t number; /* after the parts are sorted: the number before that */
	};
	uint32_t line; /* of the last record */
	uint16_t file;
	bool ttls_differ; /* the part's TTL is the lowest */
	bool too_many;    /* more records than zone_rrset.n can count; the rest is left out */
};
_Static_assert(sizeof(struct build_origin) == 12, "an origin has little padding");

enum {
	ARENA_DATA,
	ARENA_RRSIG,
	N_ARENAS,
};

struct build_arena {
	uint8_t *bytes;
	size_t n, cap;
	uint32_t open; /* number + 1 of the part at the end that may grow, or 0 */
};

static inline unsigned arena_of(uint16_t type)
{
	return type == DNS_TYPE_RRSIG ? ARENA_RRSIG : ARENA_DATA;
}

struct zone_builder {
	struct build_node *nodes;
	struct zone_rrset *parts;
	struct build_origin *origins;
	struct build_arena arenas[N_ARENAS];
	struct build_shared *shared; /* by hash: equal rdata are stored once */
	size_t shared_cap;
	uint8_t *labels;
	/* open addressing; NULL: all names so far came in canonical order */
	struct build_slot *table;
	char **files;
	size_t n_nodes, nodes_cap;
	size_t n_parts, parts_cap, origins_cap;
	size_t n_label_bytes, labels_cap;
	size_t table_cap; /* a power of two */
	size_t n_files;
	uint64_t seed;
	const bool *cancel; /* set by another thread; NULL: never */
	bool skips_outside; /* zone_builder_skip_outside() */
	bool is_known;      /* the records are those of a checked zone: ZONEMD is not verified */
	/* While there is no table: the nodes down to the last name, without the apex. */
	unsigned n_path;
	uint32_t path[DNS_LABELS_MAX];
	uint32_t last_node;
	unsigned last_owner_bytes;
	uint8_t last_owner[256]; /* the owner of the last record, as given */
	uint8_t apex[256];       /* folded */
	unsigned apex_bytes;
	unsigned apex_labels;
};

/*
 * Refuses a zone that breaks a rule without which answers would be wrong. @b->origins is in the
 * order of the RRsets of @z and gives the line of the last part of each. Returns 0 or ERR_ZONE.
 */
int zone_check(const struct zone_builder *b, const struct zone *z, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * The same rules for the apex and for one name that changed in an edit; @dname_is_new: it had no
 * DNAME before. If the base is a good zone, the checks of the apex and of all changed names find
 * the same errors as zone_check().
 */
int zone_check_apex(const struct zone *z, struct zone_error *err)
	__attribute__((warn_unused_result));
int zone_check_name(const struct zone *z, const struct zone_node *node, bool dname_is_new,
		    struct zone_error *err) __attribute__((warn_unused_result));

/* Makes room for @need elements: at least doubles an array that is too small. 0 or -ENOMEM. */
int builder_grow(void **array, size_t *cap, size_t need, size_t element_bytes)
	__attribute__((warn_unused_result));

/* Adds a checked record to @node. Returns 0, -ENOMEM, or ERR_LIMIT. */
int gather_add(struct zone_builder *b, uint32_t node, const struct zone_builder_record *rec)
	__attribute__((warn_unused_result));

/* Ends the open parts. Returns 0 or -ENOMEM. */
int gather_end(struct zone_builder *b) __attribute__((warn_unused_result));

/*
 * Joins the @n parts of one RRset from @first on into @first, which gets the origin of the last.
 * Returns 0, -ENOMEM, or ERR_LIMIT.
 */
int gather_join(struct zone_builder *b, size_t first, size_t n) __attribute__((warn_unused_result));

static inline const char *builder_file_name(const struct zone_builder *b, unsigned file)
{
	return file < b->n_files ? b->files[file] : "";
}

/*
 * Sorts the names of a zone that is being built in canonical order (RFC 4034 section 6.1), in
 * linear time: a counting sort by parent, then a radix sort of the children of each parent by their
 * labels. Then it sorts the parts in place, in the order of their names.
 */

/*
 * Makes *@place, which the caller frees: the index in preorder of each node number of the builder.
 * NULL after an error. Control plane only. Returns 0 or -ENOMEM.
 */
int order_nodes(const struct zone_builder *b, uint32_t **place) __attribute__((warn_unused_result));

/*
 * Sorts the parts and their origins by @place of their node, then by type, then in the order in
 * which they were added, which is in the origins' @number from now on. Makes *@first, which the
 * caller frees: the index of the first part of each node in preorder, and the end of all; NULL
 * after an error. Returns 0 or -ENOMEM.
 */
int order_parts(struct zone_builder *b, const uint32_t *place, uint32_t **first)
	__attribute__((warn_unused_result));

#endif
