/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <arpa/inet.h>
#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/wire.h"
#include "base/json_put.h"
#include "dns/proto.h"
#include "cache/message.h"

#define TYPES_SHOWN 20

static void put_share(json_t *o, const char *key, uint64_t part, uint64_t whole)
{
	json_put_percent(o, key, whole ? (double)part / (double)whole : 0);
}

/* A slot of the cache, and the name of the zone or the other part that has it. */
struct slot_name {
	uint32_t slot;
	const char *name;
};

static int compare_slot_names(const void *a, const void *b)
{
	uint32_t left = ((const struct slot_name *)a)->slot;
	uint32_t right = ((const struct slot_name *)b)->slot;

	return (left > right) - (left < right);
}

static void note_slot_name(struct slot_name *names, size_t n, uint32_t slot, const char *name)
{
	const struct slot_name key = { .slot = slot };
	struct slot_name *found =
		slot ? bsearch(&key, names, n, sizeof(*names), compare_slot_names) : NULL;

	if (found)
		found->name = name;
}

/* Sorts them by slot, and finds the names in one walk over all zones. "none" if there is none. */
static void find_slot_names(const struct report_view *v, struct slot_name *names, size_t n)
{
	static const char *const others[N_OTHER_SLOTS] = {
		[OTHER_SLOT_RECURSION] = "(upstream)",
		[OTHER_SLOT_RPZ] = "(policies)",
	};
	size_t i;

	if (!n)
		return;
	qsort(names, n, sizeof(*names), compare_slot_names);
	for (i = 0; i < n; i++)
		names[i].name = "none";
	for (i = 0; i < N_OTHER_SLOTS; i++)
		note_slot_name(names, n, v->other_slots[i], others[i]);
	for (i = 0; i < zones_n(v->zones); i++) {
		const struct zones_entry *entry = zones_at(v->zones, i);

		note_slot_name(names, n, entry->published.slot, entry->name);
	}
}

static const char *name_of_slot(const struct slot_name *names, size_t n, uint32_t slot)
{
	const struct slot_name key = { .slot = slot };
	const struct slot_name *found = bsearch(&key, names, n, sizeof(*names), compare_slot_names);

	return found ? found->name : "none";
}

static const char *view_text(uint32_t view)
{
	static const char *const texts[VOLLEY_N_VIEWS] = {
		[VOLLEY_VIEW_PUBLIC] = "public",
		[VOLLEY_VIEW_RECURSIVE] = "recursive",
		[VOLLEY_VIEW_PRIVATE] = "private",
		[VOLLEY_VIEW_ITERATIVE] = "iterative",
	};

	return texts[view];
}

/* --- Census ----------------------------------------------------------------------------------- */

static void put_cache_report_count(json_t *o, const struct census_count *count,
				   const struct census *census)
{
	json_put_int(o, "entries", count->entries);
	json_put_int(o, "size_bytes", count->bytes);
	put_share(o, "share_percent", count->bytes, census->all.bytes);
}

static void append_row(json_t *list, const char *key, const char *value,
		       const struct census_count *count, const struct census *census)
{
	json_t *row = json_object();

	json_put_text(row, key, value);
	put_cache_report_count(row, count, census);
	json_array_append_new(list, row);
}

/* A row "other" for all counts beyond those of the largest, if there are any. */
static void append_rest(json_t *list, const char *key, const struct census_count *counts,
			const uint32_t *largest, size_t n, const struct census *census)
{
	struct census_count rest = census->all;

	for (size_t i = 0; i < n; i++) {
		rest.entries -= counts[largest[i]].entries;
		rest.bytes -= counts[largest[i]].bytes;
	}
	if (rest.entries)
		append_row(list, key, "other", &rest, census);
}

static json_t *report_types(const struct census *census)
{
	json_t *list = json_array();
	uint32_t largest[TYPES_SHOWN];
	size_t n = census_largest(census->by_type, CENSUS_TYPES, largest, TYPES_SHOWN);
	char text[PROTO_TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		proto_type_to_text(text, (uint16_t)largest[i]);
		append_row(list, "type", text, &census->by_type[largest[i]], census);
	}
	append_rest(list, "type", census->by_type, largest, n, census);
	return list;
}

static json_t *report_kinds(const struct census *census)
{
	json_t *list = json_array();

	for (int i = 0; i < N_ANSWER_KINDS; i++)
		if (census->by_kind[i].entries)
			append_row(list, "kind", answer_kind_text((enum answer_kind)i),
				   &census->by_kind[i], census);
	return list;
}

static json_t *report_by_zone(const struct report_view *v, const struct census *census,
			      size_t n_zones)
{
	json_t *list = json_array();
	uint32_t *largest = calloc(n_zones, sizeof(*largest));
	struct slot_name *names = calloc(n_zones, sizeof(*names));
	size_t n = 0, i;

	if (largest && names)
		n = census_largest(census->by_zone, census->n_zones, largest, n_zones);
	for (i = 0; i < n; i++)
		names[i].slot = largest[i];
	find_slot_names(v, names, n);
	for (i = 0; i < n; i++)
		append_row(list, "zone", name_of_slot(names, n, largest[i]),
			   &census->by_zone[largest[i]], census);
	if (largest && names)
		append_rest(list, "zone", census->by_zone, largest, n, census);
	free(names);
	free(largest);
	return list;
}

