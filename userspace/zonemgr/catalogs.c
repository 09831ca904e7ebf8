/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/catalogs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "config/member.h"
#include "dns/name.h"
#include "xfr/catalog.h"

/* NEW ─ its members are read from the store ─► KNOWN; both ─ the zone goes, or is no catalog to
 * consume any more ─► GONE ─► freed */
enum consumed_life { CONSUMED_NEW, CONSUMED_KNOWN, CONSUMED_GONE };

/* A catalog that is consumed. */
struct consumed {
	struct consumed *next;
	uint8_t apex[DNS_NAME_MAX + 1];
	struct catalog known; /* the version in force */
	enum consumed_life life;
	bool is_due;          /* a new version is served */
	bool is_reconfigured; /* the settings of its members may have changed */
	bool is_missed;       /* a zone that kept a member out has gone */
};

struct catalogs {
	const struct config *config;
	struct config *own;
	struct store *store;
	struct zones *zones;
	struct consumed *consumed;
	bool is_due;          /* catalogs_poll() has something to do */
	bool is_produce_due;  /* zones or produced catalogs have come or gone */
	bool is_produce_late; /* the last produce has failed */
	catalogs_reset_fn *reset;
	void *reset_user;
};

/* --- From start to end ------------------------------------------------------------------------ */

struct catalogs *catalogs_new(const struct config *config, struct store *store)
{
	struct catalogs *c = calloc(1, sizeof(*c));

	if (c) {
		c->config = config;
		c->store = store;
	}
	return c;
}

void catalogs_free(struct catalogs *c)
{
	struct consumed *next;

	if (!c)
		return;
	for (struct consumed *at = c->consumed; at; at = next) {
		next = at->next;
		catalog_fini(&at->known);
		free(at);
	}
	config_free(c->own);
	free(c);
}

void catalogs_set_zones(struct catalogs *c, struct zones *zones)
{
	c->zones = zones;
}

void catalogs_take_config(struct catalogs *c, struct config *config)
{
	config_free(c->own);
	c->own = config;
	c->config = config;
	c->is_due = c->is_produce_due = true;
}

const struct config *catalogs_config(const struct catalogs *c)
{
	return c->config;
}

void catalogs_on_reset(struct catalogs *c, catalogs_reset_fn *reset, void *user)
{
	c->reset = reset;
	c->reset_user = user;
}

/* --- Members ---------------------------------------------------------------------------------- */

static struct zones_entry *entry_of_catalog(const struct catalogs *c, const uint8_t *name)
{
	return zones_get_apex(c->zones, name, (unsigned int)name_bytes(name));
}

static struct consumed *find_consumed(const struct catalogs *c, const uint8_t *apex)
{
	struct consumed *at = c->consumed;

	while (at && !name_equal(at->apex, apex))
		at = at->next;
	return at;
}

static bool is_catalog_of(const struct zones_entry *entry, const uint8_t *catalog)
{
	return entry->is_member && zones_known_is_of(&entry->stored.known, catalog);
}

/* Notes in the entry, and so in the store, which catalog it is a member of. */
static void note_member(struct zones_entry *entry, const uint8_t *catalog,
			const struct catalog_member *m)
{
	struct store_zone of = { .catalog_bytes = (uint8_t)name_bytes(catalog),
				 .member_bytes = (uint8_t)(1 + m->unique[0]),
				 .group_bytes = m->group ? m->group_bytes : 0 };

	memcpy(of.catalog, catalog, of.catalog_bytes);
	memcpy(of.member, m->unique, of.member_bytes);
	if (m->group)
		memcpy(of.group, m->group, m->group_bytes);
	if (zones_known_set_member(&entry->stored.known, &of))
		log_error("zone %s: its catalog is not noted: %s", entry->name, err_text(-ENOMEM));
	zones_store_soon(entry);
}

/* Makes the configuration of a member from the template of its group. False: there is none, or no
 * memory. */
