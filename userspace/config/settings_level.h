/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the table that may stand at one place, in the order of the man page: for settings*.c. */
#ifndef VOLLEY_CONFIG_SETTINGS_LEVEL_H
#define VOLLEY_CONFIG_SETTINGS_LEVEL_H

#include "config/words.h"
#include "config/yamlwalk.h"

#define SETTINGS_LEVEL_CAP 96

struct settings_level {
	char generic[YAMLWALK_PATH_CAP]; /* "", "server", "zones[]" */
	unsigned int n;
	struct settings_child {
		const struct words_key *key;
		const char *leaf; /* "file" */
	} children[SETTINGS_LEVEL_CAP];
};

/* Fills LEVEL with the keys right below GENERIC. */
void settings_level_init(struct settings_level *level, const char *generic);

/* "zones[]" and "file" are "zones[].file"; cut to YAMLWALK_PATH_CAP. */
void settings_join(char out[YAMLWALK_PATH_CAP], const char *path, const char *leaf);

#endif
