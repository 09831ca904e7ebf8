/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shield/interval_regions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "dns/name.h"
#include "zone/diff.h"
#include "zone/nsec3_chain.h"
#include "zone/sums.h"
#include "zone/zone_walk.h"
#include "zone/zone.h"

#define WORDS       VOLLEY_INTERVALS_WORDS
#define CHILDREN    VOLLEY_INTERVALS_CHILDREN
#define LEVELS      VOLLEY_INTERVALS_LEVELS
#define MARK        VOLLEY_INTERVALS_MARK
#define LEAF_POINTS 5u  /* points in a new leaf; its other words are free */
#define BAD_SHARE   32u /* if more than one in so many leaves is marked, the region is built anew */
#define REGIONS_MIN 16u

static void set_region(__u64 *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static uint64_t get_region(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static struct volley_intervals_head *head_of(const struct intervals *in,
					     const struct intervals_region *region)
{
	return (struct volley_intervals_head *)&in->lines[region->at];
}

/* --- Zones and their regions ------------------------------------------------------------------ */

static const uint8_t table_key[SIPHASH_KEY_BYTES + 1] = "volley intervals";

/* The place of the apex, or the free place for it. The table is never full. */
static struct intervals_region *place_of_region(struct intervals_region *regions, size_t cap,
						const uint8_t *apex, unsigned int n)
{
	size_t i = siphash24(table_key, apex, n) & (cap - 1);

	while (regions[i].apex && !(regions[i].apex_n == n && !memcmp(regions[i].apex, apex, n)))
		i = (i + 1) & (cap - 1);
	return &regions[i];
}

static struct intervals_region *find_interval_regions(const struct intervals *in,
						      const uint8_t *apex, unsigned int n)
{
	struct intervals_region *place;

	if (!in->regions_cap)
		return NULL;
	place = place_of_region(in->regions, in->regions_cap, apex, n);
	return place->apex ? place : NULL;
}

static int grow_region(struct intervals *in)
{
	size_t cap = in->regions_cap ? in->regions_cap * 2 : REGIONS_MIN;
	struct intervals_region *regions = calloc(cap, sizeof(*regions));

	if (!regions)
		return -ENOMEM;
	for (size_t i = 0; i < in->regions_cap; i++) {
		const struct intervals_region *r = &in->regions[i];

		if (r->apex)
			*place_of_region(regions, cap, r->apex, r->apex_n) = *r;
	}
	free(in->regions);
	in->regions = regions;
	in->regions_cap = cap;
	return 0;
}

/* The zone's entry, which is added if there is none. NULL: no memory. */
static struct intervals_region *take_region(struct intervals *in, const uint8_t *apex,
					    unsigned int n)
{
	struct intervals_region *region = find_interval_regions(in, apex, n);
	uint8_t *copy;

	if (region)
		return region;
	if (in->n_regions >= in->regions_cap / 2 && grow_region(in))
		return NULL;
	copy = malloc(n);
	if (!copy)
		return NULL;
	memcpy(copy, apex, n);
	region = place_of_region(in->regions, in->regions_cap, apex, n);
	*region = (struct intervals_region){ .apex = copy, .apex_n = n };
	in->n_regions++;
	return region;
}

void intervals_init(struct intervals *in, struct volley_names_line *lines, uint32_t first,
		    uint32_t n_lines)
{
	*in = (struct intervals){ .lines = lines, .first = first, .n_lines = n_lines };
}

void intervals_fini(struct intervals *in)
{
	for (size_t i = 0; i < in->regions_cap; i++)
		free(in->regions[i].apex);
	free(in->regions);
	*in = (struct intervals){ 0 };
}

void intervals_begin(struct intervals *in, uint32_t id)
{
	for (size_t i = 0; i < in->regions_cap; i++) {
		in->regions[i].id = 0;
		in->regions[i].n_points = 0;
	}
	in->n_refused = 0;
	if (in->n_lines)
		memset(&in->lines[in->first], 0, (size_t)in->n_lines * sizeof(*in->lines));
	in->used = 0;
	in->next_id = id;
}

void intervals_of(const struct intervals *in, const uint8_t *apex, unsigned int n,
		  struct volley_zone_intervals *out)
{
	const struct intervals_region *region = find_interval_regions(in, apex, n);

	*out = (struct volley_zone_intervals){ 0 };
	if (region && region->id)
		*out = (struct volley_zone_intervals){ region->at, region->id, region->kind };
}

/* Ends the region, before another version is served. */
static void end_region(const struct intervals *in, struct intervals_region *region)
{
	if (region->id)
		__atomic_store_n(&head_of(in, region)->id, 0, __ATOMIC_RELEASE);
	region->id = 0;
	region->n_points = 0;
}

void intervals_end_zone(struct intervals *in, const uint8_t *apex, unsigned int n)
{
	struct intervals_region *region = find_interval_regions(in, apex, n);

	if (region)
		end_region(in, region);
}

/* --- Building --------------------------------------------------------------------------------- */

/* Sets the number of lines of each level, the root first. Returns the number of levels, or 0: too
 * many points. */
static unsigned int plan_region(uint64_t n_points, uint64_t counts[static LEVELS])
{
	uint64_t n = n_points ? (n_points + LEAF_POINTS - 1) / LEAF_POINTS : 1;
	unsigned int n_levels = 1;

	for (uint64_t k = n; k > 1; k = (k + CHILDREN - 1) / CHILDREN)
		n_levels++;
	if (n_levels > LEVELS)
		return 0;
	for (unsigned int i = n_levels; i-- > 0; n = (n + CHILDREN - 1) / CHILDREN)
		counts[i] = n;
	return n_levels;
}

/* Lines of a region with its head; 0: too many points. */
static uint64_t n_lines_of(uint64_t n_points)
{
	uint64_t counts[LEVELS], n = 1;
	unsigned int n_levels = plan_region(n_points, counts);

	for (unsigned int i = 0; i < n_levels; i++)
		n += counts[i];
	return n_levels ? n : 0;
}

bool intervals_are_worn(const struct intervals *in)
{
	uint64_t n = 0;

	for (size_t i = 0; in->n_refused && i < in->regions_cap; i++)
		if (in->regions[i].n_points)
			n += n_lines_of(in->regions[i].n_points);
	return in->n_refused && n < in->n_lines / 4 * 3;
}

static bool fits_region(const struct intervals *in, uint64_t n_points)
{
	uint64_t n = n_lines_of(n_points);

	return n && n <= in->n_lines - in->used;
}

static void fill_leaves(struct volley_names_line *leaves, const uint64_t *points, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		leaves[i / LEAF_POINTS].words[i % LEAF_POINTS] = points[i];
}

/* Fills the level above one of n lines. Each child has `span` leaves below it. A separator is the
 * first point in these leaves. */
static void fill_inner(struct volley_names_line *lines, uint64_t n,
		       const struct volley_names_line *leaves, uint64_t span)
{
	for (uint64_t child = 0; child < (n + CHILDREN - 1) / CHILDREN * CHILDREN; child++)
		if (child % CHILDREN)
			lines[child / CHILDREN].words[child % CHILDREN - 1] =
				child < n ? leaves[child * span].words[0] : MARK;
}

/* Writes a region of sorted points at in->used. There is room for it. */
static void lay(struct intervals *in, struct intervals_region *region, const uint64_t *points,
		uint64_t n)
{
	struct volley_names_line *leaves;
	uint64_t counts[LEVELS], span = 1;
	unsigned int n_levels = plan_region(n, counts);
	struct volley_intervals_head *head;

	region->at = in->first + in->used;
	head = head_of(in, region);
	in->used++;
	head->n_levels = n_levels;
	for (unsigned int i = 0; i < n_levels; i++) {
		head->level_at[i] = in->first + in->used;
		in->used += (uint32_t)counts[i];
	}
	leaves = &in->lines[head->level_at[n_levels - 1]];
	fill_leaves(leaves, points, n);
	for (unsigned int i = n_levels - 1; i-- > 0; span *= CHILDREN)
		fill_inner(&in->lines[head->level_at[i]], counts[i + 1], leaves, span);
	region->n_points = n;
	region->n_leaves = (uint32_t)counts[n_levels - 1];
	region->n_marked = 0;
}

/* --- Points of a zone ------------------------------------------------------------------------- */

static enum volley_intervals_kind kind_of(const struct zone *z)
{
	if (!sums_chains_are_closed(z))
		return VOLLEY_INTERVALS_NONE;
	switch (zone_chain(z)) {
	case ZONE_CHAIN_NONE:
		break;
	case ZONE_CHAIN_NSEC:
		return VOLLEY_INTERVALS_NSEC;
	case ZONE_CHAIN_NSEC3:
		if (!z->nsec3_params->iterations &&
		    z->nsec3_params->salt_bytes <= VOLLEY_INTERVALS_SALT)
			return VOLLEY_INTERVALS_NSEC3;
	}
	return VOLLEY_INTERVALS_NONE;
}

/* The point of a folded name, from its first label. */
static uint64_t label_point(const uint8_t *name)
{
	return volley_intervals_label_point(name + 1, name[0] < 8 ? name[0] : 8);
}

/* The first 64 bits of a hash. Its digits, base32hex in lower case, are the name's first label (RFC
 * 4648 section 7). */
static uint64_t hash_point(const uint8_t *name)
{
	uint64_t point = 0;

	for (unsigned int i = 1; i <= 13; i++) {
		uint64_t digit = name[i] >= 'a' ? name[i] - 'a' + 10u : name[i] - (unsigned)'0';

		point = i < 13 ? point << 5 | digit : point << 4 | digit >> 1;
	}
	return point;
}

typedef int point_fn(void *user, uint64_t point);

/* Calls `show` for the points of all names until it returns other than 0. Returns that value. */
static int each_point(const struct zone *z, enum volley_intervals_kind kind, point_fn *show,
		      void *user)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	const struct zone_node *node;
	struct zone_walk walk;
	int end = 0;

	zone_walk_init(&walk, z);
	while (!end && (node = zone_walk_next(&walk))) {
		unsigned int n;

		if (kind == VOLLEY_INTERVALS_NSEC3 && !nsec3_in_chain(z, node))
			continue;
		n = zone_node_owner(z, node, owner);
		name_fold(owner, owner, n);
		if (kind == VOLLEY_INTERVALS_NSEC3)
			end = show(user, hash_point(owner));
		else if (node != zone_apex_node(z))
			end = show(user, label_point(owner));
	}
	return end;
}

struct gathering {
	uint64_t *points;
	size_t n, cap;
};

static int gather_region(void *user, uint64_t point)
{
	struct gathering *g = user;

	if (!volley_intervals_is_point(point))
		return 0;
	if (g->n == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 64;
		uint64_t *points = realloc(g->points, cap * sizeof(*points));

		if (!points)
			return -ENOMEM;
		g->points = points;
		g->cap = cap;
	}
	g->points[g->n++] = point;
	return 0;
}

static int compare_region(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_region(struct gathering *g)
{
	size_t n = 0;

	if (g->n)
		qsort(g->points, g->n, sizeof(*g->points), compare_region);
	for (size_t i = 0; i < g->n; i++)
		if (!i || g->points[i] != g->points[i - 1])
			g->points[n++] = g->points[i];
	g->n = n;
}

static uint32_t new_id(struct intervals *in)
{
	uint32_t id = in->next_id;

	in->next_id = id < INT32_MAX ? id + 1 : 1;
	return id;
}

/* Builds a region anew. The old one ends only if that succeeds. */
static int build_region(struct intervals *in, struct intervals_region *region, const struct zone *z,
			enum volley_intervals_kind kind)
{
	struct volley_intervals_head *head;
	struct gathering g = { 0 };
	int err = each_point(z, kind, gather_region, &g);

	if (!err) {
		sort_region(&g);
		err = fits_region(in, g.n) ? 0 : -ENOSPC;
	}
	if (err == -ENOSPC && !region->id)
		region->n_points = g.n;
	if (!err) {
		end_region(in, region);
		lay(in, region, g.points, g.n);
		head = head_of(in, region);
		head->kind = kind;
		if (kind == VOLLEY_INTERVALS_NSEC3) {
			head->salt_bytes = z->nsec3_params->salt_bytes;
			memcpy(head->salt, z->nsec3_params->salt, head->salt_bytes);
		}
		region->kind = kind;
		region->id = new_id(in);
		__atomic_store_n(&head->id, region->id, __ATOMIC_RELEASE);
	}
	free(g.points);
	return err;
}

/* --- Adding ----------------------------------------------------------------------------------- */

static struct volley_names_line *leaf_of(const struct intervals *in,
					 const struct intervals_region *region, uint64_t point)
{
	const struct volley_intervals_head *head = head_of(in, region);
	uint32_t i = 0, k;

	for (k = 0; k + 1 < head->n_levels; k++)
		i = i * CHILDREN + volley_intervals_child(&in->lines[head->level_at[k] + i], point);
	return &in->lines[head->level_at[k] + i];
}

/* The words of a leaf are filled in order: readers rely on that. */
static void add_region(struct intervals *in, struct intervals_region *region, uint64_t point)
{
	struct volley_names_line *leaf;
	unsigned int i;

	if (!volley_intervals_is_point(point))
		return;
	leaf = leaf_of(in, region, point);
	if (get_region(&leaf->words[WORDS - 1]) == MARK)
		return;
	for (i = 0; i < WORDS && get_region(&leaf->words[i]); i++)
		if (get_region(&leaf->words[i]) == point)
			return;
	region->n_points += i < WORDS;
	region->n_marked += i == WORDS;
	set_region(&leaf->words[i < WORDS ? i : WORDS - 1], i < WORDS ? point : MARK);
}

struct adding {
	struct intervals *in;
	struct intervals_region *region;
	const struct zone *zone;
};

static int add_point(void *user, uint64_t point)
{
	const struct adding *a = user;

	add_region(a->in, a->region, point);
	return 0;
}

/* With NSEC, adds the names above it, too. So zone_diff() need not report empty non-terminals. */
static int add_region_change(void *context, const struct zone_change *change)
{
	const struct adding *a = context;
	const uint8_t *name = change->owner;

	if (!change->new_node)
		return 0;
	if (a->region->kind == VOLLEY_INTERVALS_NSEC3) {
		if (nsec3_in_chain(a->zone, change->new_node))
			add_region(a->in, a->region, hash_point(name));
		return 0;
	}
	for (unsigned int n = change->owner_bytes; n > a->region->apex_n;
	     n -= name[0] + 1u, name += name[0] + 1u)
		add_region(a->in, a->region, label_point(name));
	return 0;
}

static bool is_bad(const struct intervals_region *region)
{
	return (uint64_t)region->n_marked * BAD_SHARE > region->n_leaves;
}

/* True if the region is of the chain that the zone has. */
static bool is_region_of(const struct intervals *in, const struct intervals_region *region,
			 const struct zone *z, enum volley_intervals_kind kind)
{
	const struct volley_intervals_head *head = head_of(in, region);

	if (!region->id || region->kind != kind)
		return false;
	return kind != VOLLEY_INTERVALS_NSEC3 ||
	       (head->salt_bytes == z->nsec3_params->salt_bytes &&
		!memcmp(head->salt, z->nsec3_params->salt, head->salt_bytes));
}

/* True if all points of `old` are in the region. Another version, which was never served, may have
 * been added after it. */
static bool has_all_of(const struct intervals_region *region, const struct zone *old)
{
	return old && !memcmp(region->digest, old->sums.digest, sizeof(region->digest));
}

/* Adds all points of the version. A comparison needs memory; if there is none, all points are
 * added. */
static void add_points(struct intervals *in, struct intervals_region *region,
		       const struct zone *zone, const struct zone *old)
{
	struct adding a = { .in = in, .region = region, .zone = zone };

	if (!has_all_of(region, old) || zone_diff(old, zone, add_region_change, &a))
		(void)each_point(zone, region->kind, add_point, &a);
}

int intervals_add_zone(struct intervals *in, const struct zone *zone, const struct zone *old)
{
	enum volley_intervals_kind kind = kind_of(zone);
	struct intervals_region *region;
	unsigned int n;
	const uint8_t *apex = zone_apex(zone, &n);
	int err = 0;

	if (!in->n_lines)
		return 0;
	region = kind ? take_region(in, apex, n) : find_interval_regions(in, apex, n);
	if (!region)
		return kind ? -ENOMEM : 0;
	if (!is_region_of(in, region, zone, kind)) {
		end_region(in, region);
		if (kind)
			err = build_region(in, region, zone, kind);
	} else {
		add_points(in, region, zone, old);
		if (is_bad(region))
			err = fits_region(in, region->n_points) ?
				      build_region(in, region, zone, kind) :
				      -ENOSPC;
	}
	memcpy(region->digest, zone->sums.digest, sizeof(region->digest));
	in->n_refused += err != 0;
	return err;
}

/* --- Finding ---------------------------------------------------------------------------------- */

bool intervals_point(const struct zone *zone, const uint8_t *name, uint64_t *point)
{
	struct nsec3_label hash;

	switch (kind_of(zone)) {
	case VOLLEY_INTERVALS_NSEC:
		*point = label_point(name);
		return true;
	case VOLLEY_INTERVALS_NSEC3:
		nsec3_hash(zone->nsec3_params, name, &hash);
		*point = hash_point(hash.label);
		return true;
	case VOLLEY_INTERVALS_NONE:
		break;
	}
	return false;
}

int intervals_find(const struct volley_names_line *lines, uint32_t n_all_lines, uint32_t at,
		   uint32_t id, uint64_t point, uint64_t *start)
{
	const struct volley_intervals_head *head;
	uint64_t line = 0, i = 0;
	__u64 found;
	int is_uncertain;

	if (at >= n_all_lines || !volley_intervals_is_point(point))
		return 1;
	head = (const struct volley_intervals_head *)&lines[at];
	if (!id || __atomic_load_n(&head->id, __ATOMIC_ACQUIRE) != id)
		return 1;
	for (uint32_t k = 0; k < head->n_levels && k < LEVELS; k++) {
		if (k)
			i = i * CHILDREN + volley_intervals_child(&lines[line], point);
		line = head->level_at[k] + i;
		if (line >= n_all_lines)
			return 1;
	}
	is_uncertain = volley_intervals_before(&lines[line], point, &found);
	*start = found;
	return is_uncertain;
}
