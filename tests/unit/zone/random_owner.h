/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners of records as a master file has them, of few different labels, so that they meet. */
#ifndef VOLLEY_TESTS_ZONE_RANDOM_OWNER_H
#define VOLLEY_TESTS_ZONE_RANDOM_OWNER_H

#include <stdio.h>

#include "tests/lib/draw.h"

#define RANDOM_OWNER_LABELS 5

/* One label to labels_max of them, relative to the origin. */
static inline void random_owner(char *dst, const char *const labels[RANDOM_OWNER_LABELS],
				unsigned labels_max)
{
	unsigned n = 1 + draw(labels_max), at = 0;

	while (n--)
		at += (unsigned)sprintf(dst + at, "%s%s", labels[draw(RANDOM_OWNER_LABELS)],
					n ? "." : "");
}

#endif
