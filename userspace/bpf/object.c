/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/page.h"
#include "bpf/refusal.h"
#include "volley.skel.h"

#define LOADS_BYTES (VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line))
#define SMALL_BYTES (8ull << 20) /* of the cache of object_try_load() */
#define SMALL_ZONES 16

#define OBJECT_N_SHARED 12u

/* --- Maps ------------------------------------------------------------------------------------- */

static void close_object_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static size_t object_index_bytes(const struct cache_sizes *sizes)
{
	return (size_t)sizes->n_buckets * VOLLEY_BUCKET_SLOTS * 8;
}

static size_t object_store_bytes(const struct cache_sizes *sizes)
{
	return (size_t)sizes->n_segments * VOLLEY_SEGMENT_BYTES;
}

static size_t names_bytes(const struct object_maps *maps)
{
	return (size_t)maps->names_lines * sizeof(*maps->names);
}

static size_t object_zones_bytes(const struct cache_sizes *sizes)
{
	return (size_t)sizes->n_zones * sizeof(struct volley_zone);
}

void object_maps_close(struct object_maps *maps)
{
	struct cache_memory *memory = &maps->memory;

	if (!maps->is_open)
		return;
	map_memory_close(memory->state, sizeof(*memory->state));
	map_memory_close(memory->index, object_index_bytes(&memory->sizes));
	map_memory_close(memory->store, object_store_bytes(&memory->sizes));
	map_memory_close(memory->zones, object_zones_bytes(&memory->sizes));
	close(maps->state_fd);
	close(maps->index_fd);
	close(maps->store_fd);
	close(maps->zones_fd);
	close(maps->clients_fd);
	close(maps->refresh_fd);
	map_memory_close(maps->limiter.rrl, sizeof(*maps->limiter.rrl));
	map_memory_close(maps->limiter.loads, LOADS_BYTES);
	close(maps->rrl_fd);
	close(maps->loads_fd);
	map_memory_close(maps->names, names_bytes(maps));
	close(maps->blocks_fd);
	close(maps->blocked_fd);
	close(maps->taps_fd);
	close(maps->names_fd);
	*maps = (struct object_maps){ 0 };
}

int object_maps_open(struct object_maps *maps, const struct found_maps *found,
		     const struct cache_sizes *sizes)
{
	struct cache_memory *memory = &maps->memory;

	maps->is_open = true;
	maps->state_fd = dup(found->state);
	maps->index_fd = dup(found->index);
	maps->store_fd = dup(found->store);
	maps->zones_fd = dup(found->zones);
	maps->clients_fd = dup(found->clients);
	maps->refresh_fd = dup(found->refresh);
	maps->rrl_fd = dup(found->rrl);
	maps->loads_fd = dup(found->loads);
	maps->blocks_fd = dup(found->blocks);
	maps->blocked_fd = dup(found->blocked);
	maps->taps_fd = dup(found->taps);
	maps->names_fd = dup(found->names);
	maps->names_lines = found_entries(maps->names_fd);
	memory->sizes = *sizes;
	memory->state = map_memory_open(maps->state_fd, sizeof(*memory->state));
	memory->index = map_memory_open(maps->index_fd, object_index_bytes(sizes));
	memory->store = map_memory_open(maps->store_fd, object_store_bytes(sizes));
	memory->zones = map_memory_open(maps->zones_fd, object_zones_bytes(sizes));
	maps->limiter.rrl = map_memory_open(maps->rrl_fd, sizeof(*maps->limiter.rrl));
	maps->limiter.loads = map_memory_open(maps->loads_fd, LOADS_BYTES);
	if (maps->names_lines)
		maps->names = map_memory_open(maps->names_fd, names_bytes(maps));
	if (memory->state && memory->index && memory->store && memory->zones && maps->limiter.rrl &&
	    maps->limiter.loads && maps->names && maps->clients_fd >= 0 && maps->refresh_fd >= 0 &&
	    maps->blocks_fd >= 0 && maps->blocked_fd >= 0 && maps->taps_fd >= 0)
		return 0;
	object_maps_close(maps);
	return -ENOMEM;
}

/* The same attributes as in xdp/volley.bpf.c, so that a program can use these maps. */
static int make_array(const char *name, size_t value_bytes, uint32_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)value_bytes, n,
			      &opts);
}

/* The twelve descriptors of shared maps. */
static void list_shared(struct found_maps *maps, int *list[OBJECT_N_SHARED])
{
	int *const all[OBJECT_N_SHARED] = { &maps->state,   &maps->index,   &maps->store,
					    &maps->zones,   &maps->clients, &maps->refresh,
					    &maps->rrl,     &maps->loads,   &maps->blocks,
					    &maps->blocked, &maps->taps,    &maps->names };

	memcpy(list, all, sizeof(all));
}

