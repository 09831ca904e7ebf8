/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arrays of a zone image, private to this folder: the builder writes them and the lookup reads
 * them.
 *
 * Per name: a node of 16 octets, the label and its length octet, 5.3 octets of hash bucket at full
 * load. Per RRset: 12 octets. Per record: the rdata and two octets of length. Equal sets of rdata
 * are stored once: a registry's zone has many delegations, but few different NS RRsets.
 */
#ifndef VOLLEY_ZONE_IMAGE_H
#define VOLLEY_ZONE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "zone/zone.h"

enum {
	NODE_CUT = 0x01,      /* NS below the apex */
	NODE_OCCLUDED = 0x02, /* below a cut of the image; for a version: zone_cut_above() */
	NODE_CNAME = 0x04,
	NODE_DNAME = 0x08,
	NODE_WILD = 0x10,      /* has the child "*", or had it in the image */
	NODE_UPPERCASE = 0x20, /* a comparison must fold the label */
	NODE_NSEC3 = 0x40,     /* owns only NSEC3 and its signatures: no name of the zone */
	NODE_OVERLAY = 0x80,   /* is in a struct overlay_node: see zone/overlay.h */
};

struct zone_node {
	uint32_t label;  /* in labels: length octet and octets, the file's case */
	uint32_t parent; /* index; that of the apex is its own */
	uint32_t rrsets; /* index of the first; they end where the next node's begin */
	uint8_t flags;
	uint8_t depth; /* labels below the apex */
	uint16_t spare;
};
_Static_assert(sizeof(struct zone_node) == 16, "a node is a quarter of a cache line");
_Static_assert(sizeof(struct zone_rrset) == 12, "an RRset has no padding");

/* One cache line of the hash table: a full bucket spills into the next one. */
#define BUCKET_NODES 12

struct zone_bucket {
	uint8_t tag[BUCKET_NODES];
	uint32_t n;
	uint32_t node[BUCKET_NODES];
};
_Static_assert(sizeof(struct zone_bucket) == 64, "a bucket is a cache line");

/* The parameters of the hashes of an NSEC3 chain: RFC 5155 section 4.2. */
struct nsec3_params {
	uint16_t iterations;
	uint8_t salt_bytes;
	uint8_t salt[255];
};

/*
 * Properties of a version as sums over its names. An edit subtracts the old names and adds the new
 * ones: see zone/sums.h.
 */
struct zone_sums {
	uint64_t digest[2];
	uint64_t links; /* of a chain: hashes of the next owners less those of the owners */
	uint32_t n_wraps, n_broken;
	uint32_t n_records;
};

struct zone_family;
struct overlay_item;
struct overlay_tree;
struct overlay_trie;
struct overlay_names;

/*
 * A version: the arrays of its image, which it shares with its family, and an overlay. The loaded
 * image is the first version, which has no overlay.
 */
struct zone {
	struct zone_node *nodes; /* n_nodes, and one more as the end */
	struct zone_rrset *rrsets;
	struct zone_bucket *buckets;
	uint8_t *labels;
	uint8_t *rdata;  /* of all types but RRSIG */
	uint8_t *rrsigs; /* apart, so that the data of unsigned answers is close together */
	uint64_t seed;
	uint32_t n_nodes; /* of the image */
	uint32_t n_rrsets;
	uint32_t n_buckets;
	uint32_t next_id;
	const struct zone_node *apex_node;
	struct overlay_trie *trie; /* both NULL, or neither */
	struct overlay_tree *tree;
	uint32_t serial;
	uint32_t negative_ttl;
	uint32_t n_label_bytes;
	uint32_t n_rdata_bytes;
	uint32_t n_rrsig_bytes;
	uint16_t apex_bytes;
	uint8_t apex_labels;
	bool is_signed;
	bool image_closed; /* the chain of the image is closed */
	bool is_draft;     /* its sums are still those of its base */
	enum zone_chain chain;
	uint8_t *apex; /* folded wire form */
	/* The NSEC3 chain: its nodes in the image by hash, and the parameters. */
	uint32_t *nsec3;
	const struct nsec3_params *nsec3_params; /* nsec3_no_params: there is no chain */
	uint32_t n_nsec3;
	struct zone_sums sums;
	size_t overlay_bytes;
	uint64_t number; /* among the versions of its family */
	struct zone_family *family;
	/* The rest changes: @refs by atomics, the others under the family's lock (version.c). */
	uint32_t refs;
	bool changed_unknown;
	struct zone *older, *newer;
	struct overlay_item *garbage; /* blocks that it has and the newer version has not */
	struct overlay_names *changed, **changed_end;
	size_t n_changed;
};

