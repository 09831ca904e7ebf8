/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/blocklab.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/tables.h"
#include "dns/name.h"

void blocklab_open(struct blocklab *lab, const struct bpfmaps *maps, uint32_t cap)
{
	*lab = (struct blocklab){ .maps = maps, .n_chunks = block_table_chunks(cap) };
	lab->fd = block_map_open(block_map_make(lab->n_chunks), lab->n_chunks, &lab->memory);
	assert_true(lab->fd >= 0);
	assert_int_equal(block_table_secrets(&lab->secrets), 0);
	assert_int_equal(block_table_init(&lab->table, lab->memory, cap, &lab->secrets), 0);
	assert_int_equal(block_map_put(bpfmaps_map_fd(maps, "volley_blocks"), lab->fd), 0);
	lab->view = (struct blocks){ .table = lab->memory, .met = &lab->met };
}

void blocklab_close(struct blocklab *lab)
{
	block_table_fini(&lab->table);
	block_map_free(lab->fd, lab->memory, lab->n_chunks);
	lab->maps->memory.state->block_kinds = 0;
}

static struct volley_block_key name_key(const struct blocklab *lab, const char *text)
{
	uint8_t wire[256], folded[NAME_FOLDED_BYTES];
	int n = name_from_text(wire, sizeof(wire), text, strlen(text));

	assert_true(n > 0);
	name_fold(folded, wire, (unsigned int)n);
	return block_key_name(&lab->secrets, folded, (unsigned int)n);
}

static struct volley_block_key key_of(const struct blocklab *lab, const char *what)
{
	bool is_ipv6 = strchr(what, ':');
	uint8_t octets[16];
	char address[64];
	unsigned int bits;

	if (!strncmp(what, "name:", 5))
		return name_key(lab, what + 5);
	if (!strncmp(what, "type:", 5))
		return block_key_type((uint16_t)atoi(what + 5));
	assert_int_equal(sscanf(what, "%63[^/]/%u", address, &bits), 2);
	assert_int_equal(inet_pton(is_ipv6 ? AF_INET6 : AF_INET, address, octets), 1);
	return block_key_prefix(is_ipv6, octets, bits);
}

static void tell(struct blocklab *lab)
{
	lab->view.kinds = block_table_kinds(&lab->table);
	lab->maps->memory.state->block_kinds = lab->view.kinds;
}

void blocklab_set(struct blocklab *lab, const char *what, uint32_t action, uint32_t expires_s,
		  uint32_t list)
{
	struct volley_block_key key = key_of(lab, what);

	assert_int_equal(block_table_set(&lab->table, &key,
					 volley_block_rule(expires_s, key.kind_bits, action, list)),
			 0);
	tell(lab);
}

void blocklab_remove(struct blocklab *lab, const char *what)
{
	struct volley_block_key key = key_of(lab, what);

	assert_true(block_table_remove(&lab->table, &key));
	tell(lab);
}

uint64_t blocklab_met(const struct blocklab *lab, const char *what)
{
	struct volley_block_key key = key_of(lab, what);
	const struct volley_block *block = block_table_get(&lab->table, &key);

	assert_non_null(block);
	return block->met;
}

uint64_t blocklab_list_met(const struct blocklab *lab, uint32_t list)
{
	uint64_t met[VOLLEY_BLOCK_LISTS];

	assert_int_equal(block_map_met(bpfmaps_map_fd(lab->maps, "volley_blocked"), met), 0);
	return met[list];
}
