/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/textset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
	return hash ^ hash >> 29;
}

int textset_init(struct textset *set, uint32_t n, textset_text_fn *text, const void *user)
{
	size_t n_slots = 16;

	while (n_slots < 2 * (size_t)n)
		n_slots *= 2;
	*set = (struct textset){ calloc(n_slots, sizeof(*set->slots)), n_slots - 1, text, user };
	return set->slots ? 0 : -ENOMEM;
}

void textset_fini(struct textset *set)
{
	free(set->slots);
}

uint32_t textset_put(struct textset *set, uint32_t at)
{
	const char *text = set->text(set->user, at);
	const uint64_t hash = hash_text(text), mark = hash & ~(uint64_t)UINT32_MAX;
	size_t i = hash & set->mask;

	for (; set->slots[i]; i = (i + 1) & set->mask) {
		const uint32_t there = (uint32_t)set->slots[i] - 1;

		if ((set->slots[i] & ~(uint64_t)UINT32_MAX) == mark &&
		    !strcmp(set->text(set->user, there), text))
			return there;
	}
	set->slots[i] = mark | (at + 1);
	return TEXTSET_NEW;
}
