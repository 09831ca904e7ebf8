/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/found.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "cache/cache.h"
#include "xdp/abi.h"
#include "xdp/key.h"

#define MAPS_CAP   16
#define DISPATCHER "xdp_dispatcher" /* of libxdp */

struct named_map {
	const char *name;
	int *fd;
};

static void maps_none(struct found_maps *maps)
{
	*maps = (struct found_maps){ -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
}

static void maps_close(struct found_maps *maps)
{
	int *fds[] = { &maps->state,   &maps->index,   &maps->store, &maps->zones,
		       &maps->clients, &maps->refresh, &maps->link,  &maps->cpu,
		       &maps->xsks,    &maps->queues,  &maps->shares };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* Keeps fd if its map is one of ours; notes another version's state map. */
static void take_map(struct found *found, int fd)
{
	const struct named_map known[] = {
		{ VOLLEY_STATE_MAP, &found->maps.state },
		{ "volley_index", &found->maps.index },
		{ "volley_store", &found->maps.store },
		{ "volley_zones", &found->maps.zones },
		{ "volley_clients", &found->maps.clients },
		{ "volley_refresh", &found->maps.refresh },
		{ "volley_link", &found->maps.link },
		{ "volley_cpu", &found->maps.cpu },
		{ "xsks_map", &found->maps.xsks },
		{ "volley_queues", &found->maps.queues },
		{ "volley_shares", &found->maps.shares },
	};
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	size_t i;

	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		close(fd);
		return;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(info.name, known[i].name) || *known[i].fd >= 0)
			continue;
		*known[i].fd = fd;
		return;
	}
	if (!strncmp(info.name, VOLLEY_STATE_PREFIX, strlen(VOLLEY_STATE_PREFIX)))
		found->abi = (uint32_t)strtoul(info.name + strlen(VOLLEY_STATE_PREFIX), NULL, 10);
	close(fd);
}

/* Opens the maps that the program uses. 0 or -errno. */
static int take_maps(struct found *found)
{
	uint32_t ids[MAPS_CAP] = { 0 };
	struct bpf_prog_info info = { .nr_map_ids = MAPS_CAP, .map_ids = (uintptr_t)ids };
	uint32_t len = sizeof(info);
	uint32_t i;
	int fd;

	if (bpf_obj_get_info_by_fd(found->prog_fd, &info, &len))
		return -errno;
	snprintf(found->name, sizeof(found->name), "%s", info.name);
	for (i = 0; i < info.nr_map_ids && i < MAPS_CAP; i++) {
		fd = bpf_map_get_fd_by_id(ids[i]);
		if (fd < 0)
			return -errno;
		take_map(found, fd);
	}
	return 0;
}

static bool is_complete(const struct found_maps *maps)
{
	return maps->index >= 0 && maps->store >= 0 && maps->zones >= 0 && maps->clients >= 0 &&
	       maps->refresh >= 0 && maps->link >= 0 && maps->cpu >= 0 && maps->xsks >= 0 &&
	       maps->queues >= 0 && maps->shares >= 0;
}

/* Is this program Volley? Leaves descriptors in *found only if so. */
static int look_at(struct found *found, uint32_t id)
{
	int err;

	found->id = id;
	found->abi = 0;
	found->prog_fd = bpf_prog_get_fd_by_id(id);
	if (found->prog_fd < 0)
		return -errno;
	err = take_maps(found);
	if (!err && found->maps.state >= 0 && is_complete(&found->maps)) {
		found->kind = FOUND_VOLLEY;
		return 0;
	}
	maps_close(&found->maps);
	close(found->prog_fd);
	found->prog_fd = -1;
	found->kind = found->abi ? FOUND_OTHER_ABI : FOUND_OTHER;
	return err;
}

