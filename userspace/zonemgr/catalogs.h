/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Catalog zones (RFC 9432). Consume: serves the zones that a catalog names. Produce: makes catalogs
 * that name our zones.
 *
 *      consume   a new version of the catalog is served ─► comparison with the one before ─►
 *                zones come (from the template of their group), go, move; after a restart the
 *                store has the members before the catalog is there
 *      produce   zones with member-of ─► comparison with the catalog ─► zones_change()
 *
 * A zone that the configuration names keeps the settings of the configuration. A catalog that is
 * broken, expired or missing changes nothing: its last good version stays in force. Control's
 * thread.
 */
#ifndef VOLLEY_ZONEMGR_CATALOGS_H
#define VOLLEY_ZONEMGR_CATALOGS_H

#include "config/config.h"
#include "store/store.h"
#include "zonemgr/zonemgr.h"

struct catalogs;

/* @config has to live until catalogs_take_config(). NULL: no memory. */
struct catalogs *catalogs_new(const struct config *config, struct store *store);
void catalogs_free(struct catalogs *c); /* NULL is allowed */
void catalogs_set_zones(struct catalogs *c, struct zones *zones);

/* Takes over @config: its templates hold from now on. */
void catalogs_take_config(struct catalogs *c, struct config *config);

/* The configuration that was taken last, without its zones. */
const struct config *catalogs_config(const struct catalogs *c);

/* For zones_env.served, configured and gone. catalogs_poll() then does the work. */
void catalogs_served(struct catalogs *c, const struct zones_entry *entry);
void catalogs_configured(struct catalogs *c, const struct zones_entry *entry);
void catalogs_gone(struct catalogs *c, const struct zones_entry *entry);

/* Does the due work. Not to be called during a publish. */
void catalogs_poll(struct catalogs *c);
/* To be called once a second: makes failed work due again. */
void catalogs_tick(struct catalogs *c);

/*
 * For catalogs_poll(): changes the produced catalogs so that they name the zones configured as
 * their members. @done is called as by zones_change(), for each catalog that changes. 0, or the
 * first error after which a later try may succeed.
 */
int catalogs_produce(struct zones *zones, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/* Called when a catalog has reset a member: its whole zone has to be transferred anew. */
typedef void catalogs_reset_fn(void *user, const struct zones_entry *entry);
void catalogs_on_reset(struct catalogs *c, catalogs_reset_fn *reset, void *user);

#endif
