/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/bpfmaps.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "volley.skel.h"
#include "xdp/key.h"

static size_t map_bytes(const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	return (bytes + page - 1) / page * page;
}

static int map_in(const struct bpf_map *map, void *out)
{
	void *at =
		mmap(NULL, map_bytes(map), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		return -errno;
	memcpy(out, &at, sizeof(at));
	return 0;
}

static void map_out(const struct bpf_map *map, void *at)
{
	if (at)
		munmap(at, map_bytes(map));
}

static int map_all(struct bpfmaps *maps)
{
	const struct volley_bpf *skel = maps->skel;
	int err;

	err = map_in(skel->maps.volley_abi_10, &maps->memory.state);
	if (!err)
		err = map_in(skel->maps.volley_index, &maps->memory.index);
	if (!err)
		err = map_in(skel->maps.volley_store, &maps->memory.store);
	if (!err)
		err = map_in(skel->maps.volley_zones, &maps->memory.zones);
	if (!err)
		err = map_in(skel->maps.volley_link, &maps->link);
	if (!err)
		err = map_in(skel->maps.volley_queues, &maps->queues);
	if (!err)
		err = map_in(skel->maps.volley_rrl, &maps->limiter.rrl);
	if (!err)
		err = map_in(skel->maps.volley_loads, &maps->limiter.loads);
	if (!err)
		err = map_in(skel->maps.volley_names, &maps->names);
	maps->names_lines = bpf_map__max_entries(skel->maps.volley_names);
	return err;
}

/* Skeletons of libbpf 1.1 also return the error in errno. */
static int load(struct volley_bpf *skel, const struct cache_sizes *sizes)
{
	int err = 0;

	if (sizes) {
		err = bpf_map__set_max_entries(skel->maps.volley_index, sizes->n_buckets);
		if (!err)
			err = bpf_map__set_max_entries(skel->maps.volley_store, sizes->n_segments);
		if (!err)
			err = bpf_map__set_max_entries(skel->maps.volley_zones, sizes->n_zones);
		if (!err && sizes->n_names_lines)
			err = bpf_map__set_max_entries(skel->maps.volley_names,
						       sizes->n_names_lines);
	}
	return err ? err : volley_bpf__load(skel);
}

int bpfmaps_open(struct bpfmaps *maps, const struct cache_sizes *sizes)
{
	return bpfmaps_open_flags(maps, sizes, 0);
}

int bpfmaps_open_flags(struct bpfmaps *maps, const struct cache_sizes *sizes, uint32_t flags)
{
	int err;

	*maps = (struct bpfmaps){ .skel = volley_bpf__open() };
	if (!maps->skel)
		return -errno;
	err = bpf_program__set_flags(maps->skel->progs.volley, flags);
	if (!err)
		err = load(maps->skel, sizes);
	if (!err)
		err = map_all(maps);
	if (err) {
		bpfmaps_close(maps);
		return err;
	}
	maps->prog_fd = bpf_program__fd(maps->skel->progs.volley);
	maps->memory.sizes = (struct cache_sizes){
		.n_segments = bpf_map__max_entries(maps->skel->maps.volley_store),
		.n_buckets = bpf_map__max_entries(maps->skel->maps.volley_index),
		.n_zones = bpf_map__max_entries(maps->skel->maps.volley_zones),
		.n_names_lines = maps->names_lines,
	};
	cache_sizes_measure(&maps->memory.sizes);
	maps->memory.sizes.bytes = sizes ? sizes->bytes : VOLLEY_DEFAULT_BYTES;
	maps->link->driver_answers = 1;
	return 0;
}

void bpfmaps_close(struct bpfmaps *maps)
{
	const struct volley_bpf *skel = maps->skel;

	if (!skel)
		return;
	map_out(skel->maps.volley_abi_10, maps->memory.state);
	map_out(skel->maps.volley_index, maps->memory.index);
	map_out(skel->maps.volley_store, maps->memory.store);
	map_out(skel->maps.volley_zones, maps->memory.zones);
	map_out(skel->maps.volley_link, maps->link);
	map_out(skel->maps.volley_queues, maps->queues);
	map_out(skel->maps.volley_rrl, maps->limiter.rrl);
	map_out(skel->maps.volley_loads, maps->limiter.loads);
	map_out(skel->maps.volley_names, maps->names);
	volley_bpf__destroy(maps->skel);
	*maps = (struct bpfmaps){ 0 };
}

int bpfmaps_map_fd(const struct bpfmaps *maps, const char *name)
{
	return bpf_object__find_map_fd_by_name(maps->skel->obj, name);
}

static void add_cpu(struct volley_cpu *sum, const struct volley_cpu *one)
{
	const __u64 *answers = (const __u64 *)&one->answers;
	__u64 *to = (__u64 *)&sum->answers;

	sum->received += one->received;
	sum->to_worker += one->to_worker;
	for (size_t i = 0; i < VOLLEY_N_REASONS; i++)
		sum->reasons[i] += one->reasons[i];
#define ADD(name, words) sum->name += one->name;
	VOLLEY_NOTES(ADD)
#undef ADD
	for (size_t i = 0; i < sizeof(one->answers) / sizeof(*answers); i++)
		to[i] += answers[i];
}

int bpfmaps_counters(const struct bpfmaps *maps, struct volley_cpu *sum)
{
	int n_cpus = libbpf_num_possible_cpus();
	struct volley_cpu *each;
	int i, err = 0;

	if (n_cpus < 0)
		return n_cpus;
	each = calloc((size_t)n_cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	memset(sum, 0, sizeof(*sum));
	for (__u32 room = 0; !err && room < VOLLEY_ROOMS; room++) {
		err = bpf_map_lookup_elem(bpf_map__fd(maps->skel->maps.volley_cpu), &room, each);
		for (i = 0; !err && i < n_cpus; i++)
			add_cpu(sum, &each[i]);
	}
	free(each);
	return err;
}

void bpfmaps_serve(struct volley_state *state, const uint32_t address[4], uint8_t family,
		   uint16_t port)
{
	struct volley_services *t = &state->services[state->services_at];
	struct volley_service s = { .port = htons(port), .family = family }, *slot;
	uint32_t at;

	memcpy(s.address, address, sizeof(s.address));
	at = volley_service_place(t, &s);
	do
		slot = &t->slots[at++ % VOLLEY_SERVICE_SLOTS];
	while (slot->family);
	s.family = 0;
	*slot = s;
	__atomic_store_n(&slot->family, family, __ATOMIC_RELEASE);
}
