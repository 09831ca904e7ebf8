/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The macros for the rows of words_*.c: a key, its type, and the field for its value, in struct
 * config or in an item of one of its lists.
 *
 *	{ ROW("rrl.slip", WORDS_COUNT, struct config_rrl, slip),
 *	  .min = 0, .max = 100, .fallback = "2", .text = "..." },
 *
 * A row does not compile if its type does not fit the C type of its field. A key whose value is
 * read by a function of its own has ROW_OF() and no field.
 */
#ifndef VOLLEY_CONFIG_ROWS_H
#define VOLLEY_CONFIG_ROWS_H

#include <stddef.h>

#include "config/config.h"
#include "config/words.h"

#define ROWS_FIELD(type, member) \
	_Generic(&((type *)0)->member,                         \
		bool *: WORDS_FIELD_NUMBER,                    \
		uint8_t *: WORDS_FIELD_NUMBER,                 \
		uint16_t *: WORDS_FIELD_NUMBER,                \
		uint32_t *: WORDS_FIELD_NUMBER,                \
		uint64_t *: WORDS_FIELD_NUMBER,                \
		char **: WORDS_FIELD_TEXT,                     \
		char ***: WORDS_FIELD_TEXTS,                   \
		struct config_addr *: WORDS_FIELD_ADDRESS,     \
		char(*)[IF_NAMESIZE]: WORDS_FIELD_NAME,        \
		struct config_rules *: WORDS_FIELD_RULES,      \
		struct config_addr **: WORDS_FIELD_ADDRESSES,  \
		struct config_prefix **: WORDS_FIELD_PREFIXES, \
		uint16_t **: WORDS_FIELD_CORES,                \
		uint8_t **: WORDS_FIELD_OCTETS,                \
		default: WORDS_FIELD_STRUCTS)

/* True if TYPE is a type of values from FIRST to LAST. */
#define ROWS_BETWEEN(type, first, last) ((type) >= (first) && (type) <= (last))
#define ROWS_FIT(type, field)                                                                      \
	((field) == WORDS_FIELD_NUMBER ?                                                           \
		 ROWS_BETWEEN(type, WORDS_NUMBERS_IN, WORDS_BITS) || (type) == WORDS_CHOICES :     \
	 (field) == WORDS_FIELD_TEXT      ? ROWS_BETWEEN(type, WORDS_TEXT, WORDS_UPSTREAM_NAMED) : \
	 (field) == WORDS_FIELD_TEXTS     ? ROWS_BETWEEN(type, WORDS_TEXTS, WORDS_LISTS_END) :     \
	 (field) == WORDS_FIELD_ADDRESS   ? (type) == WORDS_LISTEN :                               \
	 (field) == WORDS_FIELD_NAME      ? (type) == WORDS_INTERFACE :                            \
	 (field) == WORDS_FIELD_RULES     ? (type) == WORDS_RULES :                                \
	 (field) == WORDS_FIELD_ADDRESSES ? ROWS_BETWEEN(type, WORDS_ADDRESSES, WORDS_PEERS) :     \
	 (field) == WORDS_FIELD_PREFIXES  ? (type) == WORDS_PREFIXES :                             \
	 (field) == WORDS_FIELD_CORES     ? (type) == WORDS_CORES :                                \
	 (field) == WORDS_FIELD_OCTETS    ? ROWS_BETWEEN(type, WORDS_BASE64, WORDS_OCTETS) :       \
					    ROWS_BETWEEN(type, WORDS_MAP, WORDS_MAPS))
/* TYPE. If it does not fit, an array of -1 octets, which does not compile. */
#define ROWS_CHECKED(type, field) ((type) + 0 * sizeof(char[ROWS_FIT(type, field) ? 1 : -1]))

#define ROW_OF(key_path, key_type) .path = (key_path), .type = (key_type)

/* A number, a text, a list of texts, a map whose keys are fields of the struct MEMBER. */
#define ROW(key_path, key_type, in, member)                                         \
	.path = (key_path), .type = ROWS_CHECKED(key_type, ROWS_FIELD(in, member)), \
	.field = ROWS_FIELD(in, member), .at = offsetof(in, member),                \
	.n_bytes = sizeof(((in *)0)->member)

/* An array MEMBER; N_MEMBER is its number of elements. */
#define ROW_ARRAY(key_path, key_type, in, member, n_member)                         \
	.path = (key_path), .type = ROWS_CHECKED(key_type, ROWS_FIELD(in, member)), \
	.field = ROWS_FIELD(in, member), .at = offsetof(in, member),                \
	.n_at = _Generic(&((in *)0)->n_member, uint32_t *                           \
			 : offsetof(in, n_member)),                                 \
	.n_bytes = sizeof(*((in *)0)->member)

#endif
