/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/tls_relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolver/context.h"
#include "resolver/forward.h"
#include "resolver/tls_relay_state.h"

/* libunbound starts to wait for a query before the relay does, so it gets so much more time. */
#define LIBUNBOUND_MORE_MS 2000
#define LIBUNBOUND_WAIT_MS 3000 /* its default */

#define OPTIONS_ADDED 1 /* the timeout */

static bool is_relayed(const struct resolver_config *c)
{
	return c->transport == RESOLVER_TLS && c->forwards && c->forwards[0];
}

bool tls_relay_is_needed(const struct resolver_config *c)
{
	bool is_needed = c->transport == RESOLVER_TLS;

	for (size_t i = 0; i < c->n_stubs; i++)
		is_needed |= c->stubs[i].transport == RESOLVER_TLS;
	return is_needed && !forward_suits(c);
}

/* A listener and a connection for each upstream, and a descriptor for each connection of
 * libunbound. */
uint64_t tls_relay_fds(const struct resolver_config *config)
{
	uint64_t n = 2 * UPSTREAMS_MAX;

	if (!tls_relay_is_needed(config))
		return 0;
	for (unsigned int i = 0; i < RESOLVER_MEMORIES; i++) {
		const struct resolver_config share = context_share(config, i);

		n += context_tcp_max(&share);
	}
	return n;
}

/* --- Which upstreams -------------------------------------------------------------------------- */

static unsigned int place_of_tls_relay_config(const struct tls_relay *r, const char *address)
{
	unsigned int i = 0;

	while (r->addresses[i] && strcmp(r->addresses[i], address) != 0)
		i++;
	return i;
}

static int collect_tls_relay_config(struct tls_relay *r, const char *address, char *err, size_t cap)
{
	unsigned int i = place_of_tls_relay_config(r, address);

	if (i == UPSTREAMS_MAX) {
		snprintf(err, cap, "forward %s: more than %d upstreams over TLS", address,
			 UPSTREAMS_MAX);
		return ERR_CONFIG;
	}
	r->addresses[i] = address;
	return 0;
}

int relay_config_collect(struct tls_relay *r, const struct resolver_config *config, char *err,
			 size_t cap)
{
	int code = 0;

	if (config->transport == RESOLVER_TLS && !is_relayed(config)) {
		snprintf(err, cap, "transport tls: it is for forwards, and there are none");
		return ERR_CONFIG;
	}
	for (const char *const *f = config->forwards; is_relayed(config) && *f && !code; f++)
		code = collect_tls_relay_config(r, *f, err, cap);
	for (size_t i = 0; i < config->n_stubs && !code; i++) {
		const struct resolver_stub *stub = &config->stubs[i];

		if (stub->transport != RESOLVER_TLS)
			continue;
		if (stub->is_forward) {
			code = collect_tls_relay_config(r, stub->address, err, cap);
			continue;
		}
		snprintf(err, cap, "stub %s: an authoritative server is not asked over TLS",
			 stub->zone);
		code = ERR_CONFIG;
	}
	return code;
}

/* --- The upstreams of each name --------------------------------------------------------------- */

static uint16_t bit_of(const struct tls_relay *r, const char *address)
{
	return (uint16_t)(1U << place_of_tls_relay_config(r, address));
}

