/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/cookies.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/json_put.h"
#include "base/log.h"

#define DIGEST_BYTES 9 /* 8 digits */

/* `set` is published. It comes first, so that a pointer to it is a pointer to the struct. */
struct published {
	struct cookie_secrets set;
	struct published *next; /* in the list of sets that may still be read */
};

struct cookies {
	struct cookies_env env;
	struct published *unread; /* sets that may still be read: they stay until the end */
	struct cookies_known known;
	char *files[COOKIE_SECRETS_MAX]; /* the files of the secrets; NULL: none */
	/* volleyd made the secrets; else the configuration gives them */
	bool is_made;
	uint32_t rotate_s;
	char *file; /* keeps volleyd's own secrets; NULL: they are not kept */
	bool is_unsaved;
	int save_error; /* of the last try */
	/* The file has something that was not read, perhaps secrets, so it is not written. */
	bool is_unread;
};

/* --- Publishing ------------------------------------------------------------------------------- */

static void add_cookie_set(struct cookie_secrets *set, const uint8_t *key)
{
	if (set->n < COOKIE_SECRETS_MAX && !cookie_secrets_have(set, key))
		memcpy(set->keys[set->n++], key, sizeof(set->keys[0]));
}

/*
 * Makes the set of step 1: cookies are made as before, and those of `next` are accepted. Secrets
 * without a place are left out, those in both sets last. That happens only for two full sets whose
 * first secrets differ, and lasts a grace period.
 */
static void join_cookie_set(struct cookie_secrets *both, const struct cookie_secrets *now,
			    const struct cookie_secrets *next)
{
	*both = (struct cookie_secrets){ 0 };
	add_cookie_set(both, now->keys[0]);
	add_cookie_set(both, next->keys[0]);
	for (uint32_t i = 0; i < now->n; i++)
		if (cookie_secrets_have(next, now->keys[i]))
			add_cookie_set(both, now->keys[i]);
	for (uint32_t i = 0; i < now->n; i++)
		add_cookie_set(both, now->keys[i]);
}

static void forget_set(struct published *set)
{
	if (set)
		explicit_bzero(set, sizeof(*set));
	free(set);
}

/* -ENOMEM: no change. Another error: the set is published; the old one may still have readers. */
static int publish_cookie_set(struct cookies *c, const struct cookie_secrets *set)
{
	struct published *copy = malloc(sizeof(*copy)), *old;
	int err;

	if (!copy)
		return -ENOMEM;
	*copy = (struct published){ .set = *set };
	old = (struct published *)rcu_xchg_pointer(&c->env.published->cookies, &copy->set);
	c->env.tell(c->env.user);
	err = old ? c->env.grace(c->env.user) : 0;
	if (!err) {
		forget_set(old);
	} else {
		old->next = c->unread;
		c->unread = old;
	}
	return err;
}

static bool is_cookie_set_same(const struct cookie_secrets *a, const struct cookie_secrets *b)
{
	return a->n == b->n && !memcmp(a->keys, b->keys, a->n * sizeof(a->keys[0]));
}

static int put_cookie_set(struct cookies *c, const struct cookies_known *known)
{
	const struct cookie_secrets *now = c->env.published->cookies;
	struct cookie_secrets set = { .n = known->n }, both;
	int err = 0;

	for (uint32_t i = 0; i < known->n; i++)
		memcpy(set.keys[i], known->secrets[i].secret, sizeof(set.keys[i]));
	if (now && !cookie_secrets_have(now, set.keys[0])) {
		join_cookie_set(&both, now, &set);
		err = publish_cookie_set(c, &both);
		now = c->env.published->cookies;
		explicit_bzero(&both, sizeof(both));
	}
	if (!err && !(now && is_cookie_set_same(now, &set)))
		err = publish_cookie_set(c, &set);
	if (!err)
		c->known = *known;
	explicit_bzero(&set, sizeof(set));
	return err;
}

static int say_cookie_set(int code, char *err, size_t err_cap)
{
	if (code)
		snprintf(err, err_cap, "secrets of DNS cookies: %s", err_text(code));
	return code;
}

/* --- Secrets of volleyd ----------------------------------------------------------------------- */

/* True if all cookies of the secret are too old to be accepted. */
static bool is_cookie_set_over(const struct cookies_known *known, uint32_t i, uint64_t now_s)
{
	return i && now_s > known->secrets[i].since_s + VOLLEY_COOKIE_PAST_MAX_S;
}

