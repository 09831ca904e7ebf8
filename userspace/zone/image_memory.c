/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of an image: some arrays while it is made, one block afterwards if it is small. */
#include <stddef.h>
#include <stdlib.h>

#include "zone/image.h"

/* A larger image wastes too little to be copied once more. */
#define PACKED_MAX_BYTES (32u << 10)

const struct nsec3_params nsec3_no_params;

/* An array: where struct zone has its pointer, and its octets. */
struct image_part {
	size_t at;
	size_t bytes;
};

/* Arrays of octets come last, so that the others are aligned to 4 octets. */
static void list_image_parts(const struct zone *z, struct image_part parts[static IMAGE_BLOCKS])
{
	const size_t params = z->nsec3_params == &nsec3_no_params ? 0 : sizeof(*z->nsec3_params);
	const struct image_part all[IMAGE_BLOCKS] = {
		{ offsetof(struct zone, nodes), (z->n_nodes + (size_t)1) * sizeof(*z->nodes) },
		{ offsetof(struct zone, rrsets), z->n_rrsets * sizeof(*z->rrsets) },
		{ offsetof(struct zone, buckets), z->n_buckets * sizeof(*z->buckets) },
		{ offsetof(struct zone, nsec3), z->n_nsec3 * sizeof(*z->nsec3) },
		{ offsetof(struct zone, nsec3_params), params },
		{ offsetof(struct zone, apex), z->apex_bytes },
		{ offsetof(struct zone, labels), z->n_label_bytes },
		{ offsetof(struct zone, rdata), z->n_rdata_bytes },
		{ offsetof(struct zone, rrsigs), z->n_rrsig_bytes },
	};

	memcpy(parts, all, sizeof(all));
}

static void *get_image_part(const struct zone *z, const struct image_part *part)
{
	void *array;

	memcpy(&array, (const uint8_t *)z + part->at, sizeof(array));
	return array;
}

static void set_image_part(struct zone *z, const struct image_part *part, void *array)
{
	memcpy((uint8_t *)z + part->at, &array, sizeof(array));
}

void image_free(struct zone *z)
{
	struct image_part parts[IMAGE_BLOCKS];

	list_image_parts(z, parts);
	for (unsigned i = 0; i < IMAGE_BLOCKS; i++)
		if (get_image_part(z, &parts[i]) != &nsec3_no_params)
			free(get_image_part(z, &parts[i]));
}

size_t image_bytes(const struct zone *z)
{
	struct image_part parts[IMAGE_BLOCKS];
	size_t bytes = 0;

	list_image_parts(z, parts);
	for (unsigned i = 0; i < IMAGE_BLOCKS; i++)
		bytes += parts[i].bytes;
	return bytes;
}

void *image_pack(struct zone *z, size_t head_bytes)
{
	const size_t bytes = image_bytes(z);
	struct image_part parts[IMAGE_BLOCKS];
	uint8_t *block, *to;

	block = bytes <= PACKED_MAX_BYTES ? malloc(head_bytes + bytes) : NULL;
	if (!block)
		return NULL;
	memset(block, 0, head_bytes);
	to = block + head_bytes;
	list_image_parts(z, parts);
	for (unsigned i = 0; i < IMAGE_BLOCKS; i++) {
		void *array = get_image_part(z, &parts[i]);

		if (array == &nsec3_no_params)
			continue;
		if (parts[i].bytes)
			memcpy(to, array, parts[i].bytes);
		free(array);
		set_image_part(z, &parts[i], to);
		to += parts[i].bytes;
	}
	z->apex_node = z->nodes;
	return block;
}
