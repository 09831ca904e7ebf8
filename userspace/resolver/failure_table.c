/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/failure_table.h"

#include <stdbool.h>
#include <string.h>

#include "dns/name.h"

_Static_assert(sizeof(struct failure) % sizeof(uint64_t) == 0, "it is copied by words");

static bool is_failure_same(const struct failure *f, const struct resolver_question *q)
{
	return f->last_ns && f->qtype == q->qtype && f->qclass == q->qclass &&
	       name_equal(f->name, q->name);
}

/* The question's place, or the place that it takes over. */
static struct failure_place *choose_failure(struct failure_table *t,
					    const struct resolver_question *q)
{
	struct failure_place *set = &t->places[q->hash % FAILURE_SETS * FAILURE_WAYS];
	struct failure_place *oldest = set;

	for (unsigned int i = 0; i < FAILURE_WAYS; i++) {
		if (is_failure_same(&set[i].u.failure, q))
			return &set[i];
		if (set[i].u.failure.last_ns < oldest->u.failure.last_ns)
			oldest = &set[i];
	}
	return oldest;
}

static void put_failure_why(struct failure *f, const char *text)
{
	size_t n = 0;

	for (; text && text[n] && n < sizeof(f->why) - 1; n++)
		f->why[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	memset(f->why + n, 0, sizeof(f->why) - n);
}

/* Each store is a release: a reader that sees a new word also sees the odd version. */
static void write_place(struct failure_place *place, const struct failure *f)
{
	uint64_t words[FAILURE_WORDS], version = place->version;

	memcpy(words, f, sizeof(*f));
	__atomic_store_n(&place->version, version + 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < FAILURE_WORDS; i++)
		__atomic_store_n(&place->u.words[i], words[i], __ATOMIC_RELEASE);
	__atomic_store_n(&place->version, version + 2, __ATOMIC_RELEASE);
}

void failure_table_note(struct failure_table *t, const struct resolver_question *q, int ede_code,
			const char *text, uint64_t now_ns)
{
	struct failure_place *place = choose_failure(t, q);
	struct failure f = { .first_ns = now_ns, .qtype = q->qtype, .qclass = q->qclass };

	if (is_failure_same(&place->u.failure, q)) {
		f.first_ns = place->u.failure.first_ns;
		f.n = place->u.failure.n;
	}
	f.n++;
	f.last_ns = now_ns;
	f.ede_code = ede_code;
	memcpy(f.name, q->name, name_bytes(q->name));
	put_failure_why(&f, text);
	write_place(place, &f);
}

/* False: at each try the place was being written. */
static bool read_failure_place(const struct failure_place *place, struct failure *f)
{
	uint64_t words[FAILURE_WORDS], version;

	for (unsigned int n = 0; n < FAILURE_READ_TRIES; n++) {
		version = __atomic_load_n(&place->version, __ATOMIC_ACQUIRE);
		for (size_t i = 0; i < FAILURE_WORDS; i++)
			words[i] = __atomic_load_n(&place->u.words[i], __ATOMIC_ACQUIRE);
		if (version % 2 || __atomic_load_n(&place->version, __ATOMIC_RELAXED) != version)
			continue;
		memcpy(f, words, sizeof(*f));
		return true;
	}
	return false;
}

size_t failure_table_find(const struct failure_table *t, const uint8_t *folded, struct failure *out,
			  size_t cap)
{
	struct failure f;
	size_t n = 0;

	for (size_t i = 0; i < FAILURE_SETS * FAILURE_WAYS && n < cap; i++)
		if (__atomic_load_n(&t->places[i].version, __ATOMIC_RELAXED) &&
		    read_failure_place(&t->places[i], &f) &&
		    name_check(f.name, sizeof(f.name)) > 0 && /* another process wrote it */
		    (!folded || name_equal(f.name, folded)))
			out[n++] = f;
	return n;
}
