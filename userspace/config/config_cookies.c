/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The secrets of DNS cookies: server.cookies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "config/reader.h"

static void read_secret_here(struct reader *reader, const struct yamltree *node)
{
	struct config *config = reader->config;

	if (hex_read(node->text, config->cookie_secrets[0].secret,
		     sizeof(config->cookie_secrets[0].secret)))
		document_refuse(&reader->document, node, node->text);
	else
		config->n_cookie_secrets = 1;
}

/* Two files may hold the same secret for a while, as after a copy: it is used once. */
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

static void read_cookie_secret_file(struct reader *reader, const struct yamltree *node)
{
	struct config_cookie_secret secret = { .file = NULL };
	char text[256], *digits = text;

	if (!*node->text) {
		document_refuse(&reader->document, node, node->text);
		return;
	}
	secret.file = reader_path(reader, node->text);
	if (secret.file && reader_private(reader, node, secret.file, text, sizeof(text))) {
		if (!strncmp(text, "0x", 2))
			digits += 2;
		if (hex_read(digits, secret.secret, sizeof(secret.secret)))
			document_fail(
				&reader->document, node, "",
				"%s does not hold 32 hexadecimal digits: the output of openssl "
				"rand -hex 16, for example",
				secret.file);
	}
	if (reader->document.failed)
		free(secret.file);
	else
		add_secret(reader->config, &secret);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(&secret, sizeof(secret));
}

void reader_check_cookies(struct reader *reader)
{
	const struct yamltree *here = reader_find(reader, "server.cookies.secret");
	const struct yamltree *files = reader_find(reader, "server.cookies.secret-files");
	const struct yamltree *file = files ? files->first : NULL;

	if (here && files)
		document_fail(&reader->document, here, "",
			      "is given beside secret-files: keep one of them");
	else if (files && files->n > VOLLEY_COOKIE_SECRETS)
		document_fail(&reader->document, files, "", "has %u files, give at most %u",
			      files->n, VOLLEY_COOKIE_SECRETS);
	else if (here)
		read_secret_here(reader, here);
	for (; file && !reader->document.failed; file = file->next)
		read_cookie_secret_file(reader, file);
}
