/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

static size_t count_verify(char *const *argv)
{
	size_t n = 0;

	while (argv && argv[n])
		n++;
	return n;
}

int verify_copy(struct verify *to, const struct verify *from)
{
	size_t n = count_verify(from->argv), i;

	*to = (struct verify){ NULL, from->timeout_s };
	if (!from->argv)
		return 0;
	to->argv = calloc(n + 1, sizeof(char *));
	for (i = 0; to->argv && i < n; i++) {
		to->argv[i] = strdup(from->argv[i]);
		if (!to->argv[i])
			verify_fini(to);
	}
	return to->argv ? 0 : -ENOMEM;
}

void verify_fini(struct verify *verify)
{
	size_t i;

	for (i = 0; verify->argv && verify->argv[i]; i++)
		free(verify->argv[i]);
	free(verify->argv);
	verify->argv = NULL;
}

bool verify_equal(const struct verify *a, const struct verify *b)
{
	size_t n = count_verify(a->argv), i;

	if (a->timeout_s != b->timeout_s || n != count_verify(b->argv))
		return false;
	for (i = 0; i < n; i++)
		if (strcmp(a->argv[i], b->argv[i]) != 0)
			return false;
	return true;
}

uint64_t verify_digest(const struct verify *verify)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley: verify";
	uint64_t digest = 0;

	for (size_t i = 0; verify->argv && verify->argv[i]; i++) {
		uint64_t parts[2] = { digest,
				      siphash24(key, verify->argv[i], strlen(verify->argv[i])) };

		digest = siphash24(key, parts, sizeof(parts));
	}
	return digest;
}
