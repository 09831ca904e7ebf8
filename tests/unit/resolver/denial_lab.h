/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of denials: zones that are signed, their negative answers as a name server writes them,
 * with faults where a test wants them, and answers of a store compared with these.
 */
#ifndef VOLLEY_TESTS_RESOLVER_DENIAL_LAB_H
#define VOLLEY_TESTS_RESOLVER_DENIAL_LAB_H

#include "tests/unit/sign/sign_lab.h"

#include "base/clock.h"
#include "dns/writer.h"
#include "resolver/denials.h"
#include "resolver/denials_zone.h"
#include "zone/denial.h"

#include "tests/lib/draw.h" /* behind those that have a seed of their own */

#define START_NS (1000 * CLOCK_NS_PER_S)
#define HEAD     "$TTL 300\n@ SOA ns host 7 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"

/* What is wrong with a message, or else than usual; 0: nothing. */
struct how {
	const char *name;
	uint32_t soa_ttl, nsec3_ttl, signature_ttl, minimum, original_ttl, expires_in_s;
	uint16_t iterations; /* plus 1 */
	uint8_t algorithm, flags, labels_less;
	const char *signer;
	const char *below; /* NSEC3 owners are children of this */
	const char *next_bytes;
	bool no_soa, two_soas, no_soa_signature, no_nsec3_signatures, has_answer, fails;
	bool mixes; /* parameters, where it has several records */
	bool keeps; /* it says nothing wrong */
};

static const struct how usual = { .name = "usual" };

struct message {
	uint8_t bytes[16384];
	size_t n;
};

/* --- Messages --------------------------------------------------------------------------------- */

static inline void change_signature(uint8_t *rdata, uint16_t *n, const struct how *how)
{
	uint8_t signer[256];
	unsigned int was = (unsigned int)name_bytes(rdata + 18), is;

	if (how->original_ttl)
		wire_store_be32(rdata + 4, how->original_ttl);
	if (how->expires_in_s)
		wire_store_be32(rdata + 8, (uint32_t)lab_now() + how->expires_in_s);
	rdata[3] = (uint8_t)(rdata[3] - how->labels_less);
	if (!how->signer)
		return;
	is = wire_of(signer, how->signer);
	memmove(rdata + 18 + is, rdata + 18 + was, *n - 18u - was);
	memcpy(rdata + 18, signer, is);
	*n = (uint16_t)(*n + is - was);
}

static unsigned int n_put; /* NSEC3 records of the message */

static inline void change_nsec3(uint8_t *rdata, const struct how *how)
{
	if (how->algorithm)
		rdata[0] = how->algorithm;
	rdata[1] |= how->flags;
	if (how->iterations)
		wire_store_be16(rdata + 2, (uint16_t)(how->iterations - 1));
	if (how->mixes)
		wire_store_be16(rdata + 2, (uint16_t)n_put);
	n_put++;
	if (how->next_bytes)
		rdata[5 + rdata[4]] = (uint8_t)*how->next_bytes;
}

static inline void put(struct writer *w, const uint8_t *owner, uint16_t type, uint32_t ttl,
		       const struct zone_rdata *rd, const struct how *how)
{
	uint8_t rdata[4096];
	uint16_t n = rd->len;

	memcpy(rdata, rd->bytes, n);
	if (type == DNS_TYPE_RRSIG)
		change_signature(rdata, &n, how);
	if (type == DNS_TYPE_NSEC3)
		change_nsec3(rdata, how);
	if (type == DNS_TYPE_SOA && how->minimum)
		wire_store_be32(rdata + n - 4, how->minimum);
	assert_int_equal(writer_add_rr(w, owner, type, DNS_CLASS_IN, ttl, rdata, n), 0);
}

/* The first record of an RRset, and its signatures. */
static inline void put_set(struct writer *w, const struct zone *z, const struct zone_node *node,
			   const struct zone_rrset *rrset, uint32_t ttl, const struct how *how)
{
	struct zone_rrsigs it = zone_rrsigs(z, node, rrset->type);
	bool is_soa = rrset->type == DNS_TYPE_SOA;
	uint8_t owner[ZONE_NAME_MAX + 256];
	struct zone_rdata rd;

	zone_node_owner(z, node, owner);
	if (!is_soa && how->below)
		wire_of(owner + 1 + owner[0], how->below);
	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	put(w, owner, rrset->type, ttl, &rd, how);
	while (!(is_soa ? how->no_soa_signature : how->no_nsec3_signatures) &&
	       zone_rrsigs_next(&it, &rd))
		put(w, owner, DNS_TYPE_RRSIG, how->signature_ttl ? how->signature_ttl : ttl, &rd,
		    how);
}

