/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which queues of an interface get more than their workers answer: what the driver has dropped
 * there (xdp/shed.h).
 *
 * Said as long as it goes on (`volleyctl status`) and some seconds more, and logged when it begins
 * and when it is over.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_IFACE_OVERLOAD_H
#define VOLLEY_IFACE_OVERLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/program.h"

#define OVERLOAD_TEXT_CAP 256

struct overload {
	uint32_t program_id; /* that was looked at; 0: none yet */
	uint64_t looked_at_ns;
	struct overload_queue {
		uint64_t n_shed; /* as it was then */
		uint64_t per_s;  /* when something was dropped last: how much */
		uint64_t last_ns;
	} queues[VOLLEY_QUEUES];
	uint64_t began_ns; /* 0: no overload */
	uint64_t last_ns;
	uint64_t n_shed; /* since it began */
};

/* With a program (or none: NULL) that is new here: what was dropped before is not ours to tell. */
void overload_begin(struct overload *o, const struct program *program, uint64_t now_ns);

/* Once a second; begins where the program is another one. */
void overload_look(struct overload *o, const char *ifname, const struct program *program,
		   uint64_t now_ns);

/* The sentence on a queue that sheds. False: it does not. */
bool overload_text(const struct overload *o, const char *ifname, uint32_t queue,
		   char text[OVERLOAD_TEXT_CAP]);

#endif
