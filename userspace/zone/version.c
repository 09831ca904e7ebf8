/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/version.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "dns/name.h"

/*
 * The most changed names that are kept between two versions in the list. To look up more takes
 * about as long as a walk over the whole zone, and the list must not grow as long as an old version
 * is held.
 */
#define CHANGED_MAX  (1u << 18)
#define NAMES_BLOCK  1024u
#define NAMES_GROWTH 65536u

/* The number of locks: two families that change at a time seldom have the same one. */
#define N_FAMILY_LOCKS 64u

struct zone_family {
	struct zone *oldest;
	uint32_t lock;  /* the number of its lock */
	bool has_image; /* the arrays of the image are in the same block, behind this */
};
_Static_assert(sizeof(struct zone_family) == 16, "the head of image_pack()");

/* Of the links between versions, their garbage and names. A million families share the locks. */
static pthread_mutex_t family_locks[N_FAMILY_LOCKS] = {
	[0 ... N_FAMILY_LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER,
};

static void lock_family(const struct zone_family *family)
{
	pthread_mutex_lock(&family_locks[family->lock]);
}

static void unlock_family(const struct zone_family *family)
{
	pthread_mutex_unlock(&family_locks[family->lock]);
}

/* --- Names --- */

static void names_free(struct zone *z)
{
	struct overlay_names *next;

	for (struct overlay_names *at = z->changed; at; at = next) {
		next = at->next;
		free(at);
	}
	z->changed = NULL;
	z->changed_end = &z->changed;
	z->n_changed = 0;
}

static void names_forget(struct zone *z)
{
	names_free(z);
	z->changed_unknown = true;
}

int version_note(struct zone *draft, const uint8_t *name, unsigned n)
{
	struct overlay_names *at = *draft->changed_end;

	if (draft->changed_unknown)
		return 0;
	if (!at || at->cap - at->n_bytes < n) {
		uint32_t cap = at ? NAMES_GROWTH : NAMES_BLOCK;

		if (at)
			draft->changed_end = &at->next;
		at = malloc(sizeof(*at) + cap);
		if (!at)
			return -ENOMEM;
		*at = (struct overlay_names){ .cap = cap };
		*draft->changed_end = at;
	}
	memcpy(at->bytes + at->n_bytes, name, n);
	at->n_bytes += n;
	draft->n_changed++;
	return 0;
}

/* @z leaves: the names that it changed may differ between its neighbours, too. */
static void names_pass_on(struct zone *z, struct zone *newer)
{
	if (z->changed_unknown || newer->changed_unknown ||
	    z->n_changed + newer->n_changed > CHANGED_MAX) {
		names_forget(newer);
		return;
	}
	while (*newer->changed_end)
		newer->changed_end = &(*newer->changed_end)->next;
	*newer->changed_end = z->changed;
	newer->n_changed += z->n_changed;
	z->changed = NULL;
}

static bool names_copy(const struct zone *z, uint8_t **names, size_t *n_bytes)
{
	for (const struct overlay_names *at = z->changed; at; at = at->next) {
		uint8_t *more = realloc(*names, *n_bytes + at->n_bytes + 1);

		if (!more)
			return false;
		memcpy(more + *n_bytes, at->bytes, at->n_bytes);
		*names = more;
		*n_bytes += at->n_bytes;
	}
	return !z->changed_unknown;
}

bool version_touched(const struct zone *draft, uint8_t **names, size_t *n_bytes)
{
	*names = NULL;
	*n_bytes = 0;
	if (names_copy(draft, names, n_bytes))
		return true;
	free(*names);
	*names = NULL;
	return false;
}

bool version_changed(const struct zone *a, const struct zone *b, uint8_t **names, size_t *n_bytes)
{
	const struct zone *old = a->number < b->number ? a : b, *at = old == a ? b : a;
	bool known = a->family == b->family;

	*names = NULL;
	*n_bytes = 0;
	if (!known)
		return false;
	lock_family(a->family);
	for (; known && at != old; at = at->older)
		known = names_copy(at, names, n_bytes);
	unlock_family(a->family);
	if (!known) {
		free(*names);
		*names = NULL;
	}
	return known;
}

static int cmp_names(const void *a, const void *b)
{
	return name_canonical_cmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b);
}

