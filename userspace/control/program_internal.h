/* SPDX-License-Identifier: GPL-2.0-only */
/* What program.c (a program that is open) and program_open.c (how it is found or loaded) share. */
#ifndef VOLLEY_CONTROL_PROGRAM_INTERNAL_H
#define VOLLEY_CONTROL_PROGRAM_INTERNAL_H

#include "control/program.h"

struct xdp_program;

struct program {
	char ifname[IF_NAMESIZE];
	int ifindex;
	uint32_t id;
	enum program_origin origin;
	enum program_mode mode;
	int prog_fd;
	int cpu_fd;
	int xsks_fd;
	int link_fd;
	int lock_fd;
	char lock_path[64];
	struct volley_link *link;
	struct xdp_program *xdp; /* ours, attached through libxdp; NULL: adopted or replaced */
	struct volley_bpf *skel; /* the object it comes from */
};

#endif
