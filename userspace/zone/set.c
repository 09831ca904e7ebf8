/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of zones: extendible hashing over a hash of the apex. The hash is made label by label
 * from the root, so that one pass over a name gives the hashes of all its suffixes.
 *
 *      directory   by the first bits of the hash; several entries may have one bucket
 *         └─► bucket of 128 slots    open addressing; a slot is 16 bits of the hash and a pointer
 *                └─► member, with its name behind it
 *
 * A bucket that gets full is replaced by two that share its members. So a change touches one
 * bucket, however many zones there are, and only a larger directory costs more: 8 octets a bucket.
 */
#include "zone/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/image.h"

#define BUCKET_SLOTS 128u
#define BUCKET_FULL  96u /* with more slots in use, probes get long */
#define BUCKET_FEW   64u /* fewer members: it is full of gaps, and a copy without them is enough */
#define BUCKET_START 56u /* members of a bucket when the set is made */
#define DEPTH_MAX    32u
#define GAP          1u /* a slot whose member was removed; probes go on */
#define POINTER_BITS 48u
#define POINTER_MASK ((1ull << POINTER_BITS) - 1)

struct set_member {
	struct zone_member public;
	struct set_member *next; /* retired */
	uint8_t apex[];
};

struct set_bucket {
	struct set_bucket *next; /* retired */
	unsigned depth;          /* bits of the hash that its members have in common */
	unsigned n_used;         /* slots with a member or a gap */
	unsigned n;              /* members */
	uint64_t slots[BUCKET_SLOTS];
};

struct set_directory {
	struct set_directory *next; /* retired */
	unsigned depth;
	struct set_bucket *at[];
};

struct zone_set {
	struct set_directory *directory; /* RCU, as each pointer in it, and each slot */
	size_t n;
	uint64_t seed;
	unsigned max_labels; /* of the deepest apex */
	/* Readers may still use these until a grace period has passed. */
	struct set_member *old_members;
	struct set_bucket *old_buckets;
	struct set_directory *old_directories;
};

/* --- Hashes ----------------------------------------------------------------------------------- */

/* Makes the hash of a name from that of its parent. */
static uint64_t hash_step(uint64_t above, const uint8_t *label)
{
	return hash_label(above, 0, label + 1, *label);
}

static uint64_t hash_set_name(uint64_t seed, const uint8_t *name)
{
	unsigned n = name_n_labels(name);
	uint64_t h = seed;

	while (n--)
		h = hash_step(h, name_skip_labels(name, n));
	return h;
}

static size_t directory_index(unsigned depth, uint64_t hash)
{
	return (size_t)((hash >> 32) >> (32 - depth));
}

static uint64_t tag_of_hash(uint64_t hash)
{
	return hash >> 8 << POINTER_BITS;
}

static struct set_member *member_of_slot(uint64_t slot)
{
	return slot == GAP ? NULL : (struct set_member *)(uintptr_t)(slot & POINTER_MASK);
}

/* --- Lookups ---------------------------------------------------------------------------------- */

static struct set_bucket *bucket_of(const struct set_directory *directory, uint64_t hash)
{
	return __atomic_load_n(&directory->at[directory_index(directory->depth, hash)],
			       __ATOMIC_CONSUME);
}

static struct set_directory *directory_of(const struct zone_set *set)
{
	return __atomic_load_n(&set->directory, __ATOMIC_CONSUME);
}

/* The slot of the member; NULL: there is none. */
static uint64_t *slot_find(const struct set_directory *directory, uint64_t hash,
			   const uint8_t *apex, unsigned len)
{
	struct set_bucket *bucket = bucket_of(directory, hash);
	const uint64_t tag = tag_of_hash(hash);
	uint64_t slot;

	for (unsigned at = hash % BUCKET_SLOTS;
	     (slot = __atomic_load_n(&bucket->slots[at], __ATOMIC_CONSUME));
	     at = (at + 1) % BUCKET_SLOTS) {
		const struct set_member *m = member_of_slot(slot);

		if (m && (slot & ~POINTER_MASK) == tag && m->public.apex_len == len &&
		    !memcmp(m->apex, apex, len))
			return &bucket->slots[at];
	}
	return NULL;
}

