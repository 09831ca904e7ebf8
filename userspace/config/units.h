/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for people: the unit is the end of a key's name, in results as in our code.
 *
 *	_bytes ──► 256.0 MiB    _ns, _ms, _s ──► 1.2 us, 34 ms, 2 d 3 h    _at ──► 2026-01-31 09:05:00
 *
 * Numbers without a unit are counts and get separators between thousands, but for a few names (pid,
 * serial, ...) that are no counts.
 */
#ifndef VOLLEY_CONFIG_UNITS_H
#define VOLLEY_CONFIG_UNITS_H

#include <jansson.h>
#include <stddef.h>

/*
 * The value of KEY as people read it, a new string; NULL: out of memory. What could move a
 * terminal's cursor is replaced; null is "-"; arrays and objects are written on one line.
 */
char *units_put(const char *key, const json_t *value);

/* The key without its unit and with spaces, "used_bytes" is "used", in BUF, cut to CAP. */
void units_put_label(const char *key, char *buf, size_t cap);

/* Columns that TEXT takes in a terminal, if each character takes one. */
size_t units_width(const char *text);

#endif
