/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Denials made of NSEC3 records, beside what the zone itself says: zones are signed, their negative answers are
 * written as a name server writes them, some are learnt, and what comes of these is compared.
 */
#include "resolver/denials.h"

#include "tests/unit/sign/sign_lab.h"

#include "base/clock.h"
#include "dns/writer.h"
#include "resolver/denials_read.h"
#include "zone/denial.h"

#include "tests/lib/draw.h" /* behind those that have a seed of their own */

#define START_NS (1000 * CLOCK_NS_PER_S)
#define HEAD     "$TTL 300\n@ SOA ns host 7 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"

/* What is wrong with a message, or else than usual; 0: nothing. */
struct how {
	const char *name;
	uint32_t soa_ttl, nsec3_ttl, minimum, original_ttl, expires_in_s;
	uint16_t iterations; /* plus 1 */
	uint8_t algorithm, flags, labels_less;
	const char *signer;
	const char *below; /* NSEC3 owners are children of this */
	const char *next_bytes;
	bool no_soa, two_soas, no_soa_signature, no_nsec3_signatures, has_answer, fails;
	bool keeps; /* it says nothing wrong */
};

static const struct how usual = { .name = "usual" };

struct message {
	uint8_t bytes[16384];
	size_t n;
};

/* --- Messages ------------------------------------------------------------------------------------ */

static void change_signature(uint8_t *rdata, uint16_t *n, const struct how *how)
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

static void change_nsec3(uint8_t *rdata, const struct how *how)
{
	if (how->algorithm)
		rdata[0] = how->algorithm;
	rdata[1] |= how->flags;
	if (how->iterations)
		wire_store_be16(rdata + 2, (uint16_t)(how->iterations - 1));
	if (how->next_bytes)
		rdata[5 + rdata[4]] = (uint8_t)*how->next_bytes;
}

