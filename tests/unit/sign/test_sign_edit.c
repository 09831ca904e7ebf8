/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edits signed zones again and again. After each edit, the chain and the set of signatures must
 * equal those of the same content signed from the start, and verifiers of other projects must
 * accept the zone.
 */
#include "tests/unit/sign/sign_lab.h"

#include "zone/nsec3_chain.h"

#include "tests/lib/draw.h" /* the last include: one of its names collides with others */

#define N_RUNS  18
#define N_EDITS 40

static const char *const owners[] = {
	"z",        "a.z", "b.a.z", "c.b.a.z", "*.a.z",     "aa.z",    "x.aa.z",
	"y.x.aa.z", "d.z", "e.d.z", "f.e.d.z", "g.f.e.d.z", "*.z",     "h.z",
	"i.h.z",    "n.z", "o.n.z", "zz.z",    "k.l.m.z",   "q.l.m.z", "A.N.z",
};

static void draw_rdata(uint16_t *type, uint8_t *rdata, uint16_t *n)
{
	static const struct {
		uint16_t type, n;
		const char *octets;
	} all[] = {
		{ DNS_TYPE_A, 4, "\300\0\2\1" },
		{ DNS_TYPE_A, 4, "\300\0\2\2" },
		{ DNS_TYPE_TXT, 2, "\1x" },
		{ DNS_TYPE_NS, 5, "\1a\1o" },
		{ DNS_TYPE_NS, 5, "\1d\1o" },
		{ DNS_TYPE_DS, 36, "\0\1\15\2abcdefghijklmnopqrstuvwxyzabcdef" },
		{ DNS_TYPE_MX, 7, "\0\1\1A\1z" },
		{ DNS_TYPE_CNAME, 5, "\1d\1z" },
		{ DNS_TYPE_DNAME, 3, "\1o" },
	};
	unsigned int i = draw(sizeof(all) / sizeof(all[0]));

	*type = all[i].type;
	*n = all[i].n;
	memcpy(rdata, all[i].octets, *n);
}

/* The owner of the apex's NSEC3, if there is one. */
static void hash_of_apex(struct zone_edit *e, uint8_t owner[256])
{
	const struct zone *z = zone_edit_view(e);
	struct nsec3_label hash;

	wire_of(owner, "z");
	if (zone_chain(z) != ZONE_CHAIN_NSEC3)
		return;
	nsec3_hash(z->nsec3_params, owner, &hash);
	memmove(owner + sizeof(hash.label), owner, 3);
	memcpy(owner, hash.label, sizeof(hash.label));
}

/* A change that an update could make, also to the signer's own RRsets. */
static void draw_change(struct zone_edit *e)
{
	static const uint16_t own[] = { DNS_TYPE_NSEC,  DNS_TYPE_RRSIG,      DNS_TYPE_DNSKEY,
					DNS_TYPE_NSEC3, DNS_TYPE_NSEC3PARAM, DNS_TYPE_A };
	const char *text = owners[draw(sizeof(owners) / sizeof(owners[0]))];
	uint8_t owner[256], rdata[64];
	uint16_t type, n;
	int rc = 0;

	wire_of(owner, text);
	draw_rdata(&type, rdata, &n);
	if (type == DNS_TYPE_DS && !strcmp(text, "z")) /* RFC 4035 section 2.4: never there */
		return;
	if (*text == '*' && (type == DNS_TYPE_NS || type == DNS_TYPE_DNAME)) /* BIND accepts none */
		return;
	if ((type == DNS_TYPE_CNAME || type == DNS_TYPE_DNAME) && draw(4))
		return;
	switch (draw(8)) {
	case 0:
		rc = strcmp(text, "z") ? zone_edit_remove_name(e, owner) : 0;
		break;
	case 1:
		rc = type != DNS_TYPE_NS || strcmp(text, "z") ?
			     zone_edit_remove_rrset(e, owner, type) :
			     0;
		break;
	case 2:
		rc = zone_edit_remove(e, owner, type, rdata, n);
		break;
	case 3:
		if (!draw(3))
			wire_of(owner, "z");
		else if (draw(2))
			hash_of_apex(e, owner);
		rc = zone_edit_remove_rrset(e, owner, own[draw(6)]);
		break;
	default:
		rc = zone_edit_add(e, owner, type, draw(5) ? 300 : 60, rdata, n);
	}
	assert_true(rc >= 0 || rc == ERR_NOT_FOUND);
}

static void set_serial(struct zone_edit *e, uint32_t serial)
{
	uint8_t apex[256], rdata[64] = "\1a\1z\0\1h\0\0\0\0\0\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\74";

	wire_of(apex, "z");
	rdata[9] = (uint8_t)(serial >> 16);
	rdata[10] = (uint8_t)(serial >> 8);
	rdata[11] = (uint8_t)serial;
	assert_int_equal(zone_edit_remove_rrset(e, apex, DNS_TYPE_SOA), 0);
	assert_int_equal(zone_edit_add(e, apex, DNS_TYPE_SOA, 300, rdata, 28), 0);
}

/* The next version, or NULL if the edit makes no valid zone. */
static struct zone *change(struct zone *z, const struct sign_keys *keys,
			   const struct sign_options *options)
{
	struct zone_error err;
	struct zone_edit *e;
	struct zone *next = NULL;
	int rc;

	assert_int_equal(zone_edit_begin(&e, z), 0);
	for (unsigned int n = 1 + draw(6); n--;)
		draw_change(e);
	set_serial(e, zone_serial(z) + 1);
	rc = sign_edit(e, z, keys, options, lab_now(), &err);
	if (rc)
		fail_msg("%d %s", rc, err.sentence);
	rc = zone_edit_finish(e, &next, NULL, &err);
	assert_true(!rc || rc == ERR_ZONE);
	return next;
}

static void run(unsigned int number)
{
	struct sign_options options = lab_options((enum lab_denial)(number % LAB_N_DENIALS));
	struct zone *from = zone_of("z",
				    "$TTL 300\nz. SOA a h 1 2 3 4 60\nz. NS a.o.\na A 192.0.2.1\n"
				    "b.n A 192.0.2.2\nx.aa TXT b\n");
	struct zone *z, *next, *fresh;
	struct sign_keys keys;

	seed = number;
	lab_keys(&keys, "z", number % 2);
	z = lab_sign(from, NULL, &keys, &options, lab_now());
	for (unsigned int i = 0; i < N_EDITS; i++) {
		next = change(z, &keys, &options);
		if (!next)
			continue;
		zone_unref(z);
		z = next;
		fresh = lab_sign(z, NULL, &keys, &options, lab_now());
		lab_same(z, fresh);
		assert_true(zone_chains_agree(z, z));
		zone_free(fresh);
		if (!draw(N_EDITS / 2))
			lab_judge(z, lab_now());
	}
	lab_judge(z, lab_now());
	zone_free(z);
	zone_free(from);
	sign_keys_fini(&keys);
}

static void chain_is_that_of_a_fresh_one(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_RUNS; i++)
		run(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_is_that_of_a_fresh_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
