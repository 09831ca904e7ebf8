/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for people to read. A key's name ends in its unit, in results as in our code.
 *
 *	_bytes ──► 256.0 MiB   _ns, _ms, _s ──► 1.2 us, 34 ms, 2 d 3 h   _at ──► 2026-01-31 09:05:00
 *
 * Numbers without a unit are counts and get separators between thousands, except under a few names
 * (pid, serial, ...) that are no counts.
 */
#ifndef VOLLEY_CONFIG_UNITS_H
#define VOLLEY_CONFIG_UNITS_H

#include <jansson.h>
#include <stddef.h>

/*
 * The value of KEY for people to read, a new string; NULL: no memory. Control characters are
 * replaced; null is "-"; arrays and objects are on one line.
 */
char *units_put(const char *key, const json_t *value);

/* The key without its unit and with spaces, "used_bytes" is "used", in BUF, cut to CAP. */
void units_put_label(const char *key, char *buf, size_t cap);

/* The columns of TEXT in a terminal, if each character takes one column. */
size_t units_width(const char *text);

#endif
