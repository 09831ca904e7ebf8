/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An interface that Volley answers on: its XDP program and the AF_XDP sockets of its queues.
 *
 * It may be missing at the start, go away, and come again (with another index): each is a state
 * that is told, none is an end. Without program or AF_XDP the kernel's sockets still answer.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_CONTROL_IFACE_H
#define VOLLEY_CONTROL_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/config.h"
#include "control/crew.h"
#include "control/program.h"

enum iface_state {
	IFACE_DOWN, /* nothing attached: not yet, detached by hand, or xdp: off */
	IFACE_UP,
	IFACE_GONE,     /* there is no such interface (now) */
	IFACE_DEGRADED, /* there, but not as configured: the note says how */
};

struct iface {
	struct config_interface config;
	enum iface_state state;
	bool wanted; /* false: detached by hand */
	unsigned int ifindex;
	uint32_t n_queues; /* that have an AF_XDP socket */
	bool is_zerocopy;
	struct program *program;
	struct port *ports[VOLLEY_QUEUES];
	int attach_err; /* what iface_attach() said last */
	char note[512]; /* "": all is as configured */
};

void iface_init(struct iface *iface, const struct config_interface *config);

/*
 * Finds or attaches the program; maps as in program_open(). Errors are in the note, too; -EPROTO
 * (a program of another ABI) and ERR_RUNNING (another volleyd's) nobody should run beside.
 */
int iface_attach(struct iface *iface, struct object_maps *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/* Opens the AF_XDP sockets, as far as wanted and possible; the rest is in the note. */
void iface_open_ports(struct iface *iface, struct crew *crew);

/* Closes sockets, then lets the program go (see program_close). */
void iface_close(struct iface *iface, struct crew *crew, bool keep);

/* The MAC address by which the driver knows its frames, as it is now. */
void iface_update_mac(struct iface *iface);

/* Whether interface and program are still those that we know. */
bool iface_is_sound(const struct iface *iface);

/* Whether the program that was in the way of ours has gone. */
bool iface_is_cleared(const struct iface *iface);

/* "up", "down", "gone", "degraded". Static. */
const char *iface_state_text(enum iface_state state);

#endif
