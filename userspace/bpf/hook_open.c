/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the program of an interface: the one that is there is adopted, replaced or refused; if
 * there is none, ours is loaded. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "bpf/found.h"
#include "bpf/lock.h"
#include "bpf/hook.h"
#include "bpf/hook_state.h"
#include "volley.skel.h"

#define LOCK_FOLDER "/run/volley"
#define MIB_BYTES   (1ull << 20)

/* --- Loading ---------------------------------------------------------------------------------- */

/* Opens the maps, and notes that a volleyd attached the program: volleyd detaches it at its end. */
static int claim_maps(struct hook *p, struct object_shared *maps, const struct cache_sizes *sizes)
{
	struct found_maps fds = object_fds(p->skel);
	int err = hook_take_maps(p, maps, &fds, sizes);

	if (!err)
		p->link->by_daemon = 1;
	return err;
}

/* Makes the maps before all attempts, so that no attempt makes them again. If all attempts fail,
 * new maps are closed. */
static int load_hook_open(struct hook *p, struct object_shared *maps,
			  const struct program_want *want, bool has_dispatcher)
{
	const bool had_maps = maps->is_open;
	int err = had_maps ? 0 : object_shared_make(maps, &want->sizes);

	if (err) {
		refusal_explain(err, p->refusal, sizeof(p->refusal));
		return err;
	}
	err = hook_attach_steps(p, maps, want, has_dispatcher);
	if (!err) {
		err = claim_maps(p, maps, &want->sizes);
		if (err)
			(void)hook_detach(p);
	}
	if (err && !had_maps)
		object_shared_close(maps);
	p->origin = PROGRAM_LOADED;
	return err;
}

/* Prepares ours to take the place of `old`. If that fails, the old program is detached at once,
 * because its cache would get out of date. Then ours is loaded as if there had been none. */
static int succeed_hook_open(struct hook *p, struct object_shared *maps,
			     const struct program_want *want, const struct found *old)
{
	int err;

	p->mode = old->is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
	p->prog_fd = dup(old->prog_fd);
	err = hook_succeed(p, maps, &want->sizes, old);
	if (!err)
		return 0;
	refusal_explain(err, p->refusal, sizeof(p->refusal));
	log_warn("%s: cannot replace the XDP program that is attached: %s", p->ifname, p->refusal);
	err = hook_detach(p);
	close(p->prog_fd);
	p->prog_fd = -1;
	return err ? err : load_hook_open(p, maps, want, !old->is_alone);
}

/* --- Finding ---------------------------------------------------------------------------------- */

uint32_t hook_map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

static int adopt_hook_open(struct hook *p, struct object_shared *maps, const struct found *found,
			   const struct cache_sizes *sizes)
{
	const bool had_maps = maps->is_open;
	int err;

	p->origin = PROGRAM_ADOPTED;
	p->mode = found->is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
	p->id = found->id;
	p->prog_fd = dup(found->prog_fd);
	memcpy(p->tag, found->tag, sizeof(p->tag));
	err = hook_take_maps(p, maps, &found->maps, sizes);
	if (!err)
		hook_update(p, maps, found);
	else if (!had_maps)
		object_shared_close(maps);
	return err;
}

static bool is_same_size(const struct cache_sizes *a, const struct cache_sizes *b)
{
	return a->n_buckets == b->n_buckets && a->n_segments == b->n_segments &&
	       a->n_zones >= b->n_zones;
}

/* Adopts the program that was found, unless we already use another cache or its cache has too few
 * slots for the zones. */
static int adopt_or_replace(struct hook *p, struct object_shared *maps,
			    const struct program_want *want, const struct found *found)
{
	struct cache_sizes sizes;

	int code = found_sizes(&found->maps, &sizes);

	if (code)
		return code;
	if (maps->is_open && hook_map_id(found->maps.state) != hook_map_id(maps->fds.state))
		return succeed_hook_open(p, maps, want, found);
	if (!maps->is_open && found_is_by_daemon(found) && sizes.n_zones < want->sizes.n_zones) {
		log_notice("%s: the old cache has too few slots for the zones: its answers are "
			   "dropped",
			   p->ifname);
		return succeed_hook_open(p, maps, want, found);
	}
	if (!maps->is_open && !found_is_by_daemon(found) && !is_same_size(&sizes, &want->sizes))
		log_warn("%s: cache.size is not used: the program that is attached was loaded with "
			 "a cache of %llu MiB, and keeps it until it is loaded anew",
			 p->ifname,
			 (unsigned long long)((sizes.bytes + MIB_BYTES / 2) / MIB_BYTES));
	return adopt_hook_open(p, maps, found, &sizes);
}

