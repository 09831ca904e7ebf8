/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proofs of denial: on random zones, whose chains this test makes itself, each proof is checked by
 * what it says alone (owner, next, hash by ldns), as a validator
 * would; on the signed samples, owner by owner.
 */
#include <ldns/ldns.h>
#include <stdlib.h>

#include "zone/builder.h"
#include "zone/denial.h"
#include "tests/lib/zonenode.h"
#include "random_name.h"
#include "zone_text.h"

#define N_ZONES   1500
#define N_QUERIES 60
#define NAMES_MAX 64

/* --- Random zones with a chain --- */

static const uint8_t salt[] = { 0xab, 0xcd };
static uint16_t iterations;

static void add(struct zone_builder *b, const uint8_t *owner, uint16_t type, const void *rdata,
		size_t n)
{
	struct zone_builder_record rec = {
		.owner = owner,
		.owner_bytes = (unsigned)name_bytes(owner),
		.type = type,
		.ttl = 60,
		.rdata = rdata,
		.rdata_bytes = (uint16_t)n,
	};
	struct zone_error err = { 0 };

	if (zone_builder_add(b, &rec, &err))
		fail_msg("%s", err.sentence);
}

static void add_apex(struct zone_builder *b)
{
	static const uint8_t soa[22 + 20] = "\1z\0\1z";

	add(b, apex, DNS_TYPE_SOA, soa, 6 + 20);
	add(b, apex, DNS_TYPE_NS, apex, sizeof(apex));
}

static void add_random(struct zone_builder *b)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_A, DNS_TYPE_NS, DNS_TYPE_NS,
					  DNS_TYPE_CNAME };
	uint16_t type = types[draw(5)];
	uint8_t owner[256];

	random_name(owner, 4);
	if (name_equal(owner, apex))
		return;
	if (type == DNS_TYPE_A)
		add(b, owner, type, "\300\0\2\1", 4);
	else
		add(b, owner, type, apex, sizeof(apex));
	if (type == DNS_TYPE_NS && draw(2))
		add(b, owner, DNS_TYPE_DS, "\0\1\15\2x", 5);
}

struct name {
	uint8_t wire[256];
	uint8_t hash[20];
};

static void hash_of(const uint8_t *name, uint8_t out[20])
{
	ldns_rdf *rdf = ldns_dname_new_frm_data((uint16_t)name_bytes(name), name), *hashed;
	ldns_buffer *text = ldns_buffer_new(64);
	char label[33] = "";

	ldns_dname2canonical(rdf);
	hashed = ldns_nsec3_hash_name(rdf, 1, iterations, sizeof(salt), salt);
	memcpy(label, ldns_rdf_data(hashed) + 1, 32);
	assert_int_equal(ldns_b32_pton_extended_hex(label, 32, out, 20), 20);
	ldns_buffer_free(text);
	ldns_rdf_deep_free(hashed);
	ldns_rdf_deep_free(rdf);
}

/* Opt-out leaves out cuts without DS and what leads to no other name: RFC 5155 section 7.1. */
static bool is_in_chain(const struct zone *z, size_t i, bool opt_out)
{
	const struct zone_node *node = zone_node_at(z, i);
	uint8_t owner[256], below[256];
	unsigned n;

	zone_node_rrsets(z, node, &n);
	if (i && zone_node_rrset(z, node, DNS_TYPE_NS) && opt_out)
		return zone_node_rrset(z, node, DNS_TYPE_DS) != NULL;
	if (n || !i || !opt_out)
		return true;
	zone_node_owner(z, node, owner);
	for (size_t j = i + 1; j < zone_n_names(z); j++) {
		zone_node_owner(z, zone_node_at(z, j), below);
		if (!name_is_under(below, owner))
			break;
		zone_node_rrsets(z, zone_node_at(z, j), &n);
		if (n && !zone_node_is_occluded(z, zone_node_at(z, j)) &&
		    is_in_chain(z, j, opt_out))
			return true;
	}
	return false;
}

