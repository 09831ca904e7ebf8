/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interfaces as /sys shows them, which may be those of another network namespace: an interface
 * counts only if it has the same name and the same number. Any thread.
 */
#ifndef VOLLEY_LINK_SYSFS_H
#define VOLLEY_LINK_SYSFS_H

#include <stdbool.h>
#include <stdint.h>

#define SYSFS_NET "/sys/class/net" /* the `folder` of these functions, except in tests */

bool sysfs_shows_link(const char *folder, const char *ifname, unsigned int ifindex);

/* Transmit queues in use (link.h); 0: not known. */
uint32_t sysfs_count_tx_queues(const char *folder, const char *ifname, unsigned int ifindex);

#endif