static inline void put_soa(struct writer *w, const struct zone *z, const struct how *how)
{
	put_set(w, z, zone_apex_node(z), zone_soa(z), how->soa_ttl ? how->soa_ttl : 60, how);
}

/* What a name server of the zone says to a question that it denies; false: it does not. */
static inline bool deny(struct message *m, const struct zone *z, const uint8_t *name, uint16_t type,
			const struct how *how)
{
	static struct writer w;
	unsigned int n = (unsigned int)name_bytes(name);
	struct zone_denial denial;
	struct zone_result r;
	uint16_t rcode;

	zone_find(z, name, n, type, &r);
	if (r.status != ZONE_NXDOMAIN && r.status != ZONE_NODATA)
		return false;
	rcode = r.status == ZONE_NXDOMAIN ? DNS_RCODE_NXDOMAIN : DNS_RCODE_NOERROR;
	zone_denial(z, name, n, &r, &denial);
	n_put = 0;
	memcpy(m->bytes + DNS_HEADER_BYTES, name, n);
	wire_store_be16(m->bytes + DNS_HEADER_BYTES + n, type);
	wire_store_be16(m->bytes + DNS_HEADER_BYTES + n + 2, DNS_CLASS_IN);
	writer_init(&w, m->bytes + DNS_HEADER_BYTES + n + 4, DNS_HEADER_BYTES + n + 4,
		    sizeof(m->bytes), m->bytes + DNS_HEADER_BYTES);
	if (how->has_answer)
		assert_int_equal(writer_add_rr(&w, name, DNS_TYPE_TXT, DNS_CLASS_IN, 60,
					       (const uint8_t *)"\1x", 2),
				 0);
	writer_set_section(&w, WRITER_AUTHORITY);
	for (int i = how->no_soa; i < 1 + how->two_soas; i++)
		put_soa(&w, z, how);
	for (unsigned int i = 0; i < denial.n; i++)
		put_set(&w, z, denial.proof[i].node, denial.proof[i].rrset,
			how->nsec3_ttl ? how->nsec3_ttl : 60, how);
	writer_put_header(&w, m->bytes, 0, DNS_FLAG_QR | (how->fails ? DNS_RCODE_SERVFAIL : rcode),
			  0);
	m->n = DNS_HEADER_BYTES + n + 4 + writer_bytes(&w);
	return true;
}

/* --- The store -------------------------------------------------------------------------------- */

static inline struct denials *store_of(const struct resolver_config *config)
{
	struct denials *d;

	assert_int_equal(denials_new(&d, config), 0);
	return d;
}

static inline struct denials *new_store(void)
{
	const struct resolver_config config = RESOLVER_CONFIG_INIT;

	return store_of(&config);
}

static inline void learn(struct denials *d, const struct message *m)
{
	denials_learn(d, m->bytes, m->n, START_NS, lab_now());
}

static inline void learn_text(struct denials *d, const struct zone *z, const char *name,
			      const struct how *how)
{
	static struct message m;
	uint8_t wire[256];

	wire_of(wire, name);
	assert_true(deny(&m, z, wire, DNS_TYPE_A, how));
	learn(d, &m);
}

/* "NXDOMAIN", "NODATA", or "asked". */
static const char *say_at(struct denials *d, const char *name, uint16_t type, uint64_t now_ns)
{
	uint8_t wire[256];
	const uint8_t *msg;
	uint16_t flags;

	wire_of(wire, name);
	if (!denials_answer(d, wire, type, DNS_CLASS_IN, now_ns, &msg))
		return "asked";
	flags = wire_load_be16(msg + DNS_FLAGS_AT);
	assert_int_equal(flags & ~DNS_RCODE_MASK,
			 DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA | DNS_FLAG_AD);
	return (flags & DNS_RCODE_MASK) == DNS_RCODE_NXDOMAIN ? "NXDOMAIN" : "NODATA";
}

static const char *say(struct denials *d, const char *name, uint16_t type)
{
	return say_at(d, name, type, START_NS);
}

static inline struct zone *sign_as(const char *origin, const char *text,
				   const struct sign_options *options)
{
	struct zone *plain = zone_of(origin, text), *z;
	struct sign_keys keys;

	lab_keys(&keys, origin, false);
	z = lab_sign(plain, NULL, &keys, options, lab_now());
	sign_keys_fini(&keys);
	zone_free(plain);
	return z;
}

static inline struct zone *sign(const char *origin, const char *text)
{
	struct sign_options options = lab_options(LAB_OPT_OUT);

	options.opt_out = false;
	return sign_as(origin, text, &options);
}

