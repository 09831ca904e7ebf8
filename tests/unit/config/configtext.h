/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations as text, loaded or refused: what the tests of config.c share. */
#ifndef VOLLEY_TESTS_UNIT_CONTROL_CONFIGTEXT_H
#define VOLLEY_TESTS_UNIT_CONTROL_CONFIGTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "config/config.h"
#include "config/words.h"
#include "tests/lib/tmpfolder.h"

#define LISTEN "server:\n  listen: [192.0.2.53]\n"

static const char *const file = tmpfolder_file;

static inline int load(struct config **config, const char *text, char *err, size_t err_cap)
{
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	return config_load(config, file, err, err_cap);
}

static inline struct config *load_good(const char *text)
{
	struct config *config;
	char err[512];

	if (load(&config, text, err, sizeof(err)))
		fail_msg("refused: %s", err);
	assert_string_equal(err, "");
	return config;
}

struct refusal {
	const char *name;
	const char *text;
	const char *err; /* what follows "FILE:" */
};

static inline void assert_refused(const struct refusal *rows, size_t n)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		const struct refusal *row = &rows[i];
		struct config *config;
		char err[512], want[512];
		int ret = load(&config, row->text, err, sizeof(err));

		snprintf(want, sizeof(want), "%s:%s", file, row->err);
		if (ret == ERR_CONFIG && !config && !strncmp(err, want, strlen(want)))
			continue;
		print_error("%s: returned %d\n  want %s\n  have %s\n", row->name, ret, want, err);
		config_free(config);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

/* A key of the table that no line of the text uses is one that nobody may know but the table. */
static inline void assert_all_used(const struct words_table *table, const char *text)
{
	for (unsigned int i = 0; i < table->n; i++) {
		const char *path = table->keys[i].path, *dot = strrchr(path, '.');
		char want[64];

		snprintf(want, sizeof(want), "%s:", dot ? dot + 1 : path);
		if (!strstr(text, want))
			fail_msg("%s is in the table and not in this test", path);
		if (!table->keys[i].text || !*table->keys[i].text)
			fail_msg("%s has no words", path);
	}
}

static inline void assert_below_folder(const char *path, const char *leaf)
{
	char want[128];

	snprintf(want, sizeof(want), "%s/%s", tmpfolder, leaf);
	assert_string_equal(path, want);
}

#endif
