/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an interface's program shall be, where it came from, and in which mode it runs. */
#ifndef VOLLEY_BPF_PROGRAM_WANT_H
#define VOLLEY_BPF_PROGRAM_WANT_H

#include <stdbool.h>
#include <sys/types.h>

#include "cache/cache.h"

enum program_origin {
	PROGRAM_LOADED,   /* by us */
	PROGRAM_ADOPTED,  /* found on the interface */
	PROGRAM_REPLACED, /* ours, instead of a Volley of another build or with other maps */
};

enum program_mode { PROGRAM_NATIVE, PROGRAM_GENERIC };

struct program_want {
	const char *ifname;
	bool native_only; /* xdp: native */
	bool generic_only;
	/* the driver takes frames in several buffers, if the kernel does: bpf/tiny_programs.h */
	bool takes_frags;
	bool driver_answers;
	struct cache_sizes sizes; /* for new maps */
	pid_t owner;              /* of the interface's lock, for its message; 0: we */
};

#endif
