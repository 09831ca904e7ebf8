/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the digest that a zone has of itself (RFC 8976) when the zone is loaded. */
#ifndef VOLLEY_ZONE_ZONEMD_H
#define VOLLEY_ZONE_ZONEMD_H

#include <stdbool.h>

#include "zone/zone.h"

/*
 * Checks the ZONEMD records at the apex, if there are any, as RFC 8976 section 4 says: at least one
 * record with a supported scheme (SIMPLE) and hash (SHA-384, SHA-512) must have the right digest.
 * Only unsupported records: a warning. @file is for messages. Control plane only: allocates,
 * O(zone). Returns 0, -ENOMEM, or ERR_ZONE with @err filled in.
 */
int zonemd_check(const struct zone *z, const char *file, struct zone_error *err)
	__attribute__((warn_unused_result));

/* True if a record at the apex has a scheme and a hash that zonemd_check() supports. Pure. */
bool zonemd_is_stated(const struct zone *z);

#endif
