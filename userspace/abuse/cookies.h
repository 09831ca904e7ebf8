/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secrets of DNS cookies, and how a new set replaces the set in use.
 *
 *	configuration ─► server.cookies.secret, secret-files: the first makes cookies, all are
 *	                 accepted
 *	none of these ─► volleyd makes its own: kept in server.storage, and rotated
 *
 * If another secret makes cookies in the new set, B instead of A, there is a step between:
 *
 *	before     A makes cookies, B is not known
 *	step 1     A makes cookies, B is accepted      so that every CPU knows B before B makes any
 *	step 2     B makes cookies, A is accepted if the new set has it (RFC 9018 section 5)
 *
 * Each step is published to the workers (engine_data.cookies) and told to the driver, and ends with
 * a grace period. After the last one no worker and no CPU makes cookies with A.
 *
 * Control's thread calls all of these. Seconds are wall seconds since 1970.
 */
#ifndef VOLLEY_ABUSE_COOKIES_H
#define VOLLEY_ABUSE_COOKIES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/keeper.h"
#include "config/config.h"
#include "dns/cookie.h"
#include "engine/engine.h"

struct cookies;

/* The parts of the daemon that the cookies use. All must outlive them. */
struct cookies_env {
	struct engine_data *published;
	const char *storage;      /* folder for volleyd's own secrets; NULL: they are not kept */
	void (*tell)(void *user); /* tells the driver the published secrets */
	cache_grace_fn *grace;    /* waits for all readers of the secrets */
	void *user;               /* of both */
};

/* 0 or -ENOMEM. Nothing is published before cookies_configure(). */
int cookies_new(struct cookies **out, const struct cookies_env *env)
	__attribute__((warn_unused_result));

/* Publishes the secrets of the configuration. 0, or a negative code with a sentence in err. */
int cookies_configure(struct cookies *c, const struct config *config, uint64_t now_s, char *err,
		      size_t err_cap) __attribute__((warn_unused_result));

/* A new secret. The old one is accepted as long as its cookies live. As cookies_configure(). */
int cookies_rotate(struct cookies *c, uint64_t now_s, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Call it once a second: rotates a secret that is due, drops secrets whose cookies have all
 * expired, and stores secrets that are not stored yet.
 */
void cookies_tick(struct cookies *c, uint64_t now_s);

/* For `volleyctl cookies`: short digests, never a secret. A new object, or NULL. */
json_t *cookies_report(const struct cookies *c);

/* No thread may read the published secrets any more. NULL is allowed. */
void cookies_free(struct cookies *c);

/*
 * The file in server.storage with volleyd's own secrets of DNS cookies, so that a restart keeps
 * them.
 *
 *	volley-cookies 1
 *	SECRET SECONDS      makes cookies, since this time (seconds since 1970)
 *	SECRET SECONDS      is accepted, and has made no cookies since this time
 *	...
 *
 * The file has mode 0600. A file that everyone can read is not used: its secrets may be known to
 * others.
 */

/* All known secrets. The first one makes cookies. */
struct cookies_known {
	uint32_t n;
	struct {
		uint8_t secret[SIPHASH_KEY_BYTES];
		/* seconds since 1970: since then it makes, or no longer makes, cookies */
		uint64_t since_s;
	} secrets[COOKIE_SECRETS_MAX];
};

/* 0, or ERR_FORMAT, -EPERM (everyone can read or write it), -ENOENT ...: then *OUT is empty. */
int cookies_file_read(const char *path, struct cookies_known *out)
	__attribute__((warn_unused_result));

/* Replaces the file as a whole (base/files.h). 0 or -errno. */
int cookies_file_write(const char *path, const struct cookies_known *known)
	__attribute__((warn_unused_result));

#endif
