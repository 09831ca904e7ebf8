/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/cookies.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/hex.h"

#define HEAD       "volley-cookies 1\n"
#define TMP        ".tmp"
#define LINE_BYTES 64 /* 32 digits, a space, 20 digits */
#define TEXT_MAX   (sizeof(HEAD) + COOKIE_SECRETS_MAX * LINE_BYTES)

/* Reads the line at *AT, and moves *AT past it. */
static bool read_cookies_file_line(const char **at, struct cookies_known *out)
{
	char digits[2 * SIPHASH_KEY_BYTES + 1];
	int n = 0;

	if (out->n == COOKIE_SECRETS_MAX ||
	    sscanf(*at, "%32[0-9a-f] %" SCNu64 "%n", digits, &out->secrets[out->n].since_s, &n) !=
		    2 ||
	    (*at)[n] != '\n' || hex_read(digits, out->secrets[out->n].secret, SIPHASH_KEY_BYTES))
		return false;
	*at += n + 1;
	out->n++;
	explicit_bzero(digits, sizeof(digits));
	return true;
}

static int read_cookies_file_text(const char *text, struct cookies_known *out)
{
	const char *at = text + strlen(HEAD);

	if (strncmp(text, HEAD, strlen(HEAD)) != 0)
		return ERR_FORMAT;
	while (*at)
		if (!read_cookies_file_line(&at, out))
			return ERR_FORMAT;
	return out->n ? 0 : ERR_FORMAT;
}

int cookies_file_read(const char *path, struct cookies_known *out)
{
	char text[TEXT_MAX + 1];
	struct stat st;
	int fd = regular_open(path, &st), err = 0;
	ssize_t n = 0;

	*out = (struct cookies_known){ 0 };
	if (fd < 0)
		return fd;
	if (st.st_mode & (S_IROTH | S_IWOTH))
		err = -EPERM;
	else if ((n = read(fd, text, TEXT_MAX)) < 0)
		err = -errno;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (!err)
		err = read_cookies_file_text(text, out);
	if (err)
		explicit_bzero(out, sizeof(*out));
	explicit_bzero(text, sizeof(text));
	return err;
}

static int write_all_cookies_file(int fd, const struct cookies_known *known)
{
	char text[TEXT_MAX];
	size_t n = (size_t)snprintf(text, sizeof(text), HEAD);
	ssize_t written;

	for (uint32_t i = 0; i < known->n; i++) {
		for (size_t k = 0; k < SIPHASH_KEY_BYTES; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%02x",
					      known->secrets[i].secret[k]);
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %" PRIu64 "\n",
				      known->secrets[i].since_s);
	}
	written = write(fd, text, n);
	explicit_bzero(text, sizeof(text));
	if (written < 0)
		return -errno;
	if ((size_t)written < n)
		return -ENOSPC;
	return fsync(fd) ? -errno : 0;
}

int cookies_file_write(const char *path, const struct cookies_known *known)
{
	char tmp[PATH_MAX + sizeof(TMP)], target[PATH_MAX];
	int fd, err = replace_find(path, target, sizeof(target));

	if (err)
		return err;
	snprintf(tmp, sizeof(tmp), "%s" TMP, target);
	fd = replace_open(tmp);
	if (fd < 0)
		return fd;
	err = replace_clear(fd);
	if (!err)
		err = write_all_cookies_file(fd, known);
	if (!err)
		err = replace_finish(tmp, target);
	if (err)
		replace_drop(fd, tmp);
	close(fd);
	return err;
}
