/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces dpdk_iface.c if volleyd is built without DPDK. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "iface/dpdk_iface.h"

static int refuse_dpdk_iface_none(char *err, size_t err_cap)
{
	snprintf(err, err_cap, "this volleyd was built without DPDK");
	return -EOPNOTSUPP;
}

bool dpdk_iface_is_owned(const struct config_interface *config)
{
	(void)config;
	return false;
}

void dpdk_iface_begin(const struct config *config)
{
	(void)config;
}

void dpdk_iface_end(bool keep)
{
	(void)keep;
}

int dpdk_iface_update_services(const struct config_addr *listen, uint32_t n)
{
	(void)listen;
	(void)n;
	return 0;
}

int dpdk_iface_open_owned(struct dpdk_device **out, const struct config_interface *config,
			  char *err, size_t err_cap)
{
	(void)out;
	(void)config;
	return refuse_dpdk_iface_none(err, err_cap);
}

int dpdk_iface_open_lent(struct dpdk_device **out, const struct config_interface *config,
			 struct program *program, const struct object_maps *maps, uint32_t n_queues,
			 char *err, size_t err_cap)
{
	(void)out;
	(void)config;
	(void)program;
	(void)maps;
	(void)n_queues;
	return refuse_dpdk_iface_none(err, err_cap);
}

uint32_t dpdk_iface_n_queues(const struct dpdk_device *device)
{
	(void)device;
	return 0;
}

int dpdk_iface_open_port(struct port **out, struct dpdk_device *device, uint32_t queue,
			 const struct config_interface *config, const struct program *program)
{
	(void)config;
	(void)program;
	(void)out;
	(void)device;
	(void)queue;
	return -EOPNOTSUPP;
}

void dpdk_iface_set_mtu(struct dpdk_device *device, uint32_t mtu)
{
	(void)device;
	(void)mtu;
}

void dpdk_iface_close(struct dpdk_device *device)
{
	(void)device;
}

const char *dpdk_iface_driver(const struct dpdk_device *device)
{
	(void)device;
	return "";
}

void dpdk_iface_counters(const struct dpdk_device *device, struct dpdk_iface_counters *out)
{
	(void)device;
	memset(out, 0, sizeof(*out));
}
