/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network drivers that claim to support XDP but lose answers or crash the kernel: one row for each,
 * with its source in the kernel, and what Volley does instead. Pure.
 */
#ifndef VOLLEY_IFACE_QUIRKS_H
#define VOLLEY_IFACE_QUIRKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why zero-copy is not used with this driver unless zero-copy: on. NULL: no reason. Static. */
const char *quirks_zerocopy(const char *driver);

/* Queue pairs of a virtio_net: in use (without the pairs of XDP), at most, and possible CPUs. */
struct quirks_pairs {
	uint32_t n;
	uint32_t n_max;
	uint32_t n_cpus;
};

/* True if the driver creates receive queues for XDP that have no transmit queue. */
bool quirks_has_pairs(const char *driver);

/*
 * How many of n_queues, which receive while a native program is attached, were in use before. If
 * there are as many as CPUs or fewer, XDP has added none. The result is too small if the device had
 * no queues left for XDP, which the kernel does not report.
 */
uint32_t quirks_pairs_beside(uint32_t n_queues, uint32_t n_cpus);

/*
 * True if an answer by native XDP would crash the kernel. virtnet_xdp_set() adds a transmit queue
 * for each possible CPU, or none if there are not enough. virtnet_xdp_get_sq() assumes that they
 * were added as soon as more pairs than CPUs are in use, and sends by queue n + CPU: without them,
 * that queue does not exist. Seen on 6.1, 4 of 4 pairs, 2 CPUs: a panic at the first hit.
 */
bool quirks_native_is_fatal(const char *driver, const struct quirks_pairs *pairs);

/* The number of pairs to use instead, for `ethtool -L NAME combined`. */
uint32_t quirks_pairs_wanted(const struct quirks_pairs *pairs);

#endif