static int refuse_hook_open(const struct hook *p, const struct found *found, char *err,
			    size_t err_cap)
{
	if (found->kind == FOUND_OTHER_ABI) {
		snprintf(err, err_cap,
			 "%s: the Volley program there (id %u), which volleyd has not loaded, is "
			 "of ABI %u, this volleyd speaks ABI %u: detach it (ip link set dev %s "
			 "xdp off) or run the volleyd of its version",
			 p->ifname, found->id, found->abi, VOLLEY_ABI, p->ifname);
		return -EPROTO;
	}
	if (found->kind == FOUND_MISFIT) {
		snprintf(err, err_cap,
			 "%s: the maps of the Volley program there (id %u) are not those of ABI %u "
			 "(%s): detach it (ip link set dev %s xdp off) and start again",
			 p->ifname, found->id, VOLLEY_ABI, found->misfit, p->ifname);
		return -EPROTO;
	}
	snprintf(
		err, err_cap,
		"%s: another XDP program (%s, id %u) is attached and does not share the interface: "
		"detach it, or load it with xdp-loader so that programs can share the interface",
		p->ifname, found->name, found->id);
	return -EBUSY;
}

/* Says why native was refused and why generic was, if the reasons differ. */
static void say_hook_refused(const struct hook *p, int code, char *err, size_t err_cap)
{
	const char *reason = *p->refusal ? p->refusal : refusal_words(code);

	if (*p->generic_reason && strcmp(p->generic_reason, reason) != 0)
		snprintf(err, err_cap, "%s: XDP program: %s; generic: %s", p->ifname,
			 p->generic_reason, reason);
	else
		snprintf(err, err_cap, "%s: XDP program: %s", p->ifname, reason);
}

/* As another's program: the interface is free when it is gone. */
static int refuse_hook_unknown(const struct hook *p, char *err, size_t err_cap)
{
	snprintf(err, err_cap,
		 "%s: an XDP program is attached, which cannot be opened without CAP_SYS_ADMIN: "
		 "detach it (ip link set dev %s xdp off), or start with this capability to adopt "
		 "it",
		 p->ifname, p->ifname);
	return -EBUSY;
}

static int find_or_load(struct hook *p, struct object_shared *maps, const struct program_want *want,
			char *err, size_t err_cap)
{
	struct found found;
	int code = found_look(&found, p->ifindex);

	if (code == -EPERM) {
		code = refuse_hook_unknown(p, err, err_cap);
	} else if (!code) {
		switch (found.kind) {
		case FOUND_NOTHING:
			code = load_hook_open(p, maps, want, !found.is_alone);
			break;
		case FOUND_VOLLEY:
			code = adopt_or_replace(p, maps, want, &found);
			break;
		case FOUND_OTHER_ABI:
			code = found_is_by_daemon(&found) ?
				       succeed_hook_open(p, maps, want, &found) :
				       refuse_hook_open(p, &found, err, err_cap);
			break;
		default:
			code = refuse_hook_open(p, &found, err, err_cap);
		}
	}
	found_close(&found);
	if (code == -EOPNOTSUPP && want->native_only)
		snprintf(err, err_cap,
			 "%s: its driver has no native XDP: say xdp: auto or generic for it",
			 p->ifname);
	else if (code && !*err)
		say_hook_refused(p, code, err, err_cap);
	return code;
}

/* Only one volleyd may work on an interface, independent of its sockets and files: two would both
 * write to the cache. If no lock file can be made, we go on without. */
static int claim(struct hook *p, pid_t owner, char *err, size_t err_cap)
{
	char sentence[256];
	struct stat netns;

	if (stat("/proc/self/ns/net", &netns))
		return 0;
	snprintf(p->lock_path, sizeof(p->lock_path), LOCK_FOLDER "/%s-%lu.lock", p->ifname,
		 (unsigned long)netns.st_ino);
	p->lock_fd = lock_open_for(p->lock_path, owner, sentence, sizeof(sentence));
	if (p->lock_fd == ERR_RUNNING) {
		snprintf(err, err_cap, "%s: %s", p->ifname, sentence);
		return ERR_RUNNING;
	}
	if (p->lock_fd < 0)
		log_debug("%s: %s", p->ifname, sentence);
	return 0;
}

