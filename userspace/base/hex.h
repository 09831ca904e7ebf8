/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Octets written as hexadecimal digits, in either case. Pure. */
#ifndef VOLLEY_BASE_HEX_H
#define VOLLEY_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The value of a digit; -1: it is none. */
int hex_digit(char c);

/*
 * Reads exactly 2 * @n digits into @n octets; the first digit is the high half of bytes[0]. 0, or
 * -EINVAL: then bytes is as before.
 */
int hex_read(const char *text, uint8_t *bytes, size_t n) __attribute__((warn_unused_result));

#endif
