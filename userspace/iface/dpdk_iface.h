/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interfaces whose queues DPDK reads (port: dpdk). Two kinds:
 *
 *      net_af_xdp on a kernel interface       our XDP program is found or loaded as ever. DPDK attaches a
 *                                             program of its own choice only where there is none,
 *                                             so ours is
 *                                             lent: taken off, then put in the place of
 *                                             xdp/xsks.bpf.c, which DPDK attached, with the sockets
 *                                             that it entered there. The driver of DPDK 22.11 does
 *                                             not let go of a socket, so the device stays for the
 *                                             next time as long as the interface is the same
 *      any other device                       DPDK's own. No XDP; the interface is a tap that is made for
 *                                             it, by which the kernel sees it
 *                                             (port/dpdk_exception.h)
 *
 * Where volleyd was built without DPDK dpdk_iface_none.c says so. Control's thread calls all of
 * these.
 */
#ifndef VOLLEY_IFACE_DPDK_IFACE_H
#define VOLLEY_IFACE_DPDK_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/object.h"
#include "bpf/program.h"
#include "config/config.h"
#include "port/port.h"

struct dpdk_device;

/* What the device says of itself, for reports. */
struct dpdk_iface_counters {
	uint64_t ipackets, opackets, imissed, ierrors, oerrors, rx_nombuf;
};

/* Whether DPDK owns the interface's device, so that it has no XDP program. */
bool dpdk_iface_is_owned(const struct config_interface *config);

/*
 * Starts DPDK if an interface asks for it; before there are other threads. Why it could not be
 * started, or that it is not built in, is said by those that open devices.
 */
void dpdk_iface_begin(const struct config *config);
/*
 * After the last device was closed. With `keep` XDP programs stay on their interfaces, so what DPDK
 * has there is left to the end of the process.
 */
void dpdk_iface_end(bool keep);

/* Which addresses are ours, for devices that DPDK owns. 0 or as services_update(). */
int dpdk_iface_update_services(const struct config_addr *listen, uint32_t n)
	__attribute__((warn_unused_result));

/*
 * Opens the device that DPDK owns, and its tap. n_queues: 0 for all that it has. 0, or a negative
 * code with a sentence in err.
 */
int dpdk_iface_open_owned(struct dpdk_device **out, const struct config_interface *config,
			  char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * Opens net_af_xdp with n_queues on the interface of `program`, which is on the interface again
 * when this returns, with other sockets behind it; maps are those of its cache. 0, or a negative
 * code with a sentence in err.
 */
int dpdk_iface_open_lent(struct dpdk_device **out, const struct config_interface *config,
			 struct program *program, const struct object_maps *maps, uint32_t n_queues,
			 char *err, size_t err_cap) __attribute__((warn_unused_result));

uint32_t dpdk_iface_n_queues(const struct dpdk_device *device);

/* The port of a queue; `program` is the one before it, or NULL. 0 or -errno. */
int dpdk_iface_open_port(struct port **out, struct dpdk_device *device, uint32_t queue,
			 const struct config_interface *config, const struct program *program)
	__attribute__((warn_unused_result));

/* Replies keep to it from now on. 0: as it is. */
void dpdk_iface_set_mtu(struct dpdk_device *device, uint32_t mtu);

/* After its ports. */
void dpdk_iface_close(struct dpdk_device *device);

/* "net_af_xdp". */
const char *dpdk_iface_driver(const struct dpdk_device *device);
void dpdk_iface_counters(const struct dpdk_device *device, struct dpdk_iface_counters *out);

#endif
