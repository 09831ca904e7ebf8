/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef VOLLEY_POLICY_COOKIES_FILE_H
#define VOLLEY_POLICY_COOKIES_FILE_H

#include <stdint.h>

#include "dns/cookie.h"

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
