/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the cached answers that a lookup or a flush concerns. */
#ifndef VOLLEY_CENSUS_CACHE_MATCH_H
#define VOLLEY_CENSUS_CACHE_MATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "xdp/abi.h"

enum cache_match_by {
	CACHE_MATCH_ALL,
	CACHE_MATCH_NAME,    /* with has_type: only of this type */
	CACHE_MATCH_SUBTREE, /* at the name and below it */
	CACHE_MATCH_TYPE,
	CACHE_MATCH_ZONE,
	CACHE_MATCH_NEGATIVE,
};

struct cache_match {
	enum cache_match_by by;
	uint8_t folded[NAME_FOLDED_BYTES];
	uint32_t name_bytes;
	uint16_t qtype;
	bool has_type;
	uint32_t zone_slot;
};

/* Reads NAME [TYPE]; type may be NULL. 0, or a negative code with a sentence in err. */
int cache_match_read_name(struct cache_match *match, const char *name, const char *type, char *err,
			  size_t err_cap) __attribute__((warn_unused_result));

/*
 * Reads the arguments of `cache flush`: NAME [TYPE], or an option with its value. For --zone, *zone
 * is borrowed from args and the caller finds its slot; otherwise *zone is NULL.
 */
int cache_match_read(struct cache_match *match, const json_t *args, const char **zone, char *err,
		     size_t err_cap) __attribute__((warn_unused_result));

/* Any thread that may read the entry. */
bool cache_match_has(const struct cache_match *match, const struct volley_entry *entry);

#endif
