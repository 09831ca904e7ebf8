/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits and timeouts of a tcp port (port/tcp.h): the configurable and the fixed ones. */
#ifndef VOLLEY_PORT_TCP_CONFIG_H
#define VOLLEY_PORT_TCP_CONFIG_H

#include <stdint.h>

#include "port/tcp_intake.h"
#include "port/tcp_peers.h"
#include "port/tcp_share.h"

#define TCP_CONNS_DEFAULT      256
#define TCP_IDLE_MS_DEFAULT    10000
#define TCP_MESSAGE_MS_DEFAULT 5000
#define TCP_WRITE_MS_DEFAULT   5000
#define TCP_PEER_MESSAGE_MS    30000 /* for peers: a large UPDATE over a slow line */
#define TCP_PEER_WRITE_MS      30000 /* for peers: a slow reader of a transfer */
#define TCP_POOL_BYTES_DEFAULT (8u << 20)
#define TCP_POOL_BYTES_MIN     (1u << 20)
#define TCP_BURST              32 /* messages taken at a time; each has a buffer of 64 KiB */
#define TCP_OUT_HIGH           (64u << 10)  /* from so many waiting bytes on, nothing is read */
#define TCP_DEFERRED_MAX       64           /* outstanding late replies of one connection */
#define TCP_UNSENT_BYTES       (128u << 10) /* in the kernel, for one reader: TCP_NOTSENT_LOWAT */

/* 0 stands for the default, unless the comment gives 0 a meaning. */
struct tcp_config {
	struct tcp_share *share; /* limits of all ports; NULL: the port has limits of its own */
	/*
	 * Source of connections over TLS: the kind is then PORT_TLS. NULL: none. Outlives the port.
	 */
	struct tcp_intake *intake;
	/* limit of the connections of peers; NULL: they count as other connections do */
	struct tcp_peers *peers;
	uint32_t n_conns_max; /* without a share: the limit of all; a client has none */
	uint32_t idle_ms;     /* without a query */
	uint32_t message_ms;  /* from a message's first octet to its last */
	uint32_t write_ms;    /* time for a slow reader to take 16 KiB, or all that waits */
	uint32_t queries_max; /* queries of one connection before it ends; 0: no limit */
	uint32_t pool_bytes;  /* for waiting replies of all connections; at least 1 MiB */
	uint32_t backlog;     /* connections that wait to be accepted; 0: the system's limit */
	uint32_t fastopen;    /* TCP Fast Open requests that may be pending; 0: off */
};

#endif