void object_shared_close(struct object_shared *maps)
{
	int *fds[OBJECT_N_SHARED];

	if (!maps->is_open)
		return;
	list_shared(&maps->fds, fds);
	for (size_t i = 0; i < OBJECT_N_SHARED; i++)
		close_object_fd(*fds[i]);
	*maps = (struct object_shared){ 0 };
}

int object_shared_take(struct object_shared *maps, const struct found_maps *found,
		       const struct cache_sizes *sizes)
{
	int *fds[OBJECT_N_SHARED], err = 0;

	*maps = (struct object_shared){ .fds = *found, .sizes = *sizes, .is_open = true };
	list_shared(&maps->fds, fds);
	for (size_t i = 0; i < OBJECT_N_SHARED; i++) {
		*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, 0);
		if (*fds[i] < 0)
			err = -errno;
	}
	if (err)
		object_shared_close(maps);
	return err;
}

int object_shared_make_beside(struct object_shared *maps, const struct cache_sizes *sizes,
			      const struct object_shared *shared)
{
	struct found_maps fds = shared->fds;
	int err = 0;

	fds.index = fds.store = -1;
	fds.state = make_array(VOLLEY_STATE_MAP, sizeof(struct volley_state), 1);
	if (fds.state >= 0)
		fds.index = make_array("volley_index", VOLLEY_BUCKET_SLOTS * 8, sizes->n_buckets);
	if (fds.index >= 0)
		fds.store = make_array("volley_store", VOLLEY_SEGMENT_BYTES, sizes->n_segments);
	if (fds.store < 0)
		err = -errno;
	if (!err)
		err = object_shared_take(maps, &fds, sizes);
	close_object_fd(fds.state);
	close_object_fd(fds.index);
	close_object_fd(fds.store);
	return err;
}

static void exchange_object(int *a, int *b)
{
	int c = *a;

	*a = *b;
	*b = c;
}

void object_maps_keep_shared(struct object_maps *maps, struct object_maps *before)
{
	const struct limiter limiter = maps->limiter;
	struct volley_names_line *const names = maps->names;

	exchange_object(&maps->zones_fd, &before->zones_fd);
	exchange_object(&maps->clients_fd, &before->clients_fd);
	exchange_object(&maps->refresh_fd, &before->refresh_fd);
	exchange_object(&maps->rrl_fd, &before->rrl_fd);
	exchange_object(&maps->loads_fd, &before->loads_fd);
	maps->limiter =
		before->limiter; /* engines use it; the other mapping goes with the old cache */
	before->limiter = limiter;
	exchange_object(&maps->blocks_fd, &before->blocks_fd);
	exchange_object(&maps->blocked_fd, &before->blocked_fd);
	exchange_object(&maps->taps_fd, &before->taps_fd);
	exchange_object(&maps->names_fd, &before->names_fd);
	maps->names = before->names; /* control uses it */
	before->names = names;
}

struct object_shared object_maps_shared(const struct object_maps *maps)
{
	return (struct object_shared){
		.fds = { .state = maps->state_fd,
			 .index = maps->index_fd,
			 .store = maps->store_fd,
			 .zones = maps->zones_fd,
			 .clients = maps->clients_fd,
			 .refresh = maps->refresh_fd,
			 .rrl = maps->rrl_fd,
			 .loads = maps->loads_fd,
			 .blocks = maps->blocks_fd,
			 .blocked = maps->blocked_fd,
			 .taps = maps->taps_fd,
			 .names = maps->names_fd },
		.sizes = maps->memory.sizes,
		.is_open = maps->is_open,
	};
}

/* --- Loading ---------------------------------------------------------------------------------- */

struct found_maps object_fds(const struct volley_bpf *skel)
{
	return (struct found_maps){
		.state = bpf_map__fd(skel->maps.volley_abi_10),
		.index = bpf_map__fd(skel->maps.volley_index),
		.store = bpf_map__fd(skel->maps.volley_store),
		.zones = bpf_map__fd(skel->maps.volley_zones),
		.clients = bpf_map__fd(skel->maps.volley_clients),
		.refresh = bpf_map__fd(skel->maps.volley_refresh),
		.blocks = bpf_map__fd(skel->maps.volley_blocks),
		.blocked = bpf_map__fd(skel->maps.volley_blocked),
		.taps = bpf_map__fd(skel->maps.volley_taps),
		.link = bpf_map__fd(skel->maps.volley_link),
		.cpu = bpf_map__fd(skel->maps.volley_cpu),
		.xsks = bpf_map__fd(skel->maps.xsks_map),
		.queues = bpf_map__fd(skel->maps.volley_queues),
		.shares = bpf_map__fd(skel->maps.volley_shares),
		.near = bpf_map__fd(skel->maps.volley_near),
		.cookies = bpf_map__fd(skel->maps.volley_cookies),
		.rrl = bpf_map__fd(skel->maps.volley_rrl),
		.loads = bpf_map__fd(skel->maps.volley_loads),
		.names = bpf_map__fd(skel->maps.volley_names),
		.other = -1,
	};
}