static unsigned chain_names(const struct zone *z, bool nsec3, bool opt_out, struct name *names)
{
	unsigned n = 0, n_rrsets;

	for (size_t i = 0; i < zone_n_names(z); i++) {
		const struct zone_node *node = zone_node_at(z, i);

		zone_node_rrsets(z, node, &n_rrsets);
		if (zone_node_is_occluded(z, node) || (!n_rrsets && !nsec3) ||
		    (nsec3 && !is_in_chain(z, i, opt_out)))
			continue;
		assert_true(n < NAMES_MAX);
		zone_node_owner(z, node, names[n].wire);
		hash_of(names[n].wire, names[n].hash);
		n++;
	}
	return n;
}

static int cmp_hashes(const void *a, const void *b)
{
	return memcmp(((const struct name *)a)->hash, ((const struct name *)b)->hash, 20);
}

static void add_nsec(struct zone_builder *b, const struct name *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t rdata[256 + 3];
		const uint8_t *next = names[(i + 1) % n].wire;
		size_t len = name_bytes(next);

		memcpy(rdata, next, len);
		memcpy(rdata + len, "\0\1\100", 3);
		add(b, names[i].wire, DNS_TYPE_NSEC, rdata, len + 3);
	}
}

static void hash_label(uint8_t owner[256], const uint8_t *hash)
{
	char text[64];

	memset(owner, 0, 256);
	ldns_b32_ntop_extended_hex(hash, 20, text, sizeof(text));
	owner[0] = 32;
	memcpy(owner + 1, text, 32);
	memcpy(owner + 33, apex, sizeof(apex));
}

static void add_nsec3(struct zone_builder *b, struct name *names, unsigned n)
{
	uint8_t rdata[64] = { 1, 1, 0, 0, sizeof(salt) }, owner[256];

	rdata[3] = (uint8_t)iterations;
	memcpy(rdata + 5, salt, sizeof(salt));
	rdata[7] = 20;
	qsort(names, n, sizeof(*names), cmp_hashes);
	for (unsigned i = 0; i < n; i++) {
		memcpy(rdata + 8, names[(i + 1) % n].hash, 20);
		hash_label(owner, names[i].hash);
		add(b, owner, DNS_TYPE_NSEC3, rdata, 28);
	}
	rdata[1] = 0;
	add(b, apex, DNS_TYPE_NSEC3PARAM, rdata, 7);
}

static void copy_zone(struct zone_builder *b, const struct zone *z)
{
	for (size_t i = 0; i < zone_n_names(z); i++) {
		uint8_t owner[256];
		unsigned n;
		const struct zone_rrset *sets = zone_node_rrsets(z, zone_node_at(z, i), &n);

		zone_node_owner(z, zone_node_at(z, i), owner);
		for (unsigned s = 0; s < n; s++) {
			const uint8_t *at = zone_rrset_first(z, &sets[s]);

			for (unsigned r = 0; r < sets[s].n; r++) {
				struct zone_rdata rd;

				at = zone_rdata_next(at, &rd);
				add(b, owner, sets[s].type, rd.bytes, rd.len);
			}
		}
	}
}

static struct zone *with_chain(const struct zone *plain, bool nsec3, bool opt_out)
{
	static struct name names[NAMES_MAX];
	unsigned n = chain_names(plain, nsec3, opt_out, names);
	struct zone_error err = { 0 };
	struct zone_builder *b;
	struct zone *z;

	assert_int_equal(zone_builder_new(&b, apex), 0);
	copy_zone(b, plain);
	if (nsec3)
		add_nsec3(b, names, n);
	else
		add_nsec(b, names, n);
	assert_int_equal(zone_builder_finish(b, &z, &err), 0);
	zone_builder_free(b);
	assert_int_equal(zone_chain(z), nsec3 ? ZONE_CHAIN_NSEC3 : ZONE_CHAIN_NSEC);
	return z;
}

static struct zone *random_zone(bool nsec3, bool opt_out)
{
	struct zone_error err = { 0 };
	struct zone *plain, *z;
	struct zone_builder *b;
	int rc;

