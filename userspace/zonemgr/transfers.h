/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the transfer thread and the zones: events of the transfer thread change zones, and the
 * thread is told about published zones.
 *
 *      transfer.h: events ─► transfers.c ─► zones_install(), zones_change(), zones_expire()
 *                     ▲                            │
 *                     └── settled, answer ◄── done ┘      served ─► transfer_published()
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ZONEMGR_TRANSFERS_H
#define VOLLEY_ZONEMGR_TRANSFERS_H

#include "transfer/transfer.h"
#include "zonemgr/maintenance.h"
#include "zonemgr/zonemgr.h"

struct transfers;

struct transfers_env {
	struct engine_data *published;
	const struct engine_config *engine_config;
	struct store *store; /* NULL: none */
	struct tap *tap;
	struct maintenance *maintenance;
};

/* 0 or -errno. */
int transfers_new(struct transfers **out, const struct transfers_env *env)
	__attribute__((warn_unused_result));
/* No event follows. A second call does nothing. NULL is allowed, also for transfers_free(). */
void transfers_stop(struct transfers *t);
void transfers_free(struct transfers *t); /* after the workers have ended */

void transfers_set_zones(struct transfers *t, struct zones *zones);
struct handover *transfers_handover(struct transfers *t);
/* Gives TLS connections to workers; the same holds. */
struct tcp_intake *transfers_intake(struct transfers *t);
/* As transfer_configure(). */
int transfers_configure(struct transfers *t, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

int transfers_fd(const struct transfers *t);
void transfers_poll(struct transfers *t);

/* For zones_env.served, configured and gone. */
void transfers_served(struct transfers *t, const struct zones_entry *entry);
void transfers_configured(struct transfers *t, const struct zones_entry *entry);
void transfers_gone(struct transfers *t, const struct zones_entry *entry);

/* The transfer thread, for commands. */
struct transfer *transfers_thread(struct transfers *t);

#endif
