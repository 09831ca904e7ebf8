/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Service addresses that a reload brings and takes:
 *
 *	come    a socket in each worker ─► (the rest of the reload is accepted) ─► the driver's table
 *	go      the driver's table ─► a grace period, until no CPU uses the one before ─► sockets get nothing new
 *		─► a grace period, until nothing is on its way to them ─► what has arrived is answered, they are closed
 *
 * So an address is never the driver's without a socket that answers what the driver does not; an address that
 * stays is not touched at all; and one whose place a wildcard takes loses no query over UDP.
 */
#include "daemon/daemon_internal.h"

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
	/* After an error of these packets on their way may find no socket. */
	(void)daemon_grace(d);
	crew_stop_elsewhere(d->crew, config->listen, config->n_listen);
	(void)daemon_grace(d);
	crew_listen_only(d->crew, config->listen, config->n_listen);
}
