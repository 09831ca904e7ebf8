/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drivers with which XDP loses answers, or the kernel its life, though they say that they can do
 * it: one row for each, with its source in the kernel, and what Volley does instead. Pure.
 */
#ifndef VOLLEY_IFACE_QUIRKS_H
#define VOLLEY_IFACE_QUIRKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why zero-copy is not taken with that driver unless zero-copy: on asks for it; NULL: nothing
 * known. Static. */
const char *quirks_zerocopy(const char *driver);

/* Queue pairs of a virtio_net: in use without those that XDP takes for itself, at most, and
 * possible CPUs. */
struct quirks_pairs {
	uint32_t n;
	uint32_t n_max;
	uint32_t n_cpus;
};

/* Whether the driver makes receive queues for XDP that have no transmit queue. */
bool quirks_has_pairs(const char *driver);

/*
 * Of n_queues that receive while a native program is there, those that had been in use before: with
 * as many as CPUs, or fewer, XDP has taken none. Too few where the device had none left for XDP,
 * which the kernel does not tell.
 */
uint32_t quirks_pairs_beside(uint32_t n_queues, uint32_t n_cpus);

/*
 * Whether an answer by native XDP would crash the kernel. virtnet_xdp_set() takes a transmit queue
 * more for each possible CPU, or none where there are not enough. virtnet_xdp_get_sq() thinks that
 * it has them as soon as more pairs than CPUs are in use, and sends by queue n + CPU: with none,
 * that is one behind the last. Seen on 6.1 with 4 of 4 pairs on 2 CPUs: a panic at the first hit.
 */
bool quirks_native_is_fatal(const char *driver, const struct quirks_pairs *pairs);

/* How many pairs to use instead: `ethtool -L NAME combined` this. */
uint32_t quirks_pairs_wanted(const struct quirks_pairs *pairs);

#endif
