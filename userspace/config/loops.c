/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

static size_t n_bytes(const struct config_addr *addr)
{
	return addr->family == AF_INET ? 4 : 16;
}

static bool is_loop_wildcard(const struct config_addr *addr)
{
	static const uint8_t none[16];

	return !memcmp(addr->addr, none, n_bytes(addr));
}

static bool is_loopback(const struct config_addr *addr)
{
	static const uint8_t one[16] = { [15] = 1 };

	return addr->family == AF_INET ? addr->addr[0] == 127 : !memcmp(addr->addr, one, 16);
}

static bool is_loop_same(const struct sockaddr *have, const struct config_addr *addr)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)have;
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)have;

	if (!have || have->sa_family != addr->family)
		return false;
	if (have->sa_family == AF_INET)
		return !memcmp(&four->sin_addr, addr->addr, 4);
	return !memcmp(&six->sin6_addr, addr->addr, 16) &&
	       (!addr->scope_id || six->sin6_scope_id == addr->scope_id);
}

static bool is_of_host(const struct config_addr *addr)
{
	struct ifaddrs *all, *one;
	bool is_there = false;

	if (getifaddrs(&all))
		return false;
	for (one = all; one && !is_there; one = one->ifa_next)
		is_there = is_loop_same(one->ifa_addr, addr);
	freeifaddrs(all);
	return is_there;
}

const struct config_addr *loops_find(const struct config_addr *listen, uint32_t n,
				     const struct config_addr *to)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct config_addr *at = &listen[i];

		if (at->family != to->family || at->net_port != to->net_port)
			continue;
		if (!memcmp(at->addr, to->addr, n_bytes(to)) && at->scope_id == to->scope_id)
			return at;
		if (is_loop_wildcard(at) && (is_loopback(to) || is_of_host(to)))
			return at;
		if (is_loop_wildcard(to) && is_loopback(at))
			return at;
	}
	return NULL;
}
