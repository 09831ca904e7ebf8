/* SPDX-License-Identifier: GPL-2.0-only */
/* What program.c (a program that is open) and program_open.c (how it is found or loaded) share. */
#ifndef VOLLEY_BPF_PROGRAM_INTERNAL_H
#define VOLLEY_BPF_PROGRAM_INTERNAL_H

#include "bpf/program.h"

struct xdp_program;

struct program {
	char ifname[IF_NAMESIZE];
	int ifindex;
	uint32_t id;
	enum program_origin origin;
	enum program_mode mode;
	char generic_reason[160]; /* why it is not native, in the kernel's words; "": it was not tried */
	int prog_fd;
	int cpu_fd;
	int xsks_fd;
	int queues_fd;
	int shares_fd;
	int link_fd;
	int lock_fd;
	char lock_path[64];
	struct volley_link *link;
	struct volley_queue *queues; /* VOLLEY_QUEUES of them */
	struct xdp_program *xdp;     /* ours, attached through libxdp; NULL: adopted or replaced */
	struct volley_bpf *skel;     /* the object it comes from */
	uint32_t state_id;           /* of its volley_state: which cache it reads */

	/* What is to take its place (program_switch.c). */
	struct volley_bpf *next;
	struct xdp_program *next_xdp; /* behind libxdp's dispatcher; NULL: alone on the interface */
	uint32_t next_state_id;
};

/* Of the program that is attached; it stays the program's. */
int program_fd(const struct program *p);

/* Whether it is the only one on its interface, not one of several behind libxdp's dispatcher. */
bool program_is_alone(const struct program *p);

/*
 * One of the same object with these maps of the cache; the maps of the interface alone are those that the
 * program has. Not yet loaded. NULL with errno.
 */
struct volley_bpf *program_open_next(const struct program *p, const struct object_maps *maps);

/* What is attached is p->next: the old one's descriptors are closed, and with them its maps. */
void program_settle(struct program *p);

/* The kernel's number of a map; 0: not known. */
uint32_t program_map_id(int fd);

#endif
