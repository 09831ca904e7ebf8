/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text that is mostly absent, such as an error of one of a million zones. It costs a pointer
 * while it is absent. Zeros are the absent text. One thread at a time.
 */
#ifndef VOLLEY_BASE_SENTENCE_H
#define VOLLEY_BASE_SENTENCE_H

#include <stdbool.h>

struct sentence {
	char *bytes; /* NULL: absent */
};

/* The text, which ends with a zero octet; "" if it is absent. It belongs to the sentence, and is
 * valid until the next change. */
static inline const char *sentence_text(const struct sentence *s)
{
	return s->bytes ? s->bytes : "";
}

static inline bool sentence_is_set(const struct sentence *s)
{
	return s->bytes;
}

/*
 * Replaces the text; "" makes it absent. Arguments may point into the text before. Without memory
 * the text is a sentence about that, and never absent.
 */
__attribute__((format(printf, 2, 3))) void sentence_set(struct sentence *s, const char *format,
							...);

/* Makes it absent, and frees what it had. */
void sentence_clear(struct sentence *s);

#endif
