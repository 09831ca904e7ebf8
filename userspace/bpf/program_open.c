/* SPDX-License-Identifier: GPL-2.0-only */
/* The program of an interface: found there and adopted, replaced, refused; else loaded. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "bpf/found.h"
#include "bpf/lock.h"
#include "bpf/program_internal.h"
#include "volley.skel.h"

#define LOCK_FOLDER "/run/volley"
#define MIB_BYTES   (1ull << 20)

/* --- Loading ------------------------------------------------------------------------------------- */

/* Copies of what the program alone has; the maps of the cache, if they are not open yet. */
static int take_over(struct program *p, struct object_maps *maps, const struct found_maps *found,
		     const struct cache_sizes *sizes)
{
	if (!maps->is_open) {
		int err = object_maps_open(maps, found, sizes);

		if (err)
			return err;
	}
	p->cpu_fd = dup(found->cpu);
	p->xsks_fd = dup(found->xsks);
	p->link_fd = dup(found->link);
	p->queues_fd = dup(found->queues);
	p->shares_fd = dup(found->shares);
	if (p->cpu_fd < 0 || p->xsks_fd < 0 || p->link_fd < 0 || p->queues_fd < 0 ||
	    p->shares_fd < 0)
		return -errno;
	p->link = object_map(p->link_fd, sizeof(*p->link));
	p->queues = object_map(p->queues_fd, VOLLEY_QUEUES * sizeof(*p->queues));
	return p->link && p->queues ? 0 : -ENOMEM;
}

static int attach_mode(struct program *p, enum program_mode mode)
{
	int err = xdp_program__attach(p->xdp, p->ifindex,
				      mode == PROGRAM_NATIVE ? XDP_MODE_NATIVE : XDP_MODE_SKB, 0);

	if (!err)
		p->mode = mode;
	return err;
}

/* Native, else generic, as far as that is wanted. */
static int attach(struct program *p, const struct program_want *want)
{
	int err = -EOPNOTSUPP;

	object_forget_reason();
	if (!want->generic_only)
		err = attach_mode(p, PROGRAM_NATIVE);
	/* What could not be loaded is not tried twice: the second time EBADF would hide why. */
	if (err && !want->native_only && err != -EBUSY && err != -EEXIST &&
	    (want->generic_only || xdp_program__fd(p->xdp) >= 0)) {
		if (!want->generic_only)
			snprintf(p->generic_reason, sizeof(p->generic_reason), "%s",
				 object_reason(err));
		err = attach_mode(p, PROGRAM_GENERIC);
	}
	return err;
}

static int load(struct program *p, struct object_maps *maps, const struct program_want *want)
{
	struct found_maps fds;
	int err;

	p->skel = object_open(maps, &want->sizes);
	if (!p->skel)
		return errno ? -errno : -EINVAL;
	p->xdp = xdp_program__from_bpf_obj(p->skel->obj, "xdp");
	err = (int)libxdp_get_error(p->xdp);
	if (err) {
		p->xdp = NULL;
		return err;
	}
	err = attach(p, want);
	if (err)
		return err;
	p->origin = PROGRAM_LOADED;
	p->id = xdp_program__id(p->xdp);
	fds = object_fds(p->skel);
	err = take_over(p, maps, &fds, &want->sizes);
	if (!err)
		p->link->by_daemon = 1;
	return err;
}

/* Ours in the place of `old` in one step, with the maps that are in use. */
static int replace(struct program *p, struct object_maps *maps, const struct program_want *want,
		   const struct found *old)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = old->prog_fd);
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	struct found_maps fds;
	int err;

	p->skel = object_open(maps, &want->sizes);
	if (!p->skel)
		return errno ? -errno : -EINVAL;
	err = volley_bpf__load(p->skel);
	if (err)
		return err;
	p->prog_fd = dup(bpf_program__fd(p->skel->progs.volley));
	p->mode = old->is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
	err = bpf_xdp_attach(p->ifindex, p->prog_fd, program_xdp_flags(p) | XDP_FLAGS_REPLACE,
			     &opts);
	if (err)
		return err;
	p->origin = PROGRAM_REPLACED;
	if (!bpf_obj_get_info_by_fd(p->prog_fd, &info, &len))
		p->id = info.id;
	fds = object_fds(p->skel);
	err = take_over(p, maps, &fds, &want->sizes);
	if (!err)
		p->link->by_daemon = 1;
	return err;
}

