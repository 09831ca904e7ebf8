/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One load of a configuration.
 *
 *	document ─► reader_fill(): each row of the table: its text or its default, parsed by type,
 *	            held against its bounds, put into its field
 *	         ─► reader_check_*(): the rest: keys that depend on each other, secrets in
 *	            files, templates of zones
 *
 * The first fault is reported (config/document.h), and later steps do nothing. So a check begins
 * only if nothing has failed, and each loop in a check tests that, too.
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
 * The work of reader_fill() for one KEY of any type but a map: puts the value of NODE, or the
 * default if NODE is NULL, into the field in OBJECT. In reader_fields.c.
 */
void reader_fill_field(struct reader *reader, const struct words_key *key,
		       const struct yamltree *node, void *object);

/* Adds the octets to KEY's digest for config_next_for_start(), if KEY needs a start. */
void reader_note(struct reader *reader, const struct words_key *key, const void *bytes, size_t n);

/* The node at PATH ("cache.names"); NULL: the file does not have it. */
const struct yamltree *reader_find(const struct reader *reader, const char *path);

/* Item number n of a list, from 0; it has more than n. */
const struct yamltree *reader_nth(const struct yamltree *list, uint32_t n);

/* The number at PATH, or its default, for a key without a field. */
uint64_t reader_number(struct reader *reader, const char *path);

/* Zeroed memory for n items of `size`; NULL if n is 0 or after a failure. The caller owns it. */
void *reader_memory(struct reader *reader, size_t n, size_t size);

/* A copy of a text, which the caller owns; NULL after a failure. */
char *reader_copy(struct reader *reader, const char *text);

/* The path TEXT below the configuration's folder, unless it is absolute. The caller owns it. */
char *reader_path(struct reader *reader, const char *text);

/*
 * Reads the text of FILE, which NODE names, without the white space at its end. False, with the
 * fault reported: it cannot be read, or all users can read or write it.
 */
bool reader_private(struct reader *reader, const struct yamltree *node, const char *file,
		    char *text, size_t cap) __attribute__((warn_unused_result));

/* Refuses the second of two equal addresses in LIST. */
void reader_refuse_same(struct reader *reader, const struct yamltree *list,
			const struct config_addr *addrs, uint32_t n);

/*
 * Refuses an address whose interface this host does not have, and a link-local address without one
 * if is_needed: the kernel neither binds nor connects a socket there. Remotes may do without, since
 * a NOTIFY is known by such an address. ADDR was read from NODE.
 */
void reader_check_scope(struct reader *reader, const struct yamltree *node,
			const struct config_addr *addr, bool is_needed);

/* Each checks a part of the configuration. */
void reader_check_server(struct reader *reader);
void reader_check_cookies(struct reader *reader);
void reader_check_interfaces(struct reader *reader);
void reader_check_cache(struct reader *reader);
void reader_check_keys(struct reader *reader);
void reader_check_remotes(struct reader *reader);
void reader_check_signing(struct reader *reader);
void reader_check_zones(struct reader *reader); /* also templates; completes zones by them */
void reader_check_resolver(struct reader *reader);
void reader_check_recursion(struct reader *reader);
void reader_check_taps(struct reader *reader);

/*
 * Steps of reader_check_zones(): keys that depend on each other in a template, a zone, all zones.
 */
void reader_check_template(struct reader *reader, const struct config_zone *template,
			   const struct yamltree *node);
void reader_check_zone(struct reader *reader, const struct config_zone *zone,
		       const struct yamltree *node);
void reader_check_all_zones(struct reader *reader);

#endif
