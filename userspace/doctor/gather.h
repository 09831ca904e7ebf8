/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that gather the facts of a host (facts.h). A fact that cannot be read becomes a
 * negative errno. They change nothing, and wait for nothing except the kernel. One thread.
 */
#ifndef VOLLEY_DOCTOR_GATHER_H
#define VOLLEY_DOCTOR_GATHER_H

#include <jansson.h>

#include "doctor/facts.h"
#include "link/link.h"

/* --- Files of /proc and /sys ------------------------------------------------------------------ */

/* Reads the first line of the file FORMAT, without newline. 0, or -errno with BUF "". */
int doctor_read_line(char *buf, size_t cap, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The whole number in a file, or -errno. A negative number gives -ENODATA. */
int64_t doctor_read_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reads a list such as "0-3,8". The set is empty after an error. */
void doctor_read_cpus(cpu_set_t *cpus, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --- Host ------------------------------------------------------------------------------------- */

/* Kernel, BPF, memory and the process. PID is the daemon's, or 0. */
void doctor_gather_host(struct doctor_host *host, int pid);
/*
 * libunbound. STATUS is the daemon's, CONFIG the configuration that was read; each may be NULL.
 * The library is loaded and closed again.
 */
void doctor_gather_libunbound(struct doctor_libunbound *u, const json_t *status,
			      const struct config *config);
/* Processors. WORKERS are those on which workers run. */
void doctor_gather_cpus(struct doctor_cpus *cpus, const cpu_set_t *workers);

/* --- Interface -------------------------------------------------------------------------------- */

/* Calls the functions below. */
void doctor_gather_nic(struct doctor_nic *nic, const char *name);
/* ethtool's ioctl: driver, queues, rings, features, RSS, flow rules, pause. */
void doctor_gather_ethtool(struct doctor_nic *nic, const struct link *link);
/* rtnetlink: kind, device below, the peer; generic netlink: XDP features, NAPI. */
void doctor_gather_netlink(struct doctor_nic *nic, const struct link *link);
/* The XDP program: whose it is, as far as we may read it. */
void doctor_gather_program(struct doctor_nic *nic);
/* Its values in /sys/class/net and /proc/sys/net, and the interrupts of its queues. */
void doctor_gather_sysfs(struct doctor_nic *nic, const struct link *link);
/*
 * The receive queue that an interrupt's name in /proc/interrupts means, or -1. Drivers use names
 * such as "eth0-TxRx-3", "ice-eth0-TxRx-3", "eth0-rx-3", "virtio1-input.3" and
 * "mlx5_comp3@pci:0000:01:00.0".
 */
int doctor_irq_queue(const char *name);

/* --- Services and daemon ---------------------------------------------------------------------- */

/* Is the address on this host, and does another process than PID have its port? */
void doctor_gather_service(struct doctor_service *service, const struct config_addr *addr, int pid);

/*
 * Asks the daemon behind the socket at PATH. *STATUS and *PORTS are new references to its replies,
 * or NULL.
 */
void doctor_gather_daemon(struct doctor_daemon *daemon, const char *path, json_t **status,
			  json_t **ports);

#endif
