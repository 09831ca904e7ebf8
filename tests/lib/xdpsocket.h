/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An AF_XDP socket that receives nothing, on queue 0 of the loopback device, from which test runs
 * of the XDP program come.
 */
#ifndef VOLLEY_TESTS_LIB_XDPSOCKET_H
#define VOLLEY_TESTS_LIB_XDPSOCKET_H

#include "tests/lib/bpfmaps.h"

/*
 * Opens it in a new network namespace, which this process enters, and puts it into the program's
 * xsks_map. A failure fails the test. Returns the socket. Some time after it is closed the kernel
 * removes it from the map.
 */
int xdp_socket_open(const struct bpfmaps *maps);

#endif
