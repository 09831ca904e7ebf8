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
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_found_by_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