/* --- Finding ------------------------------------------------------------------------------------- */

uint32_t program_map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

static int adopt(struct program *p, struct object_maps *maps, const struct found *found,
		 const struct cache_sizes *sizes)
{
	p->origin = PROGRAM_ADOPTED;
	p->mode = found->is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
	p->id = found->id;
	p->prog_fd = dup(found->prog_fd);
	return take_over(p, maps, &found->maps, sizes);
}

/* Whether volleyd attached what was found, so that a volleyd may replace it. */
static bool is_by_daemon(const struct found *found)
{
	struct volley_link link = { 0 };
	uint32_t zero = 0;

	return !bpf_map_lookup_elem(found->maps.link, &zero, &link) && link.by_daemon;
}

static bool is_same_size(const struct cache_sizes *a, const struct cache_sizes *b)
{
	return a->n_buckets == b->n_buckets && a->n_segments == b->n_segments &&
	       a->n_zones >= b->n_zones;
}

/* Adopts what was found, unless another cache is in use or it has too few slots for the zones. */
static int adopt_or_replace(struct program *p, struct object_maps *maps,
			    const struct program_want *want, const struct found *found, char *err,
			    size_t err_cap)
{
	struct cache_sizes sizes;

	if (found_sizes(&found->maps, &sizes)) {
		snprintf(
			err, err_cap,
			"%s: the maps of the Volley program there (id %u) are not those of ABI %u: "
			"detach it (ip link set dev %s xdp off) and start again",
			p->ifname, found->id, VOLLEY_ABI, p->ifname);
		return -EPROTO;
	}
	if (maps->is_open && program_map_id(found->maps.state) != program_map_id(maps->state_fd))
		return replace(p, maps, want, found);
	if (!maps->is_open && is_by_daemon(found) && sizes.n_zones < want->sizes.n_zones) {
		log_notice("%s: there are more zones than the old cache has slots for: its answers "
			   "are dropped",
			   p->ifname);
		return replace(p, maps, want, found);
	}
	if (!maps->is_open && !is_by_daemon(found) && !is_same_size(&sizes, &want->sizes))
		log_warn("%s: the program there was loaded with a cache of %llu MiB, which holds "
			 "until it is loaded anew; cache.size is not used",
			 p->ifname,
			 (unsigned long long)((sizes.bytes + MIB_BYTES / 2) / MIB_BYTES));
	return adopt(p, maps, found, &sizes);
}

static int refuse(const struct program *p, const struct found *found, char *err, size_t err_cap)
{
	if (found->kind == FOUND_OTHER_ABI) {
		snprintf(err, err_cap,
			 "%s: the Volley program there (id %u) is of ABI %u, this volleyd speaks "
			 "ABI %u: detach it (ip link set dev %s xdp off) or run the volleyd of its "
			 "version",
			 p->ifname, found->id, found->abi, VOLLEY_ABI, p->ifname);
		return -EPROTO;
	}
	snprintf(
		err, err_cap,
		"%s: another XDP program (%s, id %u) is there and is alone there by its own choice: "
		"detach it, or load it with xdp-loader so that programs can share the interface",
		p->ifname, found->name, found->id);
	return -EBUSY;
}

static bool is_denied(int err)
{
	return err == -EPERM || err == -EACCES;
}

