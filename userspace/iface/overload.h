/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the queues of an interface that get more queries than their workers can answer, by the
 * queries that the driver has dropped there (xdp/shed.h).
 *
 * `volleyctl status` shows an overload until some seconds after its end. The log has both ends.
 *
 * Control's thread calls all these functions.
 */
#ifndef VOLLEY_IFACE_OVERLOAD_H
#define VOLLEY_IFACE_OVERLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/program.h"

#define OVERLOAD_TEXT_CAP 256

struct overload {
	uint32_t program_id; /* the program at the last look; 0: none yet */
	uint64_t looked_at_ns;
	struct overload_queue {
		uint64_t n_shed; /* counter at the last look */
		uint64_t per_s;  /* rate when the driver last dropped something */
		uint64_t last_ns;
	} queues[VOLLEY_QUEUES];
	uint64_t began_ns; /* 0: no overload */
	uint64_t last_ns;
	uint64_t n_shed; /* since the overload began */
};

/* Begins with a new program (NULL: none). Queries that it dropped before are not counted. */
void overload_begin(struct overload *o, const struct program *program, uint64_t now_ns);

/* Call once a second. If the program is a new one, it begins anew. */
void overload_look(struct overload *o, const char *ifname, const struct program *program,
		   uint64_t now_ns);

/* Writes the sentence about an overloaded queue. False: the queue is not overloaded. */
bool overload_text(const struct overload *o, const char *ifname, uint32_t queue,
		   char text[OVERLOAD_TEXT_CAP]);

#endif
