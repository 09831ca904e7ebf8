/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab of scripts/lab.sh for a test program: two network namespaces joined by a veth pair, under
 * a name of this process. One thread; sockets stay in the namespace in which they were opened.
 */
#ifndef VOLLEY_TESTS_LIB_NETLAB_H
#define VOLLEY_TESTS_LIB_NETLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netlab {
	char name[32];
	int client_ns, server_ns; /* file descriptors */
};

/* Runs from the root of the repository. 0, or -1 when the lab could not be made (it says why). */
int netlab_open(struct netlab *lab);
void netlab_close(struct netlab *lab);

/* From now on this thread is in the client's namespace, or in the server's. 0 or -1. */
int netlab_enter(const struct netlab *lab, bool server);

/* A raw packet socket on a device of the namespace that was entered: whole frames, both ways. */
int netlab_packet_socket(const char *device);

/* Waits at most timeout_ms for a frame with UDP to this port, and takes it. 0: none came. */
size_t netlab_receive(int packet_fd, uint16_t to_port, uint8_t *frame, size_t cap, int timeout_ms);

#endif
