/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The octets of one TCP connection: input that was not taken yet, and output that waits. No timers,
 * no epoll: tcp.c decides when. For the tcp port alone.
 *
 *      in:   │ taken │ message │ message │ part of a mess.. │ room │   linear, moved to the front
 *                    ▲ in_start                             ▲ in_end           when room runs out
 *      out:  chunk ─► chunk ─► chunk      of the pool, first to last
 */
#ifndef VOLLEY_PORT_TCP_CONN_H
#define VOLLEY_PORT_TCP_CONN_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <urcu/list.h>

#include "base/limits.h"
#include "port/addr.h"

#define TCP_PREFIX_BYTES   2
#define TCP_MESSAGE_MAX    65535
#define TCP_IN_BYTES       (68u << 10) /* room for the longest message */
#define TCP_CHUNK_BYTES    (16u << 10)
#define TCP_POOL_WARM      64 /* chunks: 1 MiB */
#define TCP_CHUNKS_PER_MSG 5  /* the most that 2 + 65535 bytes take */

struct port_watch;

struct tcp_chunk {
	struct tcp_chunk *next;
	uint32_t start, end;
	uint8_t bytes[TCP_CHUNK_BYTES - 16];
};

/*
 * Up to TCP_POOL_WARM free chunks keep their memory for the next slow reader. Chunks beyond that
 * give their memory back to the kernel.
 */
struct tcp_pool {
	struct tcp_chunk *chunks; /* all of them, one mapping */
	struct tcp_chunk *warm;   /* free chunks that have memory */
	uint32_t *cold;           /* numbers of the free chunks without memory: a stack */
	uint32_t n_warm, n_cold;
	uint32_t n_chunks;
	uint32_t n_free;
};

/*
 * What a connection waits for. Each value has a timeout of its own, except TCP_BUSY: then the
 * connection waits for its turn or for late replies, which the handler always sends in the end. The
 * order of the values is the order in which connections are closed to make room.
 */
enum tcp_timer {
	TCP_PARTIAL, /* the rest of a message */
	TCP_WRITING, /* its reader to take the waiting replies */
	TCP_NEW,     /* the first message */
	TCP_IDLE,    /* the next message */
	TCP_BUSY,
	TCP_N_TIMERS,
};

/* Connections with the same limits and the same timeouts. A claim turns a client into a peer. */
enum tcp_class {
	TCP_CLIENTS, /* the limits of port/tcp_share.h */
	TCP_PEERS,   /* those of port/tcp_peers.h, if config.peers is given */
	TCP_N_CLASSES,
};

/*
 * Whether messages are taken. A client that has closed its side (`eof`) gets its replies in each
 * stage, and then the connection ends.
 *
 *      OPEN ── a message of length 0, or the last one allowed ──► FINISHED ── all replies have left
 *        ▲                                                           │          ──► SHUT
 *        └────────────── taken messages are put back ────────────────┘
 */
enum tcp_stage {
	TCP_OPEN,
	TCP_FINISHED, /* no more messages are taken: further input is discarded */
	TCP_SHUT,     /* our sending side is closed, too */
};

struct tcp_conn {
	int fd;            /* -1: the slot is free */
	SSL *ssl;          /* NULL: no TLS; freed together with fd */
	uint32_t gen;      /* number of this connection among those of the slot */
	uint32_t interest; /* in the epoll: EPOLLIN, EPOLLOUT */
	enum tcp_timer timer;
	uint64_t since_ns;                /* start of its timer */
	struct cds_list_head timer_link;  /* in the list of its timer, or in that of free slots */
	struct cds_list_head client_link; /* in the list of connections with the client's bucket */
	struct limits_place place;        /* the counter of its client */
	struct cds_list_head ready_link;  /* linked to itself: not ready to be taken from */
	struct port_addr peer, local;

	uint8_t *in;
	uint32_t in_start, in_end, in_peak;
	enum tcp_class class;
	enum tcp_stage stage;
	bool eof;   /* the client has closed its sending side */
	bool alone; /* no message is taken until all replies have left */
	uint32_t n_queries;
	uint32_t n_taken;         /* messages that the worker has now */
	uint32_t n_deferred;      /* outstanding late replies */
	struct port_watch *watch; /* of the reply that has more messages; NULL: there is none */

	struct tcp_chunk *out_first, *out_last;
	uint32_t out_bytes;
	uint32_t n_queued; /* replies whose last octet is among out_bytes */
	bool progress;     /* a chunk was emptied since this was cleared */
};

__attribute__((warn_unused_result)) int tcp_pool_init(struct tcp_pool *pool, uint32_t n_bytes);
void tcp_pool_fini(struct tcp_pool *pool);

/* Reads once. 1: octets or the end (eof) came; 0: nothing came; -errno: the connection is dead. */
int tcp_conn_read(struct tcp_conn *c);

/*
 * True if octets may be there that epoll does not report, so that tcp_conn_read() must be called.
 * tcp_conn_read() moves the input: do not call it while the worker has messages of the connection.
 */
bool tcp_conn_is_hiding(const struct tcp_conn *c);

/* True if the input has a whole message. A length of 0 leads to TCP_FINISHED. */
bool tcp_conn_has_message(struct tcp_conn *c);

/* Takes the next message, which must be whole. Returns its length; *message: until the next
 * read. */
uint32_t tcp_conn_take(struct tcp_conn *c, const uint8_t **message);

/* Puts back the last n messages that were taken; the first of them is at offset `at`. */
void tcp_conn_put_back(struct tcp_conn *c, uint32_t at, uint32_t n);

/*
 * Writes n_replies, each of n_pieces (1 or 2, none empty) that are adjacent in iov, and queues the
 * octets that the socket does not take. The pool must have room for all of them (assertion):
 * TCP_CHUNKS_PER_MSG chunks hold a reply of any length. Returns how many replies wait, or -errno.
 */
__attribute__((warn_unused_result)) int tcp_conn_write(struct tcp_conn *c, struct tcp_pool *pool,
						       struct iovec *iov, unsigned int n_replies,
						       unsigned int n_pieces);

/* Writes as many queued octets as the socket takes. 0 or -errno; a full socket is no error. */
__attribute__((warn_unused_result)) int tcp_conn_flush(struct tcp_conn *c, struct tcp_pool *pool);

/* Frees the memory of a large input if all its messages were taken. */
void tcp_conn_trim(struct tcp_conn *c);

/* Empties both directions and frees the memory. The caller closes the socket. */
void tcp_conn_reset(struct tcp_conn *c, struct tcp_pool *pool);

#endif
