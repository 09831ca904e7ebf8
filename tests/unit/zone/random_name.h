/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of few different labels, so that they meet: owners, their parents, wildcards, any case. */
#ifndef VOLLEY_TESTS_ZONE_RANDOM_NAME_H
#define VOLLEY_TESTS_ZONE_RANDOM_NAME_H

#include <string.h>

#include "tests/lib/draw.h"

static const uint8_t apex[] = "\1z";

/* At most labels_max labels below the apex; zeros behind. */
static inline void random_name(uint8_t dst[256], unsigned labels_max)
{
	static const char *const labels[] = { "\1*", "\1a", "\1b", "\2aa", "\1C", "\1!" };
	unsigned n = draw(labels_max + 1), at = 0;

	memset(dst, 0, 256);
	while (n--) {
		const char *label = labels[draw(6)];

		memcpy(dst + at, label, (size_t)label[0] + 1);
		at += (unsigned)label[0] + 1;
	}
	memcpy(dst + at, apex, sizeof(apex));
}

#endif