static void put(struct writer *w, const uint8_t *owner, uint16_t type, uint32_t ttl,
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
static void put_set(struct writer *w, const struct zone *z, const struct zone_node *node,
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
		put(w, owner, DNS_TYPE_RRSIG, ttl, &rd, how);
}

static void put_soa(struct writer *w, const struct zone *z, const struct how *how)
{
	put_set(w, z, zone_apex_node(z), zone_soa(z), how->soa_ttl ? how->soa_ttl : 60, how);
}

/* What a name server of the zone says to a question that it denies; false: it does not. */
static bool deny(struct message *m, const struct zone *z, const uint8_t *name, uint16_t type,
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

/* --- The store ----------------------------------------------------------------------------------- */

static struct denials *store_of(const struct resolver_config *config)
{
	struct denials *d;

	assert_int_equal(denials_new(&d, config), 0);
	return d;
}

static struct denials *new_store(void)
{
	const struct resolver_config config = RESOLVER_CONFIG_INIT;

	return store_of(&config);
}

static void learn(struct denials *d, const struct message *m)
{
	denials_learn(d, m->bytes, m->n, START_NS, lab_now());
}

static void learn_text(struct denials *d, const struct zone *z, const char *name,
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

static struct zone *sign_as(const char *origin, const char *text,
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

static struct zone *sign(const char *origin, const char *text)
{
	struct sign_options options = lab_options(LAB_OPT_OUT);

	options.opt_out = false;
	return sign_as(origin, text, &options);
}

/* Learns denials until the whole chain is known. */
static void learn_all(struct denials *d, const struct zone *z, const char *origin,
		      const struct how *how)
{
	for (unsigned int i = 0; i < 400; i++) {
		char name[64];

		snprintf(name, sizeof(name), "learn%u.%s", i, origin);
		learn_text(d, z, name, how);
	}
}

/* --- Beside the truth ---------------------------------------------------------------------------- */

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

static void draw_name(uint8_t out[256], const char *origin)
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

static uint16_t draw_type(void)
{
	static const uint16_t types[] = { DNS_TYPE_A,   DNS_TYPE_TXT,   DNS_TYPE_DS, DNS_TYPE_NS,
					  DNS_TYPE_SOA, DNS_TYPE_CNAME, 1000,        DNS_TYPE_AAAA };

	return types[draw(8)];
}

/* It has the same SOA and the same NSEC3 records as the zone's own answer has. */
static void check_proof(const uint8_t *msg, size_t n, const struct message *truth)
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

static void check_one(struct denials *d, const struct zone *z, const uint8_t *name, uint16_t type,
		      struct tally *tally)
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

static struct tally compare(const struct zone *z, unsigned int n_learnt)
{
	struct tally tally = { 0 };
	struct denials *d = new_store();
	static struct message m;
	uint8_t name[256];

	for (unsigned int i = 0; i < n_learnt; i++) {
		draw_name(name, "example.");
		if (deny(&m, z, name, draw_type(), &usual))
			learn(d, &m);
	}
	for (unsigned int i = 0; i < 20000; i++) {
		draw_name(name, "example.");
		check_one(d, z, name, draw_type(), &tally);
	}
	denials_free(d);
	return tally;
}

static void no_name_that_exists_is_denied(void **state)
{
	struct zone *z = sign("example.", rich);
	struct tally few, many;

	(void)state;
	few = compare(z, 4);
	many = compare(z, 1000);
	print_message("after 4: %u NXDOMAIN, %u NODATA, %u asked; after 1000: %u, %u, %u\n",
		      few.nxdomain, few.nodata, few.asked, many.nxdomain, many.nodata, many.asked);
	assert_true(many.nxdomain > 5000 && many.nodata > 1000);
	assert_true(few.asked > many.asked);
	zone_free(z);
}

static void a_chain_with_salt_and_iterations(void **state)
{
	struct sign_options options = lab_options(LAB_NSEC3);
	struct zone *z = sign_as("example.", rich, &options);

	(void)state;
	assert_true(compare(z, 1000).nxdomain > 5000);
	zone_free(z);
}

static void opt_out_denies_no_name(void **state)
{
	struct sign_options options = lab_options(LAB_OPT_OUT);
	struct zone *z = sign_as("example.", rich, &options);
	struct tally tally = compare(z, 1000);

	(void)state;
	assert_int_equal(tally.nxdomain, 0);
	assert_true(tally.nodata > 500);
	zone_free(z);
}

/* --- Names --------------------------------------------------------------------------------------- */

static void each_kind_of_name(void **state)
{
	static const struct {
		const char *name;
		uint16_t type;
		const char *said;
	} rows[] = {
		{ "nothere.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "x.nothere.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "x.a.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "a.example.", DNS_TYPE_A, "asked" },
		{ "a.example.", DNS_TYPE_TXT, "NODATA" },
		{ "a.example.", DNS_TYPE_DS, "NODATA" },
		{ "d.example.", DNS_TYPE_A, "NODATA" },
		{ "x.d.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "x.w.example.", DNS_TYPE_A, "asked" },
		{ "x.w.example.", DNS_TYPE_TXT, "NODATA" },
		{ "x.w.example.", DNS_TYPE_DS, "asked" },
		{ "alias.example.", DNS_TYPE_TXT, "asked" },
		{ "x.tree.example.", DNS_TYPE_A, "asked" },
		{ "tree.example.", DNS_TYPE_A, "NODATA" },
		{ "cut.example.", DNS_TYPE_A, "asked" },
		{ "cut.example.", DNS_TYPE_DS, "NODATA" },
		{ "safe.example.", DNS_TYPE_DS, "asked" },
		{ "safe.example.", DNS_TYPE_TXT, "asked" },
		{ "x.cut.example.", DNS_TYPE_A, "asked" },
		{ "x.y.deep.cut2.example.", DNS_TYPE_DS, "asked" },
		{ "example.", DNS_TYPE_TXT, "NODATA" },
		{ "example.", DNS_TYPE_DS, "asked" },
		{ "a\\.b.example.", DNS_TYPE_A, "asked" },
		{ "a\\.c.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "\\000\\254.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "nothere.example.", 255, "asked" },
		{ "nothere.example.", DNS_TYPE_RRSIG, "asked" },
		{ "nothere.example.", DNS_TYPE_NSEC3, "asked" },
		{ "1.2.3.4.5.6.7.8.d.example.", DNS_TYPE_A, "NXDOMAIN" },
		{ "nothere.example.org.", DNS_TYPE_A, "asked" },
		{ "org.", DNS_TYPE_A, "asked" },
	};
	struct zone *z = sign("example.", rich);
	struct denials *d = new_store();

	(void)state;
	learn_all(d, z, "example.", &usual);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(say(d, rows[i].name, rows[i].type), rows[i].said) != 0)
			fail_msg("%s type %u: %s", rows[i].name, rows[i].type,
				 say(d, rows[i].name, rows[i].type));
	denials_free(d);
	zone_free(z);
}

/* Below eight labels that exist no more names are hashed. */
static void deep_names_are_asked(void **state)
{
	struct zone *z = sign("example.", HEAD "1.2.3.4.5.6.7.8 A 192.0.2.1\n");
	struct denials *d = new_store();
	char name[1024] = "";

	(void)state;
	learn_all(d, z, "example.", &usual);
	assert_string_equal(say(d, "x.2.3.4.5.6.7.8.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "1.2.3.4.5.6.7.8.example.", DNS_TYPE_TXT), "NODATA");
	assert_string_equal(say(d, "x.1.2.3.4.5.6.7.8.example.", DNS_TYPE_A), "asked");
	for (unsigned int i = 0; i < 122; i++)
		strcat(name, "1.");
	strcat(name, "example.");
	assert_string_equal(say(d, name, DNS_TYPE_A), "asked"); /* 253 octets */
	denials_free(d);
	zone_free(z);
}

/* One record is the whole chain, and the last one of each chain ends at its first. */
static void the_last_interval_wraps(void **state)
{
	struct zone *z = sign("example.", "$TTL 300\n@ SOA ns.a. host 7 2 3 4 60\n@ NS ns.a.\n");
	struct denials *d = new_store();

	(void)state;
	learn_text(d, z, "first.example.", &usual);
	for (unsigned int i = 0; i < 100; i++) {
		char name[64];

		snprintf(name, sizeof(name), "n%u.example.", i);
		assert_string_equal(say(d, name, DNS_TYPE_A), "NXDOMAIN");
	}
	assert_string_equal(say(d, "example.", DNS_TYPE_NS), "asked");
	denials_free(d);
	zone_free(z);
}

/* Of the parent only what is not the child's; the deepest zone that is known is the one. */
static void a_zone_below_another(void **state)
{
	struct zone *parent = sign("example.", HEAD "sub NS ns.sub\nsub DS 1 13 2 00\n");
	struct zone *child = sign("sub.example.", HEAD);
	struct denials *d = new_store();

	(void)state;
	learn_all(d, parent, "example.", &usual);
	assert_string_equal(say(d, "x.sub.example.", DNS_TYPE_A), "asked");
	learn_all(d, child, "sub.example.", &usual);
	assert_string_equal(say(d, "x.sub.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "sub.example.", DNS_TYPE_TXT), "NODATA");
	assert_string_equal(say(d, "sub.example.", DNS_TYPE_DS), "asked");
	assert_string_equal(say(d, "x.example.", DNS_TYPE_A), "NXDOMAIN");
	denials_free(d);
	zone_free(child);
	zone_free(parent);
}

static void stubs_and_special_names(void **state)
{
	const struct resolver_stub stubs[] = { { .zone = "CORP.example" }, { .zone = "own.test" } };
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	struct zone *z = sign("example.", HEAD), *own = sign("own.test.", HEAD);
	struct zone *reverse = sign("in-addr.arpa.", HEAD), *root = sign(".", HEAD);
	struct denials *d;

	(void)state;
	config.stubs = stubs;
	config.n_stubs = 2;
	d = store_of(&config);
	learn_all(d, z, "example.", &usual);
	learn_all(d, own, "own.test.", &usual);
	learn_text(d, reverse, "x.in-addr.arpa.", &usual);
	learn_text(d, root, "x.", &usual);
	assert_string_equal(say(d, "x.example.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "corp.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "corp.example.", DNS_TYPE_DS), "asked");
	assert_string_equal(say(d, "x.corp.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "x.own.test.", DNS_TYPE_A), "NXDOMAIN");
	assert_string_equal(say(d, "x.in-addr.arpa.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "x.", DNS_TYPE_A), "asked");
	denials_free(d);
	zone_free(root);
	zone_free(reverse);
	zone_free(own);
	zone_free(z);
}

/* --- Time ---------------------------------------------------------------------------------------- */

static const struct {
	struct how how;
	uint32_t left_s;
} times[] = {
	{ { .name = "usual" }, 60 },
	{ { .name = "the SOA's TTL", .soa_ttl = 20 }, 20 },
	{ { .name = "the NSEC3's TTL", .nsec3_ttl = 21 }, 21 },
	{ { .name = "MINIMUM", .minimum = 22 }, 22 },
	{ { .name = "original TTL", .original_ttl = 23 }, 23 },
	{ { .name = "signature", .expires_in_s = 24 }, 24 },
	{ { .name = "max_negative_ttl_s",
	    .soa_ttl = 300,
	    .nsec3_ttl = 300,
	    .minimum = 300,
	    .original_ttl = 300 },
	  100 },
};

static void what_is_left_of_the_first_that_ends(void **state)
{
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	struct zone *z = sign("example.", HEAD);

	(void)state;
	config.max_negative_ttl_s = 100;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct denials *d = store_of(&config);
		uint64_t end_ns = START_NS + times[i].left_s * CLOCK_NS_PER_S;
		static struct denials_reading reading;
		uint8_t name[256];
		const uint8_t *msg;
		size_t n;

		learn_all(d, z, "example.", &times[i].how);
		wire_of(name, "x.example.");
		n = denials_answer(d, name, DNS_TYPE_A, DNS_CLASS_IN, START_NS + 5 * CLOCK_NS_PER_S,
				   &msg);
		if (!n || !denials_read(&reading, msg, n, lab_now(), 3600) ||
		    reading.soa.life_s != times[i].left_s - 5 ||
		    reading.nsec3[0].life_s != times[i].left_s - 5)
			fail_msg("%s: %zu octets", times[i].how.name, n);
		assert_string_equal(say_at(d, "x.example.", DNS_TYPE_A, end_ns - CLOCK_NS_PER_S),
				    "NXDOMAIN");
		assert_string_equal(
			say_at(d, "x.example.", DNS_TYPE_A, end_ns - CLOCK_NS_PER_S + 1), "asked");
		denials_free(d);
	}
	zone_free(z);
}

/* --- What is not learnt -------------------------------------------------------------------------- */

static const struct how faults[] = {
	{ .name = "usual", .keeps = true },
	{ .name = "no SOA", .no_soa = true },
	{ .name = "two SOAs", .two_soas = true },
	{ .name = "a SOA without a signature", .no_soa_signature = true },
	{ .name = "NSEC3 without signatures", .no_nsec3_signatures = true },
	{ .name = "an answer", .has_answer = true },
	{ .name = "SERVFAIL", .fails = true },
	{ .name = "another algorithm", .algorithm = 2 },
	{ .name = "unknown flags", .flags = 2 },
	{ .name = "opt-out", .flags = 1 },
	{ .name = "11 iterations", .iterations = 12 },
	{ .name = "10 iterations, which the hashes do not have", .iterations = 11 },
	{ .name = "a signature of a wildcard", .labels_less = 1 },
	{ .name = "another signer", .signer = "com." },
	{ .name = "the parent as the signer", .signer = "." },
	{ .name = "NSEC3 of another zone", .below = "example.org." },
	{ .name = "NSEC3 of a name below", .below = "sub.example." },
	{ .name = "NSEC3 beside the zone", .below = "." },
	{ .name = "hashes of another length", .next_bytes = "\x13" },
	{ .name = "a SOA's TTL of 0", .soa_ttl = 1u << 31 },
	{ .name = "an NSEC3's TTL of 0", .nsec3_ttl = 1u << 31 },
	{ .name = "an expired signature", .expires_in_s = (uint32_t)-10 },
};

static void nothing_is_learnt_of(void **state)
{
	struct zone *z = sign("example.", HEAD);

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct denials *d = new_store();
		const char *said;

		learn_all(d, z, "example.", &faults[i]);
		said = say(d, "x.example.", DNS_TYPE_A);
		if (strcmp(said, faults[i].keeps ? "NXDOMAIN" : "asked") != 0)
			fail_msg("%s: %s", faults[i].name, said);
		denials_free(d);
	}
	zone_free(z);
}

/* Every length, and octets that are changed at random: read within bounds, and nothing but the whole is learnt. */
static void damaged_messages(void **state)
{
	struct zone *z = sign("example.", HEAD);
	struct denials *d = new_store();
	struct message m, *copy = malloc(sizeof(*copy));
	uint8_t name[256];

	(void)state;
	wire_of(name, "x.example.");
	assert_true(deny(&m, z, name, DNS_TYPE_A, &usual));
	for (size_t n = 0; n < m.n; n++) {
		uint8_t *exact = malloc(n + 1);

		memcpy(exact, m.bytes, n);
		denials_learn(d, exact, n, START_NS, lab_now());
		free(exact);
		assert_int_equal(denials_bytes(d), 0);
	}
	for (unsigned int i = 0; i < 20000; i++) {
		*copy = m;
		for (unsigned int k = 1 + draw(3); k; k--)
			copy->bytes[draw((unsigned int)m.n)] = (uint8_t)draw(256);
		learn(d, copy);
		(void)say(d, "y.example.", DNS_TYPE_A);
	}
	free(copy);
	denials_free(d);
	zone_free(z);
}

/* --- Changes ------------------------------------------------------------------------------------- */

static void another_salt_forgets(void **state)
{
	struct sign_options options = lab_options(LAB_NSEC3);
	struct zone *z = sign("example.", rich), *salted = sign_as("example.", rich, &options);
	struct denials *d = new_store();

	(void)state;
	learn_all(d, z, "example.", &usual);
	assert_string_equal(say(d, "x.a.example.", DNS_TYPE_A), "NXDOMAIN");
	learn_text(d, salted, "y.example.", &usual);
	assert_string_equal(say(d, "x.a.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "y.example.", DNS_TYPE_A), "NXDOMAIN");
	denials_free(d);
	zone_free(salted);
	zone_free(z);
}

/* A name that came since is denied no more once its own record is known, nor one that went taken for one. */
static void a_newer_chain_wins(void **state)
{
	struct zone *before = sign("example.", HEAD "old A 192.0.2.1\n");
	struct zone *after = sign("example.", HEAD "new A 192.0.2.1\n");
	struct denials *d = new_store();
	uint8_t name[256];
	struct message m;

	(void)state;
	learn_all(d, before, "example.", &usual);
	assert_string_equal(say(d, "new.example.", DNS_TYPE_A), "NXDOMAIN");
	wire_of(name, "new.example.");
	assert_true(deny(&m, after, name, DNS_TYPE_TXT, &usual));
	learn(d, &m);
	assert_string_equal(say(d, "new.example.", DNS_TYPE_A), "asked");
	assert_string_equal(say(d, "new.example.", DNS_TYPE_TXT), "NODATA");
	learn_all(d, after, "example.", &usual);
	assert_string_equal(say(d, "old.example.", DNS_TYPE_TXT), "NXDOMAIN");
	denials_free(d);
	zone_free(after);
	zone_free(before);
}

static void memory_is_bounded(void **state)
{
	struct resolver_config config = RESOLVER_CONFIG_INIT;
	static char text[200000] = HEAD;
	struct zone *small = sign("small.", HEAD), *large;
	struct denials *d;
	size_t most = 0;

	(void)state;
	config.rrset_cache_bytes = 0;
	for (unsigned int i = 0; i < 2000; i++)
		sprintf(text + strlen(text), "n%u A 192.0.2.1\n", i);
	large = sign("large.", text);
	d = store_of(&config);
	learn_all(d, small, "small.", &usual);
	for (unsigned int i = 0; i < 2000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "learn%u.large.", i);
		learn_text(d, large, name, &usual);
		assert_string_equal(say(d, name, DNS_TYPE_A), "NXDOMAIN");
		assert_string_equal(say(d, "used.small.", DNS_TYPE_A), "NXDOMAIN");
		most = denials_bytes(d) > most ? denials_bytes(d) : most;
	}
	assert_in_range(most, DENIALS_BYTES_MIN * 3 / 4, DENIALS_BYTES_MIN);
	assert_string_equal(say(d, "learn0.large.", DNS_TYPE_A), "asked");
	for (unsigned int i = 2000; i < 3000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "learn%u.large.", i);
		learn_text(d, large, name, &usual);
	}
	assert_string_equal(say(d, "used.small.", DNS_TYPE_A), "asked");
	denials_free(d);
	zone_free(large);
	zone_free(small);
}

/* --- The configuration --------------------------------------------------------------------------- */

static void when_there_is_a_store(void **state)
{
	const struct resolver_option harmless = { "outgoing-num-tcp:", "10" };
	const struct resolver_option insecure = { "domain-insecure:", "example." };
	struct resolver_config config = RESOLVER_CONFIG_INIT;

	(void)state;
	assert_false(denials_suit(&config));
	config.trust_anchor_file = "anchor";
	config.options = &harmless;
	config.n_options = 1;
	assert_true(denials_suit(&config));
	config.options = &insecure;
	assert_false(denials_suit(&config));
	config.n_options = 0;
	config.aggressive_nsec = false;
	assert_false(denials_suit(&config));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_name_that_exists_is_denied),
		cmocka_unit_test(a_chain_with_salt_and_iterations),
		cmocka_unit_test(opt_out_denies_no_name),
		cmocka_unit_test(each_kind_of_name),
		cmocka_unit_test(deep_names_are_asked),
		cmocka_unit_test(the_last_interval_wraps),
		cmocka_unit_test(a_zone_below_another),
		cmocka_unit_test(stubs_and_special_names),
		cmocka_unit_test(what_is_left_of_the_first_that_ends),
		cmocka_unit_test(nothing_is_learnt_of),
		cmocka_unit_test(damaged_messages),
		cmocka_unit_test(another_salt_forgets),
		cmocka_unit_test(a_newer_chain_wins),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(when_there_is_a_store),
	};

	seed = 8198;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
