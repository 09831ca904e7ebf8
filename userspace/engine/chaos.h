/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Class CH: what the server says of itself (RFC 4892), where the configuration gives it.
 */
#ifndef VOLLEY_ENGINE_CHAOS_H
#define VOLLEY_ENGINE_CHAOS_H

#include <stdint.h>

#include "engine/render.h"

/*
 * Answers q, of class CH: TXT (or ANY) of version.bind and version.server with config->version, of
 * id.server and hostname.bind with config->identity; REFUSED for all else. a->body lies in r until the next call. Never
 * cached. Returns the rcode.
 */
uint16_t chaos_answer(struct render *r, const struct engine_config *config, const struct query *q,
		      struct cache_answer *a);

#endif
