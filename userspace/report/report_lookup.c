/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json_put.h"
#include "dns/edns.h"
#include "dns/nameset.h"
#include "dns/name.h"
#include "rpz/rpz.h"
#include "engine/special.h"
#include "resolver/anchors.h"
#include "querier/inspect.h"
#include "zone/rdprint.h"
#include "zone/set.h"

#define FAILURES_SHOWN 32
#define RECORDS_SHOWN  4   /* of a rule */
#define RECORD_CAP     512 /* characters of each */

/* The input of all parts. */
struct lookup {
	const struct report_view *v;
	const uint8_t *folded;
	unsigned int n_bytes;
	uint16_t qtype;
	bool has_type;
	const char *answered_by; /* the first part that answers; NULL: none so far */
};

static void put_lookup_name(json_t *o, const char *key, const uint8_t *name)
{
	char text[NAME_TEXT_MAX];

	if (name_to_text(text, sizeof(text), name) > 0)
		json_put_text(o, key, text);
}

/* --- Before upstream -------------------------------------------------------------------------- */

static void append_lookup(struct lookup *l, json_t *list, json_t *row, const char *by, bool answers)
{
	json_put_text(row, "by", by);
	json_array_append_new(list, row);
	if (answers && !l->answered_by)
		l->answered_by = by;
}

static void put_lookup_zone(struct lookup *l, json_t *list)
{
	const struct zone_set *set = l->v->published->set;
	const struct zone_member *member =
		set ? zone_set_find(set, l->folded, l->n_bytes, l->qtype) : NULL;
	bool is_of_parent;
	json_t *row;

	if (!member)
		return;
	/* RFC 4035 section 3.1.4.1: clients that may recurse get an apex's DS from upstream. */
	is_of_parent = l->qtype == DNS_TYPE_DS && member->apex_len == l->n_bytes && l->n_bytes > 1;
	if (is_of_parent && l->v->published->recursion)
		return;
	row = json_object();
	put_lookup_name(row, "what", member->apex);
	json_put_text(row, "does", member->zone ? "answers" : "SERVFAIL: the zone is not served");
	append_lookup(l, list, row, "zone", true);
}

/* Appends a record as a line, which is cut if it is too long. */
static void append_record(json_t *list, char *text, const char *owner, uint16_t type,
			  const struct zone_rdata *rd)
{
	char line[NAME_TEXT_MAX + RECORD_CAP];

	text[rdprint_record(text, type, rd->bytes, rd->len)] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	snprintf(line, sizeof(line), "%s %.*s", owner, RECORD_CAP - 2, text);
	json_array_append_new(list, json_string(line));
}

static json_t *list_rule(const struct zone *z, const struct zone_node *node)
{
	char *text = malloc(RDPRINT_TEXT_MAX + 1), owner_text[NAME_TEXT_MAX] = "";
	unsigned int n_sets, n_left = RECORDS_SHOWN;
	const struct zone_rrset *sets = zone_node_rrsets(z, node, &n_sets);
	uint8_t owner[ZONE_NAME_MAX];
	json_t *list = json_array();

	zone_node_owner(z, node, owner);
	(void)name_to_text(owner_text, sizeof(owner_text), owner);
	for (unsigned int i = 0; text && i < n_sets; i++) {
		const uint8_t *at = zone_rrset_first(z, &sets[i]);
		struct zone_rdata rd;

		for (unsigned int k = 0; k < sets[i].n && n_left; k++, n_left--) {
			at = zone_rdata_next(at, &rd);
			append_record(list, text, owner_text, sets[i].type, &rd);
		}
	}
	free(text);
	return list;
}

static void put_lookup_rpz(struct lookup *l, json_t *list)
{
	const struct rpz_client nobody = { 0 };
	const struct rpz_question q = { l->folded, l->n_bytes, l->qtype };
	const struct rpz *p = l->v->published->rpz;
	struct rpz_hit hit;
	bool is_local, changes;
	unsigned int n;
	json_t *row;

	if (!p || !rpz_find(p, &nobody, &q, &hit))
		return;
	is_local = hit.trigger == RPZ_BY_LOCAL_DATA;
	changes = rpz_changes(&hit);
	row = json_object();
	if (!is_local)
		put_lookup_name(row, "what", zone_apex(hit.zone, &n));
	json_put_text(row, "does",
		      !changes     ? "passes" :
		      hit.is_final ? "answers" :
				     "answers, unless an earlier list has a rule for an address");
	json_object_set_new(row, "rule", list_rule(hit.zone, hit.node));
	append_lookup(l, list, row, is_local ? RPZ_MANAGER_LOCAL : "policy", changes);
}

