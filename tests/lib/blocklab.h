/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For cmocka: a table of blocks, in the maps of a loaded program and for an engine.
 *
 * A failure here fails the test.
 */
#ifndef VOLLEY_TESTS_LIB_BLOCKLAB_H
#define VOLLEY_TESTS_LIB_BLOCKLAB_H

#include "limits/block_table.h"
#include "limits/block_lookup.h"
#include "tests/lib/bpfmaps.h"

struct blocklab {
	const struct bpfmaps *maps;
	struct block_table table;
	struct volley_block_head secrets;
	struct blocks_met met;
	struct blocks view; /* for struct engine_data */
	void *memory;
	uint32_t n_chunks;
	int fd;
};

/* Puts an empty table for `cap` blocks into the maps. */
void blocklab_open(struct blocklab *lab, const struct bpfmaps *maps, uint32_t cap);
void blocklab_close(struct blocklab *lab);

/* Adds a block "192.0.2.0/24", "name:example.", or "type:255", and tells the program. It holds
 * until expires_s. */
void blocklab_set(struct blocklab *lab, const char *what, uint32_t action, uint32_t expires_s,
		  uint32_t list);
void blocklab_remove(struct blocklab *lab, const char *what);

/* Packets that this block has matched; it is in no list. */
uint64_t blocklab_met(const struct blocklab *lab, const char *what);
/* Packets that this list has matched in the driver. */
uint64_t blocklab_list_met(const struct blocklab *lab, uint32_t list);

#endif