static struct set_member *find_set_member(const struct set_directory *directory, uint64_t hash,
					  const uint8_t *apex, unsigned len)
{
	const uint64_t *slot = slot_find(directory, hash, apex, len);

	/* The slot may have got a gap, or another version of the member, meanwhile. */
	return slot ? member_of_slot(__atomic_load_n(slot, __ATOMIC_CONSUME)) : NULL;
}

const struct zone_member *zone_set_find(const struct zone_set *set, const uint8_t *qname,
					unsigned qname_len, uint16_t qtype)
{
	const unsigned max_labels = __atomic_load_n(&set->max_labels, __ATOMIC_RELAXED);
	const struct set_directory *directory = directory_of(set);
	const struct set_member *found = NULL, *above = NULL, *m;
	uint8_t label[DNS_LABELS_MAX + 1];
	uint64_t hash = set->seed;
	unsigned n = 0, at;

	for (at = 0; qname[at] && n < DNS_LABELS_MAX; at += qname[at] + 1u)
		label[n++] = (uint8_t)at;
	label[n] = (uint8_t)at;
	/* From the root down: the suffix without the first i labels. */
	for (unsigned i = n, depth = 0; depth <= max_labels; depth++) {
		m = find_set_member(directory, hash, qname + label[i], qname_len - label[i]);
		if (m) {
			above = found;
			found = m;
		}
		if (!i--)
			break;
		hash = hash_step(hash, qname + label[i]);
	}
	if (found && above && qtype == DNS_TYPE_DS && found->public.apex_len == qname_len)
		return &above->public;
	return found ? &found->public : NULL;
}

bool zone_set_delegates(const struct zone_set *set, const uint8_t *qname, unsigned qname_len,
			uint16_t qtype)
{
	const struct zone_member *member = zone_set_find(set, qname, qname_len, qtype);
	const struct zone *zone = member ? zone_set_zone(member) : NULL;
	struct zone_result found;

	if (!zone)
		return false;
	zone_find(zone, qname, qname_len, qtype, &found);
	return found.status == ZONE_DELEGATION;
}

const struct zone_member *zone_set_get(const struct zone_set *set, const uint8_t *apex,
				       unsigned apex_len)
{
	const struct set_member *m =
		find_set_member(directory_of(set), hash_set_name(set->seed, apex), apex, apex_len);

	return m ? &m->public : NULL;
}

size_t zone_set_n(const struct zone_set *set)
{
	return set->n;
}

const struct zone_member *zone_set_next(const struct zone_set *set, struct zone_set_place *place)
{
	const struct set_directory *directory = set->directory;

	while (place->bucket < (size_t)1 << directory->depth) {
		const struct set_bucket *bucket = directory->at[place->bucket];

		while (place->slot < BUCKET_SLOTS) {
			const struct set_member *m = member_of_slot(bucket->slots[place->slot++]);

			if (m)
				return &m->public;
		}
		place->slot = 0;
		place->bucket += (size_t)1 << (directory->depth - bucket->depth);
	}
	return NULL;
}

/* --- Buckets ---------------------------------------------------------------------------------- */

/* The bucket has a free slot. */
static void bucket_put(struct set_bucket *bucket, uint64_t hash, const struct set_member *m)
{
	const uint64_t slot = tag_of_hash(hash) | (uint64_t)(uintptr_t)m;
	unsigned at = hash % BUCKET_SLOTS;

	while (bucket->slots[at])
		at = (at + 1) % BUCKET_SLOTS;
	bucket->n_used++;
	bucket->n++;
	__atomic_store_n(&bucket->slots[at], slot, __ATOMIC_RELEASE);
}

static struct set_bucket *bucket_new(unsigned depth)
{
	struct set_bucket *bucket = calloc(1, sizeof(*bucket));

	if (bucket)
		bucket->depth = depth;
	return bucket;
}

static struct set_directory *directory_new(unsigned depth)
{
	struct set_directory *directory =
		calloc(1, sizeof(*directory) + sizeof(struct set_bucket *) * ((size_t)1 << depth));

	if (directory)
		directory->depth = depth;
	return directory;
}