static int hook_new(struct hook **out, const char *ifname)
{
	struct hook *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->prog_fd = p->cpu_fd = p->xsks_fd = p->link_fd = p->lock_fd = -1;
	p->queues_fd = p->shares_fd = p->near_fd = p->cookies_fd = p->old_fd = -1;
	snprintf(p->ifname, sizeof(p->ifname), "%s", ifname);
	p->ifindex = (int)if_nametoindex(p->ifname);
	if (!p->ifindex) {
		free(p);
		return -ENODEV;
	}
	*out = p;
	return 0;
}

int hook_open(struct hook **out, struct object_shared *maps, const struct program_want *want,
	      char *err, size_t err_cap)
{
	struct hook *p;
	int code = hook_new(&p, want->ifname);

	*err = 0;
	refusal_listen();
	refusal_forget();
	if (code == -ENODEV)
		snprintf(err, err_cap, "%s: no such interface", want->ifname);
	if (code)
		return code;
	code = claim(p, want->owner, err, err_cap);
	if (!code)
		code = find_or_load(p, maps, want, err, err_cap);
	if (code) {
		hook_close(p, false);
		return code;
	}
	if (!p->is_waiting)
		p->state_id = hook_map_id(maps->fds.state);
	hook_set_answers(p, want->driver_answers);
	*out = p;
	return 0;
}

/* --- After a broker has died ------------------------------------------------------------------ */

int hook_recover(struct hook **out, const char *ifname, uint32_t id)
{
	struct object_shared none = { 0 };
	struct cache_sizes sizes = { 0 };
	struct found found;
	struct hook *p;
	int code = hook_new(&p, ifname);

	if (code)
		return code;
	code = found_look(&found, p->ifindex);
	if (!code && (found.kind != FOUND_VOLLEY || found.id != id))
		code = -ENOENT;
	if (!code) {
		none.is_open = true; /* the shared maps are not wanted */
		p->origin = PROGRAM_ADOPTED;
		p->mode = found.is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
		p->id = found.id;
		p->prog_fd = dup(found.prog_fd);
		p->state_id = hook_map_id(found.maps.state);
		memcpy(p->tag, found.tag, sizeof(p->tag));
		code = hook_take_maps(p, &none, &found.maps, &sizes);
	}
	found_close(&found);
	if (code)
		hook_close(p, true);
	else
		*out = p;
	return code;
}

/* --- What others left ------------------------------------------------------------------------- */

/* Makes it answer nothing from now on. True if it answered before. */
static bool silence_hook_open(const struct found *found)
{
	uint32_t *until_s = found_serve_until(found);
	bool was_answering;

	if (!until_s)
		return false;
	was_answering = __atomic_exchange_n(until_s, 0, __ATOMIC_ACQ_REL) > clock_coarse_s();
	found_unmap(until_s);
	return was_answering;
}

static bool clean_up(struct hook *p, const struct found *found)
{
	int err;

	if (!found_is_by_daemon(found))
		return silence_hook_open(found);
	p->mode = found->is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
	p->prog_fd = dup(found->prog_fd);
	err = hook_detach(p);
	if (!err)
		return true;
	log_warn("%s: cannot detach the XDP program of an earlier volleyd: %s", p->ifname,
		 err_text(err));
	return silence_hook_open(found);
}

bool hook_clean_up(const char *ifname, pid_t owner)
{
	struct hook *p = NULL;
	bool is_cleaned = false;
	struct found found;
	char err[512];

	if (!hook_is_there(ifname) || hook_new(&p, ifname))
		return false;
	if (!claim(p, owner, err, sizeof(err)) && !found_look(&found, p->ifindex)) {
		is_cleaned = (found.kind == FOUND_VOLLEY || found.kind == FOUND_OTHER_ABI) &&
			     clean_up(p, &found);
		found_close(&found);
	}
	hook_close(p, true);
	return is_cleaned;
}
