/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lookup against a slow one that walks over all records and knows no tree, on random small
 * zones. Labels come from a very small alphabet, so that cuts, wildcards, DNAMEs and empty
 * non-terminals meet often.
 */
#include <stdlib.h>

#include "zone/builder.h"
#include "random_name.h"
#include "zone_text.h"

#define N_ZONES     3000
#define N_QUERIES   60
#define RECORDS_MAX 14

struct record {
	uint8_t owner[256];
	uint16_t type;
};

struct ref {
	struct record records[RECORDS_MAX + 2];
	unsigned n;
};

static bool ref_exists(const struct ref *ref, const uint8_t *name)
{
	for (unsigned i = 0; i < ref->n; i++)
		if (name_is_under(ref->records[i].owner, name))
			return true;
	return false;
}

static unsigned ref_count(const struct ref *ref, const uint8_t *owner, uint16_t type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ref->n; i++)
		n += name_equal(ref->records[i].owner, owner) &&
		     (type == DNS_TYPE_ANY || ref->records[i].type == type);
	return n;
}

/* What the lookup must say: owners as names, rrset by type. */
struct want {
	enum zone_status status;
	bool wildcard;
	uint8_t node[256], encloser[256];
	uint16_t type; /* of rrset; 0: none */
};

static void ref_answer(const struct ref *ref, const uint8_t *node, uint16_t qtype, struct want *w)
{
	name_fold(w->node, node, name_bytes(node));
	if (ref_count(ref, node, DNS_TYPE_NS) && !name_equal(node, apex) && qtype != DNS_TYPE_DS) {
		w->status = ZONE_DELEGATION;
		w->type = DNS_TYPE_NS;
	} else if (ref_count(ref, node, qtype)) {
		w->status = ZONE_ANSWER;
		w->type = qtype == DNS_TYPE_ANY ? 0 : qtype;
	} else if (ref_count(ref, node, DNS_TYPE_CNAME) && qtype != DNS_TYPE_ANY) {
		w->status = ZONE_CNAME;
		w->type = DNS_TYPE_CNAME;
	} else {
		w->status = ZONE_NODATA;
	}
}

static void ref_find(const struct ref *ref, const uint8_t *qname, uint16_t qtype, struct want *w)
{
	unsigned n = name_n_labels(qname) - name_n_labels(apex);
	uint8_t star[300] = "\1*";
	const uint8_t *at = qname;

	memset(w, 0, sizeof(*w));
	for (;; n--) {
		at = name_skip_labels(qname, n);
		name_fold(w->encloser, at, name_bytes(at));
		if (!n)
			break;
		if (ref_count(ref, at, DNS_TYPE_NS) && !name_equal(at, apex)) {
			ref_answer(ref, at, DNS_TYPE_A, w);
			return;
		}
		if (ref_count(ref, at, DNS_TYPE_DNAME)) {
			w->status = ZONE_DNAME;
			w->type = DNS_TYPE_DNAME;
			name_fold(w->node, at, name_bytes(at));
			return;
		}
		if (!ref_exists(ref, name_skip_labels(qname, n - 1)))
			break;
	}
	if (!n) {
		ref_answer(ref, qname, qtype, w);
		return;
	}
	memcpy(star + 2, at, name_bytes(at));
	w->wildcard = ref_exists(ref, star);
	if (w->wildcard)
		ref_answer(ref, star, qtype, w);
	else
		w->status = ZONE_NXDOMAIN;
}

static int add(struct zone_builder *b, struct ref *ref, const uint8_t *owner, uint16_t type)
{
	static const uint8_t soa[26] = { 1, 'a', 0, 1, 'b', 0 };
	static const uint8_t address[] = { 192, 0, 2, 1 };
	static const uint8_t name[] = "\1t";
	static const uint8_t ds[] = { 0, 1, 8, 2, 0xaa };
	struct zone_builder_record rec = { .owner = owner, .type = type, .ttl = 60 };
	struct zone_error err;

	switch (type) {
	case DNS_TYPE_SOA:
		rec.rdata = soa;
		rec.rdata_bytes = sizeof(soa);
		break;
	case DNS_TYPE_A:
		rec.rdata = address;
		rec.rdata_bytes = sizeof(address);
		break;
	case DNS_TYPE_DS:
		rec.rdata = ds;
		rec.rdata_bytes = sizeof(ds);
		break;
	default:
		rec.rdata = name;
		rec.rdata_bytes = sizeof(name);
	}
	rec.owner_bytes = (unsigned)name_bytes(owner);
	memcpy(ref->records[ref->n].owner, owner, rec.owner_bytes);
	ref->records[ref->n++].type = type;
	return zone_builder_add(b, &rec, &err);
}

/* A random zone in both forms; NULL when it broke a rule for zones. */
static struct zone *random_zone(struct ref *ref)
{
	static const uint16_t types[] = { DNS_TYPE_A,     DNS_TYPE_A,     DNS_TYPE_PTR, DNS_TYPE_NS,
					  DNS_TYPE_CNAME, DNS_TYPE_DNAME, DNS_TYPE_DS };
	struct zone_error err = { 0 };
	struct zone_builder *b;
	struct zone *z;
	uint8_t owner[256];

