// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a kernel that does not tell how many transmit queues there are: generic netlink
 * has no family netdev (before 6.3), and a driver's channels do not count them. test_leaving.py
 * compiles it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

struct mnl_socket;

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t n)
{
	ssize_t (*real)(const struct mnl_socket *, const void *, size_t) =
		(ssize_t(*)(const struct mnl_socket *, const void *,
			    size_t))dlsym(RTLD_NEXT, "mnl_socket_sendto");

	if (memmem(buf, n, "netdev", sizeof("netdev"))) {
		errno = ENOENT;
		return -1;
	}
	return real(nl, buf, n);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, void *) =
		(int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	struct ethtool_channels *channels;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ret = real(fd, request, arg);
	if (ret || request != SIOCETHTOOL)
		return ret;
	channels = (void *)((struct ifreq *)arg)->ifr_data;
	if (channels->cmd == ETHTOOL_GCHANNELS)
		channels->tx_count = 0;
	return 0;
}