static json_t *report_variants(const struct census *census)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < VOLLEY_N_VIEWS * CENSUS_VARIANTS; i++) {
		const struct census_count *count =
			&census->by_variant[i / CENSUS_VARIANTS][i % CENSUS_VARIANTS];
		json_t *row;

		if (!count->entries)
			continue;
		row = json_object();
		json_put_text(row, "view", view_text(i / CENSUS_VARIANTS));
		json_put_bool(row, "do", i & VOLLEY_KEY_DO);
		json_put_bool(row, "cd", i & VOLLEY_KEY_CD);
		put_cache_report_count(row, count, census);
		json_array_append_new(list, row);
	}
	return list;
}

static void append_hits(json_t *list, const char *by, uint64_t hits, uint64_t asked)
{
	json_t *row = json_object();

	json_put_text(row, "by", by);
	json_put_int(row, "asked", asked);
	json_put_int(row, "hits", hits);
	put_share(row, "ratio_percent", hits, asked);
	json_array_append_new(list, row);
}

/* Hits of driver and workers. The driver hands a query that it does not find up to a worker. */
static void put_hits(json_t *o, const struct report_view *v)
{
	json_t *stats = report_stats(v), *list = json_array();
	const json_t *driver = json_object_get(stats, "driver"),
		     *reasons = json_object_get(driver, "reasons"),
		     *engine = json_object_get(stats, "engine");
	uint64_t hit = (uint64_t)json_integer_value(json_object_get(driver, "hit"));
	uint64_t by_all = 0, worker_hit, missed, n;
	static const char *const misses[] = { "up-miss", "up-stale", "up-expired" };
	static const char *const engine_misses[] = { "cache_miss", "cache_stale", "cache_expired" };
	const char *key;
	json_t *value;

	for (n = missed = 0; n < 3; n++)
		missed += (uint64_t)json_integer_value(json_object_get(reasons, misses[n]));
	append_hits(list, "driver", hit, hit + missed);
	worker_hit = (uint64_t)json_integer_value(json_object_get(engine, "cache_hit"));
	for (n = missed = 0; n < 3; n++)
		missed += (uint64_t)json_integer_value(json_object_get(engine, engine_misses[n]));
	append_hits(list, "worker", worker_hit, worker_hit + missed);
	json_object_foreach(json_object_get(stats, "answered"), key, value)
		by_all += (uint64_t)json_integer_value(value);
	put_share(o, "driver_share_percent", hit, by_all);
	json_object_set_new(o, "hits_by", list);
	json_decref(stats);
}

static void put_ages(json_t *o, const struct census *census)
{
	json_t *age = json_object(), *expiry;

	json_put_int(age, "median_s", census_median_s(&census->age));
	json_put_int(age, "oldest_s", census->age.most_s);
	json_object_set_new(o, "age", age);
	if (!census->left.n)
		return;
	expiry = json_object();
	json_put_int(expiry, "entries", census->left.n);
	json_put_int(expiry, "soonest_s", census->left.least_s);
	json_put_int(expiry, "median_s", census_median_s(&census->left));
	json_put_int(expiry, "latest_s", census->left.most_s);
	json_object_set_new(o, "time_to_expiry", expiry);
}

void cache_report_census(json_t *o, const struct report_view *v, const struct census *census,
			 size_t n_zones)
{
	json_put_int(o, "answers_bytes", census->all.bytes);
	json_put_int(o, "entries_stale", census->n_stale);
	json_put_int(o, "entries_expired", census->n_expired);
	if (v->workers)
		put_hits(o, v);
	if (!census->all.entries)
		return;
	put_ages(o, census);
	json_object_set_new(o, "by_type", report_types(census));
	json_object_set_new(o, "by_kind", report_kinds(census));
	json_object_set_new(o, "by_zone", report_by_zone(v, census, n_zones));
	json_object_set_new(o, "by_variant", report_variants(census));
}

/* --- An entry --------------------------------------------------------------------------------- */

/* The message that would be sent now; its question has the letters of the key. */
static ldns_pkt *make_packet(const struct volley_entry *e, uint32_t now_s)
{
	struct message m = message_of_entry(e);
	struct cache_answer a;
	uint8_t *wire = calloc(1, m.end);
	ldns_pkt *packet = NULL;

	if (!wire)
		return NULL;
	memcpy(wire + DNS_FLAGS_AT, &e->flags, 2);
	wire_store_be16(wire + DNS_QDCOUNT_AT, 1);
	memcpy(wire + DNS_ANCOUNT_AT, &e->ancount, 2);
	memcpy(wire + DNS_NSCOUNT_AT, &e->nscount, 2);
	memcpy(wire + DNS_ARCOUNT_AT, &e->arcount_full, 2);
	memcpy(wire + DNS_HEADER_BYTES, m.name, e->key.name_bytes);
	memcpy(wire + m.name_end, &e->key.qtype, 2);
	memcpy(wire + m.name_end + 2, &e->key.qclass, 2);
	memcpy(wire + m.body_at, m.body, m.end - m.body_at);
	cache_answer_of(&a, e, now_s);
	cache_answer_age(&a, wire + m.body_at, m.end - m.body_at);
	if (ldns_wire2pkt(&packet, wire, m.end) != LDNS_STATUS_OK)
		packet = NULL;
	free(wire);
	return packet;
}