/* True: something changed. A time in the future (the clock was set back) becomes now. */
static bool forget_old(struct cookies_known *known, uint64_t now_s)
{
	bool is_changed = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < known->n; i++) {
		if (known->secrets[i].since_s > now_s) {
			known->secrets[i].since_s = now_s;
			is_changed = true;
		}
		if (!is_cookie_set_over(known, i, now_s))
			known->secrets[n++] = known->secrets[i];
	}
	is_changed |= n < known->n;
	known->n = n;
	return is_changed;
}

static int make_first(struct cookies_known *known, uint64_t now_s)
{
	known->secrets[0].since_s = now_s;
	if (getrandom(known->secrets[0].secret, sizeof(known->secrets[0].secret), 0) < 0)
		return -errno;
	return 0;
}

/* The secret that made cookies becomes an accepted one. Without a place the oldest is dropped. */
static int make_next(struct cookies_known *known, uint64_t now_s)
{
	(void)forget_old(known, now_s);
	if (known->n < COOKIE_SECRETS_MAX)
		known->n++;
	memmove(&known->secrets[1], &known->secrets[0], (known->n - 1) * sizeof(known->secrets[0]));
	if (known->n > 1)
		known->secrets[1].since_s = now_s;
	return make_first(known, now_s);
}

static void save(struct cookies *c)
{
	int err;

	if (c->is_unread) {
		c->is_unsaved = false;
		return;
	}
	err = c->file ? cookies_file_write(c->file, &c->known) : 0;
	if (err && err != c->save_error)
		log_warn("%s: %s: a restart makes new secrets of DNS cookies", c->file,
			 err_text(err));
	c->save_error = err;
	c->is_unsaved = err != 0;
}

static const char *reason_of_cookie_set(int code)
{
	return code == ERR_FORMAT ? "it is not as volleyd wrote it" : err_text(code);
}

static void read_kept(struct cookies *c, struct cookies_known *known)
{
	int err = c->file ? cookies_file_read(c->file, known) : -ENOENT;

	c->is_unread = err < 0 && err != -ENOENT && err != -EPERM;
	if (c->is_unread)
		c->save_error = err;
	if (c->is_unread)
		log_warn("%s: %s: new secrets of DNS cookies are made, and are not kept: correct "
			 "or remove the file; a restart reads it again",
			 c->file, reason_of_cookie_set(err));
	else if (err == -EPERM)
		log_warn("%s: everyone can read or write it: new secrets of DNS cookies are made",
			 c->file);
}

/*
 * Takes the secrets of an earlier volleyd, or makes a new one. The configuration's last secret is
 * accepted for a while.
 */
static int start_own(struct cookies *c, uint64_t now_s)
{
	struct cookies_known known = { 0 };
	int err = 0;

	read_kept(c, &known);
	(void)forget_old(&known, now_s);
	if (!known.n)
		err = make_next(&known, now_s);
	if (c->known.n && known.n < COOKIE_SECRETS_MAX) {
		known.secrets[known.n] = c->known.secrets[0];
		known.secrets[known.n++].since_s = now_s;
	}
	if (!err)
		err = put_cookie_set(c, &known);
	c->is_unsaved = !err; /* server.storage may not be open yet */
	explicit_bzero(&known, sizeof(known));
	return err;
}

static int rotate_cookie_set(struct cookies *c, uint64_t now_s)
{
	struct cookies_known known = c->known;
	int err = make_next(&known, now_s);

	if (!err)
		err = put_cookie_set(c, &known);
	if (!err)
		save(c);
	explicit_bzero(&known, sizeof(known));
	return err;
}

int cookies_rotate(struct cookies *c, uint64_t now_s, char *err, size_t err_cap)
{
	if (c->is_made)
		return say_cookie_set(rotate_cookie_set(c, now_s), err, err_cap);
	snprintf(err, err_cap,
		 "the configuration gives the secrets: change server.cookies or its files, then "
		 "volleyctl zone reload");
	return -EOPNOTSUPP;
}

void cookies_tick(struct cookies *c, uint64_t now_s)
{
	struct cookies_known known = c->known;
	int err = 0;

	if (!c->is_made)
		return;
	if (forget_old(&known, now_s)) {
		err = put_cookie_set(c, &known);
		c->is_unsaved |= !err;
	}
	if (!err && c->rotate_s && now_s >= known.secrets[0].since_s + c->rotate_s)
		err = rotate_cookie_set(c, now_s);
	if (err)
		log_error("secrets of DNS cookies: %s", err_text(err));
	if (c->is_unsaved)
		save(c);
	explicit_bzero(&known, sizeof(known));
}

