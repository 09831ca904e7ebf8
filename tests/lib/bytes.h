/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds octets piece by piece, from literals that may have zeros in them. */
#ifndef VOLLEY_TESTS_LIB_BYTES_H
#define VOLLEY_TESTS_LIB_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	uint8_t at[2048];
	size_t n;
};

#define add(b, text) add_bytes(b, text, sizeof(text) - 1)

static inline void add_bytes(struct bytes *b, const char *bytes, size_t n)
{
	memcpy(b->at + b->n, bytes, n);
	b->n += n;
}

#endif
