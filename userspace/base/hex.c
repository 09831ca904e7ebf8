/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hex.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hex_read(const char *text, uint8_t *bytes, size_t n)
{
	if (strlen(text) != 2 * n)
		return -EINVAL;
	for (size_t i = 0; i < 2 * n; i++)
		if (hex_digit(text[i]) < 0)
			return -EINVAL;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
	return 0;
}
