/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/dpdk_iface.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "bpf/tables.h"
#include "port/dpdk.h"
#include "xsks.skel.h"

#define AF_XDP_DRIVER "net_af_xdp"
#define HUGE_FOLDER   "/sys/kernel/mm/hugepages"
#define MIB_SHIFT     20
#define ADDRESSES_CAP 64 /* most interfaces */

/* A net_af_xdp device on an interface, in use or kept for the next time. */
struct lent {
	struct dpdk_device *device; /* NULL: the place is free */
	unsigned int ifindex;
	int xsks_fd; /* the map with its sockets */
};

static struct lent lents[ADDRESSES_CAP];
static bool is_started;
static char problem[256]; /* why DPDK was not started */

/* Our addresses, in the XDP program's format; workers read it. Static: a device may use it to the
 * end. */
static struct volley_state ours;

/* --- The words of a device -------------------------------------------------------------------- */

static bool is_dpdk(const struct config_interface *config)
{
	return config->port == CONFIG_PORT_DPDK;
}

/* True if `words` has the parameter `name=value`. */
static bool has_parameter(const char *words, const char *name, const char *value)
{
	size_t name_len = strlen(name), value_len = strlen(value);
	const char *at = words;

	while ((at = strchr(at, ',')) != NULL) {
		at++;
		if (strncmp(at, name, name_len) || at[name_len] != '=')
			continue;
		at += name_len + 1;
		if (!value_len || (!strncmp(at, value, value_len) && strchr(",", at[value_len])))
			return true;
	}
	return false;
}

bool dpdk_iface_is_owned(const struct config_interface *config)
{
	const char *words = config->device;

	if (!is_dpdk(config) || !words)
		return false;
	return strncmp(words, AF_XDP_DRIVER, strlen(AF_XDP_DRIVER)) != 0 ||
	       has_parameter(words, "xdp_prog", "") || !has_parameter(words, "iface", config->name);
}

/* True for a PCI address, false for the name of a driver without hardware. */
static bool is_pci(const char *words)
{
	return words && strspn(words, "0123456789abcdefABCDEF:.") == strcspn(words, ",") &&
	       strchr(words, ':');
}

/* --- Start ------------------------------------------------------------------------------------ */

static uint64_t read_dpdk_iface_number(const char *folder, const char *name)
{
	char path[512];
	unsigned long long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), HUGE_FOLDER "/%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* Free huge pages of all sizes, in bytes: hugepages-2048kB/free_hugepages. */
static uint64_t free_huge_bytes(void)
{
	DIR *dir = opendir(HUGE_FOLDER);
	const struct dirent *entry;
	unsigned long long kib;
	uint64_t n = 0;

	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "hugepages-%llukB", &kib) == 1)
			n += kib * 1024 * read_dpdk_iface_number(entry->d_name, "free_hugepages");
	if (dir)
		closedir(dir);
	return n;
}

static bool wants_huge(const struct config_dpdk *dpdk)
{
	if (dpdk->huge_pages == CONFIG_HUGE_AUTO)
		return free_huge_bytes() >= dpdk->memory_bytes;
	return dpdk->huge_pages == CONFIG_HUGE_ON;
}

void dpdk_iface_begin(const struct config *config)
{
	const char *addresses[ADDRESSES_CAP];
	struct dpdk_eal eal = {
		.huge_pages = wants_huge(&config->dpdk),
		.memory_mib = (uint32_t)(config->dpdk.memory_bytes >> MIB_SHIFT),
		.devices = addresses,
		.options = (const char *const *)config->dpdk.options,
	};
	bool is_wanted = false;

	for (uint32_t i = 0; i < config->n_interfaces; i++) {
		const struct config_interface *c = &config->interfaces[i];

		is_wanted |= is_dpdk(c);
		if (is_dpdk(c) && is_pci(c->device) && eal.n_devices < ADDRESSES_CAP)
			addresses[eal.n_devices++] = c->device;
	}
	if (!is_wanted)
		return;
	while (eal.options && eal.options[eal.n_options])
		eal.n_options++;
	is_started = !dpdk_eal_open(&eal, problem, sizeof(problem));
	if (is_started)
		log_info("DPDK: %u MiB of %s", eal.memory_mib,
			 eal.huge_pages ? "huge pages" : "ordinary memory");
}

