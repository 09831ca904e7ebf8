/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of a host that volleyctl doctor uses: plain values. gather_*.c reads them, and checks
 * judge them.
 *
 * A negative number is a negative errno: the reason why the fact is not known. -EOPNOTSUPP and
 * -ENOENT mean that the host has no such thing, -EPERM and -EACCES that only root can read it,
 * -EXDEV that it is hidden from this network namespace.
 */
#ifndef VOLLEY_DOCTOR_FACTS_H
#define VOLLEY_DOCTOR_FACTS_H

#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/refusal.h"
#include "config/config.h"

/* the XDP program serves no more; later queues are not checked one by one */
#define DOCTOR_QUEUES    64u
#define DOCTOR_NODES     64u /* of NUMA */
#define DOCTOR_STEERED   8u  /* rules that are reported */
#define DOCTOR_UNLIMITED INT64_MAX

/* The daemon, or this process if no daemon runs. */
struct doctor_process {
	int pid;       /* of the daemon; 0: none runs, and the fields below are of this process */
	uint64_t caps; /* bit n: CAP_ n is permitted */
	int caps_err;
	int64_t memlock_bytes;
	bool is_root; /* this process: euid 0 */
};

struct doctor_cpus {
	cpu_set_t online;
	cpu_set_t isolated;
	cpu_set_t allowed;             /* to this process */
	cpu_set_t slow;                /* processors with another governor than "performance" */
	cpu_set_t nodes[DOCTOR_NODES]; /* processors of each NUMA node */
	char governor[32];             /* of the first slow one */
	int idle_us;                   /* the longest time to wake from a permitted idle state */
	int has_smt;                   /* > 0: two of the workers' processors share a core */
	int n_possible;                /* possible processors of the kernel; 0: not known */
};

/* The result of loading the XDP program without attaching it. */
struct doctor_load {
	bool is_tried; /* false: this process may not load programs */
	int err;
	char why[REFUSAL_CAP];          /* why it does not load */
	char missing[NEEDS_HELPER_CAP]; /* a BPF helper, from needs_find_missing(); or "" */
};

/* The library by which volleyd asks name servers, unless its own forwarder does. */
struct doctor_libunbound {
	char runs[32];      /* version in the daemon; "": no daemon answers, or it does not say */
	char installed[32]; /* "": there is no such library */
	bool is_asked;      /* by the daemon, or perhaps by one with this configuration */
};

struct doctor_host {
	char release[65];
	unsigned int kernel[3]; /* zeros: the release has another form */
	int btf;
	int jit;      /* net.core.bpf_jit_enable */
	int realtime; /* PREEMPT_RT */
	struct doctor_load load;
	int af_xdp;
	int bpffs;
	int64_t available_bytes;
	int64_t cgroup_bytes; /* that its control group still allows */
	int64_t hugepage_bytes;
	int hugetlbfs;
	int irqbalance; /* its PID; 0: it does not run */
	int conntrack;  /* connections tracked now */
	int page_bytes;
	int forwarding4, forwarding6; /* of lo; < 0: the host lacks the protocol */
	struct doctor_process process;
	struct doctor_cpus cpus;
	cpu_set_t workers; /* processors of the workers */
	int n_workers;
	struct doctor_libunbound libunbound;
};

struct doctor_irq {
	int number; /* 0: not known */
	cpu_set_t cpus;
};

enum doctor_program {
	DOCTOR_NO_PROGRAM,
	DOCTOR_VOLLEY,
	DOCTOR_EARLIER,   /* of another ABI, loaded by a volleyd */
	DOCTOR_OTHER_ABI, /* of another ABI, loaded by hand, or with maps of another ABI */
	DOCTOR_FOREIGN,
};

/* A flow rule of the card that sends UDP to port 53 to one queue. */
struct doctor_steer {
	int location;
	int queue; /* -1: the card drops it */
};

/* Features of the kernel's list (ethtool -k): 1: on; 0: off; < 0: missing. */
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
	int mtu;     /* < 0: not visible from here */
	int has_xdp; /* a native XDP program */
};

struct doctor_nic {
	char name[IF_NAMESIZE];
	int ifindex; /* -ENODEV: no such interface */
	bool is_up;
	bool has_carrier;
	int mtu;
	char driver[32]; /* "" if the kernel does not report it */
	char version[32];
	char firmware[32];
	char bus[32];
	char kind[24];           /* from rtnetlink: "vlan", "bond", "veth"; "" for hardware */
	char lower[IF_NAMESIZE]; /* of a VLAN interface: the device below it */
	char vlan[IF_NAMESIZE];  /* a VLAN interface above it; "": none */
	int xdp_features;        /* NETDEV_XDP_ACT_* */
	int xdp_program;         /* enum doctor_program */
	int xdp_generic;
	uint32_t xdp_id;
	char xdp_name[32];
	struct doctor_features features;
	struct doctor_peer peer;

	int n_queues;    /* that receive */
	int n_tx_queues; /* that send; 0: not known */
	int max_queues;  /* the most combined channels of the card */
	int rx_ring, rx_ring_max;
	int tx_ring, tx_ring_max;
	int hash_udp4, hash_udp6; /* RXH_* */
	int rss_queues;           /* how many queues the indirection table uses */
	int rss_outside;          /* 1 if it leads to queues that Volley does not serve */
	int pause_tx;
	int n_steered; /* number of flow rules for UDP to port 53 */
	struct doctor_steer steered[DOCTOR_STEERED];
	int rps;      /* number of queues whose packets go to other processors */
	int threaded; /* NAPI runs in threads */
	int defer_hard_irqs;
	int64_t gro_flush_ns;
	int numa_node;
	int rp_filter;
	int is_default_route; /* the default route leaves by it */
	struct doctor_irq irqs[DOCTOR_QUEUES];
	/* how many queues' interrupts were found in /proc/interrupts */
	int n_irqs;
	int queue_cpus[DOCTOR_QUEUES]; /* the processor of each queue's worker; -1: not known */
	int serves;                    /* number of queues that are to have a worker */
};

/* One address of server.listen. */
struct doctor_service {
	char text[72];    /* "192.0.2.53@53" */
	char address[72]; /* without the port */
	uint16_t port;
	bool is_wildcard;
	int is_here; /* as addr_here() says */
	/* by another process than the daemon; 2: by an unknown process, since we are not root */
	int udp_taken;
	int tcp_taken;
	char holder[32]; /* the name of the process, if known */
};

/* What the running daemon reports. */
struct doctor_daemon {
	int err; /* 0: it answers; -ENOENT: none runs; -EACCES, ... */
	bool is_ready;
	int pid;
	int n_workers;
	int n_degraded;
	char degraded[4][400]; /* the first ones */
};

/* The facts that a check may use. */
struct doctor_case {
	const struct doctor_host *host;
	const struct doctor_daemon *daemon;
	const struct config *config;         /* NULL: none */
	const char *config_path;             /* of that file */
	const char *config_err;              /* why it could not be read, or "" */
	const struct config_interface *want; /* of nic: its configuration, or the defaults */
	const struct doctor_nic *nic;        /* NULL for checks of the host and of services */
	const struct doctor_service *service;
	uint64_t umem_bytes; /* of all interfaces */
};

#endif
