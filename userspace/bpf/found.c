/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/found.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/page.h"
#include "cache/cache.h"
#include "xdp/abi.h"
#include "xdp/key.h"
#include "volley.skel.h"

#define MAPS_CAP 32
#define TRIES    5

/* libxdp's program, the number of programs that it calls at most, and the folder where libxdp pins
 * them if $LIBXDP_BPFFS is not set. */
#define DISPATCHER     "xdp_dispatcher"
#define DISPATCHER_CAP 10
#define BPFFS          "/sys/fs/bpf"

struct named_map {
	const char *name;
	int *fd;
};

static void maps_none(struct found_maps *maps)
{
	memset(maps, 0xff, sizeof(*maps)); /* each is -1 */
}

static void maps_close(struct found_maps *maps)
{
	int *fds[] = { &maps->state,   &maps->index,   &maps->store, &maps->zones,   &maps->clients,
		       &maps->refresh, &maps->link,    &maps->cpu,   &maps->xsks,    &maps->queues,
		       &maps->shares,  &maps->near,    &maps->rrl,   &maps->loads,   &maps->other,
		       &maps->blocks,  &maps->blocked, &maps->names, &maps->cookies, &maps->taps };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* --- What our own object declares of its maps ------------------------------------------------- */

#define DECLARED_MAX 32

static struct declared_map {
	char name[16];
	uint32_t type, key_bytes, value_bytes, n, flags;
} declared[DECLARED_MAX];
static size_t n_declared;

static void read_declared(void)
{
	struct volley_bpf *skel = volley_bpf__open();
	const struct bpf_map *map;

	if (!skel)
		return;
	bpf_object__for_each_map(map, skel->obj) {
		struct declared_map *one = &declared[n_declared];

		assert(n_declared < DECLARED_MAX);
		*one = (struct declared_map){
			.type = bpf_map__type(map),
			.key_bytes = bpf_map__key_size(map),
			.value_bytes = bpf_map__value_size(map),
			.n = bpf_map__max_entries(map),
			.flags = bpf_map__map_flags(map),
		};
		snprintf(one->name, sizeof(one->name), "%s", bpf_map__name(map));
		n_declared++;
	}
	volley_bpf__destroy(skel);
}

/* NULL: the object has no map of that name, or memory has run out. */
static const struct declared_map *find_declared(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_declared);
	for (size_t i = 0; i < n_declared; i++)
		if (!strcmp(declared[i].name, name))
			return &declared[i];
	return NULL;
}

/* --- Maps that are found ---------------------------------------------------------------------- */

/* The entries of these maps depend on the sizes of the cache and of the filter of names. xsks_map
 * may be DPDK's (hook_lend.c). */
static bool are_entries_right(const struct bpf_map_info *info, const struct declared_map *want)
{
	const uint32_t n = info->max_entries;

	if (!strcmp(info->name, "volley_index"))
		return n && n % VOLLEY_PAGE_BUCKETS == 0;
	if (!strcmp(info->name, "volley_store"))
		return n && n <= (1ull << 32) / VOLLEY_SEGMENT_UNITS;
	if (!strcmp(info->name, "volley_zones"))
		return n > 1;
	if (!strcmp(info->name, "volley_names"))
		return n > 0;
	return n == want->n || !strcmp(info->name, "xsks_map");
}

/* Notes the first map that differs from the declaration in our own object. */
static void check_found_map(struct found *found, const struct bpf_map_info *info)
{
	const struct declared_map *want = find_declared(info->name);

	if (want && info->type == want->type && info->key_size == want->key_bytes &&
	    info->value_size == want->value_bytes && info->map_flags == want->flags &&
	    are_entries_right(info, want))
		return;
	if (*found->misfit)
		return;
	snprintf(found->misfit, sizeof(found->misfit),
		 "%s is of type %u with %u entries of %u and %u octets, flags %u", info->name,
		 info->type, info->max_entries, info->key_size, info->value_size, info->map_flags);
}

