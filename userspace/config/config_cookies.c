/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The secrets of DNS cookies: server.cookies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/take.h"
#include "config/value.h"
#include "config/yamlwalk.h"

#define SECRET_KEY "server.cookies.secret"
#define FILES_KEY  "server.cookies.secret-files"

/* What is written is never shown: it may be most of a secret. */
static void take_secret_here(struct take *take, const char *text)
{
	struct config *config = take->config;

	if (value_read_hex(text, config->cookie_secrets[0].secret,
			   sizeof(config->cookie_secrets[0].secret)))
		source_refuse_value(&take->source, SECRET_KEY, "(hidden)");
	else
		config->n_cookie_secrets = 1;
}

/* Two files may hold the same secret for a while: somebody copies them. */
static void add_secret(struct config *config, struct config_cookie_secret *secret)
{
	uint32_t i = 0;

	while (i < config->n_cookie_secrets && memcmp(config->cookie_secrets[i].secret,
						      secret->secret, sizeof(secret->secret)) != 0)
		i++;
	if (i < config->n_cookie_secrets) {
		free(secret->file);
		return;
	}
	config->cookie_secrets[config->n_cookie_secrets++] = *secret;
}

static void take_secret_file(struct take *take, uint32_t at, const char *name)
{
	char leaf[32], path[YAMLWALK_PATH_CAP], text[256], *digits = text;
	struct config_cookie_secret secret = { .file = NULL };

	snprintf(leaf, sizeof(leaf), "secret-files[%u]", at);
	take_join_path(take, path, "server.cookies.", leaf);
	secret.file = take_path(take, "server.cookies.", leaf, name);
	if (secret.file && take_private(take, path, secret.file, text, sizeof(text))) {
		if (!strncmp(text, "0x", 2))
			digits += 2;
		if (value_read_hex(digits, secret.secret, sizeof(secret.secret)))
			source_fail(&take->source, 0, path,
				    "%s does not hold 32 hexadecimal digits: the output of openssl "
				    "rand -hex 16, for example",
				    secret.file);
	}
	if (take->source.failed)
		free(secret.file);
	else
		add_secret(take->config, &secret);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(&secret, sizeof(secret));
}

void take_cookies(struct take *take)
{
	const struct config_raw_cookies *raw = &take->raw->server.cookies;
	const struct config_raw_list *files = &raw->secret_files;

	take->config->cookie_rotate_s =
		(uint32_t)take_number(take, "server.cookies.", "rotate", raw->rotate);
	if (take->source.failed)
		return;
	if (raw->secret && files->n)
		source_fail(&take->source, 0, SECRET_KEY,
			    "is given beside secret-files: keep one of them");
	else if (source_has_empty(&take->source, FILES_KEY))
		source_fail(&take->source, 0, FILES_KEY,
			    "has no file: leave it out, and volleyd makes its own secrets");
	else if (files->n > VOLLEY_COOKIE_SECRETS)
		source_fail(&take->source, 0, FILES_KEY, "%u files, give at most %u", files->n,
			    VOLLEY_COOKIE_SECRETS);
	else if (raw->secret)
		take_secret_here(take, raw->secret);
	for (uint32_t i = 0; i < files->n && !take->source.failed; i++)
		take_secret_file(take, i, files->items[i]);
}
