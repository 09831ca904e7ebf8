/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The denials of the driver: their end, and the filter of names that they depend on. */
#include "base/err.h"
#include "shield/name_filter.h"
#include "zonemgr/zones_state.h"
#include "zonemgr/zonemgr.h"

int zones_stop_denials(struct zones *zones, const uint8_t *apex, unsigned int apex_len,
		       const char *fault)
{
	struct zones_entry *entry = zones_get_apex(zones, apex, apex_len);
	int err;

	if (!entry || entry->denials_fault)
		return ERR_NOT_FOUND;
	entry->denials_fault = fault;
	zones_flush_journal(zones); /* before pending changes are served with the rest */
	err = zones_publish(zones);
	if (err)
		zones_flush_again(zones);
	return err;
}

int zones_rebuild_names(struct zones *zones, bool forgives)
{
	int err = names_begin(zones->env.names, zones->env.grace, zones->env.grace_user);

	if (err)
		return err;
	for (size_t i = 0; forgives && i < zones->n; i++)
		zones->entries[i]->denials_fault = NULL;
	zones_flush_journal(zones);
	err = zones_publish(zones);
	if (err)
		zones_flush_again(zones);
	return err;
}

uint64_t zones_n_names(const struct zones *zones)
{
	uint64_t n = 0;

	for (size_t i = 0; i < zones->n; i++)
		if (zones->entries[i]->zone && !zones_is_hidden(zones->entries[i]))
			n += zone_n_names(zones->entries[i]->zone);
	return n;
}