static bool make_config(const struct catalogs *c, const uint8_t *catalog,
			const struct catalog_member *m, struct config_zone *out)
{
	const struct zones_entry *entry = entry_of_catalog(c, catalog);
	char name[NAME_TEXT_MAX], group[256] = "";
	const char *template_name;
	int err;

	if (!entry || name_to_text(name, sizeof(name), m->name) < 0)
		return false;
	if (m->group) {
		memcpy(group, m->group, m->group_bytes);
		group[m->group_bytes] = 0;
	}
	template_name = config_find_group(entry->config, m->group ? group : NULL);
	if (!template_name) {
		log_warn("catalog %s: %s: there is no template for group \"%s\"", entry->name, name,
			 group);
		return false;
	}
	err = config_member_zone(c->config, template_name, name, out);
	if (err)
		log_error("zone %s: template %s: %s", name, template_name, err_text(err));
	return !err;
}

static void add_member(struct catalogs *c, const uint8_t *catalog, const struct catalog_member *m)
{
	struct config_zone config;
	struct zones_entry *entry;
	int err;

	if (!make_config(c, catalog, m, &config))
		return;
	err = zones_add_member(c->zones, &config);
	config_zone_fini(&config);
	entry = err ? NULL : entry_of_catalog(c, m->name);
	if (!entry) {
		log_error("catalogs: %s", err_text(err));
		return;
	}
	note_member(entry, catalog, m);
	log_info("zone %s: added by its catalog", entry->name);
}

static void remove_member(struct catalogs *c, struct zones_entry *entry)
{
	log_info("zone %s: removed by its catalog", entry->name);
	zones_remove_member(c->zones, entry);
}

/* Applies the group and the other properties that this catalog has for the member. */
static void regroup(struct catalogs *c, const uint8_t *catalog, struct zones_entry *entry,
		    const struct catalog_member *m)
{
	struct config_zone config;

	note_member(entry, catalog, m);
	if (!make_config(c, catalog, m, &config)) {
		zones_keep_member(c->zones, entry);
		return;
	}
	zones_configure_member(c->zones, entry, &config);
	config_zone_fini(&config);
}

static void reset(struct catalogs *c, struct zones_entry *entry)
{
	if (c->reset)
		c->reset(c->reset_user, entry);
}

static void move_member(struct catalogs *c, const uint8_t *catalog, struct zones_entry *entry,
			const struct catalog_member *m, enum catalog_move move)
{
	log_info("zone %s: moves to another catalog", entry->name);
	regroup(c, catalog, entry, m);
	if (move == CATALOG_MOVES_RESET)
		reset(c, entry);
}

/* The catalog names a zone that the configuration or another catalog has. */
static void contend(struct catalogs *c, const uint8_t *catalog, struct zones_entry *entry,
		    const struct catalog_member *m)
{
	struct consumed *other = c->consumed;
	const struct catalog_member *there;
	enum catalog_move move;

	if (!entry->is_member) {
		log_warn("zone %s: it is in a catalog, too: the entry of the configuration is used",
			 entry->name);
		return;
	}
	if (zones_is_added(entry)) {
		log_warn("zone %s: it is in a catalog, too: the zone that zone add has added stays",
			 entry->name);
		return;
	}
	while (other && !is_catalog_of(entry, other->apex))
		other = other->next;
	there = other ? catalog_find(&other->known, m->name) : NULL;
	move = there ? catalog_may_move(there, catalog, m) : CATALOG_MOVES;
	if (move == CATALOG_STAYS)
		log_warn("zone %s: it is in two catalogs: the first one keeps it", entry->name);
	else
		move_member(c, catalog, entry, m, move);
}

/* The catalog allows the member to move to another catalog (coo). That one may name it already,
 * because catalogs come in any order. */
static void follow_coo(struct catalogs *c, struct zones_entry *entry,
		       const struct catalog_member *now)
{
	const struct consumed *to = now->coo ? find_consumed(c, now->coo) : NULL;
	const struct catalog_member *there = to ? catalog_find(&to->known, now->name) : NULL;

	if (there && !is_catalog_of(entry, to->apex))
		move_member(c, to->apex, entry, there, catalog_may_move(now, to->apex, there));
}

