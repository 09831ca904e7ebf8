/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of an interface that Volley answers on, and the remarks about it. The functions that
 * change it are in iface/iface.h.
 *
 * Threads: control's.
 */
#ifndef VOLLEY_IFACE_IFACE_STATE_H
#define VOLLEY_IFACE_IFACE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/program.h"
#include "config/config.h"
#include "iface/leaving.h"
#include "iface/linkinfo.h"
#include "iface/overload.h"
#include "iface/unseen.h"
#include "iface/vethpeer.h"

#define IFACE_REMARK_CAP 384

enum iface_state {
	IFACE_DOWN, /* nothing attached: not yet, detached by a command, or xdp: off */
	IFACE_UP,
	IFACE_GONE,     /* there is no such interface (now) */
	IFACE_DEGRADED, /* exists, but not as configured: the note says why */
	IFACE_N_STATES,
};

/* Topics of remarks about an interface; each has one sentence at a time. */
enum iface_topic {
	IFACE_TOPIC_PROGRAM,    /* which program, or why none */
	IFACE_TOPIC_KIND,       /* which other interface to name instead */
	IFACE_TOPIC_MODE,       /* why frames are copied */
	IFACE_TOPIC_QUEUES,     /* which queues have no AF_XDP socket */
	IFACE_TOPIC_CORES,      /* how queues and workers fit */
	IFACE_TOPIC_RETURN,     /* why the routing table cannot be asked */
	IFACE_TOPIC_NEIGHBOURS, /* next hops are not watched */
	IFACE_TOPIC_UNSEEN,     /* the network driver does not run the program */
	IFACE_TOPIC_MTU,        /* larger frames may be dropped */
	IFACE_TOPIC_TAGS,       /* why VLAN tags keep the program from answering */
	IFACE_TOPIC_QUIRK,      /* why the driver must not answer natively */
	IFACE_TOPIC_LEAVING,    /* which sockets' replies do not leave */
	IFACE_TOPIC_HITS,       /* hits do not leave */
	IFACE_TOPIC_PEER,       /* the other end of a veth pair does not take hits */
	IFACE_N_TOPICS,
};

#define IFACE_NOTE_CAP (IFACE_N_TOPICS * (IFACE_REMARK_CAP + 2)) /* with "; " between */

struct iface_remark {
	bool is_fault;               /* the interface is not as configured */
	char text[IFACE_REMARK_CAP]; /* "": nothing */
};

struct iface {
	struct config_interface config;
	enum iface_state state;
	bool wanted;         /* false: detached by a command */
	bool is_added;       /* by a command: the configuration does not name it */
	bool is_switched_on; /* by a command: the configuration says xdp: off */
	unsigned int ifindex;
	struct linkinfo link; /* as read at the last iface_open_ports() */
	uint32_t n_pairs;     /* of virtio_net, without the program's own; 0: another driver */
	uint32_t n_queues;    /* that have an AF_XDP socket */
	bool is_zerocopy;     /* all of them */
	struct program *program;
	const struct object_maps *maps; /* of the cache; the daemon's */
	struct dpdk_device *dpdk;       /* NULL: not (yet) by DPDK */
	bool is_dpdk_tried;
	struct port *ports[VOLLEY_QUEUES];
	int zerocopy_err;     /* why zero-copy is not tried again */
	uint64_t retry_at_ns; /* when to try queues without a socket again */
	uint32_t retry_s;     /* the pause before that */
	bool is_renewal_due;  /* of the program: the network driver does not run it on all queues */
	bool is_untagged;     /* the card strips VLAN tags that answers need (iface/watch.c) */
	struct unseen unseen;
	uint32_t attach_mtu;  /* the MTU when the program was attached or found */
	bool is_reattach_due; /* of the program, in another mode: new MTU, or other end of a veth */
	bool is_occupied;     /* a program must go before ours can be attached */
	struct leaving leaving; /* whether answers leave: iface_guard.h */
	bool is_silenced;       /* the program does not answer, because hits were lost */
	bool is_native_fatal;   /* hits of a native program would crash the kernel (quirks.h) */
	uint64_t hits_seen_ns;
	enum vethpeer_kind peer;  /* of a veth: its other end at the last look (iface_peer.h) */
	uint64_t peer_since_ns;   /* when `peer` changed last */
	bool is_generic_for_peer; /* only because of the other end */
	bool has_peer_lost;       /* the other end lost its program while ours was native */
	struct overload overload;
	struct iface_remark remarks[IFACE_N_TOPICS];
	char note[IFACE_NOTE_CAP]; /* all remarks; "": none */
};

/*
 * Sets the remark of a topic. It is logged if the sentence differs from the one before. An empty
 * sentence removes the remark.
 */
__attribute__((format(printf, 4, 5))) void iface_say(struct iface *iface, enum iface_topic topic,
						     bool is_fault, const char *format, ...);
void iface_unsay(struct iface *iface, enum iface_topic topic);

/*
 * True if the program of the interface may answer: as configured, unless hits do not leave, or, in
 * native mode, the card strips tags, the kernel would crash, or the other end of a veth pair takes
 * no answers. program_set_answers() gets this value.
 */
bool iface_driver_answers(const struct iface *iface);

/* "up", "down", "gone", "degraded". Static. */
const char *iface_state_text(enum iface_state state);

#endif
