/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads queries: the question of each, and the key of its answer in the cache. A burst is read
 * ahead in three passes, so that the waits for memory overlap:
 *
 *	each query: parse, hash, ask for its bucket ─► each key: ask for its entry ─► each answer
 */
#ifndef VOLLEY_ENGINE_PREPARE_H
#define VOLLEY_ENGINE_PREPARE_H

#include "engine/engine_state.h"

/* Fills *prepared. The caller has set e->cache. msg is borrowed, as by query_parse(). */
void prepare_read(const struct engine *e, struct engine_prepared *prepared, const uint8_t *msg,
		  size_t len);

/* As engine_read_ahead(). */
void prepare_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n);

#endif
