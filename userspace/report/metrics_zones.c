/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/metrics_report.h"
#include "zonemgr/signing.h"

#include <stdint.h>
#include <string.h>

/* --- Each ------------------------------------------------------------------------------------- */

/* When the zone expires without a primary, in seconds since 1970; 0: never, or not known yet. */
static uint64_t expires_s(const struct zones_entry *entry)
{
	return zones_is_secondary(entry) ? entry->stored.known.expires_wall_s : 0;
}

/*
 * The end of the first signature to expire, in seconds since 1970. 0: volleyd does not sign the
 * zone, or the time is not known yet.
 */
static uint64_t signed_until_s(const struct zones_entry *entry)
{
	return entry->zone && entry->signing ? signing_first_end(entry->signing) : 0;
}

static bool is_invalid(const struct zones_entry *entry, uint64_t now_s)
{
	char why[128];

	return !signing_judge(entry, now_s, why, sizeof(why));
}

static void put_zone_metrics_state(const struct zones_entry *entry, struct metrics_text *out)
{
	for (int k = 0; k < ZONES_N_STATES; k++)
		metrics_text_sample(out, entry->state == (enum zones_state)k, "zone", entry->name,
				    "state", zones_state_text((enum zones_state)k), NULL);
}

static void put_each(const struct zones_entry *const *told, size_t n, uint64_t now_s,
		     struct metrics_text *out)
{
	const struct zones_entry *entry;
	size_t i;

	metrics_text_family(out, METRICS_GAUGE, "zone_state",
			    "1 for the state that it is in, 0 for the others");
	for (i = 0; i < n; i++)
		put_zone_metrics_state(told[i], out);
#define EACH(family, help, is_told, value)                                            \
	metrics_text_family(out, METRICS_GAUGE, family, help);                        \
	for (i = 0; i < n; i++) {                                                     \
		entry = told[i];                                                      \
		if (is_told)                                                          \
			metrics_text_sample(out, (value), "zone", entry->name, NULL); \
	}
	EACH("zone_serial", "serial number of the version that is served", entry->zone,
	     zone_serial(entry->zone))
	EACH("zone_records", "its records", entry->zone, zone_n_records(entry->zone))
	EACH("zone_memory_bytes", "its memory", entry->zone, zones_memory_bytes(entry))
	EACH("zone_loaded_timestamp_seconds", "when it was loaded", entry->zone,
	     entry->loaded_wall_s)
	EACH("zone_expires_timestamp_seconds",
	     "when a secondary's zone expires, unless a primary is heard before", expires_s(entry),
	     expires_s(entry))
	EACH("zone_signature_expires_timestamp_seconds",
	     "when the first signature of a zone that is signed here ends", signed_until_s(entry),
	     signed_until_s(entry))
	EACH("zone_signatures_invalid", "1 when its signatures are not valid now", true,
	     is_invalid(entry, now_s))
	EACH("zone_storage_error", "1 when something is wrong with its journal, file or keys", true,
	     sentence_is_set(&entry->stored.error))
	EACH("zone_storage_warning", "1 when its changes will soon have no room in the journal",
	     true, sentence_is_set(&entry->stored.warning))
#undef EACH
}

/* --- All -------------------------------------------------------------------------------------- */

struct sums {
	uint64_t by_state[ZONES_N_STATES];
	uint64_t n_errors, n_warnings; /* of storage */
	uint64_t n_invalid;            /* zones with invalid signatures */
	uint64_t first_expires_s;      /* UINT64_MAX: no zone expires */
	uint64_t first_signed_s;       /* UINT64_MAX: no zone is signed */
};

static void add_zone_metrics(struct sums *s, const struct zones_entry *entry, uint64_t now_s)
{
	uint64_t end_s = expires_s(entry), signed_s = signed_until_s(entry);

	s->by_state[entry->state]++;
	s->n_invalid += is_invalid(entry, now_s);
	s->n_errors += sentence_is_set(&entry->stored.error);
	s->n_warnings += sentence_is_set(&entry->stored.warning);
	if (end_s && end_s < s->first_expires_s)
		s->first_expires_s = end_s;
	if (signed_s && signed_s < s->first_signed_s)
		s->first_signed_s = signed_s;
}

static void put_sums(const struct sums *s, struct metrics_text *out)
{
	metrics_text_family(out, METRICS_GAUGE, "zones", "zones by their state");
	for (int k = 0; k < ZONES_N_STATES; k++)
		metrics_text_sample(out, s->by_state[k], "state",
				    zones_state_text((enum zones_state)k), NULL);
	metrics_text_family(out, METRICS_GAUGE, "zones_signatures_invalid",
			    "zones whose signatures are not valid now");
	metrics_text_sample(out, s->n_invalid, NULL);
	metrics_text_family(out, METRICS_GAUGE, "zones_storage_error",
			    "zones with something wrong with their journal, file or keys");
	metrics_text_sample(out, s->n_errors, NULL);
	metrics_text_family(out, METRICS_GAUGE, "zones_storage_warning",
			    "zones whose changes will soon have no room in the journal");
	metrics_text_sample(out, s->n_warnings, NULL);
	metrics_text_family(out, METRICS_GAUGE, "zones_expires_timestamp_seconds",
			    "when the first of them expires, unless a primary is heard before");
	if (s->first_expires_s != UINT64_MAX)
		metrics_text_sample(out, s->first_expires_s, NULL);
	metrics_text_family(out, METRICS_GAUGE, "zones_signature_expires_timestamp_seconds",
			    "when the first signature of all zones that are signed here ends");
	if (s->first_signed_s != UINT64_MAX)
		metrics_text_sample(out, s->first_signed_s, NULL);
}

static size_t choose_zone_metrics(const struct metrics_zone_list *list,
				  const struct zones_entry *told[METRICS_ZONES_MAX])
{
	size_t n = list->n > METRICS_ZONES_MAX ? list->n_first : 0;
	const bool has_first = n > 0;

	memcpy(told, list->first, n * sizeof(list->first[0]));
	for (size_t i = 0; i < list->n && n < METRICS_ZONES_MAX; i++) {
		const struct zones_entry *entry = list->at(list->user, i);

		if (!has_first || !list->is_first(list->first_user, entry))
			told[n++] = entry;
	}
	return n;
}

void metrics_zones(const struct metrics_zone_list *list, uint64_t now_s, struct metrics_text *out)
{
	struct sums sums = { .first_expires_s = UINT64_MAX, .first_signed_s = UINT64_MAX };
	const struct zones_entry *told[METRICS_ZONES_MAX];

	for (size_t i = 0; i < list->n; i++)
		add_zone_metrics(&sums, list->at(list->user, i), now_s);
	put_sums(&sums, out);
	put_each(told, choose_zone_metrics(list, told), now_s, out);
}
