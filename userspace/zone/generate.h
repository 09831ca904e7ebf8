/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * $GENERATE of master files, as in BIND: a range, and a line that is read once for each number of
 * it.
 *
 *	$GENERATE 1-254 host-$ A 192.0.2.$
 *	$GENERATE 0-15/2 ${0,2,x} PTR host-${16,3,d}
 *
 * "$" is the number. "${OFFSET,WIDTH,BASE}" is the number plus OFFSET, padded with zeros to WIDTH.
 * BASE is d, o, x, X, or n or N: hex digits, the last first, with dots between. "$$" and "\$" are
 * dollar signs.
 */
#ifndef VOLLEY_ZONE_GENERATE_H
#define VOLLEY_ZONE_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "zone/text.h"

#define GENERATE_MAX      65536u /* lines of one directive */
#define GENERATE_LINE_MAX 4096u  /* characters of one of them */

struct generate_range {
	uint32_t first, last, step;
};

/* "1-10" or "1-10/2", at most GENERATE_MAX numbers. Returns 0, or ERR_ZONE with *@why. Pure. */
int generate_read_range(struct generate_range *range, const struct text_token *token,
			const char **why) __attribute__((warn_unused_result));

/* Writes @text with @number in it to @dst, with a NUL. Returns 0, or ERR_ZONE with *@why. Pure. */
int generate_line(char dst[GENERATE_LINE_MAX], const char *text, uint32_t number, const char **why)
	__attribute__((warn_unused_result));

#endif
