/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: one name and one mark in the filter of names. The server reads it by names_walk(). */
#ifndef VOLLEY_TESTS_LIB_KNOWNNAME_H
#define VOLLEY_TESTS_LIB_KNOWNNAME_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "shield/name_filter.h"

/* True if the name (folded wire form) may have been added with this mark, or if there is no filter.
 * False: it was not added. */
static inline bool names_may_exist(const struct names *names, const uint8_t *name,
				   enum volley_name_mark mark)
{
	uint64_t hash = names_hash_of(names->states[0]->keys, name, (unsigned int)name_bytes(name));

	return !names_id(names) ||
	       volley_names_has(&names->lines[volley_names_line(hash, names->n_lines)],
				volley_names_bits(hash, mark));
}

#endif
