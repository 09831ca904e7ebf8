/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* found_look(): a program whose maps differ from this ABI is never taken for one that can be
 * adopted. */
#include "bpf/found.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/hook.h"
#include "cache/cache.h"
#include "tests/lib/must.h"
#include "xdp/abi.h"
#include "xdp/key.h"

#define N_MAPS 19

struct map {
	const char *name;
	uint32_t type, key_bytes, value_bytes, n, flags;
};

#define ARRAY(name, bytes, n)                                         \
	{                                                             \
		name, BPF_MAP_TYPE_ARRAY, 4, bytes, n, BPF_F_MMAPABLE \
	}

static const struct map sound[N_MAPS] = {
	ARRAY(VOLLEY_STATE_MAP, sizeof(struct volley_state), 1),
	ARRAY("volley_index", VOLLEY_BUCKET_SLOTS * 8, VOLLEY_PAGE_BUCKETS),
	ARRAY("volley_store", VOLLEY_SEGMENT_BYTES, 2),
	ARRAY("volley_zones", sizeof(struct volley_zone), 16),
	{ "volley_clients", BPF_MAP_TYPE_LPM_TRIE, sizeof(struct volley_client), 4,
	  VOLLEY_CLIENTS_MAX, BPF_F_NO_PREALLOC },
	{ "volley_refresh", BPF_MAP_TYPE_RINGBUF, 0, 0, VOLLEY_REFRESH_BYTES, 0 },
	ARRAY("volley_link", sizeof(struct volley_link), 1),
	{ "volley_cpu", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_cpu), VOLLEY_ROOMS, 0 },
	{ "xsks_map", BPF_MAP_TYPE_XSKMAP, 4, 4, VOLLEY_QUEUES, 0 },
	ARRAY("volley_queues", sizeof(struct volley_queue), VOLLEY_QUEUES),
	{ "volley_shares", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_shares), 1, 0 },
	{ "volley_near", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_near), 1, 0 },
	ARRAY("volley_rrl", sizeof(struct volley_rrl), 1),
	ARRAY("volley_loads", sizeof(struct volley_rrl_line), VOLLEY_RRL_LINES),
	{ "volley_blocks", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 1, 0 },
	{ "volley_blocked", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_blocked), 1, 0 },
	{ "volley_cookies", BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_cookies), 1, 0 },
	ARRAY("volley_names", sizeof(struct volley_names_line), 3),
	{ "volley_taps", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, VOLLEY_TAP_RINGS, 0 },
};

/* One difference: which map differs (its place above), and how. */
struct row {
	const char *name;
	int map;
	struct map is;
};

static const struct row rows[] = {
	{ "state of twice the size", 0, ARRAY(NULL, 2 * sizeof(struct volley_state), 1) },
	{ "state of a small size", 0, ARRAY(NULL, 64, 1) },
	{ "two states", 0, ARRAY(NULL, sizeof(struct volley_state), 2) },
	{ "state that cannot be mapped",
	  0,
	  { NULL, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_state), 1, 0 } },
	{ "state that programs may not write",
	  0,
	  { NULL, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_state), 1,
	    BPF_F_MMAPABLE | BPF_F_RDONLY_PROG } },
	{ "state as a hash", 0, { NULL, BPF_MAP_TYPE_HASH, 4, sizeof(struct volley_state), 1, 0 } },
	{ "index of other buckets", 1, ARRAY(NULL, 128, VOLLEY_PAGE_BUCKETS) },
	{ "index that ends within a page", 1, ARRAY(NULL, 64, VOLLEY_PAGE_BUCKETS + 1) },
	{ "store of small segments", 2, ARRAY(NULL, VOLLEY_SEGMENT_BYTES / 2, 2) },
	{ "store of large segments", 2, ARRAY(NULL, VOLLEY_SEGMENT_BYTES * 2, 2) },
	{ "zones of another size", 3, ARRAY(NULL, 128, 16) },
	{ "zones without a slot to give", 3, ARRAY(NULL, 64, 1) },
	{ "clients with other keys",
	  4,
	  { NULL, BPF_MAP_TYPE_LPM_TRIE, 8, 4, VOLLEY_CLIENTS_MAX, BPF_F_NO_PREALLOC } },
	{ "clients with large values",
	  4,
	  { NULL, BPF_MAP_TYPE_LPM_TRIE, 20, 64, VOLLEY_CLIENTS_MAX, BPF_F_NO_PREALLOC } },
	{ "few clients", 4, { NULL, BPF_MAP_TYPE_LPM_TRIE, 20, 4, 16, BPF_F_NO_PREALLOC } },
	{ "a larger ring", 5, { NULL, BPF_MAP_TYPE_RINGBUF, 0, 0, 2 * VOLLEY_REFRESH_BYTES, 0 } },
	{ "link of a large size", 6, ARRAY(NULL, 4096, 1) },
	{ "two links", 6, ARRAY(NULL, 16, 2) },
	{ "link for each CPU", 6, { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 16, 1, 0 } },
	{ "counters of a large size",
	  7,
	  { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 32768, VOLLEY_ROOMS, 0 } },
	{ "counters of a small size",
	  7,
	  { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 16, VOLLEY_ROOMS, 0 } },
	{ "one room", 7, { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_cpu), 1, 0 } },
	{ "counters of all CPUs together", 7,
	  ARRAY(NULL, sizeof(struct volley_cpu), VOLLEY_ROOMS) },
	{ "sockets that are numbers", 8, { NULL, BPF_MAP_TYPE_ARRAY, 4, 4, VOLLEY_QUEUES, 0 } },
	{ "queues of a small size", 9, ARRAY(NULL, 16, VOLLEY_QUEUES) },
	{ "few queues", 9, ARRAY(NULL, 128, 2) },
	{ "shares of another size", 10, { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 64, 1, 0 } },
	{ "many shares",
	  10,
	  { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct volley_shares), 2, 0 } },
	{ "a small first stage", 11, { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 64, 1, 0 } },
	{ "limits of a small size", 12, ARRAY(NULL, 64, 1) },
	{ "few loads", 13, ARRAY(NULL, sizeof(struct volley_rrl_line), 2) },
	{ "loads of another size", 13, ARRAY(NULL, 8, VOLLEY_RRL_LINES) },
	{ "two tables of blocks", 14, { NULL, BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 2, 0 } },
	{ "a table of blocks that is none", 14, ARRAY(NULL, 4, 1) },
	{ "few cookies", 16, { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 48, 1, 0 } },
	{ "few lists", 15, { NULL, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, 0 } },
	{ "names in long lines", 17, ARRAY(NULL, 128, 3) },
	{ "names that cannot be mapped",
	  17,
	  { NULL, BPF_MAP_TYPE_ARRAY, 4, sizeof(struct volley_names_line), 3, 0 } },
};

