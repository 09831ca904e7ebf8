/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shared answer in the making (engine/shared_answer.h). */
#ifndef VOLLEY_ENGINE_SHARED_DRAFT_H
#define VOLLEY_ENGINE_SHARED_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/name.h"

/* A larger answer is not shared: no query over UDP would get it. */
#define SHARED_ROOM (VOLLEY_UDP_MAX + sizeof(struct volley_shared))

/* The label before the closest encloser in a wildcard's name: wire form without a root label. */
#define SHARED_WILDCARD       "\001*"
#define SHARED_WILDCARD_BYTES (sizeof(SHARED_WILDCARD) - 1)

struct shared {
	uint32_t kind;           /* VOLLEY_KEY_* */
	bool is_expanded;        /* a wildcard stands for the name */
	uint32_t base_at;        /* where the base begins in the question's name */
	struct volley_key first; /* of the key; then its name, folded */
	uint8_t name[NAME_FOLDED_BYTES];
	struct cache_answer answer; /* its body: below */
	uint8_t body[SHARED_ROOM];
};

#endif
