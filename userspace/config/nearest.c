/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/help.h"

#include <string.h>

#define WIDTH (NEAREST_WORD_MAX + 1)

static unsigned int take_fewer(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* A row of the table of edits: what A's first letters cost to become B's first letters. */
static void fill_edits(unsigned int rows[3][WIDTH], const char *a, size_t i, const char *b,
		       size_t n_b)
{
	const unsigned int *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
	unsigned int *row = rows[i % 3];

	row[0] = (unsigned int)i;
	for (size_t k = 1; k <= n_b; k++) {
		row[k] = above[k - 1] + (a[i - 1] != b[k - 1]);
		row[k] = take_fewer(row[k], take_fewer(above[k], row[k - 1]) + 1);
		if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
			row[k] = take_fewer(row[k], before[k - 2] + 1);
	}
}

/* The optimal string alignment distance. The row of i stands in rows[i % 3]. */
static unsigned int count_edits(const char *a, size_t n_a, const char *b, size_t n_b)
{
	unsigned int rows[3][WIDTH];

	for (size_t k = 0; k <= n_b; k++)
		rows[0][k] = (unsigned int)k;
	for (size_t i = 1; i <= n_a; i++)
		fill_edits(rows, a, i, b, n_b);
	return rows[n_a % 3][n_b];
}

void nearest_begin(struct nearest *n, const char *word)
{
	*n = (struct nearest){ .word = word };
}

void nearest_offer(struct nearest *n, const char *known)
{
	size_t n_word = strlen(n->word), n_known = strlen(known);
	unsigned int most = n_word < 2 ? 0 : n_word < 6 ? 1 : (unsigned int)(n_word / 3), edits;

	if (n_word > NEAREST_WORD_MAX || n_known > NEAREST_WORD_MAX)
		return;
	edits = count_edits(n->word, n_word, known, n_known);
	if (edits > most || (n->found && edits >= n->edits))
		return;
	n->found = known;
	n->edits = edits;
}