static void drop_lent(struct lent *lent)
{
	dpdk_device_close(lent->device);
	close(lent->xsks_fd);
	*lent = (struct lent){ 0 };
}

void dpdk_iface_end(bool keep)
{
	for (size_t i = 0; is_started && !keep && i < ADDRESSES_CAP; i++)
		if (lents[i].device)
			drop_lent(&lents[i]);
	if (is_started && !keep)
		dpdk_eal_close();
	is_started = false;
}

int dpdk_iface_update_services(const struct config_addr *listen, uint32_t n)
{
	uint32_t n_services;

	return is_started ? services_update(&ours, listen, n, &n_services) : 0;
}

/* --- Devices ---------------------------------------------------------------------------------- */

static int check_started(char *err, size_t err_cap)
{
	if (is_started)
		return 0;
	snprintf(err, err_cap, "%s",
		 *problem ? problem : "DPDK was not started with volleyd: restart it");
	return -EOPNOTSUPP;
}

static int open_device(struct dpdk_device **out, const struct config_interface *config,
		       struct dpdk_config *device, char *err, size_t err_cap)
{
	device->rx_descs =
		(uint16_t)(config->ring_size > UINT16_MAX ? UINT16_MAX : config->ring_size);
	device->tx_descs = device->rx_descs;
	device->busy_poll = config->busy_poll_budget != 0;
	return dpdk_device_open(out, device, err, err_cap);
}

int dpdk_iface_open_owned(struct dpdk_device **out, const struct config_interface *config,
			  char *err, size_t err_cap)
{
	struct dpdk_config device = {
		.device = config->device,
		.n_queues = (uint16_t)config->n_queues,
		.services = &ours,
		.tap = config->name,
	};
	int code = check_started(err, err_cap);

	return code ? code : open_device(out, config, &device, err, err_cap);
}

