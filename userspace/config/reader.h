/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One load of a configuration.
 *
 *	document ─► reader_fill(): each row of the table: its text or its default, parsed by type,
 *	            held against its bounds, put into its field
 *	         ─► reader_check_*(): what needs thought: keys that depend on each other, secrets in
 *	            files, what a zone has of its template
 *
 * The first fault is told (config/document.h), and what comes behind it does nothing. So a check
 * begins only if nothing has failed; within one, each loop asks.
 */
#ifndef VOLLEY_CONFIG_READER_H
#define VOLLEY_CONFIG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/document.h"

struct reader {
	struct document document;
	struct config *config;
};

/* Reads the document into all fields of the table. */
void reader_fill(struct reader *reader);

/*
 * What reader_fill() does for one KEY: NODE is what is written, or NULL; the value goes to the
 * field in OBJECT. For all types but maps. reader_fields.c.
 */
void reader_fill_field(struct reader *reader, const struct words_key *key,
		       const struct yamltree *node, void *object);

/* With KEY this is said, too: for config_next_for_start(), if the key needs a start. */
void reader_note(struct reader *reader, const struct words_key *key, const void *bytes, size_t n);

/* What is written at PATH ("cache.names"); NULL: nothing. */
const struct yamltree *reader_find(const struct reader *reader, const char *path);

/* The number at PATH, or its default, for a key without a field. */
uint64_t reader_number(struct reader *reader, const char *path);

/* Zeroed room for n of `size`; NULL for none, and after a failure. The caller's. */
void *reader_memory(struct reader *reader, size_t n, size_t size);

/* A copy of a text. The caller's; NULL after a failure. */
char *reader_copy(struct reader *reader, const char *text);

/* The path TEXT from the folder of the configuration on, unless it is absolute. The caller's. */
char *reader_path(struct reader *reader, const char *text);

/*
 * The text of FILE, which NODE names, without the white space at its end. False, and told: it
 * cannot be read, or everyone can read or write it.
 */
bool reader_private(struct reader *reader, const struct yamltree *node, const char *file,
		    char *text, size_t cap) __attribute__((warn_unused_result));

/* Refuses the second of two equal addresses of the LIST. */
void reader_refuse_same(struct reader *reader, const struct yamltree *list,
			const struct config_addr *addrs, uint32_t n);

/* Each about a part of the configuration. */
void reader_check_server(struct reader *reader);
void reader_check_cookies(struct reader *reader);
void reader_check_interfaces(struct reader *reader);
void reader_check_cache(struct reader *reader);
void reader_check_keys(struct reader *reader);
void reader_check_remotes(struct reader *reader);
void reader_check_signing(struct reader *reader);
void reader_check_zones(struct reader *reader); /* and templates; completes zones by them */
void reader_check_resolver(struct reader *reader);
void reader_check_recursion(struct reader *reader);
void reader_check_taps(struct reader *reader);

/* Of reader_check_zones(): what goes together in a template, in a zone, and among all zones. */
void reader_check_template(struct reader *reader, const struct config_zone *template,
			   const struct yamltree *node);
void reader_check_zone(struct reader *reader, const struct config_zone *zone,
		       const struct yamltree *node);
void reader_check_all_zones(struct reader *reader);

#endif
