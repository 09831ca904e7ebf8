/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queues of an interface that DPDK reads: see iface/dpdk_iface.h for the two kinds. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "iface/cores.h"
#include "iface/dpdk_iface.h"
#include "iface/iface.h"

/* Opens all ports of the device. No worker has them yet. */
static int open_iface_dpdk_ports(struct iface *iface)
{
	uint32_t n = dpdk_iface_n_queues(iface->dpdk);
	int err = 0;

	for (uint32_t queue = 0; !err && queue < n && queue < VOLLEY_QUEUES; queue++)
		err = dpdk_iface_open_port(&iface->ports[queue], iface->dpdk, queue, &iface->config,
					   iface->program);
	return err;
}

static int give_to_workers(struct iface *iface, struct workers *workers)
{
	const struct config_interface *c = &iface->config;
	int err = 0;

	for (uint32_t queue = 0; !err && queue < VOLLEY_QUEUES && iface->ports[queue]; queue++) {
		const int cpu = queue < c->n_cores ? c->cores[queue] : WORKER_CPU_ANY;

		err = workers_add(workers,
				  workers_for_queue(workers, queue, cpu, cores_link_node(c->name)),
				  iface->ports[queue]);
		iface->n_queues += !err;
	}
	return err;
}

/* Closes all ports. Workers have the first n_queues of them. */
static void close_ports(struct iface *iface, struct workers *workers)
{
	for (uint32_t queue = 0; queue < VOLLEY_QUEUES; queue++) {
		if (queue < iface->n_queues)
			workers_remove(workers, iface->ports[queue]);
		else
			port_close(iface->ports[queue]);
		iface->ports[queue] = NULL;
	}
	iface->n_queues = 0;
}

void iface_close_dpdk(struct iface *iface, struct workers *workers)
{
	iface->is_dpdk_tried = false;
	if (!iface->dpdk)
		return;
	close_ports(iface, workers);
	dpdk_iface_close(iface->dpdk);
	iface->dpdk = NULL;
}

int iface_attach_dpdk(struct iface *iface, char *err, size_t err_cap)
{
	int code = dpdk_iface_open_owned(&iface->dpdk, &iface->config, err, err_cap);

	if (code)
		return code;
	code = open_iface_dpdk_ports(iface);
	if (code) {
		snprintf(err, err_cap, "no tap interface for DPDK's device: %s", err_text(code));
		iface_close_dpdk(iface, NULL);
		return code;
	}
	iface->ifindex = if_nametoindex(iface->config.name);
	iface->state = IFACE_UP;
	return 0;
}

static uint32_t n_iface_dpdk_wanted(const struct iface *iface)
{
	uint32_t n = iface->link.n_queues ? iface->link.n_queues : 1;

	return iface->config.n_queues && iface->config.n_queues < n ? iface->config.n_queues : n;
}

static int open_lent(struct iface *iface, char *err, size_t err_cap)
{
	int code;

	if (!iface->program) {
		snprintf(err, err_cap, "port: dpdk needs the XDP program, or a device of its own");
		return -EINVAL;
	}
	code = dpdk_iface_open_lent(&iface->dpdk, &iface->config, iface->program, iface->maps,
				    n_iface_dpdk_wanted(iface), err, err_cap);
	if (code)
		iface->dpdk = NULL;
	else
		code = open_iface_dpdk_ports(iface);
	if (iface->dpdk && code)
		snprintf(err, err_cap, "DPDK's queues: %s", err_text(code));
	return code;
}

void iface_open_dpdk(struct iface *iface, struct workers *workers)
{
	char err[IFACE_REMARK_CAP - 64];
	int code;

	if (iface->is_dpdk_tried)
		return;
	iface->is_dpdk_tried = true;
	code = iface->dpdk ? 0 : open_lent(iface, err, sizeof(err));
	if (!code) {
		code = give_to_workers(iface, workers);
		snprintf(err, sizeof(err), "DPDK's queues: %s", err_text(code));
	}
	if (code) {
		iface_say(iface, IFACE_TOPIC_QUEUES, true, "%s; kernel sockets answer", err);
		return;
	}
	iface_unsay(iface, IFACE_TOPIC_QUEUES);
	iface_update_link(iface);
	log_info("%s: DPDK (%s) on %u queue(s)", iface->config.name, dpdk_iface_driver(iface->dpdk),
		 iface->n_queues);
}