	memset(ref, 0, sizeof(*ref));
	assert_int_equal(zone_builder_new(&b, apex), 0);
	assert_int_equal(add(b, ref, apex, DNS_TYPE_SOA), 0);
	assert_int_equal(add(b, ref, apex, DNS_TYPE_NS), 0);
	for (unsigned n = draw(RECORDS_MAX); n; n--) {
		random_name(owner, 4);
		assert_int_equal(add(b, ref, owner, types[draw(7)]), 0);
	}
	if (zone_builder_finish(b, &z, &err))
		assert_true(err.sentence[0]);
	zone_builder_free(b);
	return z;
}

static void assert_owner(const struct zone *z, const struct zone_node *node, const uint8_t *want)
{
	uint8_t owner[ZONE_NAME_MAX];

	assert_non_null(node);
	zone_node_owner(z, node, owner);
	assert_true(name_equal(owner, want));
}

static void compare(const struct zone *z, const struct ref *ref, unsigned statuses[6])
{
	static const uint16_t qtypes[] = { DNS_TYPE_A,     DNS_TYPE_PTR,   DNS_TYPE_NS,
					   DNS_TYPE_CNAME, DNS_TYPE_DNAME, DNS_TYPE_DS,
					   DNS_TYPE_ANY,   DNS_TYPE_MX };
	uint16_t qtype = qtypes[draw(8)];
	struct zone_result r;
	uint8_t qname[256];
	struct want w;

	random_name(qname, 5);
	name_fold(qname, qname, name_bytes(qname));
	ref_find(ref, qname, qtype, &w);
	zone_find(z, qname, (unsigned)name_bytes(qname), qtype, &r);
	assert_int_equal(r.status, w.status);
	assert_int_equal(r.wildcard, w.wildcard);
	assert_owner(z, r.encloser, w.encloser);
	if (w.status == ZONE_NXDOMAIN)
		assert_null(r.node);
	else
		assert_owner(z, r.node, w.node);
	assert_int_equal(r.rrset ? r.rrset->type : 0, w.type);
	assert_ptr_equal(r.cut, w.status == ZONE_DELEGATION ? r.node : NULL);
	statuses[r.status]++;
}

static void agrees_with_a_linear_search(void **state)
{
	unsigned n_zones = 0, statuses[6] = { 0 };

	(void)state;
	for (seed = 1; n_zones < N_ZONES;) {
		struct ref ref;
		struct zone *z = random_zone(&ref);

		if (!z)
			continue;
		n_zones++;
		for (unsigned i = 0; i < N_QUERIES; i++)
			compare(z, &ref, statuses);
		zone_free(z);
	}
	/* Every kind of answer came up, and often. */
	for (unsigned i = 0; i < 6; i++)
		assert_true(statuses[i] > 300);
}

/* Enough names to fill and spill buckets. */
static void finds_each_of_many(void **state)
{
	enum { N = 50000 };
	struct ref *ref = calloc(1, sizeof(*ref));
	struct zone_error err = { 0 };
	struct zone_builder *b;
	struct zone_result r;
	struct zone *z;
	uint8_t name[256], owner[ZONE_NAME_MAX];
	char text[64];

	(void)state;
	assert_non_null(ref);
	assert_int_equal(zone_builder_new(&b, apex), 0);
	assert_int_equal(add(b, ref, apex, DNS_TYPE_SOA), 0);
	assert_int_equal(add(b, ref, apex, DNS_TYPE_NS), 0);
	for (unsigned i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "host-%u.net%u.z", i, i % 7);
		wire_of(name, text);
		ref->n = 0;
		assert_int_equal(add(b, ref, name, DNS_TYPE_A), 0);
	}
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	zone_builder_free(b);
	assert_int_equal(zone_n_names(z), N + 7 + 1);
	for (unsigned i = 0; i < 2 * N; i++) {
		snprintf(text, sizeof(text), "host-%u.net%u.z", i, i % 7);
		zone_find(z, name, wire_of(name, text), DNS_TYPE_A, &r);
		assert_int_equal(r.status, i < N ? ZONE_ANSWER : ZONE_NXDOMAIN);
		if (i >= N)
			continue;
		zone_node_owner(z, r.node, owner);
		assert_true(name_equal(owner, name));
	}
	/* 16 node, 12 RRset, 7 bucket, at most 11 label; the rdata is shared. */
	assert_in_range(zone_memory_bytes(z) / N, 30, 48);
	zone_free(z);
	free(ref);
}

/* The alias is followed where the name has no NSEC of its own. */
static void nsec_at_a_cname(void **state)
{
	static const struct {
		const char *name, *text;
		uint16_t qtype;
		enum zone_status status;
	} rows[] = {
		{ "not signed", "c CNAME ns\n", DNS_TYPE_NSEC, ZONE_CNAME },
		{ "with an NSEC", "c CNAME ns\nc NSEC ns CNAME RRSIG NSEC\n", DNS_TYPE_NSEC,
		  ZONE_ANSWER },
		{ "its signatures", "c CNAME ns\n", DNS_TYPE_RRSIG, ZONE_NODATA },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct zone_result r;
		uint8_t name[256];
		struct zone *z;

		print_message("  %s\n", rows[i].name);
		snprintf(text, sizeof(text), ZONE_HEAD "%s", rows[i].text);
		z = zone_of("example.com", text);
		zone_find(z, name, wire_of(name, "c.example.com."), rows[i].qtype, &r);
		assert_int_equal(r.status, rows[i].status);
		zone_free(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nsec_at_a_cname),
		cmocka_unit_test(agrees_with_a_linear_search),
		cmocka_unit_test(finds_each_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
