/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/iface.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "port/xsk.h"

#define BUSY_POLL_US 20u
#define FRAMES_MIN   1024u

const char *iface_state_text(enum iface_state state)
{
	static const char *const texts[] = { "down", "up", "gone", "degraded" };

	return texts[state];
}

void iface_init(struct iface *iface, const struct config_interface *config)
{
	*iface = (struct iface){ .config = *config, .wanted = true };
}

__attribute__((format(printf, 2, 3))) static void degrade(struct iface *iface, const char *format,
							  ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(iface->note, sizeof(iface->note), format, args);
	va_end(args);
	iface->state = IFACE_DEGRADED;
	log_warn("%s", iface->note);
}

/* --- What the kernel says of the interface ------------------------------------------------------- */

static int ask_interface(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	err = ioctl(fd, request, ifr) ? -errno : 0;
	close(fd);
	return err;
}

/* Receive queues: combined and receive-only channels; 1 where the driver does not say. */
static uint32_t count_queues(const char *name)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq ifr = { .ifr_data = (void *)&channels };
	uint32_t n;

	if (ask_interface(name, SIOCETHTOOL, &ifr))
		return 1;
	n = channels.combined_count + channels.rx_count;
	return n ? n : 1;
}

void iface_update_mac(struct iface *iface)
{
	static const uint8_t unknown[6];
	struct ifreq ifr = { 0 };

	if (!iface->program)
		return;
	if (ask_interface(iface->config.name, SIOCGIFHWADDR, &ifr) ||
	    ifr.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		program_set_mac(iface->program, unknown);
	else
		program_set_mac(iface->program, (const uint8_t *)ifr.ifr_hwaddr.sa_data);
}

bool iface_is_sound(const struct iface *iface)
{
	if (if_nametoindex(iface->config.name) != iface->ifindex)
		return false;
	return !iface->program || program_is_attached(iface->program);
}

bool iface_is_cleared(const struct iface *iface)
{
	if (iface->attach_err != -EBUSY && iface->attach_err != -EPROTO)
		return false;
	return program_is_welcome(iface->config.name);
}

/* --- Program ------------------------------------------------------------------------------------- */

int iface_attach(struct iface *iface, struct object_maps *maps, const struct cache_sizes *sizes)
{
	struct program_want want = {
		.ifname = iface->config.name,
		.native_only = iface->config.xdp == CONFIG_XDP_NATIVE,
		.generic_only = iface->config.xdp == CONFIG_XDP_GENERIC,
		.driver_answers = iface->config.driver_answers,
		.sizes = *sizes,
	};
	char err[sizeof(iface->note)];
	int code;

	iface->note[0] = 0;
	iface->attach_err = 0;
	iface->state = IFACE_DOWN;
	iface->ifindex = if_nametoindex(iface->config.name);
	if (iface->config.xdp == CONFIG_XDP_OFF && iface->ifindex)
		return 0;
	code = program_open(&iface->program, maps, &want, err, sizeof(err));
	iface->attach_err = code;
	if (code) {
		iface->program = NULL;
		/* With the first two, volleyd does not even start. */
		degrade(iface, "%s%s", err,
			code == -EPROTO || code == ERR_RUNNING ? "" : "; kernel sockets answer");
		if (code == -ENODEV)
			iface->state = IFACE_GONE;
		return code;
	}
	iface->state = IFACE_UP;
	iface_update_mac(iface);
	log_info("%s: XDP program %u, %s, %s", iface->config.name, program_id(iface->program),
		 program_mode_text(program_mode(iface->program)),
		 program_origin_text(program_origin(iface->program)));
	return 0;
}

/* --- AF_XDP -------------------------------------------------------------------------------------- */

static int open_xsk(const struct iface *iface, uint32_t queue, struct port **port)
{
	static const enum xsk_mode modes[] = { XSK_AUTO, XSK_ZEROCOPY, XSK_COPY };
	const struct config_interface *c = &iface->config;
	struct xsk_config config = {
		.ifname = c->name,
		.queue = queue,
		.xsks_map_fd = program_xsks_fd(iface->program),
		.xdp_flags = program_xdp_flags(iface->program),
		.mode = modes[c->zero_copy],
		.n_frames = c->n_umem_frames,
		.ring_cap = c->ring_size,
		.busy_poll_us = c->busy_poll_budget ? BUSY_POLL_US : 0,
		.busy_poll_budget = c->busy_poll_budget,
	};
	int err = xsk_open(port, &config);

	/* RLIMIT_MEMLOCK: rather a smaller UMEM than none. */
	while (err == -ENOBUFS && config.n_frames > FRAMES_MIN) {
		config.n_frames /= 2;
		if (config.ring_cap > config.n_frames / 2)
			config.ring_cap = config.n_frames / 2;
		err = xsk_open(port, &config);
		if (!err)
			log_notice("%s: queue %u: %u frames: no more may be locked (CAP_IPC_LOCK "
				   "or RLIMIT_MEMLOCK)",
				   c->name, queue, config.n_frames);
	}
	return err;
}

static int add_queue(struct iface *iface, struct crew *crew, uint32_t queue)
{
	const struct config_interface *c = &iface->config;
	int cpu = queue < c->n_cores ? c->cores[queue] : WORKER_CPU_ANY;
	struct port *port;
	int err = open_xsk(iface, queue, &port);

	if (err)
		return err;
	err = crew_add(crew, crew_worker_for(crew, queue, cpu), port);
	if (err) {
		port_close(port);
		return err;
	}
	iface->ports[queue] = port;
	iface->is_zerocopy = xsk_is_zerocopy(port);
	iface->n_queues++;
	return 0;
}

void iface_open_ports(struct iface *iface, struct crew *crew)
{
	const struct config_interface *c = &iface->config;
	uint32_t n, queue;
	int err;

	if (!iface->program || c->port == CONFIG_PORT_SOCKET)
		return;
	if (c->port == CONFIG_PORT_DPDK) {
		degrade(iface, "%s: this volleyd was built without DPDK; kernel sockets answer",
			c->name);
		return;
	}
	n = count_queues(c->name);
	if (c->n_queues && c->n_queues < n)
		n = c->n_queues;
	for (queue = 0; queue < n && queue < VOLLEY_QUEUES; queue++) {
		err = add_queue(iface, crew, queue);
		if (err) {
			degrade(iface, "%s: queue %u: no AF_XDP socket (%s); kernel sockets answer",
				c->name, queue, err_text(err));
			return;
		}
	}
	log_info("%s: AF_XDP on %u queue(s), %s", c->name, iface->n_queues,
		 iface->is_zerocopy ? "zero-copy" : "copy");
}

void iface_close(struct iface *iface, struct crew *crew, bool keep)
{
	uint32_t queue;

	for (queue = 0; queue < VOLLEY_QUEUES; queue++) {
		if (iface->ports[queue])
			crew_remove(crew, iface->ports[queue]);
		iface->ports[queue] = NULL;
	}
	program_close(iface->program, keep);
	iface->program = NULL;
	iface->n_queues = 0;
	iface->ifindex = 0;
	iface->state = IFACE_DOWN;
}
