/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a builder, shared by the adding (builder.c), the gathering of RRsets (gather.c),
 * the checks (zone_rules.c) and the layout (freeze.c).
 *
 * Nodes are numbered in the order of their making, so a parent always has a lower number than its
 * children; parts in the order of their adding, so the later of two in a file has the higher
 * number.
 *
 * Records of one owner and type that follow each other are gathered to a part as they come. Its
 * rdata stand where they will stay, in canonical order, once something else follows; most RRsets
 * are one part, so that nothing is copied when the snapshot is made. Signatures have an arena of
 * their own: in a file they stand between the RRsets that they cover.
 *
 * A part has the form of the RRset that it becomes, in an array that becomes the zone's: freezing
 * puts it in order in place, so a zone is never there twice. What a loader alone wants to know
 * of a part stands under the same number in an array beside it.
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

/* The hash spares looks at nodes that are others, and at all of them when the table grows. */
struct build_slot {
	uint32_t node; /* its number + 1, 0 for empty */
	uint32_t hash;
};

/* Rdata seen lately. The other half of the hash spares looks at octets that are others. */
struct build_shared {
	uint32_t behind; /* its offset + 1, 0 for empty */
	uint32_t check;
};

/* Of the part of the same number. */
struct build_origin {
	union {
		uint32_t node;
		uint32_t number; /* when the parts are in the zone's order: the one before that */
	};
	uint32_t line; /* of the last record */
	uint16_t file;
	bool ttls_differ; /* the part has the lowest */
	bool too_many; /* more records than zone_rrset.n can count, which has those that it can */
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
	uint32_t open; /* the part at the end that may grow: its number + 1, or 0 */
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
	struct build_shared *shared; /* by hash: equal ones are stored once */
	size_t shared_cap;
	uint8_t *labels;
	/* open addressing; NULL: all names have come in canonical order */
	struct build_slot *table;
	char **files;
	size_t n_nodes, nodes_cap;
	size_t n_parts, parts_cap, origins_cap;
	size_t n_label_bytes, labels_cap;
	size_t table_cap; /* a power of two */
	size_t n_files;
	uint64_t seed;
	const bool *cancel; /* set by others; NULL: never */
	bool is_known;      /* the records are those of a zone: no ZONEMD is asked for */
	/* While there is no table: the nodes of the last name in order, topmost first, the apex
	 * left out. */
	unsigned n_path;
	uint32_t path[DNS_LABELS_MAX];
	uint32_t last_node;
	unsigned last_owner_bytes;
	uint8_t last_owner[256]; /* the owner of the record before, as given */
	uint8_t apex[256];       /* folded */
	unsigned apex_bytes;
	unsigned apex_labels;
};

/*
 * Refuses a zone that breaks a rule on which its answers rest. @b->origins is in the order of the
 * RRsets of @z, and tells of each its last part, for the line. Returns 0 or ERR_ZONE.
 */
int zone_check(const struct zone_builder *b, const struct zone *z, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * The same rules for the apex and for one name that changed in an edit; @dname_is_new: it had no
 * DNAME before. Together they find what zone_check() finds, where the zone before was good.
 */
int zone_check_apex(const struct zone *z, struct zone_error *err)
	__attribute__((warn_unused_result));
int zone_check_name(const struct zone *z, const struct zone_node *node, bool dname_is_new,
		    struct zone_error *err) __attribute__((warn_unused_result));

/* Room for @need elements, at least doubled. Returns 0 or -ENOMEM. */
int builder_grow(void **array, size_t *cap, size_t need, size_t element_bytes)
	__attribute__((warn_unused_result));

/* Takes a record of @node that is known to be good. Returns 0, -ENOMEM, or ERR_LIMIT. */
int gather_add(struct zone_builder *b, uint32_t node, const struct zone_builder_record *rec)
	__attribute__((warn_unused_result));

/* Ends the parts that may still grow. Returns 0 or -ENOMEM. */
int gather_end(struct zone_builder *b) __attribute__((warn_unused_result));

/*
 * Joins the @n parts of one RRset from @first on to that one, whose origin becomes that of the
 * last. Returns 0, -ENOMEM, or ERR_LIMIT.
 */
int gather_join(struct zone_builder *b, size_t first, size_t n) __attribute__((warn_unused_result));

static inline const char *builder_file_name(const struct zone_builder *b, unsigned file)
{
	return file < b->n_files ? b->files[file] : "";
}

#endif
