/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of a builder, shared by the adding (builder.c), the checks (check.c) and the layout
 * (freeze.c).
 *
 * Nodes are numbered in the order of their making, so a parent always has a lower number than its
 * children; records in the order of their adding, so the later of two in a file has the higher
 * number.
 */
#ifndef VOLLEY_ZONE_BUILDING_H
#define VOLLEY_ZONE_BUILDING_H

#include <stddef.h>
#include <stdint.h>

#include "zone/builder.h"

struct build_node {
	uint32_t label; /* in labels, as in struct zone_node */
	uint32_t parent;
};

struct build_record {
	uint32_t node;
	uint32_t ttl;
	uint32_t rdata; /* in rdata: length (2 octets, network order) and octets */
	uint32_t line;
	uint16_t type;
	uint16_t file;
};

struct zone_builder {
	struct build_node *nodes;
	struct build_record *records;
	uint8_t *labels;
	uint8_t *rdata;
	uint32_t *table; /* open addressing: node number + 1, 0 for empty */
	char **files;
	size_t n_nodes, nodes_cap;
	size_t n_records, records_cap;
	size_t n_label_bytes, labels_cap;
	size_t n_rdata_bytes, rdata_cap;
	size_t table_cap; /* a power of two */
	size_t n_files;
	uint64_t seed;
	uint32_t last_node;
	unsigned last_owner_bytes;
	uint8_t last_owner[256]; /* the owner of the record before, as given */
	uint8_t apex[256];       /* folded */
	unsigned apex_bytes;
	unsigned apex_labels;
};

/*
 * Refuses a zone that breaks a rule on which its answers rest. @rrset_record holds for each RRset
 * of @z the number of its last record, for the line. Returns 0 or ERR_ZONE.
 */
int zone_check(const struct zone_builder *b, const struct zone *z, const uint32_t *rrset_record,
	       struct zone_error *err) __attribute__((warn_unused_result));

static inline const char *builder_file_name(const struct zone_builder *b, unsigned file)
{
	return file < b->n_files ? b->files[file] : "";
}

#endif
