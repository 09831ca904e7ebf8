/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab of scripts/lab.sh for a test program: two network namespaces with a veth pair between
 * them, with the process id in their names. For one thread. A socket stays in the namespace in
 * which it was opened.
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

/* Runs in the root of the repository. 0, or -1 if the lab could not be made; it prints why. */
int netlab_open(struct netlab *lab);
void netlab_close(struct netlab *lab);

/* Moves this thread to the client's or the server's namespace. 0 or -1. */
int netlab_enter(const struct netlab *lab, bool server);

/* A raw packet socket on a device of the thread's namespace: whole frames, both directions. */
int netlab_packet_socket(const char *device);

/* Waits at most timeout_ms for a frame with UDP to this port, and receives it. 0: none came. */
size_t netlab_receive(int packet_fd, uint16_t to_port, uint8_t *frame, size_t cap, int timeout_ms);

#endif