static void put_lookup_special(struct lookup *l, json_t *list)
{
	const struct engine_recursion *rules = l->v->published->recursion;
	const uint8_t *at =
		rules && rules->special ? special_find(rules->special, l->folded, l->qtype) : NULL;
	json_t *row;

	if (!at)
		return;
	row = json_object();
	put_lookup_name(row, "what", at);
	json_put_text(row, "does", "answers");
	append_lookup(l, list, row, "special name", true);
}

static void put_before(json_t *o, struct lookup *l, bool recurses)
{
	json_t *list = json_array();

	put_lookup_zone(l, list);
	if (recurses) {
		put_lookup_rpz(l, list);
		put_lookup_special(l, list);
	}
	json_put_text(o, "answered_by",
		      l->answered_by ? l->answered_by :
		      recurses       ? "upstream" :
				       "nobody: recursion is off");
	json_object_set_new(o, "before_upstream", list);
}

/* --- Upstream --------------------------------------------------------------------------------- */

static void put_upstream(json_t *o, const struct lookup *l, const struct recursion_report *report)
{
	struct querier *r = report->resolver;
	size_t target = inspect_target_of(r, l->folded, l->qtype);
	json_t *way = report_upstreams_way(report->resolver_config, r, target);
	json_t *asks = json_object(), *list, *row;

	json_put_text(asks, "by", report->has_own_forwarder ? "forwarder" : "libunbound");
	json_object_update(asks, way);
	json_decref(way);
	json_object_set_new(o, "asks", asks);
	if (report->has_own_forwarder) {
		json_object_set_new(o, "upstreams", report_upstreams(r));
		return;
	}
	list = json_array();
	row = report_upstreams_target(report->resolver_config, r, target);
	if (row)
		json_array_append_new(list, row);
	json_object_set_new(o, "targets", list);
}

/* --- Validation ------------------------------------------------------------------------------- */

/* The deepest name of the list at or above the name: a pointer into `folded`. NULL: none. */
static const uint8_t *find_in_lookup(const char *const *names, const uint8_t *folded)
{
	struct nameset set;
	const uint8_t *at = NULL;
	int err = nameset_init(&set, nameset_length(names));

	if (!err && !nameset_add_all(&set, names)) {
		nameset_sort(&set);
		at = nameset_find(&set, folded);
	}
	nameset_fini(&set);
	return at;
}

static void put_anchors(json_t *o, const struct anchors_at *at)
{
	json_t *list = json_array();
	char owner[NAME_TEXT_MAX] = "", text[NAME_TEXT_MAX + ANCHORS_TEXT_CAP];

	if (at->n)
		(void)name_to_text(owner, sizeof(owner), at->owner);
	for (unsigned int i = 0; i < at->n && i < ANCHORS_SHOWN; i++) {
		snprintf(text, sizeof(text), "%s %s", owner, at->texts[i]);
		json_array_append_new(list, json_string(text));
	}
	json_object_set_new(o, "trust_anchors", list);
}

/* Reads both files and takes the anchors with the deeper owner. Reports an unreadable file. */
static void read_anchors(json_t *o, const struct resolver_config *config, const uint8_t *folded,
			 struct anchors_at *best)
{
	const char *const paths[] = { config->trust_anchor_file, config->auto_trust_anchor_file };
	struct anchors_at at;
	int err;

	best->n = 0;
	for (unsigned int i = 0; i < 2; i++) {
		if (!paths[i])
			continue;
		err = anchors_find(paths[i], folded, &at);
		if (err)
			json_put_text(o, "error", err_text(err));
		if (err || (at.n && (!best->n || name_bytes(at.owner) > name_bytes(best->owner))))
			json_put_text(o, "file", paths[i]);
		if (!err && at.n && (!best->n || name_bytes(at.owner) > name_bytes(best->owner)))
			*best = at;
	}
}

