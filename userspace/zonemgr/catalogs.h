/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Catalog zones (RFC 9432): zones that are served because a catalog names them, and catalogs that
 * name ours.
 *
 *      consume   another version of the catalog is served ─► compared with the one before ─► zones come
 *                from the template of their group, go, move; the store knows them before the
 *                catalog is there
 *      produce   zones with member-of ─► compared with what the catalog says ─► zones_change()
 *
 * A zone that the configuration names stays what that says. A catalog that is broken, expired, or
 * not there changes nothing: its last good version goes on to hold. Control's thread.
 */
#ifndef VOLLEY_ZONEMGR_CATALOGS_H
#define VOLLEY_ZONEMGR_CATALOGS_H

#include "config/config.h"
#include "store/store.h"
#include "zonemgr/zonemgr.h"

struct catalogs;

/* @config is borrowed, until catalogs_take_config(). NULL: no memory. */
struct catalogs *catalogs_new(const struct config *config, struct store *store);
void catalogs_free(struct catalogs *c); /* NULL is allowed */
void catalogs_set_zones(struct catalogs *c, struct zones *zones);

/* From now on templates are those of @config, which becomes the catalogs'. */
void catalogs_take_config(struct catalogs *c, struct config *config);

/* The configuration that was taken last: all but its zones. */
const struct config *catalogs_config(const struct catalogs *c);

/* As zones_env.served, configured and gone. What follows from them is done by catalogs_poll(). */
void catalogs_served(struct catalogs *c, const struct zones_entry *entry);
void catalogs_configured(struct catalogs *c, const struct zones_entry *entry);
void catalogs_gone(struct catalogs *c, const struct zones_entry *entry);

/* Does what is due; outside of a publish. */
void catalogs_poll(struct catalogs *c);
/* Once a second: what could not be done is due again. */
void catalogs_tick(struct catalogs *c);

/*
 * Of catalogs_poll(): the catalogs that are made here become as their members are configured. @done
 * is told as by zones_change(), for each that changes. 0, or the error of the first that can be
 * changed later.
 */
int catalogs_produce(struct zones *zones, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/* An entry whose zone is to be transferred anew as a whole, for the catalog has reset it. */
typedef void catalogs_reset_fn(void *user, const struct zones_entry *entry);
void catalogs_on_reset(struct catalogs *c, catalogs_reset_fn *reset, void *user);

#endif