static int find_or_load(struct program *p, struct object_maps *maps,
			const struct program_want *want, char *err, size_t err_cap)
{
	struct found found;
	int code = found_look(&found, p->ifindex);

	if (!code) {
		switch (found.kind) {
		case FOUND_NOTHING:
			code = load(p, maps, want);
			break;
		case FOUND_VOLLEY:
			code = adopt_or_replace(p, maps, want, &found, err, err_cap);
			break;
		default:
			code = refuse(p, &found, err, err_cap);
		}
	}
	found_close(&found);
	if (code == -EOPNOTSUPP && want->native_only)
		snprintf(err, err_cap,
			 "%s: its driver has no native XDP: say xdp: auto or generic for it",
			 p->ifname);
	else if (code && !*err)
		snprintf(err, err_cap, "%s: XDP program: %s%s", p->ifname, object_reason(code),
			 is_denied(code) ? ": needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN" : "");
	return code;
}

/*
 * One volleyd for an interface, wherever its sockets and files are: two would both write to the
 * cache. Where no lock file can be made we go on without.
 */
static int claim(struct program *p, char *err, size_t err_cap)
{
	char sentence[256];
	struct stat netns;

	if (stat("/proc/self/ns/net", &netns))
		return 0;
	snprintf(p->lock_path, sizeof(p->lock_path), LOCK_FOLDER "/%s-%lu.lock", p->ifname,
		 (unsigned long)netns.st_ino);
	p->lock_fd = lock_open(p->lock_path, sentence, sizeof(sentence));
	if (p->lock_fd == ERR_RUNNING) {
		snprintf(err, err_cap, "%s: %s", p->ifname, sentence);
		return ERR_RUNNING;
	}
	if (p->lock_fd < 0)
		log_debug("%s: %s", p->ifname, sentence);
	return 0;
}

static int program_new(struct program **out, const char *ifname)
{
	struct program *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->prog_fd = p->cpu_fd = p->xsks_fd = p->link_fd = p->lock_fd = -1;
	p->queues_fd = p->shares_fd = -1;
	snprintf(p->ifname, sizeof(p->ifname), "%s", ifname);
	p->ifindex = (int)if_nametoindex(p->ifname);
	if (!p->ifindex) {
		free(p);
		return -ENODEV;
	}
	*out = p;
	return 0;
}

int program_open(struct program **out, struct object_maps *maps, const struct program_want *want,
		 char *err, size_t err_cap)
{
	struct program *p;
	int code = program_new(&p, want->ifname);

	*err = 0;
	object_quiet();
	object_forget_reason();
	if (code == -ENODEV)
		snprintf(err, err_cap, "%s: no such interface", want->ifname);
	if (code)
		return code;
	code = claim(p, err, err_cap);
	if (!code)
		code = find_or_load(p, maps, want, err, err_cap);
	if (code) {
		program_close(p, false);
		return code;
	}
	p->state_id = program_map_id(maps->state_fd);
	program_set_answers(p, want->driver_answers);
	*out = p;
	return 0;
}

/* --- What others left ---------------------------------------------------------------------------- */

/* From now on it answers nothing. Whether it did before. */
static bool silence(const struct found *found)
{
	struct volley_state *state = object_map(found->maps.state, sizeof(*state));
	bool was_answering;

	if (!state)
		return false;
	was_answering = __atomic_exchange_n(&state->serve_until_s, 0, __ATOMIC_ACQ_REL) >
			clock_coarse_s();
	object_unmap(state, sizeof(*state));
	return was_answering;
}

static bool clean_up(struct program *p, const struct found *found)
{
	int err;

	if (!is_by_daemon(found))
		return silence(found);
	p->mode = found->is_generic ? PROGRAM_GENERIC : PROGRAM_NATIVE;
	p->prog_fd = dup(found->prog_fd);
	err = program_detach(p);
	if (!err)
		return true;
	log_warn("%s: detaching an earlier volleyd's XDP program: %s", p->ifname, err_text(err));
	return silence(found);
}

bool program_clean_up(const char *ifname)
{
	struct program *p = NULL;
	bool is_cleaned = false;
	struct found found;
	char err[512];

	if (!program_find(ifname) || program_new(&p, ifname))
		return false;
	if (!claim(p, err, sizeof(err)) && !found_look(&found, p->ifindex)) {
		is_cleaned = found.kind == FOUND_VOLLEY && clean_up(p, &found);
		found_close(&found);
	}
	program_close(p, true);
	return is_cleaned;
}
