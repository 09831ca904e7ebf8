/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/block_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bpf/tables.h"
#include "broker/maps.h"

static int take_memory(struct block_memory *m, bool is_map)
{
	const size_t bytes = (size_t)m->n_chunks * VOLLEY_BLOCK_CHUNK_BYTES;

	if (is_map) {
		m->fd = maps_make_blocks(m->n_chunks, &m->memory);
		return m->fd < 0 ? m->fd : 0;
	}
	m->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->memory != MAP_FAILED)
		return 0;
	m->memory = NULL;
	return -ENOMEM;
}

int block_memory_new(struct block_memory **out, uint32_t cap, bool is_map,
		     const struct volley_block_head *secrets, struct blocks_met *met)
{
	struct block_memory *m = calloc(1, sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return -ENOMEM;
	m->n_chunks = block_table_chunks(cap);
	m->fd = -1;
	err = take_memory(m, is_map);
	if (!err)
		err = block_table_init(&m->table, m->memory, cap, secrets);
	if (err) {
		block_memory_free(m);
		return err;
	}
	m->view = (struct blocks){ .table = m->memory, .met = met };
	*out = m;
	return 0;
}

void block_memory_free(struct block_memory *m)
{
	if (!m)
		return;
	block_table_fini(&m->table);
	if (m->fd >= 0)
		block_map_free(m->fd, m->memory, m->n_chunks);
	else if (m->memory)
		munmap(m->memory, (size_t)m->n_chunks * VOLLEY_BLOCK_CHUNK_BYTES);
	free(m);
}

static int copy_one(void *user, const struct volley_block_key *key,
		    const struct volley_block *block)
{
	struct block_memory *to = user;

	return block_table_set(&to->table, key, block->rule);
}

int block_memory_copy(struct block_memory *to, const struct block_memory *from)
{
	return block_table_each(&from->table, copy_one, to);
}
