/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An AF_XDP socket that receives nothing: on queue 0 of the loopback device, for test runs of the
 * XDP program, which come from there.
 */
#ifndef VOLLEY_TESTS_LIB_XDPSOCKET_H
#define VOLLEY_TESTS_LIB_XDPSOCKET_H

#include "tests/lib/bpfmaps.h"

/*
 * In a network namespace of its own, which this process enters; in the program's xsks_map. Whatever
 * fails, fails the test. The socket; some time after it is closed the kernel takes it out of the
 * map.
 */
int xdp_socket_open(const struct bpfmaps *maps);

#endif
