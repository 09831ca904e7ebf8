/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests to the broker, its replies, and the table of what is allowed.
 *
 *      daemon                              broker
 *      struct broker_request ────────────► broker_check(): the row of its operation
 *        and descriptors it names          broker_serve(): bpf/hook.h, bpf/object.h
 *      struct broker_reply   ◄────────────
 *        and descriptors it names
 *
 * Both are of one size, and have neither pointers nor texts of variable length. Descriptors go
 * beside them (SCM_RIGHTS), in the order of enum broker_fd, one for each bit of fds_mask. A request
 * names one interface or one address at most. It never has octets of a packet, a zone or a reply.
 */
#ifndef VOLLEY_BROKER_REQUEST_H
#define VOLLEY_BROKER_REQUEST_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/object.h"
#include "bpf/program_want.h"
#include "bpf/refusal.h"
#include "port/socket.h"
#include "port/xsk_config.h"
#include "xdp/abi.h"

/* Maps that all interfaces share (struct object_shared), those of one program, and others. */
#define BROKER_SHARED(X) \
	X(state)         \
	X(index)         \
	X(store)         \
	X(zones) X(clients) X(refresh) X(rrl) X(loads) X(blocks) X(blocked) X(taps) X(names)
#define BROKER_OWN(X) X(link) X(cpu) X(xsks) X(queues)

enum broker_fd {
#define FD(name) BROKER_FD_##name,
	BROKER_SHARED(FD) BROKER_OWN(FD)
#undef FD
		BROKER_FD_OLD, /* the map with serve_until_s of the program that ours will replace */
	BROKER_FD_LOCK, /* the interface's lock: it is free when daemon and broker have closed it */
	BROKER_FD_SOCKET, /* of the daemon */
	BROKER_FD_MEMORY, /* of the daemon, for the frames of an AF_XDP socket */
	BROKER_FD_TEXT,   /* of the daemon, from the operator: a configuration */
	BROKER_FD_NEW,    /* a new map or socket; more of them follow */
	BROKER_N_FDS = BROKER_FD_NEW + VOLLEY_TAP_RINGS
};

struct broker_fds {
	int fd[BROKER_N_FDS]; /* -1: none */
};

#define BROKER_BIT(fd)     (1ull << (fd))
#define BROKER_SHARED_MASK (BROKER_BIT(BROKER_FD_link) - 1)

/* Flags of a request. */
enum {
	BROKER_NATIVE_ONLY = 1 << 0,
	BROKER_GENERIC_ONLY = 1 << 1,
	BROKER_TAKES_FRAGS = 1 << 2,
	BROKER_DRIVER_ANSWERS = 1 << 3,
	BROKER_KEEP = 1 << 4,     /* the program stays on the interface */
	BROKER_BORROWED = 1 << 5, /* DPDK's program is there now */
};

/*
 * X(name, channel, needs, flags, fds required, fds allowed beside, largest n)
 *
 * Channel: "hook" requests come from control's thread, but for BIND; "map" requests from any
 * thread, and may take as long as the kernel needs for some GiB. Needs:
 *
 *      NAME     the name of an interface
 *      NAMED    the same, and the operator has named it (broker/named.h)
 *      PROGRAM  the same, and the number of the program that is open there
 *      SIZES    sizes of a cache
 *      ADDRESS  an address with a port
 *      HOST     an address alone
 *      XSK      frames and busy polling of an AF_XDP socket
 *      DPDK     the daemon has its capabilities itself; the broker's process refuses this
 */