/* Makes the directory twice as large, with the same buckets. */
static int grow_directory(struct zone_set *set)
{
	struct set_directory *old = set->directory, *grown = NULL;

	if (old->depth < DEPTH_MAX)
		grown = directory_new(old->depth + 1);
	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)2 << old->depth; i++)
		grown->at[i] = old->at[i / 2];
	__atomic_store_n(&set->directory, grown, __ATOMIC_RELEASE);
	old->next = set->old_directories;
	set->old_directories = old;
	return 0;
}

/* Puts the members of `old` into one new bucket, or two. */
static void share_members(const struct zone_set *set, const struct set_bucket *old,
			  struct set_bucket *new[2], unsigned n_new)
{
	for (unsigned at = 0; at < BUCKET_SLOTS; at++) {
		const struct set_member *m = member_of_slot(old->slots[at]);
		uint64_t hash = m ? hash_set_name(set->seed, m->apex) : 0;
		size_t index = directory_index(new[0]->depth, hash);

		if (m)
			bucket_put(new[n_new > 1 ? index & 1 : 0], hash, m);
	}
}

/*
 * Replaces a full bucket: by one without gaps, or by two. Readers find all members in the old
 * bucket or in the new ones.
 */
static int replace_bucket(struct zone_set *set, struct set_bucket *old, uint64_t hash)
{
	const unsigned n_new = old->n < BUCKET_FEW ? 1 : 2, depth = old->depth + n_new - 1;
	struct set_bucket *new[2] = { bucket_new(depth), n_new > 1 ? bucket_new(depth) : NULL };
	struct set_directory *directory = set->directory;
	size_t first, n;

	if (!new[0] || (n_new > 1 && !new[1])) {
		free(new[0]);
		free(new[1]);
		return -ENOMEM;
	}
	share_members(set, old, new, n_new);
	n = (size_t)1 << (directory->depth - old->depth); /* entries of the old bucket */
	first = directory_index(old->depth, hash) * n;
	for (size_t i = 0; i < n; i++)
		__atomic_store_n(&directory->at[first + i], new[n_new > 1 ? i >= n / 2 : 0],
				 __ATOMIC_RELEASE);
	old->next = set->old_buckets;
	set->old_buckets = old;
	return 0;
}

/* Returns the bucket for that hash, with a free slot. NULL: no memory. */
static struct set_bucket *make_slot_room(struct zone_set *set, uint64_t hash)
{
	for (;;) {
		struct set_bucket *bucket = bucket_of(set->directory, hash);

		if (bucket->n_used < BUCKET_FULL)
			return bucket;
		if (bucket->n >= BUCKET_FEW && bucket->depth == set->directory->depth &&
		    grow_directory(set))
			return NULL;
		if (replace_bucket(set, bucket, hash))
			return NULL;
	}
}

/* --- Changes ---------------------------------------------------------------------------------- */

static struct set_member *set_member_new(const struct zone_member *m)
{
	struct set_member *member = malloc(sizeof(*member) + m->apex_len);

	if (!member)
		return NULL;
	member->public = *m;
	member->public.apex = memcpy(member->apex, m->apex, m->apex_len);
	return member;
}

static void retire_member(struct zone_set *set, struct set_member *m)
{
	m->next = set->old_members;
	set->old_members = m;
}

static void note_labels(struct zone_set *set, const uint8_t *apex)
{
	unsigned n_labels = name_n_labels(apex);

	if (n_labels > set->max_labels)
		__atomic_store_n(&set->max_labels, n_labels, __ATOMIC_RELAXED);
}

static int add_set_member(struct zone_set *set, uint64_t hash, const struct zone_member *m)
{
	struct set_bucket *bucket = make_slot_room(set, hash);
	struct set_member *member = bucket ? set_member_new(m) : NULL;

	if (!member)
		return -ENOMEM;
	note_labels(set, m->apex);
	bucket_put(bucket, hash, member);
	set->n++;
	return 0;
}

static bool is_wire_name(const struct zone_member *m)
{
	return name_check(m->apex, m->apex_len) == (int)m->apex_len;
}

