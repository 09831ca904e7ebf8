/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interface that Volley answers on: its XDP program and the AF_XDP sockets of its queues.
 *
 *      native program ─► zero-copy sockets      each step down is said once, with the reason: in the
 *                        copy sockets           log and as the interface's note. A queue without a
 *      generic program ─► copy sockets          socket takes none from the others: what it brings up
 *      kernel sockets                           goes on to the kernel's sockets.
 *
 * The interface may be missing at the start, go away, come again (with another index), and have more
 * or fewer queues than before: each is a state that is told, none is an end.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_IFACE_IFACE_H
#define VOLLEY_IFACE_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/program.h"
#include "config/config.h"
#include "iface/crew.h"
#include "iface/leaving.h"
#include "iface/linkinfo.h"
#include "iface/overload.h"
#include "iface/unseen.h"
#include "iface/vethpeer.h"

#define IFACE_REMARK_CAP 384

enum iface_state {
	IFACE_DOWN, /* nothing attached: not yet, detached by hand, or xdp: off */
	IFACE_UP,
	IFACE_GONE,     /* there is no such interface (now) */
	IFACE_DEGRADED, /* there, but not as configured: the note says how */
	IFACE_N_STATES,
};

/* What there is to say of an interface: of each topic one sentence at a time. */
enum iface_topic {
	IFACE_TOPIC_PROGRAM,    /* which program, or why none */
	IFACE_TOPIC_KIND,       /* what would better be named instead */
	IFACE_TOPIC_MODE,       /* why frames are copied */
	IFACE_TOPIC_QUEUES,     /* which queues have no AF_XDP socket */
	IFACE_TOPIC_CORES,      /* how queues and workers fit */
	IFACE_TOPIC_RETURN,     /* why the routing table cannot be asked */
	IFACE_TOPIC_NEIGHBOURS, /* that next hops are not watched */
	IFACE_TOPIC_UNSEEN,     /* that the driver does not run the program */
	IFACE_TOPIC_MTU,        /* that larger frames may be dropped */
	IFACE_TOPIC_TAGS,       /* why VLAN tags keep the program from answering */
	IFACE_TOPIC_QUIRK,      /* why the driver must not answer natively */
	IFACE_TOPIC_LEAVING,    /* which sockets' replies do not leave */
	IFACE_TOPIC_HITS,       /* that hits do not leave */
	IFACE_TOPIC_PEER,       /* that the other end of a veth pair does not take hits */
	IFACE_N_TOPICS,
};

#define IFACE_NOTE_CAP (IFACE_N_TOPICS * (IFACE_REMARK_CAP + 2)) /* with "; " between */

struct iface_remark {
	bool is_fault;               /* not as configured */
	char text[IFACE_REMARK_CAP]; /* "": nothing */
};

struct iface {
	struct config_interface config;
	enum iface_state state;
	bool wanted;         /* false: detached by hand */
	bool is_added;       /* by hand: the configuration does not name it */
	bool is_switched_on; /* by hand: the configuration says xdp: off */
	unsigned int ifindex;
	struct linkinfo link; /* as it was when its ports were looked at last */
	uint32_t n_pairs; /* of virtio_net, without those that the program brought; 0: another driver */
	uint32_t n_queues; /* that have an AF_XDP socket */
	bool is_zerocopy;  /* all of them */
	struct program *program;
	const struct object_maps *maps; /* of the cache; the daemon's */
	struct dpdk_device *dpdk;       /* NULL: not (yet) by DPDK */
	bool is_dpdk_tried;
	struct port *ports[VOLLEY_QUEUES];
	int zerocopy_err;     /* why zero-copy is not tried (again) */
	uint64_t retry_at_ns; /* queues without a socket: when, and how long after the last time */
	uint32_t retry_s;
	bool is_renewal_due; /* of the program: the driver does not run it on all queues */
	bool is_untagged;    /* the card takes VLAN tags away that answers need (iface/watch.c) */
	struct unseen unseen;
	uint32_t attach_mtu;    /* what the interface had when the program was attached or found */
	bool is_reattach_due;   /* with the MTU that it has now, the driver may judge otherwise */
	bool is_occupied;       /* by a program that has to go before ours can be attached */
	struct leaving leaving; /* whether what is given to send leaves: iface_guard.h */
	bool is_silenced;       /* the program answers nothing, for hits were lost */
	bool is_native_fatal;   /* hits of a native program would crash the kernel (quirks.h) */
	uint64_t hits_seen_ns;
	enum vethpeer_kind peer;  /* of a veth: its other end, as it was seen last (iface_peer.h) */
	uint64_t peer_since_ns;   /* it is like that */
	bool is_generic_for_peer; /* else the program would be native */
	bool has_peer_lost;       /* its program, while ours was native */
	struct overload overload;
	struct iface_remark remarks[IFACE_N_TOPICS];
	char note[IFACE_NOTE_CAP]; /* all remarks; "": there is nothing to say */
};