	do {
		assert_int_equal(zone_builder_new(&b, apex), 0);
		add_apex(b);
		for (unsigned n = draw(12); n--;)
			add_random(b);
		rc = zone_builder_finish(b, &plain, &err); /* refuses CNAMEs beside others */
		zone_builder_free(b);
	} while (rc);
	z = with_chain(plain, nsec3, opt_out);
	zone_free(plain);
	return z;
}

/* --- What a validator sees --- */

struct proofs {
	const struct zone *z;
	const struct zone_denial *d;
	bool nsec3;
};

/* Owner and next of a proof, as names (NSEC) or hashes. */
static void span_of(const struct proofs *p, unsigned i, uint8_t owner[256], uint8_t next[256])
{
	const struct zone_proof *proof = &p->d->proof[i];
	struct zone_rdata rd;
	uint8_t name[256];

	zone_rdata_next(zone_rrset_first(p->z, proof->rrset), &rd);
	zone_node_owner(p->z, proof->node, name);
	if (p->nsec3) {
		char label[33] = "";

		memcpy(label, name + 1, 32);
		ldns_b32_pton_extended_hex(label, 32, owner, 20);
		memcpy(next, rd.bytes + 8, 20);
	} else {
		memcpy(owner, name, name_bytes(name));
		memcpy(next, rd.bytes, name_bytes(rd.bytes));
	}
}

static int cmp(const struct proofs *p, const uint8_t *a, const uint8_t *b)
{
	return p->nsec3 ? memcmp(a, b, 20) : name_canonical_cmp(a, b);
}

static bool check(const struct proofs *p, const uint8_t *name, bool cover)
{
	uint8_t key[256];

	if (p->nsec3)
		hash_of(name, key);
	else
		memcpy(key, name, name_bytes(name));
	for (unsigned i = 0; i < p->d->n; i++) {
		uint8_t owner[256], next[256];
		bool above, below;

		if (p->d->proof[i].rrset->type != (p->nsec3 ? DNS_TYPE_NSEC3 : DNS_TYPE_NSEC))
			continue;
		span_of(p, i, owner, next);
		if (!cover && !cmp(p, owner, key))
			return true;
		above = cmp(p, owner, key) < 0;
		below = cmp(p, key, next) < 0;
		/* The last span of the chain wraps; a single record covers all but its own name. */
		if (cover && (cmp(p, owner, next) < 0 ? above && below :
							(above || below) && cmp(p, owner, key)))
			return true;
	}
	return false;
}

static bool matches(const struct proofs *p, const uint8_t *name)
{
	return check(p, name, false);
}

static bool covers(const struct proofs *p, const uint8_t *name)
{
	return check(p, name, true);
}

/* An ancestor matched, and the name below it covered; the ancestor's labels, or -1. */
static int closest_encloser(const struct proofs *p, const uint8_t *qname)
{
	unsigned n = name_n_labels(qname);

	for (unsigned labels = n; labels-- > 1;)
		if (matches(p, name_skip_labels(qname, n - labels)) &&
		    covers(p, name_skip_labels(qname, n - labels - 1)))
			return (int)labels;
	return -1;
}

static void wildcard_at(uint8_t out[256], const uint8_t *qname, unsigned labels)
{
	const uint8_t *above = name_skip_labels(qname, name_n_labels(qname) - labels);

	memcpy(out, "\1*", 2);
	memcpy(out + 2, above, name_bytes(above));
}

static bool proves_nodata(const struct proofs *p, const uint8_t *name)
{
	if (matches(p, name))
		return true;
	return p->nsec3 ? closest_encloser(p, name) >= 0 : covers(p, name);
}

static bool proves_nxdomain(const struct proofs *p, const uint8_t *qname, unsigned encloser)
{
	uint8_t wildcard[256];

	if (p->nsec3) {
		int found = closest_encloser(p, qname);

		if (found < 0)
			return false;
		encloser = (unsigned)found;
	}
	wildcard_at(wildcard, qname, encloser);
	return covers(p, wildcard) && (p->nsec3 || covers(p, qname));
}