/* Learns denials until the whole chain is known. */
static inline void learn_all(struct denials *d, const struct zone *z, const char *origin,
			     const struct how *how)
{
	for (unsigned int i = 0; i < 400; i++) {
		char name[64];

		snprintf(name, sizeof(name), "learn%u.%s", i, origin);
		learn_text(d, z, name, how);
	}
}

/* --- Beside the truth ------------------------------------------------------------------------- */

static const char rich[] = HEAD "a A 192.0.2.1\n"
				"b.c.d A 192.0.2.1\n" /* c and d are empty non-terminals */
				"*.w A 192.0.2.1\n"
				"*.w2.d TXT x\n"
				"alias CNAME a\n"
				"tree DNAME a\n"
				"cut NS ns.cut\nns.cut A 192.0.2.1\n"
				"safe NS ns.cut\nsafe DS 1 13 2 00\n"
				"deep.cut2 NS ns.cut\n"
				"\\000\\255 A 192.0.2.1\n"
				"a\\.b A 192.0.2.1\n"
				"\\\\.d A 192.0.2.1\n"
				"mail MX 1 a\nmail TYPE1000 \\# 0\n";

static inline void draw_name(uint8_t out[256], const char *origin)
{
	static const char *const labels[] = { "a",     "b",    "c",          "d",    "w",
					      "w2",    "*",    "alias",      "tree", "cut",
					      "safe",  "deep", "cut2",       "ns",   "mail",
					      "a\\.b", "\\\\", "\\000\\255", "x",    "y",
					      "z" };
	unsigned int n = draw(4);
	char text[512] = "";

	while (n--) {
		if (draw(3))
			strcat(text, labels[draw(21)]);
		else
			sprintf(text + strlen(text), "n%u", draw(100000));
		strcat(text, ".");
	}
	strcat(text, origin);
	wire_of(out, text);
}

static inline uint16_t draw_type(void)
{
	static const uint16_t types[] = { DNS_TYPE_A,   DNS_TYPE_TXT,   DNS_TYPE_DS, DNS_TYPE_NS,
					  DNS_TYPE_SOA, DNS_TYPE_CNAME, 1000,        DNS_TYPE_AAAA };

	return types[draw(8)];
}

/* It has the same SOA and the same NSEC3 records as the zone's own answer has. */
static inline void check_proof(const uint8_t *msg, size_t n, const struct message *truth)
{
	static struct denials_reading ours, theirs;

	assert_true(denials_read(&ours, msg, n, lab_now(), 3600));
	assert_true(denials_read(&theirs, truth->bytes, truth->n, lab_now(), 3600));
	assert_true(name_equal(ours.apex, theirs.apex));
	assert_int_equal(ours.soa.n_bytes, theirs.soa.n_bytes);
	assert_memory_equal(ours.soa.bytes, theirs.soa.bytes, ours.soa.n_bytes);
	assert_int_equal(ours.n_nsec3, theirs.n_nsec3);
	for (unsigned int i = 0; i < ours.n_nsec3; i++) {
		unsigned int k = 0;

		while (k < theirs.n_nsec3 &&
		       memcmp(ours.nsec3[i].owner, theirs.nsec3[k].owner, NSEC3_HASH_BYTES) != 0)
			k++;
		assert_true(k < theirs.n_nsec3);
		assert_memory_equal(ours.nsec3[i].bytes, theirs.nsec3[k].bytes,
				    ours.nsec3[i].n_bytes);
	}
}

/* Answers of each rcode. */
struct tally {
	unsigned int nxdomain, nodata, asked;
};

static inline void check_one(struct denials *d, const struct zone *z, const uint8_t *name,
			     uint16_t type, struct tally *tally)
{
	static struct message truth;
	const uint8_t *msg;
	size_t n = denials_answer(d, name, type, DNS_CLASS_IN, START_NS, &msg);
	char text[NAME_TEXT_MAX];

	if (!n) {
		tally->asked++;
		return;
	}
	name_to_text(text, sizeof(text), name);
	if (!deny(&truth, z, name, type, &usual))
		fail_msg("%s type %u is denied, and it exists", text, type);
	if ((wire_load_be16(msg + DNS_FLAGS_AT) ^ wire_load_be16(truth.bytes + DNS_FLAGS_AT)) &
	    DNS_RCODE_MASK)
		fail_msg("%s type %u: another rcode", text, type);
	check_proof(msg, n, &truth);
	if (wire_load_be16(msg + DNS_FLAGS_AT) & DNS_RCODE_MASK)
		tally->nxdomain++;
	else
		tally->nodata++;
}

#endif
