/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One TCP connection's bytes: what has come in and is not yet taken, and what waits to go out. No
 * timers, no epoll: tcp.c decides when. For the tcp port alone.
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
#define TCP_IN_BYTES       (68u << 10) /* one message of any length, and whole pages */
#define TCP_CHUNK_BYTES    (16u << 10)
#define TCP_POOL_WARM      64 /* chunks: 1 MiB */
#define TCP_CHUNKS_PER_MSG 5  /* that 2 + 65535 bytes take at most */

struct tcp_chunk {
	struct tcp_chunk *next;
	uint32_t start, end;
	uint8_t bytes[TCP_CHUNK_BYTES - 16];
};

/*
 * Of the chunks that were given back, the first TCP_POOL_WARM keep their memory, for the next
 * reader; those beyond give it back to the kernel.
 */
struct tcp_pool {
	struct tcp_chunk *chunks; /* all of them, one mapping */
	struct tcp_chunk *warm;   /* given back, with their memory */
	uint32_t *cold;           /* the numbers of those without memory: a stack */
	uint32_t n_warm, n_cold;
	uint32_t n_chunks;
	uint32_t n_free;
};

/*
 * What a connection waits for: each has a timeout of its own, but TCP_BUSY, where it waits for us:
 * for its turn, or for replies that come late, as those who owe them see to it that none is owed
 * for ever. The order is that in which connections are closed to make room.
 */
enum tcp_timer {
	TCP_PARTIAL, /* the rest of a message */
	TCP_WRITING, /* that its reader takes what waits */
	TCP_NEW,     /* the first message */
	TCP_IDLE,    /* the next one */
	TCP_BUSY,
	TCP_N_TIMERS,
};

struct tcp_conn {
	int fd;            /* -1: the slot is free */
	SSL *ssl;          /* NULL: it is not over TLS; freed by who closes fd */
	uint32_t gen;      /* counts the slot's connections */
	uint32_t interest; /* in the epoll: EPOLLIN, EPOLLOUT */
	enum tcp_timer timer;
	uint64_t since_ns;                /* its timer runs */
	struct cds_list_head timer_link;  /* in the list of its timer, or of free slots */
	struct cds_list_head client_link; /* of connections whose clients have the same bucket */
	struct limits_place place;        /* where its client is counted */
	struct cds_list_head ready_link;  /* self where it is not ready to be taken from */
	struct port_addr peer, local;

	uint8_t *in;
	uint32_t in_start, in_end, in_peak;
	bool eof;      /* nothing more comes */
	bool finished; /* nothing more is wanted: what comes is thrown away */
	bool shut;     /* and we have said so to the other side */
	bool alone;    /* the next message was put back: it comes when all replies have left */
	uint32_t n_queries;
	uint32_t n_taken;    /* messages that are with the worker now */
	uint32_t n_deferred; /* messages whose replies come late */

	struct tcp_chunk *out_first, *out_last;
	uint32_t out_bytes;
	uint32_t n_queued; /* replies that these bytes end or hold */
	bool progress;     /* a chunk was emptied since this was cleared */
};

__attribute__((warn_unused_result)) int tcp_pool_init(struct tcp_pool *pool, uint32_t n_bytes);
void tcp_pool_fini(struct tcp_pool *pool);

/* Read once. 1: something came, or the end (eof); 0: nothing; -errno: the connection is dead. */
int tcp_conn_read(struct tcp_conn *c);

/*
 * Whether there may be octets that epoll does not tell of, and which tcp_conn_read() is to be
 * called for. Reading moves what is in the input: not while messages of it are with the worker.
 */
bool tcp_conn_is_hiding(const struct tcp_conn *c);

/* Whether in has a whole message. A length of 0 sets finished. */
bool tcp_conn_has_message(struct tcp_conn *c);

/* The length of the whole message that is there; its bytes follow at *message until the next
 * read. */
uint32_t tcp_conn_take(struct tcp_conn *c, const uint8_t **message);

/* Messages that were taken, from the one at `at` on, are untaken: n of them. */
void tcp_conn_put_back(struct tcp_conn *c, uint32_t at, uint32_t n);

/*
 * Write n_replies, each of n_pieces (1 or 2, none empty) that follow each other in iov; queue what
 * the socket does not take. The pool has room for all of them (assertion): TCP_CHUNKS_PER_MSG
 * chunks are enough for one of any length. How many replies had to wait, or -errno.
 */
__attribute__((warn_unused_result)) int tcp_conn_write(struct tcp_conn *c, struct tcp_pool *pool,
						       struct iovec *iov, unsigned int n_replies,
						       unsigned int n_pieces);

/* Write what waits, as far as it goes. 0 or -errno; EAGAIN is no error. */
__attribute__((warn_unused_result)) int tcp_conn_flush(struct tcp_conn *c, struct tcp_pool *pool);

/* Give back the memory of a large input that has been taken whole. */
void tcp_conn_trim(struct tcp_conn *c);

/* Empty both directions and give memory back. The socket is the caller's to close. */
void tcp_conn_reset(struct tcp_conn *c, struct tcp_pool *pool);

#endif