/*
 * Opt-out left out the encloser, an empty non-terminal, and there is a wildcard beside it: no set
 * of records can prove the name error then.
 */
static bool is_unprovable(const struct proofs *p, const uint8_t *qname, unsigned encloser)
{
	int found = closest_encloser(p, qname);
	struct zone_result r;
	uint8_t wildcard[256];

	if (!p->nsec3 || found < 0 || (unsigned)found == encloser)
		return false;
	wildcard_at(wildcard, qname, (unsigned)found);
	zone_find(p->z, wildcard, (unsigned)name_bytes(wildcard), DNS_TYPE_A, &r);
	return r.node && !r.wildcard;
}

/* Is @p all that the answer needs, and no more? */
static bool is_proven(const struct proofs *p, const uint8_t *qname, const struct zone_result *r)
{
	uint8_t encloser[256], name[256];
	const uint8_t *next_closer;
	unsigned n;

	zone_node_owner(p->z, r->encloser, encloser);
	n = name_n_labels(encloser);
	next_closer = name_n_labels(qname) > n ?
			      name_skip_labels(qname, name_n_labels(qname) - n - 1) :
			      NULL;
	switch (r->status) {
	case ZONE_NODATA:
		if (!r->wildcard)
			return proves_nodata(p, qname);
		zone_node_owner(p->z, r->node, name);
		return proves_nodata(p, name) &&
		       (covers(p, next_closer) || closest_encloser(p, qname) >= 0);
	case ZONE_NXDOMAIN:
		return proves_nxdomain(p, qname, n) || is_unprovable(p, qname, n);
	case ZONE_DELEGATION:
		zone_node_owner(p->z, r->cut, name);
		if (p->d->n && p->d->proof[0].rrset->type == DNS_TYPE_DS)
			return p->d->n == (r->wildcard ? 2u : 1u) &&
			       zone_node_rrset(p->z, r->cut, DNS_TYPE_DS);
		return !zone_node_rrset(p->z, r->cut, DNS_TYPE_DS) && proves_nodata(p, name) &&
		       (!r->wildcard || covers(p, next_closer));
	case ZONE_ANSWER:
	case ZONE_CNAME:
	case ZONE_DNAME:
		break;
	}
	return r->wildcard ? p->d->n == 1 && covers(p, next_closer) : p->d->n == 0;
}

static void ask_random(const struct zone *z, bool nsec3)
{
	static const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_MX, DNS_TYPE_DS };
	uint16_t type = types[draw(3)];
	struct zone_result r;
	struct zone_denial d;
	struct proofs p = { z, &d, nsec3 };
	char text[NAME_TEXT_MAX];
	uint8_t qname[256];

	random_name(qname, 5);
	name_fold(qname, qname, name_bytes(qname));
	zone_find(z, qname, (unsigned)name_bytes(qname), type, &r);
	zone_denial(z, qname, (unsigned)name_bytes(qname), &r, &d);
	for (unsigned i = 0; i < d.n; i++)
		for (unsigned j = 0; j < i; j++)
			assert_ptr_not_equal(d.proof[i].rrset, d.proof[j].rrset);
	name_to_text(text, sizeof(text), qname);
	if (!is_proven(&p, qname, &r))
		fail_msg("%s type %u status %d wildcard %d: not proven by %u records", text, type,
			 r.status, r.wildcard, d.n);
}

static void random_zones(bool nsec3, bool opt_out)
{
	for (unsigned i = 0; i < N_ZONES; i++) {
		struct zone *z;

		seed = i;
		iterations = (uint16_t)draw(3);
		z = random_zone(nsec3, opt_out);
		for (unsigned q = 0; q < N_QUERIES; q++)
			ask_random(z, nsec3);
		zone_free(z);
	}
}

static void nsec_proves(void **state)
{
	(void)state;
	random_zones(false, false);
}

static void nsec3_proves(void **state)
{
	(void)state;
	random_zones(true, false);
}

static void nsec3_opt_out_proves(void **state)
{
	(void)state;
	random_zones(true, true);
}

/* --- The samples --- */