/* Returns a file with the object that DPDK attaches, or -1 with errno. */
static int make_object(void)
{
	size_t size;
	const void *bytes = xsks_bpf__elf_bytes(&size);
	int fd = memory_file_open("volley-xsks", 0);

	if (fd >= 0 && write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Writes the device's parameters: net_af_xdp with our object. Configured parameters stay. */
static void make_words(char *words, size_t cap, const struct config_interface *config,
		       uint32_t n_queues, int object_fd)
{
	int n = config->device ? snprintf(words, cap, "%s", config->device) :
				 snprintf(words, cap, AF_XDP_DRIVER "_%s,iface=%s", config->name,
					  config->name);

	if (n < 0 || (size_t)n >= cap)
		return;
	if (!has_parameter(words, "queue_count", ""))
		n += snprintf(words + n, cap - (size_t)n, ",queue_count=%u", n_queues);
	/* DPDK's default is 64, which is fastest: the worker does the NAPI work itself. */
	if ((size_t)n < cap && config->busy_poll_budget && !has_parameter(words, "busy_budget", ""))
		n += snprintf(words + n, cap - (size_t)n, ",busy_budget=%u",
			      config->busy_poll_budget);
	if ((size_t)n < cap && config->zero_copy == CONFIG_ZERO_COPY_OFF)
		n += snprintf(words + n, cap - (size_t)n, ",force_copy=1");
	if ((size_t)n < cap)
		snprintf(words + n, cap - (size_t)n, ",xdp_prog=/proc/self/fd/%d", object_fd);
}

static int open_af_xdp(struct dpdk_device **out, const struct config_interface *config,
		       uint32_t n_queues, char *err, size_t err_cap)
{
	char words[DPDK_DEVICE_CAP];
	struct dpdk_config device = { .device = words, .n_queues = (uint16_t)n_queues };
	int fd = make_object(), code;

	if (fd < 0) {
		code = -errno;
		snprintf(err, err_cap, "DPDK's XDP program: %s", err_text(code));
		return code;
	}
	make_words(words, sizeof(words), config, n_queues, fd);
	code = open_device(out, config, &device, err, err_cap);
	if (code && n_queues > 1) {
		/* DPDK counts combined channels; if a driver has none, it assumes one queue. */
		device.n_queues = 1;
		make_words(words, sizeof(words), config, 1, fd);
		code = open_device(out, config, &device, err, err_cap);
	}
	close(fd);
	return code;
}

static struct lent *find_lent(unsigned int ifindex)
{
	for (size_t i = 0; i < ADDRESSES_CAP; i++)
		if (lents[i].device && lents[i].ifindex == ifindex)
			return &lents[i];
	return NULL;
}

static int keep_lent(struct dpdk_device *device, unsigned int ifindex, int xsks_fd)
{
	for (size_t i = 0; i < ADDRESSES_CAP; i++) {
		struct lent *lent = &lents[i];

		if (lent->device)
			continue;
		*lent = (struct lent){ device, ifindex, dup(xsks_fd) };
		return lent->xsks_fd < 0 ? -errno : 0;
	}
	return -ENOSPC;
}

static int lend(struct dpdk_device **out, const struct config_interface *config,
		struct program *program, const struct object_maps *maps, uint32_t n_queues,
		char *err, size_t err_cap)
{
	int code = program_lend(program), back;

	if (code) {
		snprintf(err, err_cap, "the XDP program cannot be detached for DPDK: %s",
			 err_text(code));
		return code;
	}
	code = open_af_xdp(out, config, n_queues, err, err_cap);
	back = program_take_back(program, maps, !code);
	if (code)
		return code;
	if (!back)
		back = keep_lent(*out, if_nametoindex(config->name), program_xsks_fd(program));
	if (back) {
		dpdk_device_close(*out);
		snprintf(err, err_cap, "the XDP program cannot be put in the place of DPDK's: %s",
			 err_text(back));
	}
	return back;
}

int dpdk_iface_open_lent(struct dpdk_device **out, const struct config_interface *config,
			 struct program *program, const struct object_maps *maps, uint32_t n_queues,
			 char *err, size_t err_cap)
{
	const struct lent *lent = find_lent(if_nametoindex(config->name));
	int code = check_started(err, err_cap);

	if (code)
		return code;
	if (!lent)
		return lend(out, config, program, maps, n_queues, err, err_cap);
	code = program_use_sockets(program, maps, lent->xsks_fd);
	if (code)
		snprintf(err, err_cap, "the XDP program cannot use DPDK's sockets: %s",
			 err_text(code));
	*out = lent->device;
	return code;
}

uint32_t dpdk_iface_n_queues(const struct dpdk_device *device)
{
	return dpdk_device_queues(device);
}

int dpdk_iface_open_port(struct port **out, struct dpdk_device *device, uint32_t queue,
			 const struct config_interface *config, const struct program *program)
{
	struct dpdk_queue open = { .number = (uint16_t)queue };

	if (program) {
		open.credit = program_queue(program, queue);
		open.tunnels.kinds = config->tunnels;
		open.tunnels.gue_port = config->net_gue_port;
	}
	return dpdk_open(out, device, &open);
}

/* True if the interface is gone for good: its number is not used again. */
static bool is_gone(unsigned int ifindex)
{
	char name[IF_NAMESIZE];

	return !if_indextoname(ifindex, name);
}

void dpdk_iface_set_mtu(struct dpdk_device *device, uint32_t mtu)
{
	dpdk_device_set_mtu(device, mtu);
}

void dpdk_iface_close(struct dpdk_device *device)
{
	for (size_t i = 0; i < ADDRESSES_CAP; i++) {
		if (lents[i].device != device)
			continue;
		if (is_gone(lents[i].ifindex))
			drop_lent(&lents[i]);
		return;
	}
	dpdk_device_close(device);
}

const char *dpdk_iface_driver(const struct dpdk_device *device)
{
	return dpdk_device_driver(device);
}

void dpdk_iface_counters(const struct dpdk_device *device, struct dpdk_iface_counters *out)
{
	struct dpdk_counters c;

	dpdk_device_counters(device, &c);
	*out = (struct dpdk_iface_counters){
		.ipackets = c.ipackets,
		.opackets = c.opackets,
		.imissed = c.imissed,
		.ierrors = c.ierrors,
		.oerrors = c.oerrors,
		.rx_nombuf = c.rx_nombuf,
	};
}
