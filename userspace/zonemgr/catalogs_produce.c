/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Produced catalogs: compares their members with the wanted ones, and changes them by an edit. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "zonemgr/catalogs.h"
#include "zonemgr/zonemgr.h"
#include "xfr/catalog.h"

struct production {
	struct zone_edit *edit;
	const uint8_t *apex;
	bool is_removal;
	bool any;
};

static int put_produced_catalog_record(void *user, const uint8_t *owner, uint16_t type,
				       uint32_t ttl, const uint8_t *rdata, uint16_t rdata_bytes)
{
	struct production *p = user;
	int err = p->is_removal ? zone_edit_remove(p->edit, owner, type, rdata, rdata_bytes) :
				  zone_edit_add(p->edit, owner, type, ttl, rdata, rdata_bytes);

	p->any |= !err;
	return err < 0 && !(p->is_removal && err == ERR_NOT_FOUND) ? err : 0;
}

static int put_produced_catalog_change(void *user, enum catalog_change change,
				       const struct catalog_member *before,
				       const struct catalog_member *now)
{
	struct production *p = user;
	int err = 0;

	(void)change;
	p->is_removal = true;
	if (before)
		err = catalog_put_member(p->apex, before, put_produced_catalog_record, p);
	p->is_removal = false;
	return !err && now ? catalog_put_member(p->apex, now, put_produced_catalog_record, p) : err;
}

struct wanted {
	struct catalog before, now;
	const uint8_t *apex;
};

static int produce(void *user, struct zone_edit *edit, struct zone_error *why)
{
	const struct wanted *w = user;
	struct production p = { .edit = edit, .apex = w->apex };
	int err = catalog_compare(&w->before, &w->now, put_produced_catalog_change, &p);

	(void)why;
	return err || !p.any ? err : edit_raise_serial(edit);
}

/* Collects the zones that have to be members; each keeps its label. */
static int want_produced_catalog(const struct zones *zones, const struct zones_entry *catalog,
				 struct wanted *w)
{
	uint8_t unique[1 + CATALOG_UNIQUE_BYTES];

	for (size_t i = 0; i < zones_n(zones); i++) {
		const struct zones_entry *entry = zones_at(zones, i);
		const char *of = entry->config->member_of;
		const char *group = of ? entry->config->member_group : NULL;
		const struct catalog_member *there;
		struct catalog_member member = { .name = entry->apex };
		int err;

		if (!of || zones_is_leaving(entry) || strcmp(of, catalog->name) != 0)
			continue;
		there = catalog_find(&w->before, entry->apex);
		catalog_unique(entry->apex, 0, unique);
		member.unique = there ? there->unique : unique;
		member.group = (const uint8_t *)group;
		member.group_bytes = group ? (uint8_t)strlen(group) : 0;
		err = catalog_add(&w->now, &member);
		if (err)
			return err;
	}
	return catalog_sort(&w->now);
}

/* 0 also if it is impossible until there is a new version or configuration. */
static int produce_one(struct zones *zones, struct zones_entry *entry, zones_done_fn *done,
		       void *user)
{
	struct wanted w = { .apex = entry->apex };
	struct zone_error why = { 0 };
	int err;

	if (!entry->zone || zones_is_leaving(entry))
		return 0;
	err = catalog_read(&w.before, entry->edited ? entry->edited : entry->zone, why.sentence,
			   sizeof(why.sentence));
	if (!err)
		err = want_produced_catalog(zones, entry, &w);
	if (!err)
		err = zones_change(zones, entry, produce, &w, done, user, &why);
	catalog_fini(&w.before);
	catalog_fini(&w.now);
	if (err >= 0 || err == -EBUSY || err == -ENOMEM)
		return err < 0 ? err : 0;
	log_error("catalog %s: %s", entry->name, *why.sentence ? why.sentence : err_text(err));
	return 0;
}

int catalogs_produce(struct zones *zones, zones_done_fn *done, void *user)
{
	int first = 0;

	for (size_t i = 0; i < zones_n(zones); i++) {
		struct zones_entry *entry = zones_entry_at(zones, i);
		int err = 0;

		if (entry->config->catalog == CONFIG_CATALOG_PRODUCE)
			err = produce_one(zones, entry, done, user);
		if (!first)
			first = err;
	}
	return first;
}