struct comparison {
	struct catalogs *catalogs;
	const uint8_t *catalog;
};

/* A zone that is leaving cannot become a member yet: catalogs_gone() tries again. */
static int on_change(void *user, enum catalog_change change, const struct catalog_member *before,
		     const struct catalog_member *now)
{
	const struct comparison *cmp = user;
	struct catalogs *c = cmp->catalogs;
	struct zones_entry *entry = entry_of_catalog(c, now ? now->name : before->name);
	bool is_ours = entry && is_catalog_of(entry, cmp->catalog);

	if (!entry && now) /* also if there was no template for it so far */
		add_member(c, cmp->catalog, now);
	if (!entry || zones_is_leaving(entry))
		return 0;
	if (change == CATALOG_COME && !is_ours)
		contend(c, cmp->catalog, entry, now);
	else if (change == CATALOG_GO && is_ours)
		remove_member(c, entry);
	if (!is_ours || (change != CATALOG_GROUP && change != CATALOG_RESET))
		return 0;
	regroup(c, cmp->catalog, entry, now);
	if (change == CATALOG_RESET)
		reset(c, entry);
	follow_coo(c, entry, now);
	return 0;
}

/* --- Consume ---------------------------------------------------------------------------------- */

struct recall {
	struct consumed *catalog;
	int err;
};

/* Reads a zone that the store has as a member. */
static int recall_member(void *user, const uint8_t *apex, const struct store_zone *zone)
{
	struct recall *r = user;
	const struct catalog_member member = {
		.name = apex,
		.unique = zone->member,
		.group = zone->group_bytes ? zone->group : NULL,
		.group_bytes = zone->group_bytes,
	};

	if (!zone->catalog_bytes || !name_equal(zone->catalog, r->catalog->apex))
		return 0;
	r->err = catalog_add(&r->catalog->known, &member);
	return r->err;
}

/* Reads the members that an earlier daemon has stored: they are served before the catalog is. */
static void recall(struct catalogs *c, struct consumed *at)
{
	struct comparison cmp = { c, at->apex };
	struct recall r = { .catalog = at };
	struct catalog none;
	int err;

	at->life = CONSUMED_KNOWN;
	if (!c->store)
		return;
	err = store_each_zone(c->store, recall_member, &r);
	if (!err)
		err = catalog_sort(&at->known);
	if (err) {
		log_error("catalogs: %s", err_text(err));
		catalog_fini(&at->known);
		return;
	}
	catalog_init(&none);
	if (catalog_compare(&none, &at->known, on_change, &cmp))
		log_error("catalogs: %s", err_text(-ENOMEM));
}

static void check_catalogs(struct catalogs *c, struct consumed *at)
{
	struct zones_entry *entry = entry_of_catalog(c, at->apex);
	struct comparison cmp = { c, at->apex };
	struct catalog now;
	char why[256];
	int err;

	at->is_due = false;
	if (!entry || !entry->zone)
		return;
	catalog_init(&now);
	err = catalog_read(&now, entry->zone, why, sizeof(why));
	if (err) {
		log_error("catalog %s: serial %u is not a valid catalog: %s: its zones stay as "
			  "they were",
			  entry->name, zone_serial(entry->zone),
			  err == ERR_FORMAT ? why : err_text(err));
		return;
	}
	if (catalog_compare(&at->known, &now, on_change, &cmp))
		log_error("catalogs: %s", err_text(-ENOMEM));
	catalog_fini(&at->known);
	at->known = now;
}