int zone_set_put(struct zone_set *set, const struct zone_member *m)
{
	struct set_member *member;
	uint64_t hash, *slot;

	if (!is_wire_name(m))
		return -EINVAL;
	hash = hash_set_name(set->seed, m->apex);
	slot = slot_find(set->directory, hash, m->apex, m->apex_len);
	if (!slot)
		return add_set_member(set, hash, m);
	member = set_member_new(m);
	if (!member)
		return -ENOMEM;
	retire_member(set, member_of_slot(*slot));
	__atomic_store_n(slot, tag_of_hash(hash) | (uint64_t)(uintptr_t)member, __ATOMIC_RELEASE);
	return 0;
}

void zone_set_remove(struct zone_set *set, const uint8_t *apex, unsigned apex_len)
{
	uint64_t hash = hash_set_name(set->seed, apex);
	uint64_t *slot = slot_find(set->directory, hash, apex, apex_len);

	if (!slot)
		return;
	retire_member(set, member_of_slot(*slot));
	__atomic_store_n(slot, GAP, __ATOMIC_RELEASE);
	bucket_of(set->directory, hash)->n--;
	set->n--;
}

void zone_set_swap(struct zone_set *set, const uint8_t *apex, unsigned apex_len, struct zone *zone)
{
	struct set_member *m =
		find_set_member(set->directory, hash_set_name(set->seed, apex), apex, apex_len);

	if (m)
		__atomic_store_n(&m->public.zone, zone, __ATOMIC_RELEASE);
}

void zone_set_reclaim(struct zone_set *set)
{
	struct set_directory *directory;
	struct set_bucket *bucket;
	struct set_member *m;

	while ((m = set->old_members)) {
		set->old_members = m->next;
		free(m);
	}
	while ((bucket = set->old_buckets)) {
		set->old_buckets = bucket->next;
		free(bucket);
	}
	while ((directory = set->old_directories)) {
		set->old_directories = directory->next;
		free(directory);
	}
}

/* --- From start to end ------------------------------------------------------------------------ */

static struct zone_set *set_alloc(size_t n)
{
	struct zone_set *set = calloc(1, sizeof(*set));
	unsigned depth = 0;
	size_t i;

	if (!set)
		return NULL;
	while (depth < DEPTH_MAX && n >> depth > BUCKET_START)
		depth++;
	/* Without entropy the hash still works, but an attacker can guess it. */
	if (getrandom(&set->seed, sizeof(set->seed), GRND_NONBLOCK) != sizeof(set->seed))
		set->seed = (uintptr_t)set;
	set->directory = directory_new(depth);
	for (i = 0; set->directory && i < (size_t)1 << depth; i++) {
		set->directory->at[i] = bucket_new(depth);
		if (!set->directory->at[i])
			break;
	}
	if (set->directory && i == (size_t)1 << depth)
		return set;
	zone_set_free(set);
	return NULL;
}

int zone_set_new(struct zone_set **out, const struct zone_member *members, size_t n)
{
	struct zone_set *set = set_alloc(n);
	int rc = set ? 0 : -ENOMEM;

	*out = NULL;
	for (size_t i = 0; i < n && !rc; i++) {
		const struct zone_member *m = &members[i];
		uint64_t hash;

		if (!is_wire_name(m)) {
			rc = -EINVAL;
			break;
		}
		hash = hash_set_name(set->seed, m->apex);
		rc = slot_find(set->directory, hash, m->apex, m->apex_len) ?
			     -EEXIST :
			     add_set_member(set, hash, m);
	}
	if (rc)
		zone_set_free(set);
	else
		*out = set;
	return rc;
}

static void bucket_free(struct set_bucket *bucket)
{
	for (unsigned at = 0; bucket && at < BUCKET_SLOTS; at++)
		free(member_of_slot(bucket->slots[at]));
	free(bucket);
}

void zone_set_free(struct zone_set *set)
{
	struct set_directory *directory = set ? set->directory : NULL;
	size_t i = 0, n;

	if (!set)
		return;
	zone_set_reclaim(set);
	while (directory && i < (size_t)1 << directory->depth && directory->at[i]) {
		n = (size_t)1 << (directory->depth - directory->at[i]->depth);
		bucket_free(directory->at[i]);
		i += n;
	}
	free(directory);
	free(set);
}
