/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interfaces whose queues DPDK reads (port: dpdk). Two kinds:
 *
 *      lent    net_af_xdp on a kernel interface. Our XDP program is found or loaded as usual. DPDK
 *              attaches its program only where there is none. So ours is lent: it is detached, DPDK
 *              attaches xdp/xsks.bpf.c and enters its sockets there, then ours replaces that
 *              program and takes over the sockets. The driver of DPDK 22.11 does not release a
 *              socket, so the device is kept for the next time while the interface is the same.
 *      owned   Any other device: DPDK owns it. No XDP; the interface is a tap that is created for
 *              the device, and shows it to the kernel (port/dpdk_port.h).
 *
 * Without DPDK, dpdk_iface_none.c takes their place. Control's thread calls all these functions.
 */
#ifndef VOLLEY_IFACE_DPDK_IFACE_H
#define VOLLEY_IFACE_DPDK_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/object.h"
#include "broker/program.h"
#include "config/config.h"
#include "port/port.h"

struct dpdk_device;

/* The device's own counters, for reports. */
struct dpdk_iface_counters {
	uint64_t ipackets, opackets, imissed, ierrors, oerrors, rx_nombuf;
};

/* True if DPDK owns the interface's device, so that it has no XDP program. */
bool dpdk_iface_is_owned(const struct config_interface *config);

/*
 * Starts DPDK if an interface is configured for it. Call it before other threads start. If it
 * fails, or DPDK is not built in, the functions that open devices return the reason.
 */
void dpdk_iface_begin(const struct config *config);
/*
 * Call it after the last device was closed. With `keep` XDP programs stay on their interfaces, so
 * DPDK's resources there stay until the process ends.
 */
void dpdk_iface_end(bool keep);

/* Sets our addresses for devices that DPDK owns. 0 or an error of services_update(). */
int dpdk_iface_update_services(const struct config_addr *listen, uint32_t n)
	__attribute__((warn_unused_result));

/* Opens the device that DPDK owns, and its tap. 0, or a negative code with a sentence in err. */
int dpdk_iface_open_owned(struct dpdk_device **out, const struct config_interface *config,
			  char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * Opens net_af_xdp with n_queues on the interface of `program`. When this returns, `program` is
 * attached again, with DPDK's sockets. maps: of its cache. 0, or a negative code with a sentence in
 * err.
 */
int dpdk_iface_open_lent(struct dpdk_device **out, const struct config_interface *config,
			 struct program *program, const struct object_maps *maps, uint32_t n_queues,
			 char *err, size_t err_cap) __attribute__((warn_unused_result));

uint32_t dpdk_iface_n_queues(const struct dpdk_device *device);

/* Opens the port of a queue; `program` is the device's XDP program, or NULL. 0 or -errno. */
int dpdk_iface_open_port(struct port **out, struct dpdk_device *device, uint32_t queue,
			 const struct config_interface *config, const struct program *program)
	__attribute__((warn_unused_result));

/* Limits replies to this MTU from now on. 0: no change. */
void dpdk_iface_set_mtu(struct dpdk_device *device, uint32_t mtu);

/* Call it after all ports of the device were closed. */
void dpdk_iface_close(struct dpdk_device *device);

/* "net_af_xdp". */
const char *dpdk_iface_driver(const struct dpdk_device *device);
void dpdk_iface_counters(const struct dpdk_device *device, struct dpdk_iface_counters *out);

#endif