#define BROKER_OPERATIONS(X)                                                                       \
	X(OPEN, HOOK, NAMED | BROKER_NEEDS_SIZES, 0xf, 0, BROKER_SHARED_MASK, 0)                   \
	X(FIND, HOOK, NAME, 0, 0, 0, 0)                                                            \
	X(IS_THERE, HOOK, NAME, 0, 0, 0, 0)                                                        \
	X(IS_WELCOME, HOOK, NAME, 0, 0, 0, 0)                                                      \
	X(CLEAN_UP, HOOK, NAME, 0, 0, 0, 0)                                                        \
	X(WAKE_VETH, HOOK, NAMED, 0, 0, 0, 0)                                                      \
	X(IS_ATTACHED, HOOK, PROGRAM, 0, 0, 0, 0)                                                  \
	X(TAKE_PLACE, HOOK, PROGRAM, 0, 0, 0, 0)                                                   \
	X(CLOSE, HOOK, PROGRAM, BROKER_KEEP, 0, 0, 0)                                              \
	X(DETACH, HOOK, PROGRAM, 0, 0, 0, 0)                                                       \
	X(PREPARE, HOOK, PROGRAM, 0, BROKER_SHARED_MASK, 0, 0)                                     \
	X(RENEW, HOOK, PROGRAM, 0, BROKER_SHARED_MASK, 0, 0)                                       \
	X(SWITCH, HOOK, PROGRAM, 0, BROKER_SHARED_MASK, 0, 0)                                      \
	X(UNPREPARE, HOOK, PROGRAM, 0, 0, 0, 0)                                                    \
	X(LEND, HOOK, PROGRAM | BROKER_NEEDS_DPDK, 0, 0, 0, 0)                                     \
	X(TAKE_BACK, HOOK, PROGRAM | BROKER_NEEDS_DPDK, BROKER_BORROWED, BROKER_SHARED_MASK, 0, 0) \
	X(USE_SOCKETS, HOOK, PROGRAM | BROKER_NEEDS_DPDK, 0,                                       \
	  BROKER_SHARED_MASK | BROKER_BIT(BROKER_FD_xsks), 0, 0)                                   \
	X(XSK_SOCKET, HOOK, XSK, 0, BROKER_BIT(BROKER_FD_MEMORY), 0, 0)                            \
	X(USE_NEIGHBOUR, HOOK, NAMED | BROKER_NEEDS_HOST, 0, 0, 0, 0)                              \
	X(VETH_PEER, HOOK, NAMED, 0, 0, 0, 0)                                                      \
	X(BUFFER, HOOK, NUMBER, 0, BROKER_BIT(BROKER_FD_SOCKET), 0, SOCKET_RCVBUF_BYTES)           \
	X(BIND, HOOK, ADDRESS, 0, BROKER_BIT(BROKER_FD_SOCKET), 0, 0)                              \
	X(READ_TEXT, HOOK, NOTHING, 0, BROKER_BIT(BROKER_FD_TEXT), 0, 0)                           \
	X(CLOCK, HOOK, NOTHING, 0, 0, 0, 0)                                                        \
	X(MAKE_SHARED, MAP, SIZES, 0, 0, 0, 0)                                                     \
	X(MAKE_BESIDE, MAP, SIZES, 0, BROKER_SHARED_MASK, 0, 0)                                    \
	X(MAKE_BLOCKS, MAP, NUMBER, 0, 0, 0, BROKER_BLOCK_CHUNKS)                                  \
	X(MAKE_RINGS, MAP, NUMBER, 0, 0, 0, VOLLEY_TAP_RINGS)                                      \
	X(MAKE_GRACE, MAP, NOTHING, 0, 0, 0, 0)

enum broker_operation {
#define OPERATION(name, ...) BROKER_##name,
	BROKER_OPERATIONS(OPERATION)
#undef OPERATION
		BROKER_N_OPERATIONS
};

enum broker_channel { BROKER_CHANNEL_HOOK, BROKER_CHANNEL_MAP, BROKER_N_CHANNELS };

