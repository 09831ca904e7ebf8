/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/suspects.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

int suspects_new(struct suspects **out)
{
	struct suspects *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (getrandom(s->key, sizeof(s->key), 0) != sizeof(s->key)) {
		free(s);
		return -EIO;
	}
	*out = s;
	return 0;
}

/* 0 is a free place. */
uint64_t suspects_hash(const struct suspects *s, const struct resolver_question *q)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	size_t n = name_bytes(q->name);

	name_fold(folded, q->name, n);
	return (siphash24(s->key, folded, n) ^ ((uint64_t)q->qtype << 16 | q->qclass)) | 1;
}

static struct suspect *suspect_place(struct suspects *s, uint64_t hash)
{
	return &s->places[hash / 2 % SUSPECTS_PLACES];
}

static void refuse_from(struct suspects *s, struct suspect *place, uint64_t ended_ns)
{
	__atomic_store_n(&place->refused_until_ns, ended_ns + SUSPECT_NS, __ATOMIC_RELEASE);
	__atomic_store_n(&s->refused_until_ns, ended_ns + SUSPECT_NS, __ATOMIC_RELAXED);
}

void suspects_convict(struct suspects *s, uint64_t hash, uint64_t ended_ns)
{
	struct suspect *place = suspect_place(s, hash);

	__atomic_store_n(&place->hash, 0, __ATOMIC_RELAXED); /* of another question */
	__atomic_store_n(&place->ended_ns, ended_ns, __ATOMIC_RELAXED);
	refuse_from(s, place, ended_ns);
	__atomic_store_n(&place->hash, hash, __ATOMIC_RELEASE);
}

bool suspects_note(struct suspects *s, uint64_t hash, uint64_t ended_ns)
{
	uint64_t before_ns;
	struct suspect *place = suspect_place(s, hash);
	bool is_known = __atomic_load_n(&place->hash, __ATOMIC_RELAXED) == hash;

	before_ns = is_known ? __atomic_load_n(&place->ended_ns, __ATOMIC_RELAXED) : 0;
	if (before_ns == ended_ns)
		return false;
	__atomic_store_n(&place->ended_ns, ended_ns, __ATOMIC_RELAXED);
	if (before_ns && ended_ns - before_ns <= SUSPECT_NS) {
		refuse_from(s, place, ended_ns);
		return true;
	}
	if (!is_known) {
		__atomic_store_n(&place->refused_until_ns, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&place->hash, hash, __ATOMIC_RELEASE);
	}
	return false;
}

bool suspects_refuse(const struct suspects *s, const struct resolver_question *q, uint64_t now_ns)
{
	const struct suspect *place;
	uint64_t hash;

	if (!suspects_any(s, now_ns))
		return false;
	hash = suspects_hash(s, q);
	place = &s->places[hash / 2 % SUSPECTS_PLACES];
	return __atomic_load_n(&place->hash, __ATOMIC_ACQUIRE) == hash &&
	       __atomic_load_n(&place->refused_until_ns, __ATOMIC_RELAXED) > now_ns;
}
