/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two versions of a zone as records, for the journal. */
#ifndef VOLLEY_ZONE_DIFFERENCE_H
#define VOLLEY_ZONE_DIFFERENCE_H

#include <stddef.h>

#include "zone/changeset.h"
#include "zone/zone.h"

#define ZONE_DIFFERENCE_MAX (256u << 20) /* octets: above this an IXFR is of no use */

/*
 * Empties @net and adds to it, in the form of an IXFR, the records to remove from @old_zone and to
 * add to it to make @new_zone. Any thread; as zone_diff(). Returns 0, or with @net empty: ERR_LIMIT
 * for more than @max_bytes octets or for two versions with the same SOA, -EINVAL, -ENOMEM.
 */
int zone_difference(const struct zone *old_zone, const struct zone *new_zone, size_t max_bytes,
		    struct changeset *net) __attribute__((warn_unused_result));

#endif
