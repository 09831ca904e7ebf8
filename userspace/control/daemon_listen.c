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
#include "control/daemon_internal.h"

int daemon_listen(struct daemon *d, const struct config *config, char *err, size_t err_cap)
{
	int code;

	if (!d->workers)
		return 0; /* it begins with what the configuration says by then */
	code = descriptors_grow(&d->descriptors, d->config, workers_n(d->workers),
				workers_n_listen_with(d->workers, config->listen, config->n_listen),
				config->n_interfaces, err, err_cap);
	return code ? code :
		      workers_listen(d->workers, config->listen, config->n_listen, err, err_cap);
}

void daemon_settle_listen(struct daemon *d)
{
	const struct config *config = catalogs_config(d->catalogs);

	if (!d->workers)
		return;
	daemon_update_services(d);
	if (!workers_listens_elsewhere(d->workers, config->listen, config->n_listen))
		return;
	/* After an error of these packets on their way may find no socket. */
	(void)daemon_grace(d);
	workers_stop_elsewhere(d->workers, config->listen, config->n_listen);
	(void)daemon_grace(d);
	workers_listen_only(d->workers, config->listen, config->n_listen);
}
