/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arrays of a zone snapshot, private to this folder: what the builder writes and the lookup
 * reads.
 *
 * Per name: a node of 16 octets, the label and its length octet, 5.3 octets of hash bucket at full
 * load. Per RRset: 12 octets. Per record: the rdata and two octets of length, and equal sets of
 * rdata are stored once (the NS RRsets of a registry's zone are few, its delegations many).
 */
#ifndef VOLLEY_ZONE_IMAGE_H
#define VOLLEY_ZONE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "zone/zone.h"

enum {
	NODE_CUT = 0x01,      /* NS below the apex */
	NODE_OCCLUDED = 0x02, /* below a cut */
	NODE_CNAME = 0x04,
	NODE_DNAME = 0x08,
	NODE_WILD = 0x10,      /* has the child "*" */
	NODE_UPPERCASE = 0x20, /* the label must be folded to be compared */
	NODE_NSEC3 = 0x40,     /* owns NSEC3 and its signatures only: no name of the zone */
};

struct zone_node {
	uint32_t label;  /* in labels: length octet and octets, the file's case */
	uint32_t parent; /* index; the apex is its own */
	uint32_t rrsets; /* index of the first; the next node's is the end */
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

struct zone {
	struct zone_node *nodes; /* n_nodes, and one more as the end */
	struct zone_rrset *rrsets;
	struct zone_bucket *buckets;
	uint8_t *labels;
	uint8_t *rdata;  /* of all types but RRSIG */
	uint8_t *rrsigs; /* apart, so that unsigned answers find their data closer together */
	uint64_t seed;
	uint32_t n_nodes;
	uint32_t n_rrsets;
	uint32_t n_buckets;
	uint32_t n_label_bytes;
	uint32_t n_rdata_bytes;
	uint32_t n_rrsig_bytes;
	uint32_t n_records;
	uint32_t serial;
	uint32_t negative_ttl;
	uint16_t apex_bytes;
	uint8_t apex_labels;
	bool is_signed;
	enum zone_chain chain;
	/* The NSEC3 chain: its nodes by hash, and with what names are hashed. */
	uint32_t *nsec3;
	uint32_t n_nsec3;
	uint16_t nsec3_iterations;
	uint8_t nsec3_salt_bytes;
	uint8_t nsec3_salt[255];
	uint8_t digest[ZONE_DIGEST_LEN];
	uint8_t apex[256];
};

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
 * Hash of the folded octets of one label below @parent. The seed is secret: owners may choose their
 * names.
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

/* Is the stored label (length octet first) the folded one? */
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

/* Fills in z->digest from the finished arrays. Returns 0 or -ENOMEM. */
int zone_compute_digest(struct zone *z) __attribute__((warn_unused_result));

#endif