int name_list_make(struct name_list *list, const uint8_t *bytes, size_t n_bytes)
{
	size_t n = 0, kept = 0;

	for (size_t at = 0; at < n_bytes; at += name_bytes(bytes + at))
		n++;
	*list = (struct name_list){ .names = calloc(n + 1, sizeof(*list->names)) };
	if (!list->names)
		return -ENOMEM;
	n = 0;
	for (size_t at = 0; at < n_bytes; at += name_bytes(bytes + at))
		list->names[n++] = bytes + at;
	qsort(list->names, n, sizeof(*list->names), cmp_names);
	for (size_t i = 0; i < n; i++)
		if (!kept || !name_equal(list->names[kept - 1], list->names[i]))
			list->names[kept++] = list->names[i];
	list->n = kept;
	return 0;
}

void name_list_free(struct name_list *list)
{
	free(list->names);
	*list = (struct name_list){ 0 };
}

/* --- Coming --- */

int version_found(struct zone *z)
{
	struct zone_family *family = image_pack(z, sizeof(*family));
	const bool has_image = family;

	if (!family)
		family = calloc(1, sizeof(*family));
	if (!family)
		return -ENOMEM;
	family->has_image = has_image;
	family->lock = (uint32_t)z->seed % N_FAMILY_LOCKS;
	family->oldest = z;
	z->family = family;
	z->changed_end = &z->changed;
	z->next_id = z->n_nodes;
	return 0;
}

/* What malloc() needs for a block beside the octets that are asked for: its size, and rounding. */
#define BLOCK_BYTES 16u

size_t version_image_bytes(const struct zone *z)
{
	const unsigned n_blocks = z->family && z->family->has_image ? 2 : 2 + IMAGE_BLOCKS;

	return image_bytes(z) + sizeof(*z->family) + (size_t)n_blocks * BLOCK_BYTES;
}

struct zone *version_draft(const struct zone *base)
{
	struct zone *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	memcpy(z, base, offsetof(struct zone, refs));
	z->refs = 1;
	z->is_draft = true;
	z->changed_end = &z->changed;
	z->number++;
	return z;
}

void version_give_up(struct zone *draft)
{
	overlay_free_younger(draft, draft->number - 1);
	names_free(draft);
	free(draft);
}

static void bury(struct zone *z, struct overlay_item *item)
{
	item->next = z->garbage;
	z->garbage = item;
}

/* The list may stay as long as an old version is held, so it gets no more room than it needs. */
static void names_trim(struct zone *draft)
{
	struct overlay_names *at = *draft->changed_end, *trimmed;

	if (draft->n_changed > CHANGED_MAX)
		names_forget(draft);
	else if (at) {
		trimmed = realloc(at, sizeof(*at) + at->n_bytes);
		if (trimmed)
			*draft->changed_end = trimmed;
	}
}

bool version_publish(struct zone *draft, struct zone *base, const struct overlay_edit *e)
{
	bool is_newest;

	names_trim(draft);
	draft->is_draft = false;
	lock_family(base->family);
	is_newest = !base->newer;
	if (is_newest) {
		for (size_t i = 0; i < e->n_garbage; i++)
			bury(base, e->garbage[i]);
		base->newer = draft;
		draft->older = base;
	}
	unlock_family(base->family);
	return is_newest;
}

/* --- Going --- */

struct zone *zone_ref(struct zone *z)
{
	__atomic_add_fetch(&z->refs, 1, __ATOMIC_RELAXED);
	return z;
}

/* Frees the garbage that the older version has not, and gives the rest to that version. */
static void hand_over_version(struct zone *z)
{
	uint64_t number = z->older ? z->older->number : 0;
	struct overlay_item *next;

	for (struct overlay_item *item = z->garbage; item; item = next) {
		next = item->next;
		if (item->born > number)
			free(item);
		else
			bury(z->older, item);
	}
}

static void leave_version(struct zone *z)
{
	if (z->newer) {
		hand_over_version(z);
		if (z->older)
			names_pass_on(z, z->newer);
		else
			names_forget(z->newer);
		z->newer->older = z->older;
	} else {
		overlay_free_younger(z, z->older ? z->older->number : 0);
		if (z->older)
			z->older->garbage = NULL; /* now the newest: it uses them */
	}
	if (z->older)
		z->older->newer = z->newer;
	else
		z->family->oldest = z->newer;
}

void zone_unref(struct zone *z)
{
	struct zone_family *family;
	bool is_last = true;

	if (!z || __atomic_sub_fetch(&z->refs, 1, __ATOMIC_ACQ_REL))
		return;
	family = z->family;
	if (family) { /* a refused zone has none */
		lock_family(family);
		leave_version(z);
		is_last = !family->oldest;
		unlock_family(family);
	}
	if (is_last && !(family && family->has_image))
		image_free(z);
	if (is_last)
		free(family);
	names_free(z);
	free(z);
}