/* Keeps fd if its map is one of ours. Notes the state map of another ABI. */
static void take_map(struct found *found, int fd)
{
	const struct named_map known[] = {
		{ VOLLEY_STATE_MAP, &found->maps.state },
		{ "volley_index", &found->maps.index },
		{ "volley_store", &found->maps.store },
		{ "volley_zones", &found->maps.zones },
		{ "volley_clients", &found->maps.clients },
		{ "volley_refresh", &found->maps.refresh },
		{ "volley_blocks", &found->maps.blocks },
		{ "volley_blocked", &found->maps.blocked },
		{ "volley_taps", &found->maps.taps },
		{ "volley_link", &found->maps.link },
		{ "volley_cpu", &found->maps.cpu },
		{ "xsks_map", &found->maps.xsks },
		{ "volley_queues", &found->maps.queues },
		{ "volley_shares", &found->maps.shares },
		{ "volley_near", &found->maps.near },
		{ "volley_cookies", &found->maps.cookies },
		{ "volley_rrl", &found->maps.rrl },
		{ "volley_loads", &found->maps.loads },
		{ "volley_names", &found->maps.names },
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
		check_found_map(found, &info);
		return;
	}
	if (!strncmp(info.name, VOLLEY_STATE_PREFIX, strlen(VOLLEY_STATE_PREFIX)) &&
	    found->maps.other < 0) {
		found->abi = (uint32_t)strtoul(info.name + strlen(VOLLEY_STATE_PREFIX), NULL, 10);
		found->maps.other = fd;
		return;
	}
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
	found->id = info.id;
	memcpy(found->tag, info.tag, sizeof(found->tag));
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
	       maps->queues >= 0 && maps->shares >= 0 && maps->near >= 0 && maps->rrl >= 0 &&
	       maps->loads >= 0 && maps->names >= 0 && maps->blocks >= 0 && maps->blocked >= 0 &&
	       maps->taps >= 0;
}

/* Keeps only the maps of another ABI whose first fields every ABI has. */
static void keep_other(struct found_maps *maps)
{
	const int other = maps->other, link = maps->link;

	maps->other = maps->link = -1;
	maps_close(maps);
	maps->other = other;
	maps->link = link;
}

/* Finds out if this program is Volley. Takes fd; keeps it only if the maps may be read. */
static int look_at(struct found *found, int fd)
{
	bool is_ours;
	int err;

	found->abi = 0;
	*found->misfit = 0;
	found->prog_fd = fd;
	err = take_maps(found);
	is_ours = !err && found->maps.state >= 0 && is_complete(&found->maps);
	if (is_ours && !*found->misfit) {
		found->kind = FOUND_VOLLEY;
		return 0;
	}
	found->kind = is_ours ? FOUND_MISFIT : found->abi ? FOUND_OTHER_ABI : FOUND_OTHER;
	if (!err && found->kind == FOUND_OTHER_ABI) {
		keep_other(&found->maps);
		return 0;
	}
	maps_close(&found->maps);
	close(found->prog_fd);
	found->prog_fd = -1;
	return err;
}

/* Opens the program that the dispatcher has pinned under this place. A descriptor or -errno. */
static int open_pinned(int ifindex, uint32_t dispatcher_id, int place)
{
	const char *folder = secure_getenv("LIBXDP_BPFFS");
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/xdp/dispatch-%d-%u/prog%d-prog", folder ? folder : BPFFS,
		 ifindex, dispatcher_id, place);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* A dispatcher has room for our program, so only a Volley program behind it matters. */
static int look_behind_found(struct found *found, int ifindex, uint32_t dispatcher_id)
{
	for (int i = 0; i < DISPATCHER_CAP; i++) {
		int fd = open_pinned(ifindex, dispatcher_id, i), err;

		if (err_is_exhausted(fd))
			return fd;
		if (fd < 0)
			break;
		err = look_at(found, fd);
		if (err)
			return err;
		if (found->kind != FOUND_OTHER)
			return 0;
	}
	found->kind = FOUND_NOTHING;
	return 0;
}

static int read_id(int ifindex, uint32_t *id, bool *is_generic)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, there);
	int err = bpf_xdp_query(ifindex, 0, &there);

	*id = there.prog_id ? there.prog_id : there.drv_prog_id;
	if (!*id)
		*id = there.skb_prog_id ? there.skb_prog_id : there.hw_prog_id;
	*is_generic = *id == there.skb_prog_id;
	return err;
}

