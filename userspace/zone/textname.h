/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domain names in master files: absolute, relative to the origin, or "@" for the origin itself. */
#ifndef VOLLEY_ZONE_TEXTNAME_H
#define VOLLEY_ZONE_TEXTNAME_H

#include <stdint.h>

#include "zone/text.h"

/*
 * Writes the name in @token to @out, in wire form; @origin is a checked name of @origin_bytes. "@"
 * alone is the origin, "\@" and "\064" are labels. Returns the length, an error of
 * name_from_text(), or ERR_NAME for quoted text. Pure.
 */
int textname_read(const struct text_token *token, const uint8_t *origin, unsigned origin_bytes,
		  uint8_t out[static 256]) __attribute__((warn_unused_result));

/*
 * The same for a name at *@cursor, up to a blank or the end of the text, with only letters, digits,
 * "-", "_" and "*", as most names; the cursor moves past it. Returns the length, or 0 for any other
 * name, with the cursor unchanged. Pure.
 */
unsigned textname_read_plain(const char **cursor, const uint8_t *origin, unsigned origin_bytes,
			     uint8_t out[static 256]);

#endif
