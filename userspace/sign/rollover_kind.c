/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A change to another kind of keys, in the conservative way of RFC 6781 section 4.1.4: while a
 * cache may hold a DNSKEY RRset with an algorithm, it holds no data without a signature of that
 * algorithm (RFC 4035 section 2.2). The keys' times tell the next step.
 */
#include "sign/rollover.h"

static bool is_rollover_kind_of_kind(const struct sign_key *key, unsigned int algorithm,
				     bool single)
{
	return key->algorithm == algorithm && (key->role == SIGN_CSK) == single;
}

static bool is_same_kind(const struct sign_key *a, const struct sign_key *b)
{
	return is_rollover_kind_of_kind(a, b->algorithm, b->role == SIGN_CSK);
}

/* In the folder, and not used yet. */
static bool is_rollover_kind_idle(const struct sign_key *key)
{
	return !key->published_s && !key->active_s;
}

/* Of the keys that sign data and are not going, the one that became active last; NULL: none. */
static const struct sign_key *youngest(const struct sign_keys *keys)
{
	const struct sign_key *found = NULL;

	for (size_t i = 0; i < keys->n; i++) {
		const struct sign_key *key = &keys->keys[i];

		if (key->role != SIGN_KSK && !is_rollover_kind_idle(key) && !is_going(key) &&
		    (!found || key->active_s > found->active_s))
			found = key;
	}
	return found;
}

bool rollover_is_changing(const struct sign_keys *keys)
{
	const struct sign_key *young = youngest(keys);

	for (size_t i = 0; young && i < keys->n; i++)
		if (!is_rollover_kind_idle(&keys->keys[i]) && !is_same_kind(&keys->keys[i], young))
			return true;
	return false;
}

/* Publishes the key when no cache has data any more that it did not sign. */
static void publish_rollover_kind(struct step *s, struct sign_key *young)
{
	const struct rollover_policy *p = s->policy;
	uint64_t out = out_since(s, young->active_s);

	if (young->published_s || !out)
		return;
	young->published_s = out + p->zone_ttl_s + p->propagation_s;
	mark(s->actions, s->keys, young);
}

/* *@out: the key of its kind whose DS parents get. It is @young itself, or a KSK that is published
 * together with it. */
static int find_main(struct step *s, struct sign_key *young, struct sign_key **out)
{
	struct sign_keys *keys = s->keys;
	int rc;

	*out = young->role == SIGN_CSK ? young : NULL;
	for (size_t i = 0; !*out && i < keys->n; i++)
		if (keys->keys[i].role == SIGN_KSK && !is_rollover_kind_idle(&keys->keys[i]) &&
		    !is_going(&keys->keys[i]) && is_same_kind(&keys->keys[i], young))
			*out = &keys->keys[i];
	if (*out || !young->published_s)
		return 0;
	rc = sign_keys_make(keys, SIGN_KSK, (enum sign_algorithm)young->algorithm, s->now_s, out);
	if (rc)
		return rc;
	(*out)->published_s = (*out)->active_s = young->published_s;
	mark(s->actions, keys, *out);
	return 0;
}

/* Removes the other keys from the DNSKEY RRset. Keys that sign data go on until no cache has that
 * RRset: end_rollover() in rollover.c. */
static void remove_others(struct step *s, const struct sign_key *main)
{
	const struct rollover_policy *p = s->policy;
	uint64_t at = main->ds_seen_s + p->parent_propagation_s + p->parent_ttl_s;

	for (size_t i = 0; i < s->keys->n; i++) {
		struct sign_key *key = &s->keys->keys[i];

		if (is_rollover_kind_idle(key) || is_same_kind(key, main) || key->removed_s)
			continue;
		key->removed_s = at;
		if (key->role == SIGN_KSK)
			key->retired_s = at;
		mark(s->actions, s->keys, key);
	}
}

int rollover_change(struct step *s)
{
	struct sign_key *young = &s->keys->keys[youngest(s->keys) - s->keys->keys], *main;
	int rc;

	publish_rollover_kind(s, young);
	rc = find_main(s, young, &main);
	if (rc || !main)
		return rc;
	rollover_allow_ds(s, main);
	if (main->ds_seen_s)
		remove_others(s, main);
	return 0;
}

/* True if each key has done what its role says since before now, is not going, and is the only one
 * of its role. */
static bool is_quiet(struct step *s)
{
	unsigned int n[] = { [SIGN_ZSK] = 0, [SIGN_KSK] = 0, [SIGN_CSK] = 0 };

	for (size_t i = 0; i < s->keys->n; i++) {
		const struct sign_key *key = &s->keys->keys[i];

		if (is_rollover_kind_idle(key))
			continue;
		if (key->active_s == s->now_s && s->next_s > s->now_s + 1)
			s->next_s = s->now_s + 1; /* this key does not prevent a change then */
		if (is_going(key) || ++n[key->role] > 1 || !out_since(s, key->published_s) ||
		    !out_since(s, key->active_s) || key->active_s >= s->now_s)
			return false;
	}
	return true;
}

int rollover_begin_change(struct step *s)
{
	const struct sign_key *young = youngest(s->keys);
	const struct rollover_policy *p = s->policy;
	struct sign_key *key;
	int rc;

	if (!young || is_rollover_kind_of_kind(young, p->algorithm, p->single_key) || !is_quiet(s))
		return 0;
	rc = sign_keys_make(s->keys, p->single_key ? SIGN_CSK : SIGN_ZSK, p->algorithm, s->now_s,
			    &key);
	if (rc)
		return rc;
	key->active_s = s->now_s; /* it signs, and is not published yet */
	mark(s->actions, s->keys, key);
	return 0;
}
