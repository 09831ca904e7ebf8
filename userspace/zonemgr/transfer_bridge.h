/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the transfer thread and the zones: events of the transfer thread change zones, and the
 * thread is told about published zones.
 *
 *      transfer.h: events ─► this file ─► zones_install(), zones_change(), zones_expire()
 *                     ▲                      │
 *                     └── settled, answer ◄──┘ done      served ─► transfer_published()
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ZONEMGR_TRANSFER_BRIDGE_H
#define VOLLEY_ZONEMGR_TRANSFER_BRIDGE_H

#include "transfer/transfer.h"
#include "zonemgr/maintenance.h"
#include "zonemgr/zonemgr.h"

struct transfer_bridge;

struct transfer_bridge_env {
	struct engine_data *published;
	const struct engine_config *engine_config;
	struct store *store; /* NULL: none */
	struct tap *tap;
	struct maintenance *maintenance;
};

/* 0 or -errno. */
int transfer_bridge_new(struct transfer_bridge **out, const struct transfer_bridge_env *env)
	__attribute__((warn_unused_result));
/* No event follows. A second call does nothing. NULL is allowed, here and for the free below. */
void transfer_bridge_stop(struct transfer_bridge *t);
void transfer_bridge_free(struct transfer_bridge *t); /* after the workers have ended */

void transfer_bridge_set_zones(struct transfer_bridge *t, struct zones *zones);
/* The workers' messages to the transfer thread. Lives until transfer_bridge_free(). */
struct handover *transfer_bridge_handover(struct transfer_bridge *t);
/* TLS connections on their way to the workers. Lives as long. */
struct tcp_intake *transfer_bridge_intake(struct transfer_bridge *t);
/* As transfer_configure(). */
int transfer_bridge_configure(struct transfer_bridge *t, const struct config *config, char *err,
			      size_t err_cap) __attribute__((warn_unused_result));

int transfer_bridge_fd(const struct transfer_bridge *t);
void transfer_bridge_poll(struct transfer_bridge *t);

/* For zones_env.served, configured and gone. */
void transfer_bridge_served(struct transfer_bridge *t, const struct zones_entry *entry);
void transfer_bridge_configured(struct transfer_bridge *t, const struct zones_entry *entry);
void transfer_bridge_gone(struct transfer_bridge *t, const struct zones_entry *entry);

/* The transfer thread, for commands. */
struct transfer *transfer_bridge_thread(struct transfer_bridge *t);

#endif