/* Applies a new configuration to the members, and adds members that could not come before. */
static void check_catalog_members(struct catalogs *c, struct consumed *at)
{
	for (size_t i = 0; i < at->known.n; i++) {
		const struct catalog_member *m = &at->known.members[i];
		struct zones_entry *entry = entry_of_catalog(c, m->name);

		if (!entry)
			add_member(c, at->apex, m);
		else if (at->is_reconfigured && !zones_is_leaving(entry) &&
			 is_catalog_of(entry, at->apex))
			regroup(c, at->apex, entry, m);
	}
	at->is_reconfigured = at->is_missed = false;
}

static void drop_members(struct catalogs *c, struct consumed *at)
{
	for (size_t i = 0; i < at->known.n; i++) {
		struct zones_entry *entry = entry_of_catalog(c, at->known.members[i].name);

		if (entry && is_catalog_of(entry, at->apex))
			remove_member(c, entry);
	}
}

static void remove_catalog_gone(struct catalogs *c)
{
	struct consumed **at = &c->consumed, *gone;

	while ((gone = *at)) {
		if (gone->life != CONSUMED_GONE) {
			at = &gone->next;
			continue;
		}
		*at = gone->next;
		drop_members(c, gone);
		catalog_fini(&gone->known);
		free(gone);
	}
}

/* --- Events ----------------------------------------------------------------------------------- */

static void drop_soon(struct catalogs *c, struct consumed *at)
{
	at->life = CONSUMED_GONE;
	c->is_due = true;
}

void catalogs_configured(struct catalogs *c, const struct zones_entry *entry)
{
	struct consumed *at = find_consumed(c, entry->apex);

	if (entry->config->catalog == CONFIG_CATALOG_PRODUCE || entry->config->member_of)
		c->is_due = c->is_produce_due = true;
	if (entry->config->catalog != CONFIG_CATALOG_CONSUME) {
		if (at)
			drop_soon(c, at);
		return;
	}
	if (at) {
		at->is_reconfigured = c->is_due = true;
		return;
	}
	at = calloc(1, sizeof(*at));
	if (!at) {
		log_error("catalog %s: %s", entry->name, err_text(-ENOMEM));
		return;
	}
	memcpy(at->apex, entry->apex, entry->apex_len);
	at->is_due = c->is_due = true;
	at->next = c->consumed;
	c->consumed = at;
}

void catalogs_served(struct catalogs *c, const struct zones_entry *entry)
{
	struct consumed *at = find_consumed(c, entry->apex);

	if (at)
		at->is_due = c->is_due = true;
	if (entry->config->catalog == CONFIG_CATALOG_PRODUCE)
		c->is_due = c->is_produce_due = true;
}

void catalogs_gone(struct catalogs *c, const struct zones_entry *entry)
{
	struct consumed *at = find_consumed(c, entry->apex);

	if (at)
		drop_soon(c, at);
	if (entry->config->member_of)
		c->is_due = c->is_produce_due = true;
	for (at = c->consumed; at; at = at->next)
		if (catalog_find(&at->known, entry->apex))
			at->is_missed = c->is_due = true;
}

/* The code that refused the change (a full disk, for example) has logged the reason. */
static void on_produced(void *user, int code)
{
	struct catalogs *c = user;

	c->is_produce_late |= code && code != -ECANCELED;
}

void catalogs_tick(struct catalogs *c)
{
	c->is_due |= c->is_produce_late;
	c->is_produce_due |= c->is_produce_late;
	c->is_produce_late = false;
}

void catalogs_poll(struct catalogs *c)
{
	if (!c->is_due || !c->zones)
		return;
	c->is_due = false;
	remove_catalog_gone(c);
	for (struct consumed *at = c->consumed; at; at = at->next)
		if (at->life == CONSUMED_NEW)
			recall(c, at); /* for all catalogs, before one takes a member of another */
	for (struct consumed *at = c->consumed; at; at = at->next) {
		if (at->is_due)
			check_catalogs(c, at);
		if (at->is_reconfigured || at->is_missed)
			check_catalog_members(c, at);
	}
	if (!c->is_produce_due)
		return;
	c->is_produce_due = false;
	on_produced(c, catalogs_produce(c->zones, on_produced, c));
}
