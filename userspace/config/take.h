/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One load of a configuration, and what all its parts take their values with (config.c,
 * config_recursion.c): each value once, by the path of its key.
 *
 * What is absent is the table's default. The first fault is told (config/source.h); behind it
 * nothing is taken any more: functions return 0 or NULL, and need not be asked between steps.
 */
#ifndef VOLLEY_CONFIG_TAKE_H
#define VOLLEY_CONFIG_TAKE_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/config_raw.h"
#include "config/source.h"

struct take {
	struct source source;
	struct config *config;
	struct config_raw *raw;
};

/* PREFIX and LEAF in BUF, which has YAMLWALK_PATH_CAP octets and is returned. */
const char *take_join_path(struct take *take, char *buf, const char *prefix, const char *leaf);

/* What value_read_number() reads of TEXT, the value at PREFIX LEAF. */
uint64_t take_number(struct take *take, const char *prefix, const char *leaf, const char *text);

/* Zeroed room for n of `size`; NULL for none. The caller's. */
void *take_memory(struct take *take, size_t n, size_t size);

/* The path TEXT from the folder of the configuration on, unless it is absolute. The caller's. */
char *take_path(struct take *take, const char *prefix, const char *leaf, const char *text);

/* A copy of a text whose length is checked, or NULL where the key is absent. The caller's. */
char *take_string(struct take *take, const char *path, const char *text);

/* A copy of any text. The caller's. */
char *take_copy(struct take *take, const char *text);

/* The keys below recursion, and who may ask: of raw into config. */
void take_recursion(struct take *take);

#endif
