/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/denial.h"

#include "zone/nsec3_chain.h"
#include "zone/sums.h"

static bool is_one_kind(const struct zone *a, const struct zone *b)
{
	return a->chain == b->chain && (a->chain != ZONE_CHAIN_NSEC3 ||
					nsec3_params_equal(a->nsec3_params, b->nsec3_params));
}

bool zone_chains_agree(const struct zone *a, const struct zone *b)
{
	return is_one_kind(a, b) && sums_chain_is_closed(a) && sums_chain_is_closed(b);
}
