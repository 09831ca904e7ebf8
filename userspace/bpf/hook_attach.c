/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a program and attaches it to an interface that has none of ours. If a step is refused, the
 * next one that the configuration allows is tried:
 *
 *      native, by libxdp's dispatcher       beside other programs
 *        └─► native, plain                  alone on the interface: an older libxdp, or a kernel
 *              │                            without BTF or bpffs, refuses the dispatcher
 *              ├─► native, both, for frames in several buffers: the MTU is too large for one
 *              └─► generic, by the dispatcher
 *                    └─► generic, plain
 *                          └─► none: the kernel's sockets answer
 *
 * A program that is already there is never displaced: behind a dispatcher, only the dispatcher adds
 * ours; a plain attachment is refused by the kernel if another program is there. If the verifier
 * refuses the plain program, no further step is tried.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/log.h"
#include "bpf/tiny_programs.h"
#include "bpf/hook.h"
#include "bpf/hook_state.h"
#include "bpf/refusal.h"
#include "volley.skel.h"

struct step {
	enum program_mode mode;
	bool is_plain;
	bool has_frags;
	const char *text;
};

static const struct step steps[] = {
	{ PROGRAM_NATIVE, false, false, "native, by libxdp's dispatcher" },
	{ PROGRAM_NATIVE, true, false, "native" },
	{ PROGRAM_NATIVE, false, true, "native for several buffers, by libxdp's dispatcher" },
	{ PROGRAM_NATIVE, true, true, "native for several buffers" },
	{ PROGRAM_GENERIC, false, false, "generic, by libxdp's dispatcher" },
	{ PROGRAM_GENERIC, true, false, "generic" },
};

#define N_STEPS (sizeof(steps) / sizeof(steps[0]))

/* A refused object cannot be loaded again, and the dispatcher needs another program type. */
static void drop_object(struct hook *p)
{
	if (p->xdp)
		xdp_program__close(p->xdp);
	volley_bpf__destroy(p->skel);
	p->xdp = NULL;
	p->skel = NULL;
}

static int attach_by_dispatcher(struct hook *p)
{
	int err;

	p->xdp = xdp_program__from_bpf_obj(p->skel->obj, "xdp");
	err = (int)libxdp_get_error(p->xdp);
	if (err) {
		p->xdp = NULL;
		return err;
	}
	return xdp_program__attach(p->xdp, p->ifindex, hook_libxdp_mode(p), 0);
}

static int attach_plain(struct hook *p)
{
	int err = volley_bpf__load(p->skel);

	if (err)
		return err;
	err = bpf_xdp_attach(p->ifindex, bpf_program__fd(p->skel->progs.volley),
			     hook_xdp_flags(p) | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
	if (!err)
		p->prog_fd = dup(bpf_program__fd(p->skel->progs.volley));
	return err;
}

static int take_step(struct hook *p, const struct object_shared *maps, const struct step *step)
{
	int err = 0;

	refusal_forget();
	p->mode = step->mode;
	p->has_frags = step->has_frags;
	p->skel = object_open(maps, &maps->sizes);
	if (!p->skel)
		return errno ? -errno : -EINVAL;
	if (step->has_frags)
		err = frags_want(p->skel->progs.volley);
	if (err)
		return err;
	err = step->is_plain ? attach_plain(p) : attach_by_dispatcher(p);
	if (!err)
		hook_identify(p, hook_fd(p));
	return err;
}

static bool is_loaded(const struct hook *p)
{
	return p->skel && bpf_program__fd(p->skel->progs.volley) >= 0;
}

/* True if libxdp could use no dispatcher and attached plainly: the plain step would fail, too. */
static bool was_plain(const struct hook *p, const struct step *step)
{
	return !step->is_plain && is_loaded(p) &&
	       bpf_program__type(p->skel->progs.volley) == BPF_PROG_TYPE_XDP;
}

/* True if another program is on the interface: it must not be displaced. */
static bool is_occupied(const struct hook *p, int err)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, there);

	return (err == -EBUSY || err == -EEXIST) && !bpf_xdp_query(p->ifindex, 0, &there) &&
	       (there.prog_id || there.drv_prog_id || there.skb_prog_id || there.hw_prog_id);
}

static bool is_step_wanted(const struct step *step, const struct program_want *want,
			   bool has_dispatcher)
{
	if (step->is_plain && has_dispatcher)
		return false;
	if (step->has_frags && !(want->takes_frags && frags_are_known()))
		return false;
	return step->mode == PROGRAM_NATIVE ? !want->generic_only : !want->native_only;
}

/* Each mode keeps the reason of its last step. */
static void note_hook_attach(struct hook *p, const struct step *step, int err)
{
	char *reason = step->mode == PROGRAM_NATIVE ? p->generic_reason : p->refusal;

	refusal_explain(err, p->refusal, sizeof(p->refusal));
	if (reason != p->refusal)
		snprintf(reason, sizeof(p->generic_reason), "%s", p->refusal);
	log_info("%s: XDP program, %s: %s", p->ifname, step->text, p->refusal);
}

int hook_attach_steps(struct hook *p, const struct object_shared *maps,
		      const struct program_want *want, bool has_dispatcher)
{
	int err = -EOPNOTSUPP;

	for (size_t i = 0; i < N_STEPS; i++) {
		const struct step *step = &steps[i];
		bool is_last;

		if (!is_step_wanted(step, want, has_dispatcher))
			continue;
		err = take_step(p, maps, step);
		if (!err)
			return 0;
		note_hook_attach(p, step, err);
		is_last = is_occupied(p, err) ||
			  (step->is_plain && !step->has_frags && !is_loaded(p));
		if (was_plain(p, step))
			i++;
		drop_object(p);
		if (is_last)
			break;
	}
	return err;
}
