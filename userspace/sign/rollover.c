/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sign/rollover.h"

#include <errno.h>

#include "base/err.h"

/* The newest published key of this role that is not going, except @but; NULL: none. */
static struct sign_key *newest(struct sign_keys *keys, enum sign_role role,
			       const struct sign_key *but)
{
	struct sign_key *found = NULL;

	for (size_t i = 0; i < keys->n; i++) {
		struct sign_key *key = &keys->keys[i];

		if (key->role == role && key != but && key->published_s && !is_going(key) &&
		    (!found || key->published_s >= found->published_s))
			found = key;
	}
	return found;
}

static uint32_t longer(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void by(struct step *s, uint64_t at)
{
	if (at > s->now_s && at < s->next_s)
		s->next_s = at;
}

/* --- First keys ------------------------------------------------------------------------------- */

/* Begins with a key that was put into the folder without times, or makes a new one. */
static int first(struct step *s, enum sign_role role)
{
	struct sign_key *key = NULL;
	int rc = 0;

	if (newest(s->keys, role, NULL))
		return 0;
	for (size_t i = 0; i < s->keys->n; i++)
		if (s->keys->keys[i].role == role && !s->keys->keys[i].published_s &&
		    !is_going(&s->keys->keys[i]))
			key = &s->keys->keys[i];
	if (!key && role != SIGN_ZSK && s->keys->n)
		return -ENOKEY;
	if (!key)
		rc = sign_keys_make(s->keys, role, s->policy->algorithm, s->now_s, &key);
	if (rc)
		return rc;
	key->published_s = s->now_s;
	key->active_s = s->now_s;
	mark(s->actions, s->keys, key);
	return 0;
}

static bool has_role(const struct sign_keys *keys, enum sign_role role)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->keys[i].role == role && !is_going(&keys->keys[i]))
			return true;
	return false;
}

static bool is_single(const struct step *s)
{
	if (has_role(s->keys, SIGN_CSK))
		return true;
	if (has_role(s->keys, SIGN_KSK) || has_role(s->keys, SIGN_ZSK))
		return false;
	return s->policy->single_key;
}

/* --- Successors ------------------------------------------------------------------------------- */

/* A new ZSK waits until all caches know it; a new KSK or CSK signs beside the old key at once. */
static int succeed_rollover(struct sign_keys *keys, const struct sign_key *old, uint64_t now_s,
			    struct rollover_actions *actions)
{
	struct sign_key *key;
	int rc = sign_keys_make(keys, old->role, (enum sign_algorithm)old->algorithm, now_s, &key);

	if (rc)
		return rc;
	key->published_s = now_s;
	key->active_s = key->role == SIGN_ZSK ? 0 : now_s;
	mark(actions, keys, key);
	return 0;
}

/* The key that takes over from *@old, if there is one; else NULL, and *@old is the newest. */
static struct sign_key *successor(struct sign_keys *keys, enum sign_role role,
				  struct sign_key **old)
{
	struct sign_key *key = newest(keys, role, NULL), *other = newest(keys, role, key);

	*old = other ? other : key;
	return other ? key : NULL;
}

static int zsk(struct step *s)
{
	const struct rollover_policy *p = s->policy;
	uint64_t publish_s = (uint64_t)p->dnskey_ttl_s + p->propagation_s; /* Ipub */
	struct sign_key *old, *key = successor(s->keys, SIGN_ZSK, &old);
	uint64_t at, out;

	if (!key && old && old->active_s && p->zsk_lifetime_s) {
		at = old->active_s + p->zsk_lifetime_s;
		at = at > publish_s ? at - publish_s : 1;
		by(s, at);
		return is_since(at, s->now_s) ?
			       succeed_rollover(s->keys, old, s->now_s, s->actions) :
			       0;
	}
	out = key && !key->active_s ? out_since(s, key->published_s) : 0;
	if (out) {
		key->active_s = out + publish_s;
		old->retired_s = key->active_s;
		mark(s->actions, s->keys, key);
		mark(s->actions, s->keys, old);
	}
	return 0;
}

void rollover_allow_ds(struct step *s, struct sign_key *key)
{
	const struct rollover_policy *p = s->policy;
	uint64_t at = key->active_s > key->published_s ? key->active_s : key->published_s;
	uint64_t out = out_since(s, at);

	if (key->cds_s || !out)
		return;
	key->cds_s = out + longer(p->dnskey_ttl_s, p->zone_ttl_s) + p->propagation_s;
	mark(s->actions, s->keys, key);
}

