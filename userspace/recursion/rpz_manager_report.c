/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of lists and local data. */
#include "recursion/rpz_manager.h"

#include <stdio.h>

#include "base/json_put.h"

enum rpz_manager_state rpz_manager_entry_state(const struct rpz_manager_entry *entry)
{
	if (!entry->zone)
		return RPZ_MANAGER_FAILED;
	return *entry->error ? RPZ_MANAGER_STALE : RPZ_MANAGER_SERVING;
}

const char *rpz_manager_state_text(enum rpz_manager_state state)
{
	static const char *const texts[] = { "serving", "stale", "failed" };

	return texts[state];
}

bool rpz_manager_entry_tell(const struct rpz_manager_entry *entry, char text[RPZ_MANAGER_TEXT_CAP])
{
	switch (rpz_manager_entry_state(entry)) {
	case RPZ_MANAGER_STALE:
		snprintf(text, RPZ_MANAGER_TEXT_CAP,
			 "policy %s: an earlier version is in force: %s", entry->name,
			 entry->error);
		return true;
	case RPZ_MANAGER_FAILED:
		snprintf(text, RPZ_MANAGER_TEXT_CAP, "policy %s: not in force: %s", entry->name,
			 entry->error);
		return true;
	case RPZ_MANAGER_SERVING:
		if (!*entry->warning)
			break;
		snprintf(text, RPZ_MANAGER_TEXT_CAP, "policy %s: %s", entry->name, entry->warning);
		return true;
	case RPZ_MANAGER_N_STATES:
		break;
	}
	return false;
}

static json_t *report_entry(const struct rpz_manager_entry *entry)
{
	json_t *o = json_object();

	json_put_text(o, "name", entry->name);
	json_put_text(o, "state", rpz_manager_state_text(rpz_manager_entry_state(entry)));
	if (entry->zone) {
		json_put_int(o, "rules", entry->n_rules);
		json_put_int(o, "ignored", entry->n_ignored);
		json_put_int(o, "loaded_at", entry->loaded_wall_s);
	}
	if (entry->hits)
		json_put_int(o, "hits", __atomic_load_n(entry->hits, __ATOMIC_RELAXED));
	if (entry->file)
		json_put_text(o, "file", entry->file);
	else if (entry->is_list)
		json_put_text(o, "zone", entry->name);
	if (*entry->error)
		json_put_text(o, "error", entry->error);
	if (*entry->warning)
		json_put_text(o, "warning", entry->warning);
	return o;
}

json_t *rpz_manager_report(const struct rpz_manager *rpz)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < rpz_manager_n(rpz); i++)
		json_array_append_new(list, report_entry(rpz_manager_at(rpz, i)));
	json_object_set_new(o, "policies", list);
	if (*rpz_manager_error(rpz))
		json_put_text(o, "error", rpz_manager_error(rpz));
	return o;
}

static void put_states(const struct rpz_manager *rpz, struct metrics_text *out)
{
	uint64_t by_state[RPZ_MANAGER_N_STATES] = { 0 };

	for (size_t i = 0; i < rpz_manager_n(rpz); i++)
		by_state[rpz_manager_entry_state(rpz_manager_at(rpz, i))]++;
	metrics_text_family(out, METRICS_GAUGE, "policies", "lists and local data by their state");
	for (int k = 0; k < RPZ_MANAGER_N_STATES; k++)
		metrics_text_sample(out, by_state[k], "state",
				    rpz_manager_state_text((enum rpz_manager_state)k), NULL);
	metrics_text_family(out, METRICS_GAUGE, "policies_error",
			    "1 when what was read last could not be put in place as a whole");
	metrics_text_sample(out, *rpz_manager_error(rpz) != 0, NULL);
}

static void put_rpz_state(const struct rpz_manager_entry *entry, struct metrics_text *out)
{
	for (int k = 0; k < RPZ_MANAGER_N_STATES; k++)
		metrics_text_sample(out,
				    rpz_manager_entry_state(entry) == (enum rpz_manager_state)k,
				    "policy", entry->name, "state",
				    rpz_manager_state_text((enum rpz_manager_state)k), NULL);
}

void rpz_manager_metrics(const struct rpz_manager *rpz, struct metrics_text *out)
{
	const struct rpz_manager_entry *entry;
	size_t i, n = rpz_manager_n(rpz);

	put_states(rpz, out);
	metrics_text_family(out, METRICS_GAUGE, "policy_state",
			    "1 for the state that it is in, 0 for the others");
	for (i = 0; i < n; i++)
		put_rpz_state(rpz_manager_at(rpz, i), out);
#define EACH(family, help, value)                                                       \
	metrics_text_family(out, METRICS_GAUGE, family, help);                          \
	for (i = 0; i < n; i++) {                                                       \
		entry = rpz_manager_at(rpz, i);                                         \
		if (entry->zone)                                                        \
			metrics_text_sample(out, (value), "policy", entry->name, NULL); \
	}
	EACH("policy_rules", "names that the version in force has rules for", entry->n_rules)
	EACH("policy_ignored", "its rules that no question triggers", entry->n_ignored)
	EACH("policy_loaded_timestamp_seconds", "when it was loaded", entry->loaded_wall_s)
#undef EACH
	metrics_text_family(
		out, METRICS_COUNTER, "policy_hits",
		"how often a rule changed what a worker answered; what the cache has of it is not "
		"counted again");
	for (i = 0; i < n; i++) {
		entry = rpz_manager_at(rpz, i);
		if (entry->hits)
			metrics_text_sample(out, __atomic_load_n(entry->hits, __ATOMIC_RELAXED),
					    "policy", entry->name, NULL);
	}
}
