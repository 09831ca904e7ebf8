/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces a program that an earlier volleyd attached.
 *
 *      another build, the same maps     at once, by one exchange: the maps and all answers stay
 *      another ABI, or other maps       ours waits beside the old one, until the misses of its
 *                                       empty cache are answered: program_take_place()
 *
 *      old program   hits ────────────────────────────────┐ misses: kernel sockets
 *      new program   loaded, maps, AF_XDP sockets ... ────┴─► hits and misses
 *
 * Meanwhile the heartbeat keeps the old program alive (program_old_deadline()). The two fields of
 * it that we touch have the same place in every ABI (xdp/abi.h, docs/decisions/0032).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/program.h"
#include "bpf/program_state.h"
#include "volley.skel.h"

/* Makes the interface's own maps, and the maps of the cache if there are none yet. */
static int make_maps(struct program *p, struct object_maps *maps, const struct cache_sizes *sizes)
{
	struct volley_bpf *skel;
	struct found_maps fds;
	int err = maps->is_open ? 0 : object_maps_make(maps, sizes);

	if (err)
		return err;
	skel = object_load_maps(maps);
	if (!skel)
		return errno ? -errno : -EINVAL;
	fds = object_fds(skel);
	err = program_take_maps(p, maps, &fds, sizes);
	volley_bpf__destroy(skel);
	return err;
}

int program_succeed(struct program *p, struct object_maps *maps, const struct cache_sizes *sizes,
		    const struct found *old)
{
	const bool had_maps = maps->is_open;
	int err = make_maps(p, maps, sizes);

	if (err)
		goto out;
	p->link->by_daemon = 1;
	p->id = old->id;
	p->old_abi = old->kind == FOUND_OTHER_ABI ? old->abi : VOLLEY_ABI;
	p->next_state_id = program_map_id(maps->state_fd);
	p->next = program_open_next(p, maps);
	err = p->next ? program_load_next(p, old->is_alone) : errno ? -errno : -EINVAL;
	if (err)
		goto out;
	p->is_waiting = true;
	p->origin = PROGRAM_REPLACED;
	p->old_until_s = found_serve_until(old);
	return 0;
out:
	program_unprepare(p);
	program_drop_maps(p);
	if (!had_maps)
		object_maps_close(maps);
	return err;
}

uint32_t *program_old_deadline(const struct program *p)
{
	return p->old_until_s;
}

int program_take_place(struct program *p)
{
	int err;

	if (!p->is_waiting)
		return 0;
	found_unmap(p->old_until_s);
	p->old_until_s = NULL;
	p->is_waiting = false;
	err = program_put_next(p);
	if (!err) {
		log_notice("%s: XDP program %u has replaced one of ABI %u", p->ifname, p->id,
			   p->old_abi);
		return 0;
	}
	/*
	 * Without a program the kernel's sockets answer everything, and the next look finds none.
	 */
	program_unprepare(p);
	(void)program_detach(p);
	return err;
}

/* --- Another build ---------------------------------------------------------------------------- */

/* Replaces a program of the same ABI and keeps all its maps. */
static int exchange_program_succeed(struct program *p, const struct object_maps *maps,
				    bool is_alone)
{
	int err;

	p->next_state_id = program_map_id(maps->state_fd);
	p->next = program_open_next(p, maps);
	err = p->next ? program_load_next(p, is_alone) : errno ? -errno : -EINVAL;
	if (!err)
		err = program_put_next(p);
	if (err)
		program_unprepare(p);
	return err;
}

void program_update(struct program *p, const struct object_maps *maps, const struct found *found)
{
	char was[PROGRAM_TAG_CAP], reason[REFUSAL_CAP];
	uint8_t ours[OBJECT_TAG_BYTES];
	int err;

	if (!found_is_by_daemon(found) || object_tag(ours) ||
	    !memcmp(ours, found->tag, sizeof(ours)))
		return;
	program_tag_text(p, was);
	refusal_forget();
	err = exchange_program_succeed(p, maps, found->is_alone);
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