static int ksk(struct step *s, enum sign_role role)
{
	const struct rollover_policy *p = s->policy;
	struct sign_key *old, *key = successor(s->keys, role, &old);
	uint64_t at;

	if (old)
		rollover_allow_ds(s, old);
	if (!key && old && p->ksk_lifetime_s) {
		at = old->active_s + p->ksk_lifetime_s;
		by(s, at);
		return is_since(at, s->now_s) ?
			       succeed_rollover(s->keys, old, s->now_s, s->actions) :
			       0;
	}
	if (key)
		rollover_allow_ds(s, key);
	if (key && key->ds_seen_s) {
		at = key->ds_seen_s + p->parent_propagation_s + p->parent_ttl_s;
		old->retired_s = old->removed_s = at;
		mark(s->actions, s->keys, old);
	}
	return 0;
}

/* --- Ends ------------------------------------------------------------------------------------- */

/*
 * A retired key's signatures have been replaced: it is removed when no cache has any of them. The
 * last key of an algorithm is removed first: its signatures go when no cache has its DNSKEY record.
 */
static void end_rollover(struct step *s, struct sign_key *key)
{
	const struct rollover_policy *p = s->policy;
	uint64_t retired = out_since(s, key->retired_s), removed = out_since(s, key->removed_s);

	if (!key->removed_s && retired) {
		key->removed_s = retired + p->zone_ttl_s + p->propagation_s;
		mark(s->actions, s->keys, key);
	} else if (!key->retired_s && removed) {
		key->retired_s = removed + p->dnskey_ttl_s + p->propagation_s;
		mark(s->actions, s->keys, key);
	}
	if (retired && removed)
		s->actions->erase |= 1u << (key - s->keys->keys);
}

static void look_ahead(struct step *s, const struct sign_key *key)
{
	const uint64_t times[] = { key->published_s, key->active_s,  key->cds_s,
				   key->ds_seen_s,   key->retired_s, key->removed_s };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		by(s, times[i]);
		if (is_since(times[i], s->now_s) && times[i] > s->policy->renewed_s)
			s->actions->renew = true;
	}
}

/* --- The step --------------------------------------------------------------------------------- */

static int keep_kind(struct step *s)
{
	enum sign_role role = is_single(s) ? SIGN_CSK : SIGN_KSK;
	int rc = first(s, role);

	if (!rc && role == SIGN_KSK)
		rc = first(s, SIGN_ZSK);
	if (!rc)
		rc = rollover_begin_change(s);
	if (rc || rollover_is_changing(s->keys))
		return rc;
	rc = ksk(s, role);
	return !rc && role == SIGN_KSK ? zsk(s) : rc;
}

int rollover_step(struct sign_keys *keys, const struct rollover_policy *policy, uint64_t now_s,
		  struct rollover_actions *actions, uint64_t *next_s)
{
	struct step s = { keys, policy, actions, now_s, UINT64_MAX };
	int rc;

	*actions = (struct rollover_actions){ 0 };
	rc = rollover_is_changing(keys) ? rollover_change(&s) : keep_kind(&s);
	for (size_t i = 0; !rc && i < keys->n; i++) {
		end_rollover(&s, &keys->keys[i]);
		look_ahead(&s, &keys->keys[i]);
	}
	*next_s = s.next_s;
	return rc;
}

int rollover_start(struct sign_keys *keys, enum sign_role role, uint64_t now_s,
		   struct rollover_actions *actions)
{
	struct sign_key *old, *key = successor(keys, role, &old);

	*actions = (struct rollover_actions){ 0 };
	if (!old)
		return ERR_NOT_FOUND;
	if (key || rollover_is_changing(keys) || !is_since(old->active_s, now_s))
		return -EALREADY;
	return succeed_rollover(keys, old, now_s, actions);
}

int rollover_ds_seen(struct sign_keys *keys, int tag, uint64_t now_s,
		     struct rollover_actions *actions)
{
	int rc = ERR_NOT_FOUND;

	*actions = (struct rollover_actions){ 0 };
	for (size_t i = 0; i < keys->n; i++) {
		struct sign_key *key = &keys->keys[i];

		if (key->role == SIGN_ZSK || key->ds_seen_s || is_going(key) ||
		    (tag >= 0 && key->tag != tag))
			continue;
		if (!is_since(key->cds_s, now_s)) {
			rc = rc ? -EAGAIN : 0;
			continue;
		}
		key->ds_seen_s = now_s;
		mark(actions, keys, key);
		rc = 0;
	}
	return rc;
}

int rollover_store(struct sign_keys *keys, const struct rollover_actions *actions,
		   const char *folder)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < keys->n; i++)
		if (actions->write & 1u << i && !(actions->erase & 1u << i))
			rc = sign_key_write(keys, &keys->keys[i], folder);
	for (size_t i = keys->n; !rc && i--;)
		if (actions->erase & 1u << i) {
			rc = sign_key_erase(keys, &keys->keys[i], folder);
			if (!rc)
				sign_keys_forget(keys, &keys->keys[i]);
		}
	return rc;
}
