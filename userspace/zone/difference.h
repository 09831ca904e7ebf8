/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What leads from one snapshot of a zone to another, as records: zone_diff() for a journal. */
#ifndef VOLLEY_ZONE_DIFFERENCE_H
#define VOLLEY_ZONE_DIFFERENCE_H

#include <stddef.h>

#include "zone/changeset.h"
#include "zone/zone.h"

#define ZONE_DIFFERENCE_MAX (256u << 20) /* octets: more is no use to who asks for changes */

/*
 * Empties @net and puts into it, in the form of an IXFR, what is to be removed from @old_zone and
 * added to become @new_zone. Two with the same SOA have no such form. Any thread; as zone_diff().
 * Returns 0; ERR_LIMIT for more than @max_bytes octets or without another SOA, -EINVAL, -ENOMEM:
 * then it is empty.
 */
int zone_difference(const struct zone *old_zone, const struct zone *new_zone, size_t max_bytes,
		    struct changeset *net) __attribute__((warn_unused_result));

#endif