static int add_to_zone(struct tls_relay *r, const struct resolver_stub *stub)
{
	uint8_t name[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int n = name_from_text(name, sizeof(name), stub->zone, strlen(stub->zone));

	if (n < 0)
		return n;
	name_fold(folded, name, (size_t)n);
	if (stub->transport == RESOLVER_TLS)
		r->sets[nameset_place(&r->zones, folded)] |= bit_of(r, stub->address);
	return 0;
}

int relay_config_zones(struct tls_relay *r, const struct resolver_config *config)
{
	int code = nameset_init(&r->zones, config->n_stubs);

	for (size_t i = 0; i < config->n_stubs && !code; i++)
		code = nameset_add(&r->zones, config->stubs[i].zone);
	if (code)
		return code;
	nameset_sort(&r->zones);
	r->sets = calloc(r->zones.n + 1, sizeof(*r->sets));
	if (!r->sets)
		return -ENOMEM;
	for (const char *const *f = config->forwards; is_relayed(config) && *f; f++)
		r->sets[0] |= bit_of(r, *f);
	for (size_t i = 0; i < config->n_stubs && !code; i++)
		code = add_to_zone(r, &config->stubs[i]);
	for (size_t i = 0; i <= r->zones.n; i++)
		for (unsigned int k = 0; k < UPSTREAMS_MAX; k++)
			if (r->sets[i] >> k & 1)
				r->peers[k] = (uint16_t)(r->peers[k] | (r->sets[i] & ~(1U << k)));
	return code;
}

/* --- libunbound's configuration --------------------------------------------------------------- */

static struct resolver_stub replace_tls_relay_config(const struct tls_relay *r,
						     struct resolver_stub stub)
{
	if (stub.transport != RESOLVER_TLS)
		return stub;
	stub.address = r->clients.ports[place_of_tls_relay_config(r, stub.address)].address;
	stub.transport = RESOLVER_TCP;
	return stub;
}

static void make_stubs(struct tls_relay *r, const struct resolver_config *config)
{
	struct resolver_config *out = &r->libunbound.config;
	size_t n = 0;

	for (const char *const *f = config->forwards; is_relayed(config) && *f; f++)
		r->libunbound.stubs[n++] = replace_tls_relay_config(
			r, (struct resolver_stub){ .zone = ".",
						   .address = *f,
						   .is_forward = true,
						   .first = config->forward_first,
						   .transport = RESOLVER_TLS });
	for (size_t i = 0; i < config->n_stubs; i++)
		r->libunbound.stubs[n++] = replace_tls_relay_config(r, config->stubs[i]);
	out->stubs = r->libunbound.stubs;
	out->n_stubs = n;
	if (!is_relayed(config))
		return;
	out->forwards = NULL;
	out->forward_first = false;
	out->transport = RESOLVER_UDP;
}

static void add_option(struct relay_config *c, const char *name, const char *value)
{
	c->options[c->config.n_options++] = (struct resolver_option){ name, value };
}

static const char *relay_address(struct tls_relay *r)
{
	struct in_addr address = { r->clients.net_address };

	return address.s_addr ? inet_ntop(AF_INET, &address, r->libunbound.address,
					  sizeof(r->libunbound.address)) :
				"::1";
}

int relay_config_make(struct tls_relay *r, const struct resolver_config *config)
{
	struct relay_config *c = &r->libunbound;
	uint32_t wait_ms = config->upstream_timeout_ms + LIBUNBOUND_MORE_MS;
	size_t n_forwards = nameset_length(config->forwards);

	c->config = *config;
	c->stubs = calloc(n_forwards + config->n_stubs + 1, sizeof(*c->stubs));
	c->options = calloc(config->n_options + OPTIONS_ADDED, sizeof(*c->options));
	if (!c->stubs || !c->options)
		return -ENOMEM;
	make_stubs(r, config);
	c->config.options = c->options;
	c->config.n_options = 0;
	c->config.tls_relay = relay_address(r);
	snprintf(c->timeout, sizeof(c->timeout), "%u",
		 wait_ms > LIBUNBOUND_WAIT_MS ? wait_ms : LIBUNBOUND_WAIT_MS);
	add_option(c, "tcp-auth-query-timeout:", c->timeout);
	for (size_t i = 0; i < config->n_options; i++)
		add_option(c, config->options[i].name, config->options[i].value);
	return 0;
}

void relay_config_fini(struct tls_relay *r)
{
	free(r->libunbound.stubs);
	free(r->libunbound.options);
	nameset_fini(&r->zones);
	free(r->sets);
}
