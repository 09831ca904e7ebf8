/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces a program that an earlier volleyd attached.
 *
 *      another build, the same maps     at once, by one exchange: the maps and all answers stay
 *      another ABI, or other maps       ours waits beside the old one, until the misses of its
 *                                       empty cache are answered: hook_take_place()
 *
 *      old program   hits ────────────────────────────────┐ misses: kernel sockets
 *      new program   loaded, maps, AF_XDP sockets ... ────┴─► hits and misses
 *
 * Meanwhile the daemon's heartbeat keeps the old program alive (program_old_deadline()). The two
 * fields of it that we touch have the same place in every ABI (xdp/abi.h, docs/decisions/0032).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/hook.h"
#include "bpf/hook_state.h"
#include "volley.skel.h"

/* Makes the interface's own maps, and the maps of the cache if there are none yet. */
static int make_maps(struct hook *p, struct object_shared *maps, const struct cache_sizes *sizes)
{
	struct volley_bpf *skel;
	struct found_maps fds;
	int err = maps->is_open ? 0 : object_shared_make(maps, sizes);

	if (err)
		return err;
	skel = object_load_maps(maps);
	if (!skel)
		return errno ? -errno : -EINVAL;
	fds = object_fds(skel);
	err = hook_take_maps(p, maps, &fds, sizes);
	volley_bpf__destroy(skel);
	return err;
}

int hook_succeed(struct hook *p, struct object_shared *maps, const struct cache_sizes *sizes,
		 const struct found *old)
{
	const bool had_maps = maps->is_open;
	int err = make_maps(p, maps, sizes);

	if (err)
		goto out;
	p->link->by_daemon = 1;
	p->id = old->id;
	p->old_abi = old->kind == FOUND_OTHER_ABI ? old->abi : VOLLEY_ABI;
	p->next_state_id = hook_map_id(maps->fds.state);
	p->next = hook_open_next(p, maps);
	err = p->next ? hook_load_next(p, old->is_alone) : errno ? -errno : -EINVAL;
	if (err)
		goto out;
	p->is_waiting = true;
	p->origin = PROGRAM_REPLACED;
	p->old_fd = found_until_fd(old);
	return 0;
out:
	hook_unprepare(p);
	hook_drop_maps(p);
	if (!had_maps)
		object_shared_close(maps);
	return err;
}

int hook_take_place(struct hook *p)
{
	int err = p->is_waiting ? 0 : -ENOENT;

	if (p->old_fd >= 0)
		close(p->old_fd);
	p->old_fd = -1;
	p->is_waiting = false;
	if (!err)
		err = hook_put_next(p);
	if (!err) {
		log_notice("%s: XDP program %u has replaced one of ABI %u", p->ifname, p->id,
			   p->old_abi);
		return 0;
	}
	/*
	 * Without a program the kernel's sockets answer everything, and the next look finds none.
	 */
	hook_unprepare(p);
	(void)hook_detach(p);
	return err;
}

/* --- Another build ---------------------------------------------------------------------------- */

/* Replaces a program of the same ABI and keeps all its maps. */
static int exchange_hook_succeed(struct hook *p, const struct object_shared *maps, bool is_alone)
{
	int err;

	p->next_state_id = hook_map_id(maps->fds.state);
	p->next = hook_open_next(p, maps);
	err = p->next ? hook_load_next(p, is_alone) : errno ? -errno : -EINVAL;
	if (!err)
		err = hook_put_next(p);
	if (err)
		hook_unprepare(p);
	return err;
}

void hook_update(struct hook *p, const struct object_shared *maps, const struct found *found)
{
	char was[OBJECT_TAG_CAP], reason[REFUSAL_CAP];
	uint8_t ours[OBJECT_TAG_BYTES];
	int err;

	if (!found_is_by_daemon(found) || object_tag(ours) ||
	    !memcmp(ours, found->tag, sizeof(ours)))
		return;
	object_tag_text(p->tag, was);
	refusal_forget();
	err = exchange_hook_succeed(p, maps, found->is_alone);
	if (!err) {
		log_notice("%s: XDP program %u has replaced another build of it (tag %s)",
			   p->ifname, p->id, was);
		return;
	}
	refusal_explain(err, reason, sizeof(reason));
	log_warn("%s: cannot replace the XDP program of an earlier volleyd, which is another build "
		 "(tag %s): %s",
		 p->ifname, was, reason);
}