/* --- Secrets of the configuration ------------------------------------------------------------- */

/* The time since which the secret makes cookies (is_first) or makes none. */
static uint64_t since_of(const struct cookies *c, const uint8_t *secret, bool is_first,
			 uint64_t now_s)
{
	for (uint32_t i = 0; !c->is_made && i < c->known.n; i++)
		if (!memcmp(c->known.secrets[i].secret, secret, SIPHASH_KEY_BYTES) &&
		    is_first == !i)
			return c->known.secrets[i].since_s;
	return now_s;
}

static void forget_files(struct cookies *c)
{
	for (size_t i = 0; i < COOKIE_SECRETS_MAX; i++) {
		free(c->files[i]);
		c->files[i] = NULL;
	}
}

static int take_given(struct cookies *c, const struct config *config, uint64_t now_s)
{
	struct cookies_known known = { .n = config->n_cookie_secrets };
	int err;

	for (uint32_t i = 0; i < known.n; i++) {
		const struct config_cookie_secret *given = &config->cookie_secrets[i];

		memcpy(known.secrets[i].secret, given->secret, sizeof(given->secret));
		known.secrets[i].since_s = since_of(c, given->secret, !i, now_s);
	}
	err = put_cookie_set(c, &known);
	explicit_bzero(&known, sizeof(known));
	if (err)
		return err;
	c->is_made = false;
	forget_files(c);
	for (uint32_t i = 0; i < config->n_cookie_secrets; i++)
		if (config->cookie_secrets[i].file)
			c->files[i] = strdup(config->cookie_secrets[i].file);
	return 0;
}

int cookies_configure(struct cookies *c, const struct config *config, uint64_t now_s, char *err,
		      size_t err_cap)
{
	int code = 0;

	c->rotate_s = config->cookie_rotate_s;
	if (config->n_cookie_secrets)
		return say_cookie_set(take_given(c, config, now_s), err, err_cap);
	if (!c->is_made)
		code = start_own(c, now_s);
	if (code)
		return say_cookie_set(code, err, err_cap);
	c->is_made = true;
	forget_files(c);
	return 0;
}

/* --- Reports ---------------------------------------------------------------------------------- */

/*
 * The same on all hosts with the secret. It is no help for forging cookies, which are hashes of 20
 * or 32 octets.
 */
static void put_cookie_set_digest(json_t *o, const uint8_t *secret)
{
	static const char what[] = "DNS cookies";
	char text[DIGEST_BYTES];

	snprintf(text, sizeof(text), "%08x", (uint32_t)siphash24(secret, what, sizeof(what)));
	json_put_text(o, "digest", text);
}

static json_t *report_secret(const struct cookies *c, uint32_t i)
{
	json_t *o = json_object();

	put_cookie_set_digest(o, c->known.secrets[i].secret);
	json_put_text(o, "state", i ? "accepted" : "active");
	json_put_int(o, "since_at", c->known.secrets[i].since_s);
	if (c->files[i])
		json_put_text(o, "file", c->files[i]);
	return o;
}

json_t *cookies_report(const struct cookies *c)
{
	json_t *o = json_object(), *list = json_array();

	json_put_text(o, "source", c->is_made ? "volleyd" : "configuration");
	if (c->is_made && c->file)
		json_put_text(o, "kept_in", c->file);
	if (c->is_made && c->save_error)
		json_put_text(o, "error", reason_of_cookie_set(c->save_error));
	if (c->is_made && c->rotate_s)
		json_put_int(o, "rotates_at", c->known.secrets[0].since_s + c->rotate_s);
	for (uint32_t i = 0; i < c->known.n; i++)
		json_array_append_new(list, report_secret(c, i));
	json_object_set_new(o, "secrets", list);
	return o;
}

/* --- Beginning and end ------------------------------------------------------------------------ */

int cookies_new(struct cookies **out, const struct cookies_env *env)
{
	struct cookies *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->env = *env;
	if (env->storage && asprintf(&c->file, "%s/cookies", env->storage) < 0) {
		free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void cookies_free(struct cookies *c)
{
	if (!c)
		return;
	forget_set((struct published *)c->env.published->cookies);
	c->env.published->cookies = NULL;
	while (c->unread) {
		struct published *next = c->unread->next;

		forget_set(c->unread);
		c->unread = next;
	}
	forget_files(c);
	free(c->file);
	explicit_bzero(c, sizeof(*c));
	free(c);
}
