/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All types with a row in dns/rdtypes.h, in the order of their numbers. */
#ifndef VOLLEY_TESTS_LIB_RDTYPES_EACH_H
#define VOLLEY_TESTS_LIB_RDTYPES_EACH_H

#include "dns/rdata.h"

/* The row at i; NULL after the last. One thread. */
static inline const struct rdata_type *rdata_type_at(size_t i)
{
	static const struct rdata_type *rows[256];
	static size_t n;

	if (!n)
		for (uint32_t type = 0; type <= UINT16_MAX; type++)
			if (rdata_type((uint16_t)type))
				rows[n++] = rdata_type((uint16_t)type);
	return i < n ? rows[i] : NULL;
}

#endif
