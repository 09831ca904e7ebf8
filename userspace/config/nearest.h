/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the known words, the one that a mistyped word is most like: for "did you mean". One edit is a
 * letter too many, too few, another letter, or two letters in the wrong order.
 *
 *      struct nearest n;
 *
 *      nearest_begin(&n, "lisen");
 *      for each known word: nearest_offer(&n, known);
 *      if (n.found) ...
 */
#ifndef VOLLEY_CONFIG_NEAREST_H
#define VOLLEY_CONFIG_NEAREST_H

#define NEAREST_WORD_MAX 48 /* octets; a longer word is like no other */

struct nearest {
	const char *word;
	const char *found; /* NULL: no word that was offered is near enough */
	unsigned int edits;
};

/* WORD lives as long as N. */
void nearest_begin(struct nearest *n, const char *word);

/*
 * Takes KNOWN if the word becomes KNOWN by fewer edits than by those before, and by at most a third
 * of its letters, or one edit if it has two letters or more. Of equals the first stays. KNOWN lives
 * as long as N.
 */
void nearest_offer(struct nearest *n, const char *known);

#endif
