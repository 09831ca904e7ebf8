/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of the object file: `ip link`, `xdp-loader`, net_af_xdp and a daemon that adopts
 * maps rely on the names, types and sizes of its maps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "xdp/abi.h"

#define OBJECT "volley.bpf.o"

struct map_row {
	const char *name;
	enum bpf_map_type type;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
	__u32 flags;
};

static const struct map_row map_rows[] = {
	{ VOLLEY_STATE_MAP, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_state), 1, BPF_F_MMAPABLE },
	{ "volley_index", BPF_MAP_TYPE_ARRAY, 4, VOLLEY_BUCKET_SLOTS * 8, VOLLEY_DEFAULT_BUCKETS,
	  BPF_F_MMAPABLE },
	{ "volley_store", BPF_MAP_TYPE_ARRAY, 4, VOLLEY_SEGMENT_BYTES, VOLLEY_DEFAULT_SEGMENTS,
	  BPF_F_MMAPABLE },
	{ "volley_zones", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_zone), VOLLEY_DEFAULT_ZONES,
	  BPF_F_MMAPABLE },
	{ "volley_clients", BPF_MAP_TYPE_LPM_TRIE, sizeof(struct volley_client), 4,
	  VOLLEY_CLIENTS_MAX, BPF_F_NO_PREALLOC },
	{ "volley_refresh", BPF_MAP_TYPE_RINGBUF, 0, 0, VOLLEY_REFRESH_BYTES, 0 },
	{ "volley_link", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_link), 1, BPF_F_MMAPABLE },
	{ "volley_cpu", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_cpu), VOLLEY_ROOMS, 0 },
	{ "xsks_map", BPF_MAP_TYPE_XSKMAP, 4, 4, VOLLEY_QUEUES, 0 },
	{ "volley_queues", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_queue), VOLLEY_QUEUES,
	  BPF_F_MMAPABLE },
	{ "volley_cookies", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_cookies), 1, 0 },
	{ "volley_shares", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_shares), 1, 0 },
	{ "volley_near", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_near), 1, 0 },
	{ "volley_rrl", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_rrl), 1, BPF_F_MMAPABLE },
	{ "volley_loads", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_rrl_line), VOLLEY_RRL_LINES,
	  BPF_F_MMAPABLE },
	{ "volley_blocks", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 1, 0 },
	{ "volley_taps", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, VOLLEY_TAP_RINGS, 0 },
	{ "volley_blocked", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_blocked), 1, 0 },
	{ "volley_names", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_names_line),
	  VOLLEY_DEFAULT_NAMES_LINES, BPF_F_MMAPABLE },
};
#define N_MAPS (sizeof(map_rows) / sizeof(map_rows[0]))

/* The installed file and that in build/bin are the same. */
static struct bpf_object *open_object(void)
{
	const char *bin = getenv("VOLLEY_BIN");
	struct bpf_object *object;
	char path[4096];

	snprintf(path, sizeof(path), "%s/" OBJECT, bin ? bin : "build/bin");
	object = bpf_object__open_file(path, NULL);
	if (!object)
		fail_msg("%s: %s", path, strerror(errno));
	return object;
}

static void test_maps(void **state)
{
	struct bpf_object *object = open_object();
	const struct bpf_map *map;
	size_t n = 0;

	(void)state;
	bpf_object__for_each_map(map, object)
		n += !bpf_map__is_internal(map);
	assert_int_equal(n, N_MAPS);
	for (size_t i = 0; i < N_MAPS; i++) {
		const struct map_row *row = &map_rows[i];

		map = bpf_object__find_map_by_name(object, row->name);
		if (!map)
			fail_msg("no map %s", row->name);
		if (bpf_map__type(map) != row->type || bpf_map__key_size(map) != row->key_size ||
		    bpf_map__value_size(map) != row->value_size ||
		    bpf_map__max_entries(map) != row->max_entries ||
		    bpf_map__map_flags(map) != row->flags)
			fail_msg("%s: type %u, key %u, value %u, entries %u, flags %x", row->name,
				 bpf_map__type(map), bpf_map__key_size(map),
				 bpf_map__value_size(map), bpf_map__max_entries(map),
				 bpf_map__map_flags(map));
	}
	bpf_object__close(object);
}

/* ---- The layout ------------------------------------------------------------------------------ */

/*
 * The digest of all layouts of this ABI. Another digest means that a daemon cannot use the maps of
 * a daemon that was built before the change: unless no release has this VOLLEY_ABI, raise it (see
 * "a counter" in docs/contributing.md).
 */
#define DIGEST_OF_ABI 10
#define DIGEST        0x12d9f4db6005b35full

static void digest_octets(uint64_t *digest, const void *octets, size_t n)
{
	const uint8_t *at = octets;

	for (size_t i = 0; i < n; i++)
		*digest = (*digest ^ at[i]) * 0x100000001b3ull; /* FNV-1a */
}

