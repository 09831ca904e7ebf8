/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the daemon's JSON objects. If memory is short, a member is left out. Any thread that
 * owns the object. */
#ifndef VOLLEY_BASE_JSON_PUT_H
#define VOLLEY_BASE_JSON_PUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void json_put_int(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static inline void json_put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

/* A sentence that says why something failed. It may be cut within a character, which is left out; a
 * file's name in it may be no UTF-8. A new reference, or NULL: no memory. */
static inline json_t *json_failure(const char *sentence)
{
	const size_t n = strlen(sentence);
	json_t *text = json_stringn(sentence, n);

	for (size_t n_cut = 1; !text && n_cut <= 3 && n_cut <= n; n_cut++)
		text = json_stringn(sentence, n - n_cut);
	return text ? text : json_string("it failed, with words that are not UTF-8");
}

static inline void json_put_bool(json_t *object, const char *key, bool value)
{
	json_object_set_new(object, key, json_boolean(value));
}

/* `share` of 1, in percent, rounded to a tenth; not below 0. */
static inline void json_put_percent(json_t *object, const char *key, double share)
{
	json_object_set_new(object, key, json_real((double)(uint64_t)(share * 1000 + 0.5) / 10));
}

#endif
