/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket of an AF_XDP port and its four rings. The first steps need capabilities, so another
 * process may have made them; its memory is a file that both processes map. libxdp's functions read
 * and write the rings; its set-up would make all of these calls itself.
 *
 *      xsk_socket_open(): socket ─► busy polling ─► XDP_UMEM_REG
 *      xsk_rings_open():  rings: fill, completion, RX, TX ─► mmap of each ─► bind
 */
#ifndef VOLLEY_PORT_XSK_RINGS_H
#define VOLLEY_PORT_XSK_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdp/xsk.h>

#include "port/xsk_config.h"

#define XSK_HUGE_BYTES (2ul << 20)

struct xsk_rings {
	int fd; /* the socket; -1: none */
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons rx, comp;
	struct {
		void *at;
		size_t n_bytes;
	} maps[4];
};

struct xsk_rings_config {
	uint32_t fill_cap; /* entries: a power of two, as ring_cap */
	uint32_t ring_cap; /* of the other three */
	uint32_t ifindex;
	uint32_t queue;
	uint16_t bind_flags;
};

/*
 * A new AF_XDP socket whose frames are the memory of a file (xsk_memory_open()); the kernel keeps
 * that memory. Needs CAP_NET_RAW; for busy polling CAP_NET_ADMIN; and CAP_IPC_LOCK where
 * RLIMIT_MEMLOCK is less than the memory. The descriptor or -errno; -ENOBUFS: the limit.
 */
int xsk_socket_open(int memory_fd, const struct xsk_socket_wish *wish)
	__attribute__((warn_unused_result));

/*
 * A new file in memory for that many octets, which is a multiple of 2 MiB, in huge pages if there
 * are some, and *area: where it is mapped. It cannot shrink. The caller closes the descriptor and
 * unmaps the area. The descriptor or -errno.
 */
int xsk_memory_open(size_t n_bytes, void **area) __attribute__((warn_unused_result));

/* True if the file is a file in memory that has that many octets and cannot shrink. */
bool xsk_is_memory(int fd, uint64_t n_bytes);

/* Takes the unbound AF_XDP socket fd, also after an error. 0 or -errno. */
int xsk_rings_open(struct xsk_rings *rings, int fd, const struct xsk_rings_config *config)
	__attribute__((warn_unused_result));

/* Does nothing without a socket. */
void xsk_rings_close(struct xsk_rings *rings);

#endif
