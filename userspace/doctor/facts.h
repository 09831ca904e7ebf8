/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What volleyctl doctor knows of a host: plain values, filled by gather_*.c and read by checks.
 *
 * A number below 0 is a negative errno: why the fact is not known. -EOPNOTSUPP and -ENOENT mean
 * that there is no such thing here, -EPERM and -EACCES that root would see it, -EXDEV that it is
 * not to be seen from this network namespace.
 */
#ifndef VOLLEY_DOCTOR_FACTS_H
#define VOLLEY_DOCTOR_FACTS_H

#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/needs.h"
#include "bpf/refusal.h"
#include "config/config.h"

#define DOCTOR_QUEUES    64u /* more than the XDP program serves are not looked at one by one */
#define DOCTOR_NODES     64u /* of NUMA */
#define DOCTOR_STEERED   8u  /* rules that are told */
#define DOCTOR_UNLIMITED INT64_MAX

/* The daemon, or, where none runs, this process in its place. */
struct doctor_process {
	int pid;       /* of the daemon; 0: none runs, the rest is of this process */
	uint64_t caps; /* bit n: CAP_ n is permitted */
	int caps_err;
	int64_t memlock_bytes;
	bool is_root; /* this process: euid 0 */
};

struct doctor_cpus {
	cpu_set_t online;
	cpu_set_t isolated;
	cpu_set_t allowed;             /* for this process */
	cpu_set_t slow;                /* whose governor is not "performance" */
	cpu_set_t nodes[DOCTOR_NODES]; /* processors of each NUMA node */
	char governor[32];             /* of the first slow one */
	int idle_us;                   /* the longest time to wake from a permitted idle state */
	int has_smt;    /* two of the workers' processors are one core: one of them, or < 0 */
	int n_possible; /* processors that the kernel is ready for; 0: not known */
};

/* Whether the XDP program loads: it is loaded, attached nowhere, and let go. */
struct doctor_load {
	bool is_tried; /* false: this process may not load programs */
	int err;
	char why[REFUSAL_CAP];          /* it does not */
	char missing[NEEDS_HELPER_CAP]; /* a BPF helper, as needs_find_missing() has it; "" */
};

struct doctor_host {
	char release[65];
	unsigned int kernel[3]; /* zeros: the release has no such form */
	int btf;
	int jit;      /* net.core.bpf_jit_enable */
	int realtime; /* PREEMPT_RT */
	struct doctor_load load;
	int af_xdp;
	int bpffs;
	int64_t available_bytes;
	int64_t cgroup_bytes; /* what its control group leaves */
	int64_t hugepage_bytes;
	int hugetlbfs;
	int irqbalance; /* its pid, 0: it does not run */
	int conntrack;  /* connections tracked now */
	int page_bytes;
	int forwarding4, forwarding6; /* of lo; < 0 without that protocol */
	struct doctor_process process;
	struct doctor_cpus cpus;
	cpu_set_t workers; /* processors of the workers */
	int n_workers;
};

struct doctor_irq {
	int number; /* 0: not known */
	cpu_set_t cpus;
};

enum doctor_program {
	DOCTOR_NO_PROGRAM,
	DOCTOR_VOLLEY,
	DOCTOR_EARLIER,   /* of another ABI, by a volleyd */
	DOCTOR_OTHER_ABI, /* loaded by hand, or with maps that are not those of this ABI */
	DOCTOR_FOREIGN,
};

/* A flow rule of the card that takes UDP to port 53 somewhere. */
struct doctor_steer {
	int location;
	int queue; /* -1: dropped */
};

/* Features of the kernel's list (ethtool -k): 1 on, 0 off, < 0 not there. */
struct doctor_features {
	int lro;
	int gro;
	int gro_hw;
	int gro_hw_fixed; /* on, and cannot be changed */
	int rx_vlan;
	int rx_vlan_fixed;
};

/* The other end of a veth pair. */
struct doctor_peer {
	int mtu;     /* < 0: not to be seen from here */
	int has_xdp; /* natively */
};

struct doctor_nic {
	char name[IF_NAMESIZE];
	int ifindex; /* -ENODEV: there is none */
	bool is_up;
	bool has_carrier;
	int mtu;
	char driver[32]; /* "" where the kernel does not say */
	char version[32];
	char firmware[32];
	char bus[32];
	char kind[16];           /* of rtnetlink: "vlan", "bond", "veth"; "" for hardware */
	char lower[IF_NAMESIZE]; /* of a VLAN its device */
	char vlan[IF_NAMESIZE];  /* a VLAN that stands on it; "": none */
	int xdp_features;        /* NETDEV_XDP_ACT_* */
	int xdp_program;         /* enum doctor_program */
	int xdp_generic;
	uint32_t xdp_id;
	char xdp_name[32];
	struct doctor_features features;
	struct doctor_peer peer;

	int n_queues;    /* that receive */
	int n_tx_queues; /* that send; 0: not known */
	int max_queues;  /* combined channels that the card has at most */
	int rx_ring, rx_ring_max;
	int tx_ring, tx_ring_max;
	int hash_udp4, hash_udp6; /* RXH_* */
	int rss_queues;           /* how many queues the indirection table uses */
	int rss_outside;          /* whether it leads to queues that Volley does not serve */
	int pause_tx;
	int n_steered; /* rules for UDP to port 53 that lead away */
	struct doctor_steer steered[DOCTOR_STEERED];
	int rps;      /* queues whose packets go to other processors */
	int threaded; /* its NAPI is threads */
	int defer_hard_irqs;
	int64_t gro_flush_ns;
	int numa_node;
	int rp_filter;
	int is_default_route; /* whether replies to everybody leave here */
	struct doctor_irq irqs[DOCTOR_QUEUES];
	int n_irqs;                    /* of queues, found in /proc/interrupts */
	int queue_cpus[DOCTOR_QUEUES]; /* of the worker of each queue; -1: not known */
	int serves;                    /* queues that are to have a worker */
};

/* One of server.listen. */
struct doctor_service {
	char text[64];    /* "192.0.2.53@53" */
	char address[48]; /* without the port */
	uint16_t port;
	bool is_wildcard;
	int is_here;   /* on an interface of this namespace */
	int udp_taken; /* by another process than the daemon; 2: by somebody, seen without root */
	int tcp_taken;
	char holder[32]; /* its name, where known */
};

/* What the running daemon says. */
struct doctor_daemon {
	int err; /* 0: it answers; -ENOENT: none runs; -EACCES, ... */
	bool is_ready;
	int pid;
	int n_workers;
	int n_degraded;
	char degraded[4][400]; /* the first ones */
};

/* All that a check may look at. */
struct doctor_case {
	const struct doctor_host *host;
	const struct doctor_daemon *daemon;
	const struct config *config;         /* NULL: none */
	const char *config_path;             /* of which */
	const char *config_err;              /* why it could not be read; "" */
	const struct config_interface *want; /* of nic: as configured, or the defaults */
	const struct doctor_nic *nic;        /* NULL for checks of the host and of services */
	const struct doctor_service *service;
	uint64_t umem_bytes; /* of all interfaces */
};

#endif
