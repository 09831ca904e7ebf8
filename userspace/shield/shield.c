/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shield/shield.h"

#include <string.h>

#include "shield/name_filter.h"

enum { PLACE_FREE, PLACE_TAKEN, PLACE_WRITTEN };

void shield_init(struct shield *shield, const struct volley_names_line *lines, uint32_t n_lines)
{
	*shield = (struct shield){ .lines = lines, .n_lines = n_lines };
}

const char *shield_fault_text(enum shield_fault fault)
{
	static const char *const texts[] = {
#define SHIELD_WORDS(fault, words) words,
		SHIELD_FAULTS(SHIELD_WORDS)
#undef SHIELD_WORDS
	};

	return texts[fault];
}

void shield_note(struct shield *shield, const struct query *q, const struct names_walk *walk,
		 enum shield_fault fault)
{
	struct shield_place *place = &shield->places[walk->apex_hash % SHIELD_PLACES];
	uint32_t state = PLACE_FREE;

	if (!__atomic_compare_exchange_n(&place->state, &state, PLACE_TAKEN, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	memcpy(place->found.name, q->folded, q->qname_bytes);
	place->found.bytes = (uint8_t)q->qname_bytes;
	place->found.apex = (uint8_t)walk->apex;
	place->found.qtype = q->qtype;
	place->found.fault = fault;
	__atomic_store_n(&place->state, PLACE_WRITTEN, __ATOMIC_RELEASE);
}

/*
 * Names are added before the set that has them is published. A filter is cleared only after a grace
 * period, and this reader's section delays it. So if a zone of the set has the filter's id, the
 * lines that are read here have all its names, and those of all zones below it.
 */
bool shield_check(struct shield *shield, const struct volley_names_state *names,
		  const struct zone_set *set, const struct query *q, bool is_expanded)
{
	uint32_t id = __atomic_load_n(&names->id, __ATOMIC_ACQUIRE);
	const struct zone_member *member;
	enum names_verdict verdict;
	struct names_walk walk;

	if (!id || !set)
		return false;
	verdict = names_walk(&walk, shield->lines, names, q->folded, q->qname_bytes);
	if (verdict != NAMES_DENIED && (verdict != NAMES_EXPANDED || is_expanded))
		return false;
	member = zone_set_get(set, q->folded + walk.apex, q->qname_bytes - walk.apex);
	if (!member || !zone_set_zone(member) || member->names_id != id)
		return false;
	shield_note(shield, q, &walk, SHIELD_EXISTENCE);
	return true;
}

bool shield_take(struct shield *shield, struct shield_found *out)
{
	for (unsigned int i = 0; i < SHIELD_PLACES; i++) {
		struct shield_place *place = &shield->places[i];

		if (__atomic_load_n(&place->state, __ATOMIC_ACQUIRE) != PLACE_WRITTEN)
			continue;
		*out = place->found;
		__atomic_store_n(&place->state, PLACE_FREE, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

void shield_begin_edition(struct shield *shield)
{
	uint32_t edition = __atomic_load_n(&shield->edition, __ATOMIC_RELAXED);

	__atomic_store_n(&shield->edition, edition | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void shield_end_edition(struct shield *shield)
{
	uint32_t edition = __atomic_load_n(&shield->edition, __ATOMIC_RELAXED);

	__atomic_store_n(&shield->edition, (edition | 1) + 1, __ATOMIC_RELEASE);
}