/* The deepest enclosing name without validation. A trust anchor there or deeper comes first. */
static bool put_negative(json_t *o, const struct resolver_config *config, const uint8_t *folded,
			 const struct anchors_at *anchors)
{
	const uint8_t *insecure = find_in_lookup(config->insecure, folded);
	const uint8_t *special = find_in_lookup(special_names, folded);
	const uint8_t *at = !insecure || (special && special < insecure) ? special : insecure;

	if (!at || (anchors->n && name_bytes(anchors->owner) >= name_bytes(at)))
		return false;
	put_lookup_name(o, "negative_anchor", at);
	json_put_text(o, "negative_by",
		      at == insecure ? "recursion.domain-insecure" : "special name");
	return true;
}

static void put_validation(json_t *o, const struct lookup *l, const struct recursion_report *report)
{
	const struct resolver_config *config = report->resolver_config;
	struct anchors_at anchors = { .n = 0 };
	json_t *v = json_object();
	bool is_negative;

	json_object_set_new(o, "validation", v);
	if (report->has_own_forwarder) {
		json_put_bool(v, "validates", false);
		json_put_text(v, "why", "the forwarder passes on what upstreams say");
		return;
	}
	read_anchors(v, config, l->folded, &anchors);
	is_negative = put_negative(v, config, l->folded, &anchors);
	json_put_bool(v, "validates", anchors.n && !is_negative);
	json_put_text(v, "why",
		      is_negative ? "a negative trust anchor is nearer" :
		      anchors.n   ? "a trust anchor is at or above the name" :
				    "no trust anchor is at or above the name");
	put_anchors(v, &anchors);
}

/* --- Failures --------------------------------------------------------------------------------- */

static json_t *report_failure(const struct failure *f, uint64_t now_ns)
{
	char type[PROTO_TEXT_MAX];
	json_t *o = json_object();
	const char *words;

	proto_type_to_text(type, f->qtype);
	json_put_text(o, "type", type);
	json_put_int(o, "ago_s", now_ns > f->last_ns ? (now_ns - f->last_ns) / CLOCK_NS_PER_S : 0);
	json_put_int(o, "first_ago_s",
		     now_ns > f->first_ns ? (now_ns - f->first_ns) / CLOCK_NS_PER_S : 0);
	json_put_int(o, "times", f->n);
	if (f->ede_code != EDNS_NO_EDE) {
		words = proto_ede_text((uint16_t)f->ede_code);
		json_put_int(o, "ede_code", (uint64_t)f->ede_code);
		json_put_text(o, "ede", words ? words : "unknown");
	}
	json_put_text(o, "reason", *f->why ? f->why : "no reason is known");
	return o;
}

static void put_failures(json_t *o, const struct lookup *l, struct querier *r)
{
	struct failure *found = malloc(FAILURES_SHOWN * sizeof(*found));
	uint64_t now_ns = clock_ns();
	json_t *list = json_array();
	size_t n = found ? inspect_failures(r, l->folded, found, FAILURES_SHOWN) : 0;

	for (size_t i = 0; i < n; i++)
		if (!l->has_type || found[i].qtype == l->qtype)
			json_array_append_new(list, report_failure(&found[i], now_ns));
	json_object_set_new(o, "failures", list);
	free(found);
}

void report_lookup(json_t *o, const struct report_view *v, const struct cache_match *match)
{
	struct lookup l = {
		.v = v,
		.folded = match->folded,
		.n_bytes = match->name_bytes,
		.qtype = match->has_type ? match->qtype : DNS_TYPE_A,
		.has_type = match->has_type,
	};
	struct recursion_report report;
	char type[PROTO_TEXT_MAX];

	recursion_report(v->recursion, &report);
	put_lookup_name(o, "name", match->folded);
	proto_type_to_text(type, l.qtype);
	if (match->has_type)
		json_put_text(o, "type", type);
	put_before(o, &l, report.is_on);
	if (!report.is_on)
		return;
	put_upstream(o, &l, &report);
	put_validation(o, &l, &report);
	put_failures(o, &l, report.resolver);
}
