/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tables.h"

#include <bpf/bpf_endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "xdp/key.h"

/* The number of key sets to try. The first set under which all addresses find a slot is taken:
 * nearly every set for 256 addresses, every second one for 768, the maximum. */
#define KEYS_TRIED 1000

static bool is_service_same(const struct volley_service *a, const struct volley_service *b)
{
	return a->family == b->family && a->port == b->port &&
	       !memcmp(a->address, b->address, sizeof(a->address));
}

/* Addresses of one kind: services, or ends of tunnels. */
struct wanted {
	struct volley_service items[VOLLEY_TUNNEL_ENDS];
	uint32_t n;
	uint32_t cap;
	bool overflow;
};

_Static_assert(VOLLEY_SERVICES <= VOLLEY_TUNNEL_ENDS, "either kind has room");

/* Port 0 marks the end of a tunnel. */
static void want_service(struct wanted *w, uint16_t family, const void *address, __be16 port)
{
	struct volley_service s = { .port = port, .family = family == AF_INET ? 4 : 6 };
	uint32_t i;

	if (!port)
		s.family |= VOLLEY_TUNNEL_END;

	memcpy(s.address, address, family == AF_INET ? 4 : 16);
	for (i = 0; i < w->n; i++)
		if (is_service_same(&w->items[i], &s))
			return;
	if (w->n == w->cap)
		w->overflow = true;
	else
		w->items[w->n++] = s;
}

static bool is_service_wildcard(const struct config_addr *a)
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
			want_service(w, AF_INET, &in->sin_addr, port);
	} else if (!IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) &&
		   !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) {
		want_service(w, AF_INET6, &in6->sin6_addr, port);
	}
}

static int want_all(struct wanted *w, const struct config_addr *listen, uint32_t n)
{
	struct ifaddrs *addresses, *a;
	uint32_t i;

	if (getifaddrs(&addresses))
		return -errno;
	for (i = 0; i < n; i++) {
		if (listen[i].scope_id)
			continue;
		if (!is_service_wildcard(&listen[i])) {
			want_service(w, listen[i].family, listen[i].addr, listen[i].net_port);
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
		if (!is_service_wildcard(&listen[i]) && !listen[i].scope_id)
			want_service(w, listen[i].family, listen[i].addr, 0);
	return want_all(w, all, 2);
}

static bool is_service_wanted(const struct wanted *w, const struct volley_service *s)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		if (is_service_same(&w->items[i], s))
			return true;
	return false;
}

/* --- The table -------------------------------------------------------------------------------- */

static struct volley_services *table_of(struct volley_state *state)
{
	return &state->services[state->services_at & 1];
}

/* Puts a service where the driver looks for it. False: its slots are taken. */
static bool put_service(struct volley_services *t, const struct volley_service *s)
{
	const uint32_t first = volley_service_place(t, s);
	struct volley_service *vacant = NULL, *slot;
	uint32_t i;

	for (i = 0; i < VOLLEY_SERVICE_PROBES; i++) {
		slot = &t->slots[(first + i) % VOLLEY_SERVICE_SLOTS];
		if (is_service_same(slot, s))
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

static bool put_all_service(struct volley_services *t, const struct wanted *w)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		if (!put_service(t, &w->items[i]))
			return false;
	return true;
}

static bool is_service_of_kind(const struct volley_service *s, uint8_t mark)
{
	return s->family && (s->family & VOLLEY_TUNNEL_END) == mark;
}

/* Copies the services that are not of this kind. False: `to` has no slot for one of them. */
static bool copy_others(struct volley_services *to, const struct volley_services *from,
			uint8_t mark)
{
	uint32_t i;

	for (i = 0; i < VOLLEY_SERVICE_SLOTS; i++) {
		const struct volley_service *s = &from->slots[i];

		if (s->family && !is_service_of_kind(s, mark) && !put_service(to, s))
			return false;
	}
	return true;
}

/* The generator of Steele, Lea and Flood (SplitMix, OOPSLA 2014). */
static uint64_t draw_key(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Fills the table that is not in use, with keys under which every service has a slot, and makes it
 * the current one. A reader of the other table still finds the old services there. */
static bool make_anew(struct volley_state *state, const struct wanted *w, uint8_t mark)
{
	const uint32_t at = !(state->services_at & 1);
	struct volley_services *t = &state->services[at];
	uint64_t seed = t->keys[0] ^ table_of(state)->keys[0];
	uint32_t i;

	for (i = 0; i < KEYS_TRIED; i++) {
		memset(t, 0, sizeof(*t));
		for (int k = 0; k < 3; k++)
			t->keys[k] = draw_key(&seed);
		if (copy_others(t, table_of(state), mark) && put_all_service(t, w)) {
			__atomic_store_n(&state->services_at, at, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

static void clear_unwanted(struct volley_services *t, const struct wanted *w, uint8_t mark)
{
	uint32_t i;

	for (i = 0; i < VOLLEY_SERVICE_SLOTS; i++) {
		struct volley_service *s = &t->slots[i];

		if (is_service_of_kind(s, mark) && !is_service_wanted(w, s))
			__atomic_store_n(&s->family, 0, __ATOMIC_RELEASE);
	}
}

/* Changes the services of this kind to the wanted ones. */
static int set_service(struct volley_state *state, const struct wanted *w, uint8_t mark)
{
	clear_unwanted(table_of(state), w, mark);
	if (!put_all_service(table_of(state), w) && !make_anew(state, w, mark))
		return -ENOSPC;
	return w->overflow ? -ENOSPC : 0;
}

int services_update(struct volley_state *state, const struct config_addr *listen, uint32_t n,
		    uint32_t *n_services)
{
	struct wanted w = { .cap = VOLLEY_SERVICES };
	int err = want_all(&w, listen, n);

	*n_services = err ? 0 : w.n;
	return err ? err : set_service(state, &w, 0);
}

int services_update_ends(struct volley_state *state, const struct config_addr *listen, uint32_t n,
			 bool are_wanted)
{
	struct wanted w = { .cap = VOLLEY_TUNNEL_ENDS };
	int err = are_wanted ? want_ends(&w, listen, n) : 0;

	return err ? err : set_service(state, &w, VOLLEY_TUNNEL_END);
}
