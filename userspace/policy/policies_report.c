/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of lists and local data. */
#include "policy/policies.h"

#include <stdio.h>

#include "base/json_put.h"

enum policies_state policies_entry_state(const struct policies_entry *entry)
{
	if (!entry->zone)
		return POLICIES_FAILED;
	return *entry->error ? POLICIES_STALE : POLICIES_SERVING;
}

const char *policies_state_text(enum policies_state state)
{
	static const char *const texts[] = { "serving", "stale", "failed" };

	return texts[state];
}

bool policies_entry_tell(const struct policies_entry *entry, char text[POLICIES_TEXT_CAP])
{
	switch (policies_entry_state(entry)) {
	case POLICIES_STALE:
		snprintf(text, POLICIES_TEXT_CAP, "policy %s: an earlier version is in force: %s",
			 entry->name, entry->error);
		return true;
	case POLICIES_FAILED:
		snprintf(text, POLICIES_TEXT_CAP, "policy %s: not in force: %s", entry->name,
			 entry->error);
		return true;
	case POLICIES_SERVING:
		if (!*entry->warning)
			break;
		snprintf(text, POLICIES_TEXT_CAP, "policy %s: %s", entry->name, entry->warning);
		return true;
	case POLICIES_N_STATES:
		break;
	}
	return false;
}

static json_t *report_entry(const struct policies_entry *entry)
{
	json_t *o = json_object();

	json_put_text(o, "name", entry->name);
	json_put_text(o, "state", policies_state_text(policies_entry_state(entry)));
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

json_t *policies_report(const struct policies *policies)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < policies_n(policies); i++)
		json_array_append_new(list, report_entry(policies_at(policies, i)));
	json_object_set_new(o, "policies", list);
	if (*policies_error(policies))
		json_put_text(o, "error", policies_error(policies));
	return o;
}

static void put_states(const struct policies *policies, struct metrics_text *out)
{
	uint64_t by_state[POLICIES_N_STATES] = { 0 };

	for (size_t i = 0; i < policies_n(policies); i++)
		by_state[policies_entry_state(policies_at(policies, i))]++;
	metrics_text_family(out, METRICS_GAUGE, "policies", "lists and local data by their state");
	for (int k = 0; k < POLICIES_N_STATES; k++)
		metrics_text_sample(out, by_state[k], "state",
				    policies_state_text((enum policies_state)k), NULL);
	metrics_text_family(out, METRICS_GAUGE, "policies_error",
			    "1 when what was read last could not be put in place as a whole");
	metrics_text_sample(out, *policies_error(policies) != 0, NULL);
}

static void put_policies_report_state(const struct policies_entry *entry, struct metrics_text *out)
{
	for (int k = 0; k < POLICIES_N_STATES; k++)
		metrics_text_sample(out, policies_entry_state(entry) == (enum policies_state)k,
				    "policy", entry->name, "state",
				    policies_state_text((enum policies_state)k), NULL);
}

void policies_metrics(const struct policies *policies, struct metrics_text *out)
{
	const struct policies_entry *entry;
	size_t i, n = policies_n(policies);

	put_states(policies, out);
	metrics_text_family(out, METRICS_GAUGE, "policy_state",
			    "1 for the state that it is in, 0 for the others");
	for (i = 0; i < n; i++)
		put_policies_report_state(policies_at(policies, i), out);
#define EACH(family, help, value)                                                       \
	metrics_text_family(out, METRICS_GAUGE, family, help);                          \
	for (i = 0; i < n; i++) {                                                       \
		entry = policies_at(policies, i);                                       \
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
		entry = policies_at(policies, i);
		if (entry->hits)
			metrics_text_sample(out, __atomic_load_n(entry->hits, __ATOMIC_RELAXED),
					    "policy", entry->name, NULL);
	}
}