static void digest_number(uint64_t *digest, uint64_t n)
{
	digest_octets(digest, &n, sizeof(n));
}

static void digest_type(uint64_t *digest, const struct btf *btf, __u32 id);

static void digest_members(uint64_t *digest, const struct btf *btf, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);

	digest_number(digest, t->size);
	for (__u16 i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		digest_octets(digest, name, strlen(name));
		digest_number(digest, btf_member_bit_offset(t, i));
		digest_number(digest, btf_member_bitfield_size(t, i));
		digest_type(digest, btf, m[i].type);
	}
}

/* Names of types and signs of numbers do not matter, names of fields do. */
static void digest_type(uint64_t *digest, const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (btf_is_typedef(t) || btf_is_mod(t))
		t = btf__type_by_id(btf, t->type);
	if (btf_is_composite(t)) {
		digest_members(digest, btf, t);
	} else if (btf_is_array(t)) {
		digest_number(digest, btf_array(t)->nelems);
		digest_type(digest, btf, btf_array(t)->type);
	} else {
		digest_number(digest, btf_is_ptr(t) ? 8 : t->size);
	}
}

/* Structures in maps whose values have no type. */
static const uint64_t others[] = {
	sizeof(struct volley_entry),   sizeof(struct volley_segment), sizeof(struct volley_shared),
	sizeof(struct volley_refresh), sizeof(struct volley_tap),
};

/* A change of a structure, or of the reasons and notes in one, is a new ABI. */
static void test_layout_is_that_of_the_abi(void **state)
{
#define TEXT_OF(name, ...) #name "\n"
	static const char rows[] = VOLLEY_REASONS(TEXT_OF) VOLLEY_NOTES(TEXT_OF);
	struct bpf_object *object = open_object();
	const struct btf *btf = bpf_object__btf(object);
	uint64_t digest = 0xcbf29ce484222325ull;

	(void)state;
	assert_non_null(btf);
	digest_octets(&digest, rows, sizeof(rows));
	digest_octets(&digest, others, sizeof(others));
	for (size_t i = 0; i < N_MAPS; i++) {
		const struct bpf_map *map = bpf_object__find_map_by_name(object, map_rows[i].name);

		assert_non_null(map);
		if (bpf_map__btf_value_type_id(map))
			digest_type(&digest, btf, bpf_map__btf_value_type_id(map));
	}
	bpf_object__close(object);
	if (VOLLEY_ABI != DIGEST_OF_ABI || digest != DIGEST)
		fail_msg("the layout of ABI %d has the digest 0x%llx; the test knows ABI %d",
			 VOLLEY_ABI, (unsigned long long)digest, DIGEST_OF_ABI);
}

/* Loaders take the first program of section "xdp". The object has no internal maps, which old
 * loaders do not know. */
static void test_program(void **state)
{
	struct bpf_object *object = open_object();
	const struct bpf_program *prog = bpf_object__next_program(object, NULL);
	const struct bpf_map *map;

	(void)state;
	assert_string_equal(bpf_program__name(prog), "volley");
	assert_string_equal(bpf_program__section_name(prog), "xdp");
	assert_int_equal(bpf_program__type(prog), BPF_PROG_TYPE_XDP);
	assert_null(bpf_object__next_program(object, (struct bpf_program *)(uintptr_t)prog));
	bpf_object__for_each_map(map, object)
		assert_false(bpf_map__is_internal(map));
	bpf_object__close(object);
}

/* All maps are found from the program alone, by the 15 characters of a name that the kernel
 * keeps. */
static void test_found_by_program(void **state)
{
	struct bpf_object *object = open_object();
	__u32 ids[N_MAPS + 1], bytes = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .map_ids = (uintptr_t)ids, .nr_map_ids = N_MAPS + 1 };
	size_t n_found = 0;
	int err = bpf_object__load(object);

	(void)state;
	if (err == -EPERM)
		skip();
	assert_int_equal(err, 0);
	assert_int_equal(
		bpf_obj_get_info_by_fd(bpf_program__fd(bpf_object__next_program(object, NULL)),
				       &info, &bytes),
		0);
	assert_int_equal(info.nr_map_ids, N_MAPS);
	for (size_t i = 0; i < N_MAPS; i++) {
		for (size_t k = 0; k < N_MAPS; k++) {
			struct bpf_map_info map = { 0 };
			int fd = bpf_map_get_fd_by_id(ids[k]);

			bytes = sizeof(map);
			assert_int_equal(bpf_obj_get_info_by_fd(fd, &map, &bytes), 0);
			n_found += !strcmp(map.name, map_rows[i].name);
			close(fd);
		}
	}
	assert_int_equal(n_found, N_MAPS);
	bpf_object__close(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_layout_is_that_of_the_abi),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_found_by_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