static int make_map(const char *name, const struct map *map)
{
	const bool has_inner = map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS;
	int inner = has_inner ? bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 4, 1, NULL) : -1;
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = map->flags);
	int fd;

	if (has_inner)
		opts.inner_map_fd = (uint32_t)inner;
	fd = bpf_map_create((enum bpf_map_type)map->type, name, map->key_bytes, map->value_bytes,
			    map->n, &opts);
	if (has_inner)
		close(inner);
	assert_true(fd >= 0);
	return fd;
}

/* A program that passes all packets and uses these maps. */
static int load(const int fds[N_MAPS])
{
	struct bpf_insn insns[2 * N_MAPS + 2] = { 0 };
	struct bpf_insn *at = insns;
	int fd;

	for (int i = 0; i < N_MAPS; i++, at += 2)
		at[0] = (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM,
					   .dst_reg = BPF_REG_1,
					   .src_reg = BPF_PSEUDO_MAP_FD,
					   .imm = fds[i] };
	at[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS };
	at[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "volley", "GPL", insns, 2 * N_MAPS + 2, NULL);
	assert_true(fd >= 0);
	return fd;
}

/* Attaches such a program to lo. ROW NULL: all maps are right. */
static void attach(const struct row *row)
{
	int fds[N_MAPS], fd;

	for (int i = 0; i < N_MAPS; i++)
		fds[i] = make_map(sound[i].name, row && row->map == i ? &row->is : &sound[i]);
	fd = load(fds);
	assert_int_equal(bpf_xdp_attach(1, fd, XDP_FLAGS_SKB_MODE, NULL), 0);
	close(fd);
	for (int i = 0; i < N_MAPS; i++)
		close(fds[i]);
}

#define FDS_CAP 256

static int n_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < FDS_CAP; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_sound(void **state)
{
	struct cache_sizes sizes;
	struct found found;
	int n;

	(void)state;
	attach(NULL);
	n = n_fds();
	assert_int_equal(found_look(&found, 1), 0);
	assert_int_equal(found.kind, FOUND_VOLLEY);
	assert_int_equal(found_sizes(&found.maps, &sizes), 0);
	assert_int_equal(sizes.n_buckets, VOLLEY_PAGE_BUCKETS);
	assert_int_equal(sizes.n_segments, 2);
	assert_int_equal(sizes.n_zones, 16);
	assert_int_equal(sizes.n_names_lines, 3);
	found_close(&found);
	assert_int_equal(n_fds(), n); /* found_look() has closed each map */
	assert_int_equal(hook_find("lo"), 1);
}

static void check_row(const struct row *row)
{
	const struct program_want want = { .ifname = "lo", .generic_only = true };
	struct object_shared maps = { 0 };
	struct hook *hook;
	struct found found;
	char err[512];

	attach(row);
	assert_int_equal(found_look(&found, 1), 0);
	if (found.kind != FOUND_MISFIT)
		fail_msg("%s: kind %d", row->name, found.kind);
	if (!strstr(found.misfit, sound[row->map].name))
		fail_msg("%s: %s", row->name, found.misfit);
	found_close(&found);
	assert_int_equal(hook_find("lo"), 0);
	assert_false(hook_clean_up("lo", 0));
	assert_false(hook_is_welcome("lo"));
	assert_int_equal(hook_open(&hook, &maps, &want, err, sizeof(err)), -EPROTO);
	if (!strstr(err, found.misfit))
		fail_msg("%s: %s", row->name, err);
}

static void test_misfits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

/* The broker that had our program ready has died. The next one finds the old program alone: it says
 * so, and the old program does not stay with a cache that nobody writes. */
static void test_no_program_for_the_place(void **state)
{
	struct hook *hook = NULL;
	struct found found;

	(void)state;
	attach(NULL);
	assert_int_equal(found_look(&found, 1), 0);
	found_close(&found);
	assert_int_equal(hook_recover(&hook, "lo", found.id), 0);
	assert_int_equal(hook_take_place(hook), -ENOENT);
	hook_close(hook, true);
	assert_false(hook_is_there("lo"));
}

/* A network namespace of this process, in which lo has no other program. */
static int set_up(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	MUST(!unshare(CLONE_NEWNET));
	return 0;
}

static int need_root(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sound, need_root),
		cmocka_unit_test_setup(test_misfits, need_root),
		cmocka_unit_test_setup(test_no_program_for_the_place, need_root),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
