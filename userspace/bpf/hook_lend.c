/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lends an interface to DPDK. net_af_xdp attaches its program only if the interface has none, and
 * enters its sockets into that program's xsks_map. So our program is detached first. Then ours,
 * with that xsks_map and our other maps, replaces DPDK's by one exchange.
 *
 * In between, for some milliseconds, the kernel's sockets answer.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "bpf/hook.h"
#include "bpf/hook_state.h"
#include "volley.skel.h"

#define MAPS_CAP 32

int hook_lend(struct hook *p)
{
	return hook_detach(p);
}

/* A descriptor of a program's xsks_map, -ENOENT, or another -errno. */
static int open_xsks(int prog_fd)
{
	uint32_t ids[MAPS_CAP] = { 0 };
	struct bpf_prog_info info = { .nr_map_ids = MAPS_CAP, .map_ids = (uintptr_t)ids };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len))
		return -errno;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_CAP; i++) {
		struct bpf_map_info map = { 0 };
		uint32_t map_len = sizeof(map);
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &map_len) &&
		    map.type == BPF_MAP_TYPE_XSKMAP && !strcmp(map.name, "xsks_map"))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/* The program that is on the interface now: its descriptor, and its mode in p->mode. */
static int open_borrower(struct hook *p)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, there);
	int err = bpf_xdp_query(p->ifindex, 0, &there), fd;

	if (err)
		return err;
	p->mode = there.drv_prog_id ? PROGRAM_NATIVE : PROGRAM_GENERIC;
	if (!there.drv_prog_id && !there.skb_prog_id)
		return -ENOENT;
	fd = bpf_prog_get_fd_by_id(there.drv_prog_id ? there.drv_prog_id : there.skb_prog_id);
	return fd < 0 ? -errno : fd;
}

static int exchange_hook_lend(struct hook *p, int borrower_fd)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = borrower_fd);

	return bpf_xdp_attach(p->ifindex, bpf_program__fd(p->next->progs.volley),
			      hook_xdp_flags(p) | XDP_FLAGS_REPLACE, &opts);
}

/* Opens p->next, which reads the same cache and uses the sockets of `xsks_fd`. The program owns
 * xsks_fd from now on. */
static int open_with(struct hook *p, const struct object_shared *maps, int xsks_fd)
{
	hook_unprepare(p);
	close(p->xsks_fd);
	p->xsks_fd = xsks_fd;
	p->next_state_id = p->state_id;
	p->next = hook_open_next(p, maps);
	return p->next ? 0 : errno ? -errno : -EINVAL;
}

/* Replaces the borrower by our program, with the sockets of `xsks_fd`. */
static int replace_hook_lend(struct hook *p, const struct object_shared *maps, int borrower_fd,
			     int xsks_fd)
{
	int err = open_with(p, maps, xsks_fd);

	if (err)
		return err;
	err = volley_bpf__load(p->next);
	if (!err)
		err = exchange_hook_lend(p, borrower_fd);
	if (!err)
		hook_settle(p);
	else
		hook_unprepare(p);
	return err;
}

int hook_use_sockets(struct hook *p, const struct object_shared *maps, int xsks_fd)
{
	int fd = dup(xsks_fd), err;

	if (fd < 0)
		return -errno;
	err = open_with(p, maps, fd);
	if (!err)
		err = hook_load_next(p, hook_is_alone(p));
	if (!err)
		err = hook_put_next(p);
	if (err)
		hook_unprepare(p);
	return err;
}

static bool is_extension(int prog_fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return !bpf_obj_get_info_by_fd(prog_fd, &info, &len) && info.type == BPF_PROG_TYPE_EXT;
}

static int attach_fd(const struct hook *p, int fd)
{
	return bpf_xdp_attach(p->ifindex, fd, hook_xdp_flags(p) | XDP_FLAGS_UPDATE_IF_NOEXIST,
			      NULL);
}

/* Attaches the program again as it was. If it was behind a dispatcher, it is loaded anew for the
 * interface itself. */
static int attach_again(struct hook *p, const struct object_shared *maps)
{
	int err;

	if (!is_extension(hook_fd(p)))
		return attach_fd(p, hook_fd(p));
	err = open_with(p, maps, dup(p->xsks_fd));
	if (!err)
		err = volley_bpf__load(p->next);
	if (!err)
		err = attach_fd(p, bpf_program__fd(p->next->progs.volley));
	if (!err)
		hook_settle(p);
	else
		hook_unprepare(p);
	return err;
}

int hook_take_back(struct hook *p, const struct object_shared *maps, bool is_borrowed)
{
	int borrower_fd, xsks_fd, err;

	p->link->by_daemon = 1; /* even if others loaded the one before: ours goes with us */
	if (!is_borrowed)
		return attach_again(p, maps);
	borrower_fd = open_borrower(p);
	if (borrower_fd < 0)
		return borrower_fd;
	xsks_fd = open_xsks(borrower_fd);
	err = xsks_fd < 0 ? xsks_fd : replace_hook_lend(p, maps, borrower_fd, xsks_fd);
	close(borrower_fd);
	return err;
}