struct volley_bpf *object_open(const struct object_shared *maps, const struct cache_sizes *sizes)
{
	struct volley_bpf *skel = volley_bpf__open();
	int err;

	if (!skel)
		return NULL;
	if (maps->is_open) {
		err = bpf_map__reuse_fd(skel->maps.volley_abi_10, maps->fds.state);
		err |= bpf_map__reuse_fd(skel->maps.volley_index, maps->fds.index);
		err |= bpf_map__reuse_fd(skel->maps.volley_store, maps->fds.store);
		err |= bpf_map__reuse_fd(skel->maps.volley_zones, maps->fds.zones);
		err |= bpf_map__reuse_fd(skel->maps.volley_clients, maps->fds.clients);
		err |= bpf_map__reuse_fd(skel->maps.volley_refresh, maps->fds.refresh);
		err |= bpf_map__reuse_fd(skel->maps.volley_rrl, maps->fds.rrl);
		err |= bpf_map__reuse_fd(skel->maps.volley_loads, maps->fds.loads);
		err |= bpf_map__reuse_fd(skel->maps.volley_blocks, maps->fds.blocks);
		err |= bpf_map__reuse_fd(skel->maps.volley_blocked, maps->fds.blocked);
		err |= bpf_map__reuse_fd(skel->maps.volley_taps, maps->fds.taps);
		err |= bpf_map__reuse_fd(skel->maps.volley_names, maps->fds.names);
	} else {
		err = bpf_map__set_max_entries(skel->maps.volley_index, sizes->n_buckets);
		err |= bpf_map__set_max_entries(skel->maps.volley_store, sizes->n_segments);
		err |= bpf_map__set_max_entries(skel->maps.volley_zones, sizes->n_zones);
		if (sizes->n_names_lines) /* else the declared number */
			err |= bpf_map__set_max_entries(skel->maps.volley_names,
							sizes->n_names_lines);
	}
	if (err) {
		volley_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

static int load_maps(struct volley_bpf **out, const struct object_shared *maps,
		     const struct cache_sizes *sizes)
{
	int err;

	refusal_listen();
	*out = object_open(maps, sizes);
	if (!*out)
		return errno ? -errno : -EINVAL;
	err = bpf_program__set_autoload((*out)->progs.volley, false);
	if (!err)
		err = volley_bpf__load(*out);
	if (err) {
		volley_bpf__destroy(*out);
		*out = NULL;
	}
	return err;
}

struct volley_bpf *object_load_maps(const struct object_shared *maps)
{
	struct volley_bpf *skel;
	int err = load_maps(&skel, maps, &maps->sizes);

	errno = -err;
	return skel;
}

int object_shared_make(struct object_shared *maps, const struct cache_sizes *sizes)
{
	struct volley_bpf *skel;
	struct found_maps fds;
	int err = load_maps(&skel, maps, sizes);

	if (err)
		return err;
	fds = object_fds(skel);
	err = object_shared_take(maps, &fds, sizes);
	volley_bpf__destroy(skel);
	return err;
}

/* The maps are as small as possible: the tag does not depend on them. */
static int read_tag(uint8_t tag[OBJECT_TAG_BYTES])
{
	const struct object_shared none = { 0 };
	const struct cache_sizes least = { .n_buckets = 1, .n_segments = 1, .n_zones = 1 };
	struct volley_bpf *skel = object_open(&none, &least);
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	int err;

	if (!skel)
		return errno ? -errno : -EINVAL;
	err = volley_bpf__load(skel);
	if (!err && bpf_obj_get_info_by_fd(bpf_program__fd(skel->progs.volley), &info, &len))
		err = -errno;
	memcpy(tag, info.tag, OBJECT_TAG_BYTES);
	volley_bpf__destroy(skel);
	return err;
}

int object_tag(uint8_t tag[OBJECT_TAG_BYTES])
{
	static uint8_t ours[OBJECT_TAG_BYTES];
	static bool is_read;
	int err = is_read ? 0 : read_tag(ours);

	is_read = !err;
	memcpy(tag, ours, OBJECT_TAG_BYTES);
	return err;
}

const char *object_tag_text(const uint8_t tag[OBJECT_TAG_BYTES], char text[OBJECT_TAG_CAP])
{
	for (size_t i = 0; i < OBJECT_TAG_BYTES; i++)
		snprintf(text + 2 * i, OBJECT_TAG_CAP - 2 * i, "%02x", tag[i]);
	return text;
}

int object_try_load(char *why, size_t cap)
{
	const struct object_shared none = { 0 };
	struct volley_bpf *skel = NULL;
	struct cache_sizes sizes;
	int err = cache_sizes_plan(&sizes, SMALL_BYTES, SMALL_ZONES);

	refusal_listen();
	refusal_forget();
	if (!err) {
		skel = object_open(&none, &sizes);
		err = skel ? volley_bpf__load(skel) : errno ? -errno : -EINVAL;
	}
	if (err)
		refusal_explain(err, why, cap);
	volley_bpf__destroy(skel);
	return err;
}
