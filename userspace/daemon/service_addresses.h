/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Service addresses that a reload adds and removes:
 *
 *	come    a socket in each worker ─► (the rest of the reload is accepted)
 *	        ─► the driver's table
 *	go      the driver's table ─► a grace period, until no CPU uses the one before
 *		─► sockets get nothing new ─► a grace period, until nothing is on its way to them
 *		─► messages that have arrived are answered, sockets are closed
 *
 * So an address is in the driver's table only while a socket answers the queries that the driver
 * hands up. An address that stays is not touched. If a wildcard replaces an address, no query over
 * UDP is lost.
 *
 * Control's thread calls all of these. `config` is the configuration in force.
 */
#ifndef VOLLEY_DAEMON_SERVICE_ADDRESSES_H
#define VOLLEY_DAEMON_SERVICE_ADDRESSES_H

#include <stddef.h>

#include "config/config.h"
#include "daemon/descriptors.h"
#include "daemon/interfaces.h"

/*
 * First step: the workers also listen at the addresses of `config`. 0, or a negative code with a
 * sentence in err, and the workers listen where they did. `running` is the configuration of the
 * start.
 */
int service_addresses_add(struct interfaces *all, const struct descriptors *descriptors,
			  const struct config *running, const struct config *config, char *err,
			  size_t err_cap) __attribute__((warn_unused_result));
/* Last step: driver and workers serve the addresses of `config`, and no others. */
void service_addresses_settle(struct interfaces *all, const struct config *config);

/* Tells the programs, during a resize those of both caches, which addresses are ours. */
void service_addresses_update(struct interfaces *all, const struct config *config);

/* Warns in the log of each address that the host does not have: report/missing.h. */
void service_addresses_log_missing(const struct config *config);

#endif