/* Of a zone without an NSEC3 chain: all zeros. */
extern const struct nsec3_params nsec3_no_params;

/* Lower case of one octet, without a branch or the locale. */
static inline uint8_t fold(uint8_t c)
{
	return (uint8_t)(c | (uint8_t)((uint8_t)(c - 'A') < 26) << 5);
}

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/*
 * Hash of the folded octets of one label below @parent. The seed is secret, so that an attacker
 * cannot choose names that collide.
 */
static inline uint64_t hash_label(uint64_t seed, uint32_t parent, const uint8_t *octets, unsigned n)
{
	uint64_t h = seed ^ ((uint64_t)parent << 8 | n) * 0x9e3779b97f4a7c15u;

	for (; n >= 8; octets += 8, n -= 8) {
		uint64_t word;

		memcpy(&word, octets, 8);
		h = hash_mix(h ^ word, 0xd6e8feb86659fd93u);
	}
	if (n) {
		uint64_t word = 0;

		memcpy(&word, octets, n);
		h = hash_mix(h ^ word, 0xa0761d6478bd642fu);
	}
	return hash_mix(h, seed | 1);
}

static inline uint32_t hash_bucket(uint64_t hash, uint32_t n_buckets)
{
	return (uint32_t)((hash >> 32) * n_buckets >> 32);
}

/* True if the stored label (length octet first) is equal to the folded one. */
static inline bool label_equal(const uint8_t *stored, bool uppercase, const uint8_t *folded)
{
	unsigned n = *stored;

	if (n != *folded)
		return false;
	if (!uppercase)
		return memcmp(stored + 1, folded + 1, n) == 0;
	for (unsigned i = 1; i <= n; i++)
		if (fold(stored[i]) != folded[i])
			return false;
	return true;
}

/* The child of @parent with the folded @label (length octet first), or NULL. */
const struct zone_node *zone_child(const struct zone *z, const struct zone_node *parent,
				   const uint8_t *label);

/*
 * The last node of the image at or before @name (folded wire, under the apex) in canonical order,
 * even if this version has changed or removed it. O(log names).
 */
uint32_t zone_image_floor(const struct zone *z, const uint8_t *name);

/* The last node of the image below the one at @index, or @index if there is none. O(log names). */
uint32_t zone_image_last_below(const struct zone *z, uint32_t index);

/* The topmost cut above the node, without the node itself; NULL: it is not occluded. O(labels). */
const struct zone_node *zone_cut_above(const struct zone *z, const struct zone_node *node);

/* Sets @z->is_signed from the apex, and the serial number and the negative TTL if it has a SOA. */
void zone_read_apex(struct zone *z);

/* The flag that an RRset of this type gives its node, or 0. */
uint8_t zone_type_flag(uint16_t type, bool is_apex);

/* The blocks of memory of an image that is not packed. */
#define IMAGE_BLOCKS 9

/* Frees the arrays of an image that is not packed. */
void image_free(struct zone *z);

/* The octets of the image's arrays that are in use. */
size_t image_bytes(const struct zone *z);

/*
 * Moves the arrays of a small image into one block of memory, because each block of its own costs
 * up to 24 octets more. The block begins with @head_bytes octets of zeros for the caller, a
 * multiple of 16. The caller frees the block, and must not call image_free() then. NULL: the image
 * is large, or there is no memory, and the image is as before.
 */
void *image_pack(struct zone *z, size_t head_bytes);

#endif
