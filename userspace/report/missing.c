/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/missing.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "config/addresses.h"
#include "iface/addr_here.h"

static struct port_addr address_at(const struct config *config, uint32_t i)
{
	const struct config_addr *addr = i < config->n_listen ?
						 &config->listen[i] :
						 &config->tls_listen[i - config->n_listen];
	struct port_addr host = config_port_addr(addr);

	host.port = 0;
	return host;
}

static bool is_repeated(const struct config *config, uint32_t i, const struct port_addr *addr)
{
	for (uint32_t before = 0; before < i; before++) {
		const struct port_addr one = address_at(config, before);

		if (port_addr_is_same(&one, addr))
			return true;
	}
	return false;
}

static void tell_missing(const struct port_addr *addr, int here, missing_fn *fn, void *user)
{
	char host[PORT_ADDR_TEXT_CAP], text[MISSING_TEXT_CAP];

	port_addr_text(addr, host);
	host[strcspn(host, "@")] = 0;
	if (here)
		snprintf(text, sizeof(text),
			 "service address %s: cannot find out whether this host has it: %s", host,
			 err_text(here));
	else
		snprintf(text, sizeof(text), "service address %s: " ADDR_HERE_MISSING, host);
	fn(user, text, here);
}

void missing_each(const struct config *config, missing_fn *fn, void *user)
{
	for (uint32_t i = 0; i < config->n_listen + config->n_tls_listen; i++) {
		const struct port_addr addr = address_at(config, i);
		int here = is_repeated(config, i, &addr) ? 1 : addr_here(&addr);

		if (here <= 0)
			tell_missing(&addr, here, fn, user);
	}
}

static void count_report_missing(void *user, const char *text, int here)
{
	(void)text;
	*(size_t *)user += !here;
}

size_t missing_count(const struct config *config)
{
	size_t n = 0;

	missing_each(config, count_report_missing, &n);
	return n;
}
