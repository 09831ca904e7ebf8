/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a running program the maps of another cache: another program of the same object takes its
 * place.
 *
 *      alone on the interface          one exchange, by the kernel (XDP_FLAGS_REPLACE)
 *      behind libxdp's dispatcher      the new one is added, then the old one taken out: a packet
 *                                      meets both only if the first lets it pass
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "bpf/tiny_programs.h"
#include "bpf/hook.h"
#include "bpf/hook_state.h"
#include "volley.skel.h"

bool hook_is_alone(const struct hook *p)
{
	struct found found;
	bool is_it;

	if (found_look(&found, p->ifindex))
		return true;
	is_it = found.is_alone;
	found_close(&found);
	return is_it;
}

/* The MTU decides for an adopted program, because its load flags are not known. */
static bool wants_frags(const struct hook *p)
{
	return p->has_frags || (p->mode == PROGRAM_NATIVE && frags_are_due(p->ifname));
}

struct volley_bpf *hook_open_next(const struct hook *p, const struct object_shared *maps)
{
	struct volley_bpf *skel = object_open(maps, &maps->sizes);
	int err;

	if (!skel)
		return NULL;
	err = bpf_map__reuse_fd(skel->maps.volley_link, p->link_fd);
	err |= bpf_map__reuse_fd(skel->maps.volley_cpu, p->cpu_fd);
	err |= bpf_map__reuse_fd(skel->maps.xsks_map, p->xsks_fd);
	err |= bpf_map__reuse_fd(skel->maps.volley_queues, p->queues_fd);
	err |= bpf_map__reuse_fd(skel->maps.volley_shares, p->shares_fd);
	err |= bpf_map__reuse_fd(skel->maps.volley_near, p->near_fd);
	err |= bpf_map__reuse_fd(skel->maps.volley_cookies, p->cookies_fd);
	if (wants_frags(p))
		err |= frags_want(skel->progs.volley);
	if (!err)
		return skel;
	volley_bpf__destroy(skel);
	return NULL;
}

/* Behind the dispatcher, attaching loads the program, because only then its type is known. */
int hook_load_next(struct hook *p, bool is_alone)
{
	int err;

	if (is_alone)
		return volley_bpf__load(p->next);
	p->next_xdp = xdp_program__from_bpf_obj(p->next->obj, "xdp");
	err = (int)libxdp_get_error(p->next_xdp);
	if (err)
		p->next_xdp = NULL;
	return err;
}

int hook_prepare(struct hook *p, const struct object_shared *maps)
{
	int err;

	hook_unprepare(p);
	p->next_state_id = hook_map_id(maps->fds.state);
	if (p->next_state_id == p->state_id)
		return 0;
	p->next = hook_open_next(p, maps);
	if (!p->next)
		return errno ? -errno : -EINVAL;
	err = hook_load_next(p, hook_is_alone(p));
	if (err)
		hook_unprepare(p);
	return err;
}

int hook_renew(struct hook *p, const struct object_shared *maps)
{
	const uint32_t state_id = p->state_id;
	int err;

	p->state_id = 0; /* any number that differs from the cache's */
	err = hook_switch(p, maps);
	if (err)
		p->state_id = state_id;
	return err;
}

void hook_unprepare(struct hook *p)
{
	if (p->next_xdp)
		xdp_program__close(p->next_xdp);
	volley_bpf__destroy(p->next);
	p->next_xdp = NULL;
	p->next = NULL;
}

static int exchange_hook_switch(struct hook *p)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = hook_fd(p));

	return bpf_xdp_attach(p->ifindex, bpf_program__fd(p->next->progs.volley),
			      hook_xdp_flags(p) | XDP_FLAGS_REPLACE, &opts);
}

static int add_and_take_out(struct hook *p)
{
	int err = xdp_program__attach(p->next_xdp, p->ifindex, hook_libxdp_mode(p), 0);

	if (err)
		return err;
	err = hook_leave_dispatcher(p);
	if (err)
		(void)xdp_program__detach(p->next_xdp, p->ifindex, hook_libxdp_mode(p), 0);
	return err;
}

int hook_put_next(struct hook *p)
{
	int err = p->next_xdp ? add_and_take_out(p) : exchange_hook_switch(p);

	if (!err)
		hook_settle(p);
	return err;
}

void hook_settle(struct hook *p)
{
	if (p->xdp)
		xdp_program__close(p->xdp);
	if (p->prog_fd >= 0)
		close(p->prog_fd);
	volley_bpf__destroy(p->skel);
	p->skel = p->next;
	p->xdp = p->next_xdp;
	p->next = NULL;
	p->next_xdp = NULL;
	p->prog_fd = dup(p->xdp ? xdp_program__fd(p->xdp) : bpf_program__fd(p->skel->progs.volley));
	hook_identify(p, p->prog_fd);
	p->origin = PROGRAM_REPLACED;
	p->state_id = p->next_state_id;
}

int hook_switch(struct hook *p, const struct object_shared *maps)
{
	uint32_t state_id = hook_map_id(maps->fds.state);
	int err = 0;

	if (p->state_id == state_id)
		return 0;
	if (!p->next || p->next_state_id != state_id)
		err = hook_prepare(p, maps);
	return err ? err : hook_put_next(p);
}