void iface_init(struct iface *iface, const struct config_interface *config);

/*
 * Finds or attaches the program; maps as in program_open(). Errors are in the note, too; -EPROTO
 * (a program of another ABI) and ERR_RUNNING (another volleyd's) nobody should run beside.
 */
int iface_attach(struct iface *iface, struct object_maps *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/*
 * Sees to it that the queues that the interface has now have AF_XDP sockets, as far as wanted and
 * possible, and no others; the rest is in the note. To be called again when something may have
 * changed: what is in order is left alone, what failed is tried again by and by. Those that are closed
 * first get no more frames, and answer what they have.
 */
void iface_open_ports(struct iface *iface, struct crew *crew);

/* The same by DPDK (iface_dpdk.c), of what dpdk_iface.h calls owned and lent. Tried once. */
void iface_open_dpdk(struct iface *iface, struct crew *crew);
/*
 * Where an earlier volleyd's program still runs, ours takes its place: once its sockets are
 * open and kernel sockets answer what it does not know.
 */
void iface_take_place(struct iface *iface);

/* An owned device and its tap, which is the interface. 0, or a negative code and a sentence in err. */
int iface_attach_dpdk(struct iface *iface, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
void iface_close_dpdk(struct iface *iface, struct crew *crew);
/*
 * Where the driver no longer shows frames to the program (iface/unseen.h), makes a renewal of the program due;
 * where that has not helped, says so. Where another MTU decides otherwise on native mode, makes due that the
 * program is attached again. Looks once a second, however often it is called.
 */
void iface_watch_driver(struct iface *iface);

/*
 * Where the card takes VLAN tags out of frames, and VLANs stand on the interface, neither program nor AF_XDP
 * sockets may answer: a reply to a tagged query would leave untagged. The remark says what to type; when the
 * card leaves tags alone, or the VLANs have gone, they answer again. Before iface_open_ports() looks at queues.
 */
void iface_watch_tags(struct iface *iface);

/*
 * With return-path: fib the kernel is told which next hops the driver uses (iface/neighbours.h), so that it notices
 * when one has another MAC address. Once a second.
 */
void iface_watch_neighbours(struct iface *iface);

/* Closes the sockets of queue `first` and of those above. */
void iface_close_ports(struct iface *iface, struct crew *crew, uint32_t first);

/* The socket of that queue, which has one. */
void iface_close_port(struct iface *iface, struct crew *crew, uint32_t queue);

/*
 * Says something of a topic, in place of what was said before; logged only where it is another
 * sentence. An empty one takes it back.
 */
__attribute__((format(printf, 4, 5))) void iface_say(struct iface *iface, enum iface_topic topic,
						     bool is_fault, const char *format, ...);
void iface_unsay(struct iface *iface, enum iface_topic topic);

/* Closes sockets, then lets the program go (see program_close). */
void iface_close(struct iface *iface, struct crew *crew, bool keep);

/*
 * Whether the program of the interface may answer: as configured, unless hits do not leave, or, in native mode, the
 * card takes tags away, the driver would crash, or the other end of a veth pair takes nothing. What
 * program_set_answers() is given comes from here.
 */
bool iface_driver_answers(const struct iface *iface);

/* The MAC address by which the driver knows its frames, and the MTU that its answers keep to, as they are now. */
void iface_update_link(struct iface *iface);

/* Whether interface and program are still those that we know. True where nothing is left to look with. */
bool iface_is_sound(const struct iface *iface);

/* Whether the program that was in the way of ours has gone. */
bool iface_is_cleared(const struct iface *iface);

/* "up", "down", "gone", "degraded". Static. */
const char *iface_state_text(enum iface_state state);

#endif
