/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds records to a builder: makes the nodes of their names and copies their rdata. */
#include "zone/builder.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/building.h"
#include "zone/image.h"
#include "dns/rdata.h"

#define TABLE_MIN  64
#define FILES_MAX  UINT16_MAX
#define OFFSET_MAX UINT32_MAX

int zone_error_set(struct zone_error *err, const char *file, uint32_t line, const char *format, ...)
{
	va_list args;

	snprintf(err->file, sizeof(err->file), "%s", file);
	err->line = line;
	err->column = 0;
	va_start(args, format);
	vsnprintf(err->sentence, sizeof(err->sentence), format, args);
	va_end(args);
	return ERR_ZONE;
}

void zone_error_warn(struct zone_error *err, const char *file, uint32_t line, const char *format,
		     ...)
{
	va_list args;
	int n;

	if (err->n_warnings++)
		return;
	n = *file ? snprintf(err->warning, sizeof(err->warning) / 2, "%s:%u: ", file, line) : 0;
	if (n < 0 || (size_t)n >= sizeof(err->warning) / 2)
		n = 0;
	va_start(args, format);
	vsnprintf(err->warning + n, sizeof(err->warning) - (size_t)n, format, args);
	va_end(args);
}

int builder_grow(void **array, size_t *cap, size_t need, size_t element_bytes)
{
	size_t new_cap = *cap ? *cap : 64;
	void *p;

	if (need <= *cap)
		return 0;
	while (new_cap < need)
		new_cap *= 2;
	p = reallocarray(*array, new_cap, element_bytes);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = new_cap;
	return 0;
}

static uint32_t hash_builder_node(const struct zone_builder *b, uint32_t parent,
				  const uint8_t *folded)
{
	return (uint32_t)hash_label(b->seed, parent, folded + 1, *folded);
}

static int table_resize(struct zone_builder *b, size_t cap)
{
	struct build_slot *table = calloc(cap, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < b->table_cap; i++) {
		size_t at = b->table[i].hash & (cap - 1);

		if (!b->table[i].node)
			continue;
		while (table[at].node)
			at = (at + 1) & (cap - 1);
		table[at] = b->table[i];
	}
	free(b->table);
	b->table = table;
	b->table_cap = cap;
	return 0;
}

int zone_builder_new(struct zone_builder **out, const uint8_t *apex)
{
	struct zone_builder *b = calloc(1, sizeof(*b));
	void *nodes = NULL;

	*out = NULL;
	if (!b)
		return -ENOMEM;
	b->apex_bytes = (unsigned)name_bytes(apex);
	b->apex_labels = name_n_labels(apex);
	name_fold(b->apex, apex, b->apex_bytes);
	/* Without entropy the hash still works, but an attacker can guess it. */
	if (getrandom(&b->seed, sizeof(b->seed), GRND_NONBLOCK) != sizeof(b->seed))
		b->seed = (uintptr_t)b;
	if (builder_grow(&nodes, &b->nodes_cap, 1, sizeof(*b->nodes))) {
		free(nodes);
		zone_builder_free(b);
		return -ENOMEM;
	}
	b->nodes = nodes;
	b->nodes[0] = (struct build_node){ 0 };
	b->n_nodes = 1;
	*out = b;
	return 0;
}

void zone_builder_free(struct zone_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_files; i++)
		free(b->files[i]);
	free(b->files);
	free(b->nodes);
	free(b->parts);
	free(b->origins);
	for (unsigned i = 0; i < N_ARENAS; i++)
		free(b->arenas[i].bytes);
	free(b->shared);
	free(b->labels);
	free(b->table);
	free(b);
}

