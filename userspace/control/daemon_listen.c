/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Service addresses that a reload brings and takes:
 *
 *	come    a socket in each worker ─► (the rest of the reload is accepted) ─► the driver's table
 *	go      the driver's table ─► a grace period, until no CPU uses the one before ─► what has arrived is answered,
 *		sockets are closed
 *
 * So an address is never the driver's without a socket that answers what the driver does not, and an address that
 * stays is not touched at all.
 */
#include "control/daemon_internal.h"

int daemon_listen(struct daemon *d, const struct config *config, char *err, size_t err_cap)
{
	int code;

	if (!d->crew)
		return 0; /* it begins with what the configuration says by then */
	code = descriptors_grow(&d->descriptors, d->config, crew_n(d->crew),
				crew_n_listen_with(d->crew, config->listen, config->n_listen),
				config->n_interfaces, err, err_cap);
	return code ? code : crew_listen(d->crew, config->listen, config->n_listen, err, err_cap);
}

void daemon_settle_listen(struct daemon *d)
{
	const struct config *config = catalogs_config(d->catalogs);

	if (!d->crew)
		return;
	daemon_update_services(d);
	if (!crew_listens_elsewhere(d->crew, config->listen, config->n_listen))
		return;
	(void)daemon_grace(d); /* after an error packets on their way may find no socket */
	crew_listen_only(d->crew, config->listen, config->n_listen);
}
