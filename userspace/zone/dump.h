/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot as a master file: what was read, whatever files it came from. */
#ifndef VOLLEY_ZONE_DUMP_H
#define VOLLEY_ZONE_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "zone/zone.h"

/*
 * Writes every record on a line of its own: absolute owner, TTL, class, type, rdata; no directives
 * and no comments. The SOA comes first, then the order is the canonical one. Rdata that has no form
 * of its own is written as RFC 3597 section 5 says. Reads @z only, so any thread may call it; ends
 * early when @cancel, unless NULL, becomes true. Returns 0, -ENOMEM, -ECANCELED, or -errno of
 * writing.
 */
int zone_dump(const struct zone *z, FILE *out, const bool *cancel)
	__attribute__((warn_unused_result));

#endif
