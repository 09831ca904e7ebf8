/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One load of a configuration, and what all its parts take their values with (config.c and
 * config_*.c): each value once, by the path of its key.
 *
 * What is absent is the table's default. The first fault is told (config/source.h); behind it
 * nothing is taken any more: functions return 0 or NULL, and need not be asked between steps.
 */
#ifndef VOLLEY_CONFIG_TAKE_H
#define VOLLEY_CONFIG_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/config_raw.h"
#include "config/source.h"

struct take {
	struct source source;
	struct config *config;
	struct config_raw *raw;
	struct config_zone plain; /* a zone of which nothing is said; has nothing to be freed */
};

/* PREFIX and LEAF in BUF, which has YAMLWALK_PATH_CAP octets and is returned. */
const char *take_join_path(struct take *take, char *buf, const char *prefix, const char *leaf);

/* With the key at PATH this is said, too: for config_next_for_start(), if the key needs a start. */
void take_note(struct take *take, const char *path, const void *bytes, size_t n);

/* What value_read_number() reads of TEXT, the value at PREFIX LEAF. */
uint64_t take_number(struct take *take, const char *prefix, const char *leaf, const char *text);

/* Zeroed room for n of `size`; NULL for none. The caller's. */
void *take_memory(struct take *take, size_t n, size_t size);

/* The path TEXT from the folder of the configuration on, unless it is absolute. The caller's. */
char *take_path(struct take *take, const char *prefix, const char *leaf, const char *text);

/*
 * The text of FILE, for the key at PATH, without the white space at its end. False, and told: it cannot be read, or
 * everyone can read or write it.
 */
bool take_private(struct take *take, const char *path, const char *file, char *text, size_t cap)
	__attribute__((warn_unused_result));

/* A copy of a text whose length is checked, or NULL where the key is absent. The caller's. */
char *take_string(struct take *take, const char *path, const char *text);

/* A copy of any text. The caller's. */
char *take_copy(struct take *take, const char *text);

/* A domain name in the form of a zone's, or a name of ours (WORDS_NAME); NULL is missing. The caller's. */
char *take_domain(struct take *take, const char *path, const char *text);
char *take_name(struct take *take, const char *path, const char *text);

/*
 * Texts of any kind, and the domain names at KEY in the form of zones' names: NULL behind the last; NULL: none. The
 * caller's.
 */
char **take_texts(struct take *take, const struct config_raw_list *list);
char **take_domains(struct take *take, const char *key, const struct config_raw_list *list);

/* Addresses, none twice; PORT where none is said. The caller's, *N of them. */
struct config_addr *take_addresses(struct take *take, const char *key,
				   const struct config_raw_list *list, uint16_t port, uint32_t *n);

/* The prefixes at KEY, none twice, at most MOST; NULL: none. The caller's, *N of them. */
struct config_prefix *take_prefixes(struct take *take, const char *key,
				    const struct config_raw_list *list, uint32_t most, uint32_t *n);

/* A value that take_number() reads: where its text is, and where it goes as a number of so many octets. */
struct take_field {
	const char *leaf;
	size_t raw_at;
	size_t at;
	size_t n_bytes; /* 1, 2, 4 or 8 */
};
#define TAKE_FIELD(leaf, raw_type, raw_member, type, member)                  \
	{                                                                     \
		leaf, offsetof(raw_type, raw_member), offsetof(type, member), \
			sizeof(((type *)0)->member)                           \
	}

/* Takes each field of RAW to OUT. What is absent is the default, or stays as it is if there IS_BASE. */
void take_fields(struct take *take, const char *prefix, const struct take_field *fields, size_t n,
		 const void *raw, void *out, bool is_base);

/* Fails because item AT of LIST has TEXT at LEAF, as item FIRST has. */
void take_refuse_twice(struct take *take, const char *list, const char *leaf, uint32_t at,
		       uint32_t first, const char *text);

/* Each a part of the configuration, of raw into config; what one names has to be taken before it. */
void take_recursion(struct take *take); /* and who may ask */
void take_resolver(struct take *take);  /* who is asked upstream, and how */
void take_tls(struct take *take);
void take_cookies(struct take *take);
void take_keys(struct take *take);
void take_remotes(struct take *take);
void take_signing(struct take *take);
void take_zones(struct take *take); /* and templates */
void take_limits(struct take *take);
void take_blocks(struct take *take);
void take_taps(struct take *take); /* dnstap, and the query log */

/* Whether what is said of one at PREFIX goes together: before it has a file, and when all have theirs. */
void take_check_template(struct take *take, const struct config_zone *template, const char *prefix);
void take_check_zone(struct take *take, const struct config_zone *zone, const char *prefix);
void take_check_zones(struct take *take);

#endif
