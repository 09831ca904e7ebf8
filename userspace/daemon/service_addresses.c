/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/service_addresses.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "bpf/tables.h"
#include "iface/dpdk_iface.h"
#include "report/missing.h"

int service_addresses_add(struct interfaces *all, const struct descriptors *descriptors,
			  const struct config *running, const struct config *config, char *err,
			  size_t err_cap)
{
	int code;

	if (!all->workers)
		return 0; /* workers start with the configuration that is then in force */
	code = descriptors_grow(descriptors, running, workers_n(all->workers),
				workers_n_listen_with(all->workers, config->listen,
						      config->n_listen),
				config->n_interfaces, err, err_cap);
	return code ? code :
		      workers_listen(all->workers, config->listen, config->n_listen, err, err_cap);
}

void service_addresses_settle(struct interfaces *all, const struct config *config)
{
	if (!all->workers)
		return;
	service_addresses_update(all, config);
	if (!workers_listens_elsewhere(all->workers, config->listen, config->n_listen))
		return;
	/* After an error, packets on their way may find no socket. */
	(void)answer_cache_grace(all->cache);
	workers_stop_elsewhere(all->workers, config->listen, config->n_listen);
	(void)answer_cache_grace(all->cache);
	workers_listen_only(all->workers, config->listen, config->n_listen);
}

static int update_state(struct interfaces *all, const struct config *config,
			struct volley_state *state)
{
	bool has_tunnels = false;
	int err;

	for (uint32_t i = 0; i < config->n_interfaces; i++)
		has_tunnels |= config->interfaces[i].tunnels != 0;
	err = services_update_ends(state, config->listen, config->n_listen, has_tunnels);
	all->services.ends_overflow = err == -ENOSPC;
	if (err)
		log_warn("addresses at which tunnels end: %s", err_text(err));
	return services_update(state, config->listen, config->n_listen, &all->services.n);
}

void service_addresses_update(struct interfaces *all, const struct config *config)
{
	struct volley_state *const *states = all->heartbeat->states;
	int err = 0;
	size_t i;

	for (i = 0; i < 2 && states[i]; i++)
		err = update_state(all, config, states[i]);
	if (!err)
		err = dpdk_iface_update_services(config->listen, config->n_listen);
	all->services.has_overflow = err == -ENOSPC;
	if (err)
		log_warn("service addresses: %s: the driver knows %u of them", err_text(err),
			 all->services.n);
}

static void warn_missing(void *user, const char *text, int here)
{
	(void)user;
	(void)here;
	log_warn("%s", text);
}

void service_addresses_log_missing(const struct config *config)
{
	missing_each(config, warn_missing, NULL);
}
