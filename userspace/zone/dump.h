/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a version of a zone as one master file. */
#ifndef VOLLEY_ZONE_DUMP_H
#define VOLLEY_ZONE_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "zone/zone.h"

/*
 * Writes every record on a line of its own: absolute owner, TTL, class, type, rdata; no directives
 * and no comments. The SOA comes first, then all others in canonical order. Rdata without a form of
 * its own has the generic form of RFC 3597 section 5. Any thread may call it. It ends early if
 * @cancel, unless NULL, becomes true. Returns 0, -ENOMEM, -ECANCELED, or -errno of the write.
 */
int zone_dump(const struct zone *z, FILE *out, const bool *cancel)
	__attribute__((warn_unused_result));

#endif
