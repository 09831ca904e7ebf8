/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state that workers.c and workers_listen.c share. Control's thread alone. */
#ifndef VOLLEY_IFACE_WORKERS_STATE_H
#define VOLLEY_IFACE_WORKERS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/addr.h"

struct workers;
struct port;

struct member {
	struct worker *worker;
	struct engine *engine;
	struct responder *responder;
	struct tap_producer *tap;
	struct port *tcp; /* has listeners at all addresses; also in workers.ports */
	int cpu;
	int node; /* NUMA node of that processor */
};

struct workers_port {
	struct port *port;
	unsigned int worker;
};

struct workers {
	struct member *members;
	unsigned int n;
	bool has_room;           /* for questions upstream */
	struct tap *tap;         /* of the producers */
	struct refresh *refresh; /* of the first member */
	struct tcp_share *tcp;
	struct tcp_peers *peers;    /* of the TCP ports of all members */
	struct workers_port *ports; /* room for ports_cap; grows */
	size_t n_ports, ports_cap;
	struct port_addr *listen; /* addresses of all members; grows */
	uint32_t n_listen;
};

/* Does the same as workers_add(), and closes the port on an error. */
int workers_add_or_close(struct workers *workers, unsigned int worker, struct port *port)
	__attribute__((warn_unused_result));

#endif
