/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domain names in master files: absolute, relative to the origin, or "@" for the origin itself. */
#ifndef VOLLEY_ZONE_TEXTNAME_H
#define VOLLEY_ZONE_TEXTNAME_H

#include <stdint.h>

#include "zone/text.h"

/*
 * The name in @token to @out, in wire form; @origin is a checked name of @origin_bytes. "@" alone
 * is the origin, "\@" and "\064" are labels. Returns its length, or an error of name_from_text(),
 * ERR_NAME for quoted text. Pure.
 */
int textname_read(const struct text_token *token, const uint8_t *origin, unsigned origin_bytes,
		  uint8_t out[static 256]) __attribute__((warn_unused_result));

/*
 * The same for a name of letters, digits, "-", "_" and "*" at *@cursor, up to a blank or the end of
 * the text, as nearly all are; the cursor moves behind it. Returns its length, or 0 with the cursor
 * as it was: another name. Pure.
 */
unsigned textname_read_plain(const char **cursor, const uint8_t *origin, unsigned origin_bytes,
			     uint8_t out[static 256]);

#endif