static char *record_text(const ldns_rr *rr)
{
	char *text = ldns_rr2str(rr);

	for (char *c = text; c && *c; c++)
		if (*c == '\t')
			*c = ' ';
	if (text)
		text[strcspn(text, "\n")] = 0;
	return text;
}

static void put_section(json_t *o, const char *key, const ldns_rr_list *section)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ldns_rr_list_rr_count(section); i++) {
		char *text = record_text(ldns_rr_list_rr(section, i));

		json_array_append_new(list, json_string(text ? text : ""));
		free(text);
	}
	json_object_set_new(o, key, list);
}

static void put_cache_report_records(json_t *o, const struct volley_entry *e, uint32_t now_s)
{
	ldns_pkt *packet = make_packet(e, now_s);

	if (!packet)
		return;
	put_section(o, "answer_records", ldns_pkt_answer(packet));
	put_section(o, "authority_records", ldns_pkt_authority(packet));
	put_section(o, "additional_records", ldns_pkt_additional(packet));
	ldns_pkt_free(packet);
}

/* recursion.serve-stale, as engine/recursive_query.c does it: RFC 8767 section 4. */
static bool may_cache_report_be_stale(const struct report_view *v, const struct volley_entry *e,
				      uint32_t now_s)
{
	uint32_t stale_s = v->recursion ? recursion_config(v->recursion)->serve_stale_s : 0;
	uint16_t rcode = ntohs(e->flags) & DNS_RCODE_MASK;

	return e->key.view == VOLLEY_VIEW_RECURSIVE && stale_s && now_s - e->expires_s <= stale_s &&
	       (rcode == DNS_RCODE_NOERROR || rcode == DNS_RCODE_NXDOMAIN);
}

static const char *cache_report_state_text(const struct report_view *v,
					   const struct cache_found *found, uint32_t now_s)
{
	if (found->verdict == CACHE_HIT)
		return "valid";
	if (found->verdict == CACHE_STALE)
		return "dead: its zone has changed";
	return may_cache_report_be_stale(v, found->entry, now_s) ?
		       "expired: given while upstreams do not answer" :
		       "dead: expired";
}

static void put_cache_report_key(json_t *o, const struct volley_entry *e)
{
	char text[PROTO_TEXT_MAX];

	proto_type_to_text(text, ntohs(e->key.qtype));
	json_put_text(o, "type", text);
	json_put_bool(o, "do", e->key.flags & VOLLEY_KEY_DO);
	json_put_bool(o, "cd", e->key.flags & VOLLEY_KEY_CD);
	json_put_text(o, "view", view_text(e->key.view));
	if (proto_rcode_to_text(text, ntohs(e->flags) & DNS_RCODE_MASK) > 0)
		json_put_text(o, "rcode", text);
	json_put_text(o, "kind", answer_kind_text(answer_kind(e)));
}

json_t *cache_report_entry(const struct report_view *v, const struct cache_found *found)
{
	const struct volley_entry *e = found->entry;
	struct slot_name name = { .slot = e->zone_slot, .name = "none" };
	uint32_t now_s = clock_coarse_s();
	json_t *o = json_object();

	if (e->zone_slot)
		find_slot_names(v, &name, 1);
	put_cache_report_key(o, e);
	json_put_text(o, "zone", name.name);
	json_put_bool(o, "valid", found->verdict == CACHE_HIT);
	json_put_text(o, "state", cache_report_state_text(v, found, now_s));
	json_put_int(o, "generation", e->zone_gen);
	json_put_text(o, "queue", found->queue);
	json_put_int(o, "used", e->freq);
	json_put_int(o, "age_s", now_s > e->born_s ? now_s - e->born_s : 0);
	if (e->expires_s != VOLLEY_NEVER)
		json_put_int(o, "expires_s", e->expires_s > now_s ? e->expires_s - now_s : 0);
	if (e->expires_s != VOLLEY_NEVER && e->expires_s <= now_s)
		json_put_int(o, "expired_s", now_s - e->expires_s);
	if (e->refresh_s)
		json_put_int(o, "refresh_s", e->refresh_s);
	json_put_int(o, "entry_bytes", e->bytes);
	json_put_int(o, "full_bytes", e->full_bytes);
	json_put_int(o, "short_bytes", e->short_bytes);
	put_cache_report_records(o, e, now_s);
	return o;
}
