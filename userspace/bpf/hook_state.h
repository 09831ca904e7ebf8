/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by hook.c (an open hook), hook_open.c (finding it), hook_attach.c (loading the
 * first), hook_switch.c, hook_lend.c and hook_succeed.c (replacing it). */
#ifndef VOLLEY_BPF_HOOK_STATE_H
#define VOLLEY_BPF_HOOK_STATE_H

#include <net/if.h>
#include <xdp/libxdp.h>

#include "bpf/object.h"
#include "bpf/program_want.h"
#include "bpf/refusal.h"

struct hook {
	char ifname[IF_NAMESIZE];
	int ifindex;
	uint32_t id;
	enum program_origin origin;
	enum program_mode mode;
	bool has_frags; /* native, and we loaded it for frames in several buffers */
	char generic_reason[REFUSAL_CAP]; /* why it is not native; "": native was not tried */
	char refusal[REFUSAL_CAP];        /* why the last step was refused */
	int prog_fd;
	int cpu_fd;
	int xsks_fd;
	int queues_fd;
	int shares_fd;
	int near_fd;
	int cookies_fd;
	int link_fd;
	int lock_fd;
	char lock_path[64];
	struct volley_link *link;
	struct xdp_program *xdp; /* ours, attached through libxdp; NULL: plain, or adopted */
	struct volley_bpf *skel; /* the object that it comes from */
	uint32_t state_id;       /* number of its volley_state: which cache it reads */

	/* The program that will take its place (hook_switch.c). */
	struct volley_bpf *next;
	struct xdp_program
		*next_xdp; /* if behind libxdp's dispatcher; NULL: alone on the interface */
	uint32_t next_state_id;

	/* The program of an earlier volleyd that ours will replace (hook_succeed.c). */
	bool is_waiting;
	uint32_t old_abi;
	int old_fd; /* its map with serve_until_s (found_map_until()); -1: not known */

	uint8_t tag[OBJECT_TAG_BYTES]; /* of the program that is attached */
};

/* The attached program's descriptor. The program owns it. */
int hook_fd(const struct hook *p);

/* Its mode, as libxdp wants it. */
enum xdp_attach_mode hook_libxdp_mode(const struct hook *p);

/*
 * Loads the program with these maps and attaches it to an interface that has none of ours.
 * `has_dispatcher`: libxdp's dispatcher is there, and has room. Returns 0 with skel, mode, id, and
 * xdp or prog_fd; or the error of the last step, with the reason in p->refusal.
 */
int hook_attach_steps(struct hook *p, const struct object_shared *maps,
		      const struct program_want *want, bool has_dispatcher)
	__attribute__((warn_unused_result));

/* Takes it out of libxdp's dispatcher, also if we did not put it there. */
int hook_leave_dispatcher(const struct hook *p) __attribute__((warn_unused_result));

/* One attempt of hook_detach(), with the interface's present MTU. 0 or -errno. */
int hook_detach_once(struct hook *p);

/* True if it is the only program on its interface, not behind libxdp's dispatcher. */
bool hook_is_alone(const struct hook *p);

/* Opens our object with these maps of the cache and with the program's own maps. Not loaded yet.
 * NULL with errno. */
struct volley_bpf *hook_open_next(const struct hook *p, const struct object_shared *maps);

/*
 * hook_load_next() loads p->next as far as possible before it is attached. hook_put_next()
 * puts it in the place of the attached program: by one exchange if that is alone, else by the
 * dispatcher. 0 or -errno.
 */
int hook_load_next(struct hook *p, bool is_alone) __attribute__((warn_unused_result));
int hook_put_next(struct hook *p) __attribute__((warn_unused_result));

/* p->next is attached now: closes the old program's descriptors, and so its maps. */
void hook_settle(struct hook *p);

/* Copies and maps the program's own maps, and those of the cache if these are not open. 0 or
 * -errno. */
int hook_take_maps(struct hook *p, struct object_shared *maps, const struct found_maps *found,
		   const struct cache_sizes *sizes) __attribute__((warn_unused_result));

/* Unmaps and closes what hook_take_maps() opened, except the maps of the cache. */
void hook_drop_maps(struct hook *p);

/* Prepares a program with its own maps and these of the cache, to replace OLD, which goes on for
 * now. p has mode and prog_fd of OLD. After an error nothing has changed. 0 or -errno. */
int hook_succeed(struct hook *p, struct object_shared *maps, const struct cache_sizes *sizes,
		 const struct found *old) __attribute__((warn_unused_result));

/* Replaces an adopted program by ours if it is a volleyd's and another build. Logs the result. */
void hook_update(struct hook *p, const struct object_shared *maps, const struct found *found);

/* Notes number and tag of the program of fd. */
void hook_identify(struct hook *p, int fd);

/* The kernel's number of a map; 0: not known. */
uint32_t hook_map_id(int fd);

#endif