int zone_builder_file(struct zone_builder *b, const char *name)
{
	char **files;

	if (b->n_files >= FILES_MAX)
		return ERR_LIMIT;
	files = reallocarray(b->files, b->n_files + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	b->files = files;
	files[b->n_files] = strdup(name);
	if (!files[b->n_files])
		return -ENOMEM;
	return (int)b->n_files++;
}

static bool node_is(const struct zone_builder *b, uint32_t node, uint32_t parent,
		    const uint8_t *folded)
{
	const struct build_node *n = &b->nodes[node];

	return n->parent == parent && label_equal(b->labels + n->label, true, folded);
}

static int node_make(struct zone_builder *b, uint32_t parent, const uint8_t *label, uint32_t *node)
{
	void *nodes = b->nodes, *labels = b->labels;
	unsigned n = 1u + *label;
	int rc;

	if (b->n_nodes >= OFFSET_MAX - 1 || b->n_label_bytes + n > OFFSET_MAX)
		return ERR_LIMIT;
	rc = builder_grow(&nodes, &b->nodes_cap, b->n_nodes + 1, sizeof(*b->nodes));
	b->nodes = nodes;
	if (!rc)
		rc = builder_grow(&labels, &b->labels_cap, b->n_label_bytes + n, 1);
	b->labels = labels;
	if (rc)
		return rc;
	memcpy(b->labels + b->n_label_bytes, label, n);
	*node = (uint32_t)b->n_nodes;
	b->nodes[b->n_nodes++] = (struct build_node){ (uint32_t)b->n_label_bytes, parent };
	b->n_label_bytes += n;
	return 0;
}

/* Finds the child of @parent with this label, or makes it. */
static int node_get(struct zone_builder *b, uint32_t parent, const uint8_t *label, uint32_t *node)
{
	uint8_t folded[DNS_LABEL_MAX + 9];
	struct build_slot *slot;
	uint32_t hash;
	int rc;

	name_fold(folded, label, 1u + *label);
	hash = hash_builder_node(b, parent, folded);
	for (size_t at = hash;; at++) {
		slot = &b->table[at & (b->table_cap - 1)];
		if (!slot->node)
			break;
		if (slot->hash == hash && node_is(b, slot->node - 1, parent, folded)) {
			*node = slot->node - 1;
			return 0;
		}
	}
	rc = node_make(b, parent, label, node);
	if (rc)
		return rc;
	*slot = (struct build_slot){ *node + 1, hash };
	return b->n_nodes * 3 > b->table_cap * 2 ? table_resize(b, b->table_cap * 2) : 0;
}

/* A name is out of order: from now on nodes are found by the hash table. */
static int table_begin(struct zone_builder *b)
{
	size_t cap = TABLE_MIN;
	int rc;

	while (b->n_nodes * 3 > cap * 2)
		cap *= 2;
	rc = table_resize(b, cap);
	for (size_t i = 1; i < b->n_nodes && !rc; i++) {
		const uint8_t *label = b->labels + b->nodes[i].label;
		uint8_t folded[DNS_LABEL_MAX + 9];
		uint32_t hash;
		size_t at;

		name_fold(folded, label, 1u + *label);
		hash = hash_builder_node(b, b->nodes[i].parent, folded);
		for (at = hash & (cap - 1); b->table[at].node;)
			at = (at + 1) & (cap - 1);
		b->table[at] = (struct build_slot){ (uint32_t)i + 1, hash };
	}
	return rc;
}

/*
 * Transfers, and files that a server wrote, have their names in canonical order. Then a name after
 * the last one is new, except the names above that the two have in common, and no table is needed.
 * Returns 1 if @owner is out of order.
 */
static int next_node(struct zone_builder *b, const uint8_t *owner, unsigned below, uint32_t *node)
{
	unsigned k = 0;
	int diff = 1, rc = 0;

	for (*node = 0; k < below && k < b->n_path; *node = b->path[k++]) {
		diff = name_label_cmp(name_skip_labels(owner, below - k - 1),
				      b->labels + b->nodes[b->path[k]].label);
		if (diff)
			break;
		diff = 1;
	}
	if (k == below)
		return 0;
	if (diff < 0)
		return 1;
	while (k < below && !rc) {
		rc = node_make(b, *node, name_skip_labels(owner, below - k - 1), node);
		if (!rc)
			b->path[k++] = *node;
	}
	b->n_path = k;
	return rc;
}

static int find_builder_node(struct zone_builder *b, const uint8_t *owner, unsigned below,
			     uint32_t *node)
{
	int rc = b->table ? 1 : next_node(b, owner, below, node);

	if (rc <= 0)
		return rc;
	rc = b->table ? 0 : table_begin(b);
	*node = 0;
	while (below-- && !rc)
		rc = node_get(b, *node, name_skip_labels(owner, below), node);
	return rc;
}

/* Finds or makes the node of @owner, which is under the apex, and all nodes above it. */
static int owner_node(struct zone_builder *b, const uint8_t *owner, unsigned owner_bytes,
		      uint32_t *node)
{
	int rc;

	if (owner_bytes == b->last_owner_bytes && !memcmp(owner, b->last_owner, owner_bytes)) {
		*node = b->last_node;
		return 0;
	}
	rc = find_builder_node(b, owner, name_n_labels(owner) - b->apex_labels, node);
	if (rc)
		return rc;
	memcpy(b->last_owner, owner, owner_bytes);
	b->last_owner_bytes = owner_bytes;
	b->last_node = *node;
	return 0;
}

const char *zone_record_refusal(const uint8_t *apex, const struct zone_builder_record *rec)
{
	if (!name_is_under(rec->owner, apex))
		return "this owner is outside the zone";
	if (rdata_is_meta(rec->type))
		return "this is a type of queries, not of data";
	if (rec->type == DNS_TYPE_SOA && rec->owner_bytes != name_bytes(apex))
		return "a SOA stands only at the apex of the zone";
	if (rec->ttl > DNS_TTL_MAX)
		return "the TTL is above 2147483647";
	if (!rec->is_checked && rdata_check_foreign(rec->type, rec->rdata, rec->rdata_bytes))
		return "the data does not have the form of this type";
	return NULL;
}

static int refuse_builder(const struct zone_builder *b, const struct zone_builder_record *rec,
			  const char *why, struct zone_error *err)
{
	char owner[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];

	name_to_text(owner, sizeof(owner), rec->owner);
	proto_type_to_text(type, rec->type);
	return zone_error_set(err, builder_file_name(b, rec->at.file), rec->at.line,
			      "%s: '%.160s %s'", why, owner, type);
}

/* The first record is the SOA of another zone, so each further record would be refused, too. */
static int refuse_another(const struct zone_builder *b, const struct zone_builder_record *rec,
			  struct zone_error *err)
{
	char owner[NAME_TEXT_MAX], apex[NAME_TEXT_MAX];

	name_to_text(owner, sizeof(owner), rec->owner);
	name_to_text(apex, sizeof(apex), b->apex);
	err->is_of_another = true;
	return zone_error_set(err, builder_file_name(b, rec->at.file), rec->at.line,
			      "the file begins with the SOA of '%.100s', so it is not the file of "
			      "%.100s",
			      owner, apex);
}

void zone_builder_skip_outside(struct zone_builder *b)
{
	b->skips_outside = true;
}

static void warn_outside(const struct zone_builder *b, const struct zone_builder_record *rec,
			 struct zone_error *err)
{
	char owner[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];

	name_to_text(owner, sizeof(owner), rec->owner);
	proto_type_to_text(type, rec->type);
	zone_error_warn(err, builder_file_name(b, rec->at.file), rec->at.line,
			"this owner is outside the zone, so the record is left out: '%.160s %s'",
			owner, type);
}

int zone_builder_add(struct zone_builder *b, const struct zone_builder_record *rec,
		     struct zone_error *err)
{
	const char *why = zone_record_refusal(b->apex, rec);
	uint32_t node;
	int rc;

	if (why && rec->type == DNS_TYPE_SOA && !b->n_parts && !name_is_under(rec->owner, b->apex))
		return refuse_another(b, rec, err);
	if (why && b->skips_outside && !name_is_under(rec->owner, b->apex)) {
		warn_outside(b, rec, err);
		return 0;
	}
	if (why)
		return refuse_builder(b, rec, why, err);
	rc = owner_node(b, rec->owner, rec->owner_bytes, &node);
	if (rc == ERR_LIMIT)
		return refuse_builder(b, rec, "the zone has more names than fit", err);
	if (!rc)
		rc = gather_add(b, node, rec);
	if (rc == ERR_LIMIT)
		return refuse_builder(b, rec, "the zone is larger than 4 GiB", err);
	return rc;
}