static struct zone *sample(const char *name)
{
	struct zone_error err;
	struct zone *z;
	char path[256];

	snprintf(path, sizeof(path), "zones/%s.zone", name);
	if (zone_load(&z, name, path, NULL, &err))
		fail_msg("%s:%u: %s", err.file, err.line, err.sentence);
	assert_int_equal(err.n_warnings, 0);
	return z;
}

/* The owners of the proofs below the apex, "type@owner", with blanks between. */
static void proofs_text(const struct zone *z, const struct zone_denial *d, char *out, size_t cap)
{
	size_t at = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < d->n; i++) {
		uint8_t owner[256];
		char text[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];
		unsigned apex_bytes, n = zone_node_owner(z, d->proof[i].node, owner);

		zone_apex(z, &apex_bytes);
		owner[n - apex_bytes] = 0;
		name_to_text(text, sizeof(text), owner);
		proto_type_to_text(type, d->proof[i].rrset->type);
		at += (size_t)snprintf(out + at, cap - at, "%s%s@%s", i ? " " : "", type, text);
	}
}

struct row {
	const char *name, *qname;
	uint16_t type;
	const char *want;
};

static const struct row nsec_rows[] = {
	{ "answer", "www", DNS_TYPE_A, "" },
	{ "NODATA", "www", DNS_TYPE_MX, "NSEC@www." },
	{ "NODATA at the apex", "", DNS_TYPE_A, "NSEC@." },
	{ "an empty non-terminal", "empty", DNS_TYPE_A, "NSEC@chain." },
	{ "two of them", "three", DNS_TYPE_A, "NSEC@svc." },
	{ "NXDOMAIN", "nowhere", DNS_TYPE_A, "NSEC@x.*.w.nested. NSEC@." },
	{ "the wildcard lies in the same span", "!", DNS_TYPE_A, "NSEC@." },
	{ "below a name", "a.www", DNS_TYPE_A, "NSEC@www." },
	{ "behind glue", "insecurf", DNS_TYPE_A, "NSEC@insecure. NSEC@." },
	{ "from a wildcard", "x.wild", DNS_TYPE_TXT, "NSEC@host.wild." },
	{ "a wildcard alias", "x.alias", DNS_TYPE_A, "NSEC@*.alias." },
	{ "NODATA of a wildcard", "x.wild", DNS_TYPE_A, "NSEC@*.wild. NSEC@host.wild." },
	{ "hidden by a name", "x.host.wild", DNS_TYPE_TXT, "NSEC@host.wild." },
	{ "a signed delegation", "a.secure", DNS_TYPE_A, "DS@secure." },
	{ "an unsigned one", "a.insecure", DNS_TYPE_A, "NSEC@insecure." },
	{ "DS of an unsigned one", "insecure", DNS_TYPE_DS, "NSEC@insecure." },
	{ "DS of a signed one", "secure", DNS_TYPE_DS, "" },
	{ "below a DNAME", "a.redirect", DNS_TYPE_A, "" },
};

static void samples_nsec(void **state)
{
	struct zone *z = sample("signed-nsec.example");

	(void)state;
	for (size_t i = 0; i < sizeof(nsec_rows) / sizeof(nsec_rows[0]); i++) {
		const struct row *row = &nsec_rows[i];
		char text[NAME_TEXT_MAX], got[512];
		struct zone_result r;
		struct zone_denial d;
		uint8_t qname[256];
		unsigned n;

		snprintf(text, sizeof(text), "%s%ssigned-nsec.example.", row->qname,
			 *row->qname ? "." : "");
		n = wire_of(qname, text);
		zone_find(z, qname, n, row->type, &r);
		zone_denial(z, qname, n, &r, &d);
		proofs_text(z, &d, got, sizeof(got));
		if (strcmp(got, row->want))
			fail_msg("%s: '%s', not '%s'", row->name, got, row->want);
	}
	zone_free(z);
}

