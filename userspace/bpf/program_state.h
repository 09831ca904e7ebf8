/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What these share: program.c (a program that is open), program_open.c (how it is found),
 * program_attach.c (how it is loaded where none is), program_switch.c, program_lend.c and
 * program_succeed.c (how another takes its place).
 */
#ifndef VOLLEY_BPF_PROGRAM_STATE_H
#define VOLLEY_BPF_PROGRAM_STATE_H

#include <net/if.h>
#include <xdp/libxdp.h>

#include "bpf/object.h"
#include "bpf/program_want.h"
#include "bpf/refusal.h"

struct program {
	char ifname[IF_NAMESIZE];
	int ifindex;
	uint32_t id;
	enum program_origin origin;
	enum program_mode mode;
	bool has_frags; /* native, and loaded by us for frames in several buffers */
	char generic_reason[REFUSAL_CAP]; /* why it is not native; "": it was not tried */
	char refusal[REFUSAL_CAP];        /* of the last step that was refused */
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
	struct volley_queue *queues; /* VOLLEY_QUEUES of them */
	struct xdp_program *xdp;     /* ours, attached through libxdp; NULL: plain, or adopted */
	struct volley_bpf *skel;     /* the object it comes from */
	uint32_t state_id;           /* of its volley_state: which cache it reads */

	/* What is to take its place (program_switch.c). */
	struct volley_bpf *next;
	struct xdp_program *next_xdp; /* behind libxdp's dispatcher; NULL: alone on the interface */
	uint32_t next_state_id;

	/* Of an earlier volleyd's program, whose place it is to take (program_succeed.c). */
	bool is_waiting;
	uint32_t old_abi;
	uint32_t *old_until_s; /* until when it may answer; NULL: not known */

	uint8_t tag[OBJECT_TAG_BYTES]; /* of the program that is attached */
};

/* Of the program that is attached; it stays the program's. */
int program_fd(const struct program *p);

/* The kernel's number of a program; 0: not known. */
uint32_t program_id_of(int fd);

/* Its mode, as libxdp wants it. */
enum xdp_attach_mode program_libxdp_mode(const struct program *p);

/*
 * Loads and attaches it where none of ours is, with these maps of the cache. `has_dispatcher`:
 * libxdp's is there, and has room. 0 with skel, mode, id, and xdp or prog_fd; or the code of the
 * last step, and p->refusal says why.
 */
int program_attach_steps(struct program *p, const struct object_maps *maps,
			 const struct program_want *want, bool has_dispatcher)
	__attribute__((warn_unused_result));

/* Takes it out of libxdp's dispatcher, whoever put it there. */
int program_leave_dispatcher(const struct program *p) __attribute__((warn_unused_result));

/* One attempt at program_detach(), with the MTU that the interface has. 0 or -errno. */
int program_detach_once(struct program *p);

/* Whether it is the only one on its interface, not one of several behind libxdp's dispatcher. */
bool program_is_alone(const struct program *p);

/*
 * One of the same object with these maps of the cache; the maps of the interface alone are those
 * that the program has. Not yet loaded. NULL with errno.
 */
struct volley_bpf *program_open_next(const struct program *p, const struct object_maps *maps);

/*
 * p->next is loaded, as far as that is possible before it is attached; then it is put in the place
 * of the one that is attached, as is fit for that one: by one exchange where it is alone, else by
 * the dispatcher. 0 or -errno.
 */
int program_load_next(struct program *p, bool is_alone) __attribute__((warn_unused_result));
int program_put_next(struct program *p) __attribute__((warn_unused_result));

/* What is attached is p->next: the old one's descriptors are closed, and with them its maps. */
void program_settle(struct program *p);

/* Copies of what the program alone has, mapped; the maps of the cache, if they are not open yet. 0
 * or -errno. */
int program_take_maps(struct program *p, struct object_maps *maps, const struct found_maps *found,
		      const struct cache_sizes *sizes) __attribute__((warn_unused_result));

/* Unmaps and closes what it has by program_take_maps(), but for the maps of the cache. */
void program_drop_maps(struct program *p);

/*
 * Prepares a program with maps of its own, and those of the cache, in the place of OLD, which goes
 * on for now. p has mode and prog_fd of the old one. On an error nothing has changed. 0 or -errno.
 */
int program_succeed(struct program *p, struct object_maps *maps, const struct cache_sizes *sizes,
		    const struct found *old) __attribute__((warn_unused_result));

/* Ours in the place of what was adopted, where a volleyd attached that and it is another build.
 * Says what it does. */
void program_update(struct program *p, const struct object_maps *maps, const struct found *found);

/* Notes number and tag of the program that fd is. */
void program_identify(struct program *p, int fd);

/* The kernel's number of a map; 0: not known. */
uint32_t program_map_id(int fd);

#endif