enum {
	BROKER_NEEDS_NOTHING = 0,
	BROKER_NEEDS_NAME = 1 << 0,
	BROKER_NEEDS_PROGRAM = 1 << 1 | BROKER_NEEDS_NAME,
	BROKER_NEEDS_SIZES = 1 << 2,
	BROKER_NEEDS_NUMBER = 1 << 3,
	BROKER_NEEDS_DPDK = 1 << 4,
	BROKER_NEEDS_ADDRESS = 1 << 5,
	BROKER_NEEDS_HOST = 1 << 6,
	BROKER_NEEDS_XSK = 1 << 7,
	BROKER_NEEDS_NAMED = 1 << 8 | BROKER_NEEDS_NAME,
};

/* A table of all the blocks that policy.block.max allows takes less; see block_table_chunks(). */
#define BROKER_BLOCK_CHUNKS 4096u

struct broker_address {
	uint16_t family;
	__be16 net_port;
	uint32_t scope_id; /* of a link-local IPv6 address, else 0 */
	uint8_t bytes[16]; /* wire order; IPv4 in the first four octets, then zeros */
};

/* Limits of struct xsk_socket_wish: those of the configuration, and the ways of iface_ports.c. */
#define BROKER_XSK_FRAMES_MAX  (1u << 20)
#define BROKER_XSK_POLL_US_MAX 1000u
#define BROKER_XSK_BUDGET_MAX  4096u

struct broker_request {
	uint32_t operation;
	uint32_t number; /* of the request; the reply has it, too; never 0 */
	uint64_t fds_mask;
	struct cache_sizes sizes;
	char ifname[IF_NAMESIZE]; /* ends with a zero octet, zeros behind it */
	uint32_t program_id;
	uint32_t flags;
	uint32_t n;
	struct broker_address address;
	struct xsk_socket_wish xsk;
	uint8_t mac[6];
	uint8_t log_level;
	uint8_t log_format;
	uint8_t zero[4];
};

/* What the daemon knows of the program of an interface. */
struct broker_facts {
	uint32_t id; /* 0: there are no facts */
	uint32_t mode;
	uint32_t origin;
	uint8_t is_waiting;
	uint8_t is_our_build; /* for PROGRAM_ADOPTED only */
	uint8_t zero[2];
	uint8_t tag[OBJECT_TAG_BYTES];
	char generic_reason[REFUSAL_CAP];
};

#define BROKER_SENTENCE_CAP 512

struct broker_reply {
	uint32_t number; /* 0: a broker has died, and any request that it had read is lost */
	int32_t code;
	uint64_t fds_mask;
	int64_t value; /* of FIND, IS_..., CLEAN_UP, CLOCK; VETH_PEER: enum vethpeer_kind */
	int32_t mtu;   /* VETH_PEER */
	uint8_t zero[4];
	struct cache_sizes sizes;
	struct broker_facts facts;
	char sentence[BROKER_SENTENCE_CAP];
};

/*
 * 0 if the row of its operation allows the request on this channel; else -EINVAL, and *why is a
 * static text. `has_dpdk`: operations for DPDK are allowed. Looks only at the octets of *request,
 * whose mask says which descriptors came with it. Pure.
 */
int broker_check(const struct broker_request *request, enum broker_channel channel, bool has_dpdk,
		 const char **why) __attribute__((warn_unused_result));

/* True if the operation is for an interface that the operator has named. */
bool broker_needs_named(uint32_t operation);

/* "open", "make-shared", ...; "?" for no operation. Static text. */
const char *broker_operation_text(uint32_t operation);
enum broker_channel broker_channel_of(enum broker_operation operation);

/* No descriptors; closes all descriptors. */
void broker_fds_init(struct broker_fds *fds);
void broker_fds_close(struct broker_fds *fds);
/* A bit for each descriptor. */
uint64_t broker_fds_mask(const struct broker_fds *fds);

/* The shared maps among the descriptors, which still belong to `fds`. */
struct object_shared broker_fds_shared(const struct broker_fds *fds,
				       const struct cache_sizes *sizes);
/* The reverse: copies the numbers, not the descriptors. */
void broker_fds_put_shared(struct broker_fds *fds, const struct found_maps *maps);

#endif