/* RFC 5155 section 7.2.8: the owner of an NSEC3 is no name of the zone. */
static void samples_nsec3_owner(void **state)
{
	struct zone *z = sample("signed-nsec3.example");
	struct zone_result r;
	struct zone_denial d;
	unsigned n_owners = 0, apex_bytes;

	(void)state;
	zone_apex(z, &apex_bytes);
	for (size_t i = 0; i < zone_n_names(z); i++) {
		const struct zone_node *node = zone_node_at(z, i);
		uint8_t qname[256];
		unsigned n = zone_node_owner(z, node, qname);

		if (!zone_node_rrset(z, node, DNS_TYPE_NSEC3))
			continue;
		name_fold(qname, qname, n);
		zone_find(z, qname, n, DNS_TYPE_NSEC3, &r);
		assert_int_equal(r.status, ZONE_NXDOMAIN);
		assert_ptr_equal(r.encloser, zone_node_at(z, 0));
		zone_denial(z, qname, n, &r, &d);
		assert_in_range(d.n, 1, 3);
		n_owners++;
	}
	assert_true(n_owners > 10);
	assert_int_equal(zone_chain(z), ZONE_CHAIN_NSEC3);
	zone_free(z);
}

/* Each RRset that a signer signs has signatures, and each signature is of an RRset. */
static void samples_rrsigs(void **state)
{
	static const char *const names[] = { "signed-nsec.example", "signed-nsec3.example" };

	(void)state;
	for (size_t s = 0; s < 2; s++) {
		struct zone *z = sample(names[s]);

		assert_true(zone_is_signed(z));
		for (size_t i = 0; i < zone_n_names(z); i++) {
			const struct zone_node *node = zone_node_at(z, i);
			const struct zone_rrset *sigs = zone_node_rrset(z, node, DNS_TYPE_RRSIG);
			unsigned n, found = 0;
			const struct zone_rrset *sets = zone_node_rrsets(z, node, &n);
			bool cut = i && zone_node_rrset(z, node, DNS_TYPE_NS);

			for (unsigned k = 0; k < n; k++) {
				struct zone_rrsigs it = zone_rrsigs(z, node, sets[k].type);
				struct zone_rdata rd;
				unsigned of_this = 0;

				for (; zone_rrsigs_next(&it, &rd); of_this++)
					assert_int_equal(zone_rrsig_covered(&rd), sets[k].type);
				if (!cut && !zone_node_is_occluded(z, node) &&
				    sets[k].type != DNS_TYPE_RRSIG)
					assert_true(of_this >= 1);
				found += of_this;
			}
			assert_int_equal(found, sigs ? sigs->n : 0);
		}
		zone_free(z);
	}
}

/* --- What is said at load --- */

#define PARAM(iterations) "@ NSEC3PARAM 1 0 " iterations " -\n"

static void load_says(void **state)
{
	static const struct {
		const char *name, *text;
		int rc;
		const char *says;
	} rows[] = {
		{ "a key without a chain", "@ DNSKEY 257 3 8 AQPJ\n", 0, "no NSEC or NSEC3 chain" },
		{ "a chain that is not there", PARAM("0") "@ DNSKEY 257 3 8 AQPJ\n", 0,
		  "no NSEC or NSEC3 chain" },
		{ "too many iterations", PARAM("2501"), ERR_ZONE, "2501 iterations" },
		{ "no key, no chain", "a A 192.0.2.1\n", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		struct zone_error err;
		struct zone *z;
		int rc;

		snprintf(text, sizeof(text), ZONE_HEAD "%s", rows[i].text);
		rc = load_text(&z, "z", text, &err);
		if (rc != rows[i].rc || !strstr(rc ? err.sentence : err.warning, rows[i].says))
			fail_msg("%s: %d '%s' '%s'", rows[i].name, rc, err.sentence, err.warning);
		zone_free(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nsec_proves),
		cmocka_unit_test(nsec3_proves),
		cmocka_unit_test(nsec3_opt_out_proves),
		cmocka_unit_test(samples_nsec),
		cmocka_unit_test(samples_nsec3_owner),
		cmocka_unit_test(samples_rrsigs),
		cmocka_unit_test(load_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
