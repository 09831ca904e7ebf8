/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/dpdk_port.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xdp/key.h"

#define MAC_BYTES 6

static int set_dpdk_tap(int fd, unsigned long request, struct ifreq *ifr)
{
	return ioctl(fd, request, ifr) ? -errno : 0;
}

static int set_up_dpdk_tap(const char *ifname, const uint8_t mac[6], uint16_t mtu)
{
	struct ifreq ifr = { .ifr_hwaddr.sa_family = ARPHRD_ETHER };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	memcpy(ifr.ifr_hwaddr.sa_data, mac, MAC_BYTES);
	err = set_dpdk_tap(fd, SIOCSIFHWADDR, &ifr);
	ifr.ifr_mtu = mtu;
	if (!err)
		err = set_dpdk_tap(fd, SIOCSIFMTU, &ifr);
	if (!err)
		err = set_dpdk_tap(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	if (!err)
		err = set_dpdk_tap(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return err;
}

int exception_open(const char *ifname, const uint8_t mac[6], uint16_t mtu)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	err = set_dpdk_tap(fd, TUNSETIFF, &ifr);
	if (!err)
		err = set_up_dpdk_tap(ifname, mac, mtu);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static bool is_dpdk_tap_service(const struct volley_state *services,
				const struct volley_service *to)
{
	const uint32_t at = __atomic_load_n(&services->services_at, __ATOMIC_ACQUIRE) & 1;
	const struct volley_services *t = &services->services[at];
	const uint32_t slot = volley_service_place(t, to);

	for (uint32_t i = 0; i < VOLLEY_SERVICE_PROBES; i++) {
		const struct volley_service *s = &t->slots[(slot + i) % VOLLEY_SERVICE_SLOTS];

		if (__atomic_load_n(&s->family, __ATOMIC_ACQUIRE) == to->family &&
		    s->port == to->port && !memcmp(s->address, to->address, sizeof(to->address)))
			return true;
	}
	return false;
}

bool exception_is_ours(const struct volley_state *services, const uint8_t mac[6],
		       const struct frame *f, const uint8_t *bytes)
{
	struct volley_service to = { .port = f->local_port };

	if (memcmp(bytes, mac, MAC_BYTES))
		return false;
	to.family = f->family == AF_INET ? 4 : 6;
	memcpy(to.address, f->local, to.family == 4 ? 4 : 16);
	return is_dpdk_tap_service(services, &to);
}

bool exception_give(int fd, const uint8_t *bytes, uint32_t len)
{
	return write(fd, bytes, len) == (ssize_t)len;
}

uint32_t exception_take(int fd, uint8_t *bytes, uint32_t cap)
{
	ssize_t n = read(fd, bytes, cap);

	return n > 0 ? (uint32_t)n : 0;
}
