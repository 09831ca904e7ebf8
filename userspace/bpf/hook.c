/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/hook.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/err.h"
#include "base/log.h"
#include "bpf/found.h"
#include "bpf/lock.h"
#include "base/page.h"
#include "bpf/hook_state.h"
#include "volley.skel.h"

static uint32_t n_resizes(const struct found *found)
{
	struct volley_state state = { 0 };
	uint32_t zero = 0;

	return bpf_map_lookup_elem(found->maps.state, &zero, &state) ? 0 : state.n_resizes;
}

uint32_t hook_find(const char *ifname)
{
	unsigned int ifindex = if_nametoindex(ifname);
	struct found found;
	uint32_t n = 0;

	if (!ifindex || found_look(&found, (int)ifindex))
		return 0;
	if (found.kind == FOUND_VOLLEY)
		n = 1 + n_resizes(&found);
	found_close(&found);
	return n;
}

bool hook_is_welcome(const char *ifname)
{
	unsigned int ifindex = if_nametoindex(ifname);
	struct found found;
	bool is_welcome;

	if (!ifindex || found_look(&found, (int)ifindex))
		return false;
	is_welcome = found.kind == FOUND_NOTHING || found.kind == FOUND_VOLLEY ||
		     (found.kind == FOUND_OTHER_ABI && found_is_by_daemon(&found));
	found_close(&found);
	return is_welcome;
}

bool hook_is_there(const char *ifname)
{
	unsigned int ifindex = if_nametoindex(ifname);
	struct found found;

	if (!ifindex || found_look(&found, (int)ifindex))
		return false;
	found_close(&found);
	return found.kind == FOUND_VOLLEY || found.kind == FOUND_OTHER_ABI;
}

bool hook_is_attached(const struct hook *p)
{
	struct found found;
	bool is_there;
	int err;

	/* All but a program behind a dispatcher: to open one by its number needs CAP_SYS_ADMIN. */
	if (p->id && found_number(p->ifindex) == p->id)
		return true;
	err = found_look(&found, p->ifindex);
	if (err)
		return err_is_exhausted(err);
	is_there = (found.kind == FOUND_VOLLEY || found.kind == FOUND_OTHER_ABI) &&
		   found.id == p->id;
	found_close(&found);
	return is_there;
}

int hook_fd(const struct hook *p)
{
	return p->xdp ? xdp_program__fd(p->xdp) : p->prog_fd;
}

void hook_identify(struct hook *p, int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	(void)bpf_obj_get_info_by_fd(fd, &info, &len);
	p->id = info.id;
	memcpy(p->tag, info.tag, sizeof(p->tag));
}

enum xdp_attach_mode hook_libxdp_mode(const struct hook *p)
{
	return p->mode == PROGRAM_NATIVE ? XDP_MODE_NATIVE : XDP_MODE_SKB;
}

/* libxdp has no handle for an adopted program yet. */
int hook_leave_dispatcher(const struct hook *p)
{
	struct xdp_program *xdp = p->xdp ? p->xdp : xdp_program__from_fd(p->prog_fd);
	int err = (int)libxdp_get_error(xdp);

	if (err)
		return err;
	err = xdp_program__detach(xdp, p->ifindex, hook_libxdp_mode(p), 0);
	if (xdp != p->xdp)
		xdp_program__close(xdp);
	return err;
}

/* libxdp 1.3.1 leaks a descriptor when it detaches a program without a dispatcher; see found.c. */
int hook_detach_once(struct hook *p)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = hook_fd(p));

	if (!hook_is_alone(p))
		return hook_leave_dispatcher(p);
	return bpf_xdp_detach(p->ifindex, hook_xdp_flags(p) | XDP_FLAGS_REPLACE, &opts);
}

static void close_hook_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int hook_take_maps(struct hook *p, struct object_shared *maps, const struct found_maps *found,
		   const struct cache_sizes *sizes)
{
	if (!maps->is_open) {
		int err = object_shared_take(maps, found, sizes);

		if (err)
			return err;
	}
	p->cpu_fd = dup(found->cpu);
	p->xsks_fd = dup(found->xsks);
	p->link_fd = dup(found->link);
	p->queues_fd = dup(found->queues);
	p->shares_fd = dup(found->shares);
	p->near_fd = dup(found->near);
	p->cookies_fd = dup(found->cookies);
	if (p->cpu_fd < 0 || p->xsks_fd < 0 || p->link_fd < 0 || p->queues_fd < 0 ||
	    p->shares_fd < 0 || p->near_fd < 0 || p->cookies_fd < 0)
		return -errno;
	p->link = map_memory_open(p->link_fd, sizeof(*p->link));
	return p->link ? 0 : -ENOMEM;
}

void hook_drop_maps(struct hook *p)
{
	int *fds[] = { &p->cpu_fd,    &p->xsks_fd, &p->link_fd,   &p->queues_fd,
		       &p->shares_fd, &p->near_fd, &p->cookies_fd };

	map_memory_close(p->link, sizeof(*p->link));
	p->link = NULL;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		close_hook_fd(*fds[i]);
		*fds[i] = -1;
	}
}

/* The interface may have moved to another network namespace, with the program still running there:
 * then it is not attached here, and is told to stop answering. */
static void leave_program(struct hook *p)
{
	int err = 0;

	if (!hook_is_attached(p))
		hook_set_answers(p, false);
	else if (p->link->by_daemon)
		err = hook_detach(p);
	if (err)
		log_warn("%s: cannot detach the XDP program: %s", p->ifname, err_text(err));
}

void hook_close(struct hook *p, bool keep)
{
	if (!p)
		return;
	if (p->id && p->link && !keep)
		leave_program(p);
	hook_unprepare(p);
	close_hook_fd(p->old_fd);
	if (p->xdp)
		xdp_program__close(p->xdp);
	hook_drop_maps(p);
	close_hook_fd(p->prog_fd);
	if (p->lock_fd >= 0)
		lock_close(p->lock_fd, p->lock_path);
	volley_bpf__destroy(p->skel);
	free(p);
}

void hook_set_answers(struct hook *p, bool driver_answers)
{
	__atomic_store_n(&p->link->driver_answers, driver_answers, __ATOMIC_RELEASE);
}

bool hook_is_our_build(const struct hook *p)
{
	uint8_t ours[OBJECT_TAG_BYTES];

	return object_tag(ours) || !memcmp(ours, p->tag, sizeof(ours));
}

uint32_t hook_xdp_flags(const struct hook *p)
{
	return p->mode == PROGRAM_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
}