/* *id: the program that the kernel runs on the interface, which may be a dispatcher; 0: none. */
static int look_once(struct found *found, int ifindex, uint32_t *id)
{
	int err, fd;

	*found = (struct found){ .kind = FOUND_NOTHING, .prog_fd = -1, .is_alone = true };
	maps_none(&found->maps);
	err = read_id(ifindex, id, &found->is_generic);
	if (err || !*id)
		return err;
	fd = bpf_prog_get_fd_by_id(*id);
	if (fd < 0)
		return -errno;
	err = look_at(found, fd);
	if (err || found->kind != FOUND_OTHER || strcmp(found->name, DISPATCHER) != 0)
		return err;
	found->is_alone = false;
	return look_behind_found(found, ifindex, *id);
}

/*
 * This asks the kernel, not libxdp: libxdp 1.3.1 leaks descriptors of the programs that it looks
 * at, and we look once a second. A dispatcher is replaced as a whole, with its pins. If that
 * happens during a look, we look again.
 */
int found_look(struct found *found, int ifindex)
{
	uint32_t id, id_now;
	bool is_generic;
	int err, tries = 0;

	do {
		err = look_once(found, ifindex, &id);
		if (!err && (found->is_alone || found->kind != FOUND_NOTHING))
			return 0;
	} while (!read_id(ifindex, &id_now, &is_generic) && id_now != id && ++tries < TRIES);
	return err;
}

uint32_t found_number(int ifindex)
{
	uint32_t id = 0;
	bool is_generic;

	return read_id(ifindex, &id, &is_generic) ? 0 : id;
}

void found_close(struct found *found)
{
	maps_close(&found->maps);
	if (found->prog_fd >= 0)
		close(found->prog_fd);
	found->prog_fd = -1;
}

/* --- What every ABI has in its place ---------------------------------------------------------- */

/* Maps the first `bytes` octets of a map, if it can be mapped. For map_memory_close(). */
static void *map_head(int fd, size_t bytes)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_ARRAY ||
	    !(info.map_flags & BPF_F_MMAPABLE) || info.value_size < bytes)
		return NULL;
	return map_memory_open(fd, bytes);
}

bool found_is_by_daemon(const struct found *found)
{
	const size_t bytes = offsetof(struct volley_link, by_daemon) + 1;
	uint8_t *link = map_head(found->maps.link, bytes);
	bool is = link && link[bytes - 1];

	map_memory_close(link, bytes);
	return is;
}

#define UNTIL_AT (offsetof(struct volley_state, serve_until_s))

uint32_t *found_map_until(int fd)
{
	uint8_t *state = map_head(fd, UNTIL_AT + sizeof(uint32_t));

	return state ? (uint32_t *)(void *)(state + UNTIL_AT) : NULL;
}

static int fd_with_until(const struct found *found)
{
	return found->kind == FOUND_OTHER_ABI ? found->maps.other : found->maps.state;
}

uint32_t *found_serve_until(const struct found *found)
{
	return found_map_until(fd_with_until(found));
}

int found_until_fd(const struct found *found)
{
	return fcntl(fd_with_until(found), F_DUPFD_CLOEXEC, 0);
}

void found_unmap(uint32_t *serve_until_s)
{
	if (serve_until_s)
		map_memory_close((uint8_t *)serve_until_s - UNTIL_AT, UNTIL_AT + sizeof(uint32_t));
}

/* --- Sizes ------------------------------------------------------------------------------------ */

uint32_t found_entries(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.max_entries;
}

int found_sizes(const struct found_maps *maps, struct cache_sizes *sizes)
{
	*sizes = (struct cache_sizes){
		.n_buckets = found_entries(maps->index),
		.n_segments = found_entries(maps->store),
		.n_zones = found_entries(maps->zones),
		.n_names_lines = found_entries(maps->names),
	};
	if (!sizes->n_buckets || !sizes->n_segments || !sizes->n_zones)
		return -errno;
	cache_sizes_measure(sizes);
	sizes->bytes = sizes->total_bytes;
	return 0;
}
