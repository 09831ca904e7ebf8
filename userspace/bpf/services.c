/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/services.h"

#include <bpf/bpf_endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "xdp/key.h"

#define SLOTS_MASK (VOLLEY_SERVICES - 1)

static bool is_same(const struct volley_service *a, const struct volley_service *b)
{
	return a->family == b->family && a->port == b->port &&
	       !memcmp(a->address, b->address, sizeof(a->address));
}

struct wanted {
	struct volley_service items[VOLLEY_SERVICES];
	uint32_t n;
	bool overflow;
};

/* Port 0 is that of an address at which tunnels end. */
static void want(struct wanted *w, uint16_t family, const void *address, __be16 port)
{
	struct volley_service s = { .port = port, .family = family == AF_INET ? 4 : 6 };
	uint32_t i;

	if (!port)
		s.family |= VOLLEY_TUNNEL_END;

	memcpy(s.address, address, family == AF_INET ? 4 : 16);
	for (i = 0; i < w->n; i++)
		if (is_same(&w->items[i], &s))
			return;
	if (w->n == VOLLEY_SERVICES)
		w->overflow = true;
	else
		w->items[w->n++] = s;
}

static bool is_wildcard(const struct config_addr *a)
{
	static const uint8_t none[16];

	return !memcmp(a->addr, none, sizeof(none));
}

static void want_interface_address(struct wanted *w, const struct sockaddr *sa, __be16 port)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;

	if (sa->sa_family == AF_INET) {
		if (ntohl(in->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
			want(w, AF_INET, &in->sin_addr, port);
	} else if (!IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) &&
		   !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) {
		want(w, AF_INET6, &in6->sin6_addr, port);
	}
}

static int want_all(struct wanted *w, const struct config_addr *listen, uint32_t n)
{
	struct ifaddrs *addresses, *a;
	uint32_t i;

	if (getifaddrs(&addresses))
		return -errno;
	for (i = 0; i < n; i++) {
		if (!is_wildcard(&listen[i])) {
			want(w, listen[i].family, listen[i].addr, listen[i].net_port);
			continue;
		}
		for (a = addresses; a; a = a->ifa_next)
			if (a->ifa_addr && a->ifa_addr->sa_family == listen[i].family)
				want_interface_address(w, a->ifa_addr, listen[i].net_port);
	}
	freeifaddrs(addresses);
	return 0;
}

static int want_ends(struct wanted *w, const struct config_addr *listen, uint32_t n)
{
	static const struct config_addr all[] = { { .family = AF_INET }, { .family = AF_INET6 } };
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!is_wildcard(&listen[i]))
			want(w, listen[i].family, listen[i].addr, 0);
	return want_all(w, all, 2);
}

static bool is_wanted(const struct wanted *w, const struct volley_service *s)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		if (is_same(&w->items[i], s))
			return true;
	return false;
}

/* Puts a service where the driver looks for it. false: its slots are taken. */
static bool put(struct volley_state *state, const struct volley_service *s)
{
	struct volley_service *vacant = NULL, *slot;
	uint32_t i;

	for (i = 0; i < VOLLEY_SERVICE_PROBES; i++) {
		slot = &state->services[(volley_service_slot(s->address, s->port) + i) & SLOTS_MASK];
		if (is_same(slot, s))
			return true;
		if (!slot->family && !vacant)
			vacant = slot;
	}
	if (!vacant)
		return false;
	memcpy(vacant->address, s->address, sizeof(s->address));
	vacant->port = s->port;
	__atomic_store_n(&vacant->family, s->family, __ATOMIC_RELEASE);
	return true;
}

/* Makes those entries of the table that have this mark in their family, or none, what is wanted. */
static int set(struct volley_state *state, struct wanted *w, uint8_t mark, uint32_t *n_set)
{
	uint32_t i;

	*n_set = 0;
	for (i = 0; i < VOLLEY_SERVICES; i++) {
		struct volley_service *s = &state->services[i];

		if (s->family && (s->family & VOLLEY_TUNNEL_END) == mark && !is_wanted(w, s))
			__atomic_store_n(&s->family, 0, __ATOMIC_RELEASE);
	}
	for (i = 0; i < w->n; i++) {
		if (put(state, &w->items[i]))
			++*n_set;
		else
			w->overflow = true;
	}
	return w->overflow ? -ENOSPC : 0;
}

int services_update(struct volley_state *state, const struct config_addr *listen, uint32_t n,
		    uint32_t *n_services)
{
	struct wanted w = { .n = 0 };
	int err = want_all(&w, listen, n);

	*n_services = 0;
	return err ? err : set(state, &w, 0, n_services);
}

int services_update_ends(struct volley_state *state, const struct config_addr *listen, uint32_t n,
			 bool are_wanted)
{
	struct wanted w = { .n = 0 };
	int err = are_wanted ? want_ends(&w, listen, n) : 0;
	uint32_t n_ends;

	return err ? err : set(state, &w, VOLLEY_TUNNEL_END, &n_ends);
}

void services_clear(struct volley_state *state)
{
	uint32_t i;

	for (i = 0; i < VOLLEY_SERVICES; i++)
		__atomic_store_n(&state->services[i].family, 0, __ATOMIC_RELEASE);
}
