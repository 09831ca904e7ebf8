/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Class CH: what the server says of itself (RFC 4892), if the configuration sets it. */
#ifndef VOLLEY_ENGINE_CHAOS_H
#define VOLLEY_ENGINE_CHAOS_H

#include <stdint.h>

#include "engine/render.h"

/*
 * Answers q, of class CH: TXT (or ANY) of version.bind and version.server with identity->version,
 * of id.server and hostname.bind with identity->name. REFUSED for all other names and types, and if
 * identity is NULL. a->body points into r until the next call. Never cached. Returns the rcode.
 */
uint16_t chaos_answer(struct render *r, const struct engine_identity *identity,
		      const struct query *q, struct cache_answer *a);

#endif
