/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of an interface that Volley answers on, and the remarks about it. The functions that
 * change it are in iface/iface.h.
 *
 *      wish    what operator and configuration ask for        commands and reloads set it
 *      due     the next step in the kernel towards the wish   a look at the interface sets it
 *      state   what the kernel has                            iface_settle() takes the step
 *
 * Threads: control's.
 */
#ifndef VOLLEY_IFACE_IFACE_STATE_H
#define VOLLEY_IFACE_IFACE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/program.h"
#include "config/config.h"
#include "iface/leaving.h"
#include "iface/overload.h"
#include "iface/unseen.h"
#include "link/link.h"
#include "link/vethpeer.h"

#define IFACE_REMARK_CAP 384

/*
 * What operator and configuration ask for. In all states except DETACHED, iface_settle() attaches
 * the program whenever the interface exists and config.xdp is not off.
 *
 *      the configuration names it ──► LISTED ── detach ──► DETACHED ── attach ──► LISTED
 *        with xdp: off            ──► LISTED ── attach ──► SWITCHED_ON ── detach ──► LISTED
 *      only `attach` names it     ──► ADDED ── detach ──► the daemon forgets it
 *
 *      any ── detach, but the kernel refuses ──► DETACHED
 *      ADDED, SWITCHED_ON ── a reload names it with other keys ──► LISTED
 *      DETACHED ── the same ──► DETACHED
 *
 * `attach` and `detach` are commands of volleyctl. SWITCHED_ON changes config.xdp from off to auto.
 */
enum iface_wish {
	IFACE_LISTED,
	IFACE_SWITCHED_ON,
	IFACE_ADDED,
	IFACE_DETACHED,
};

/*
 * The next step in the kernel. iface_settle() takes it, and then nothing is due.
 *
 *      NOTHING ── driver does not run the program on all queues ──► RENEWAL ──► NOTHING
 *              ── another mode is possible or necessary ──────────► REATTACH ──► NOTHING
 *              ── link or program has gone (it is closed) ────────► ATTACH
 *      ATTACH  ── attached, or refused for good ──────────────────► NOTHING
 *              ── another program is in the way ──────────────────► WHEN_FREE
 *      WHEN_FREE ── that program has gone ────────────────────────► ATTACH
 *
 * The order of the values is the order of their weight: a step includes all lighter ones.
 */
enum iface_due {
	IFACE_DUE_NOTHING,
	IFACE_DUE_WHEN_FREE, /* attach when the program that is in the way of ours has gone */
	IFACE_DUE_RENEWAL,   /* put a new copy of the program in the place of the running one */
	IFACE_DUE_ATTACH,    /* nothing is attached */
	/* detach and attach: a new MTU, the other end of a veth, or an exchange of programs during
	 * which the broker died */
	IFACE_DUE_REATTACH,
};

/*
 * Reasons why the driver must not answer although config.driver_answers is set: a bit mask. The
 * first one counts in every mode, the others in native mode.
 */
enum iface_mute {
	IFACE_MUTE_HITS = 1 << 0,  /* hits were lost (iface_guard.h) */
	IFACE_MUTE_TAGS = 1 << 1,  /* the card strips VLAN tags that answers need (watch.c) */
	IFACE_MUTE_FATAL = 1 << 2, /* an answer would crash the kernel (quirks.h) */
	IFACE_MUTE_PEER = 1 << 3,  /* the other end of a veth takes none (iface_peer.h) */
	IFACE_MUTE_NATIVE = IFACE_MUTE_TAGS | IFACE_MUTE_FATAL | IFACE_MUTE_PEER,
};

/*
 * Whether the other end of a veth pair decides the mode (iface_peer.h).
 *
 *      FREE ── attached while the other end takes no answers ──► GENERIC
 *      FREE ── native, and the other end loses its program ────► LOST ── attached again ──► LOST
 *      GENERIC, LOST ── the other end has had a program for some seconds ──► FREE, attached again
 */
enum iface_peer_step {
	IFACE_PEER_FREE,
	IFACE_PEER_GENERIC, /* generic because of the other end: not a fault */
	IFACE_PEER_LOST,    /* the same or soon the same, and a fault */
};

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
	enum iface_wish wish;
	enum iface_due due;
	enum iface_state state;
	unsigned int mute; /* IFACE_MUTE_*; iface_mute() changes it */
	unsigned int ifindex;
	struct link link;  /* as read at the last iface_open_ports() */
	uint32_t n_pairs;  /* of virtio_net, without the program's own; 0: another driver */
	uint32_t n_queues; /* that have an AF_XDP socket */
	bool is_zerocopy;  /* all of them */
	struct program *program;
	const struct object_maps *maps; /* of the cache; the daemon's */
	struct dpdk_device *dpdk;       /* NULL: not (yet) by DPDK */
	bool is_dpdk_tried;
	struct port *ports[VOLLEY_QUEUES];
	int zerocopy_err;     /* why zero-copy is not tried again */
	uint64_t retry_at_ns; /* when to try queues without a socket again */
	uint32_t retry_s;     /* the pause before that */
	struct unseen unseen;
	uint32_t attach_mtu;    /* the MTU when the program was attached or found */
	struct leaving leaving; /* whether answers leave: iface_guard.h */
	uint64_t hits_seen_ns;
	enum vethpeer_kind peer; /* of a veth: its other end at the last look (iface_peer.h) */
	uint64_t peer_since_ns;  /* when `peer` changed last */
	enum iface_peer_step peer_step;
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
 * True if the program of the interface may answer: as configured, unless a reason of iface->mute
 * counts in the program's mode. iface->program is not NULL.
 */
bool iface_driver_answers(const struct iface *iface);

/* Sets or removes one reason of iface->mute, and tells the program if there is one. */
void iface_mute(struct iface *iface, enum iface_mute reason, bool is_so);

/* Makes a step due, unless a heavier one is due already. */
void iface_need(struct iface *iface, enum iface_due due);

/* "up", "down", "gone", "degraded". Static. */
const char *iface_state_text(enum iface_state state);

#endif