/* A dispatcher has room for us: of the programs behind it only ours matter. */
static int look_behind(struct found *found, int ifindex)
{
	struct xdp_multiprog *mp = xdp_multiprog__get_from_ifindex(ifindex);
	struct xdp_program *prog = NULL;
	int err = (int)libxdp_get_error(mp);

	if (err)
		return err == -ENOENT ? 0 : err;
	found->kind = FOUND_NOTHING;
	while (!err && (prog = xdp_multiprog__next_prog(prog, mp))) {
		err = look_at(found, xdp_program__id(prog));
		if (!err && (found->kind == FOUND_VOLLEY || found->kind == FOUND_OTHER_ABI))
			break;
		found->kind = FOUND_NOTHING;
	}
	xdp_multiprog__close(mp);
	return err;
}

/*
 * The kernel is asked, and libxdp where its dispatcher is there: for a program without one, 1.3.1 keeps
 * a descriptor of it each time, and we look once a second.
 */
int found_look(struct found *found, int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, there);
	uint32_t id;
	int err;

	*found = (struct found){ .kind = FOUND_NOTHING, .prog_fd = -1, .is_alone = true };
	maps_none(&found->maps);
	err = bpf_xdp_query(ifindex, 0, &there);
	if (err)
		return err;
	id = there.prog_id ? there.prog_id : there.drv_prog_id;
	if (!id)
		id = there.skb_prog_id ? there.skb_prog_id : there.hw_prog_id;
	if (!id)
		return 0;
	found->is_generic = id == there.skb_prog_id;
	err = look_at(found, id);
	if (err || found->kind != FOUND_OTHER || strcmp(found->name, DISPATCHER) != 0)
		return err;
	found->is_alone = false;
	return look_behind(found, ifindex);
}

void found_close(struct found *found)
{
	maps_close(&found->maps);
	if (found->prog_fd >= 0)
		close(found->prog_fd);
	found->prog_fd = -1;
}

/* An array with values of this size that can be mapped; its number of entries, or 0. */
static uint32_t array_entries(int fd, uint32_t value_bytes)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != value_bytes ||
	    !(info.map_flags & BPF_F_MMAPABLE))
		return 0;
	return info.max_entries;
}

/* The map of clients and the ring, which have one size each. */
static bool is_as_declared(const struct found_maps *maps)
{
	struct bpf_map_info clients = { 0 }, refresh = { 0 };
	uint32_t clients_len = sizeof(clients), refresh_len = sizeof(refresh);

	if (bpf_obj_get_info_by_fd(maps->clients, &clients, &clients_len) ||
	    bpf_obj_get_info_by_fd(maps->refresh, &refresh, &refresh_len))
		return false;
	return clients.type == BPF_MAP_TYPE_LPM_TRIE &&
	       clients.key_size == sizeof(struct volley_client) &&
	       clients.value_size == sizeof(uint32_t) &&
	       clients.max_entries == VOLLEY_CLIENTS_MAX && refresh.type == BPF_MAP_TYPE_RINGBUF &&
	       refresh.max_entries == VOLLEY_REFRESH_BYTES;
}

int found_sizes(const struct found_maps *maps, struct cache_sizes *sizes)
{
	*sizes = (struct cache_sizes){
		.n_buckets = array_entries(maps->index, VOLLEY_BUCKET_SLOTS * 8),
		.n_segments = array_entries(maps->store, VOLLEY_SEGMENT_BYTES),
		.n_zones = array_entries(maps->zones, sizeof(struct volley_zone)),
	};
	if (array_entries(maps->state, sizeof(struct volley_state)) != 1 ||
	    array_entries(maps->queues, sizeof(struct volley_queue)) != VOLLEY_QUEUES ||
	    !sizes->n_buckets || !sizes->n_segments || !sizes->n_zones ||
	    sizes->n_buckets % VOLLEY_PAGE_BUCKETS || !is_as_declared(maps))
		return -EPROTO;
	cache_sizes_measure(sizes);
	sizes->bytes = sizes->total_bytes;
	return 0;
}
