/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs whole zones; verifiers of other projects check them. */
#include "tests/unit/sign/sign_lab.h"

static const char content[] =
	"$TTL 300\n@ SOA ns host 7 2 3 4 60\n@ NS ns\nns A 192.0.2.1\nNs2 AAAA 2001:db8::1\n"
	"a.b.c.d TXT x\n*.wild MX 10 Mail.z.\nmail A 192.0.2.2\ncut NS ns.cut\nns.cut A 192.0.2.3\n"
	"sec NS ns.sec\nsec DS 1 13 2 "
	"000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f\nns.sec A 192.0.2.4\ncut "
	"A 192.0.2.5\nu.ent.only NS ns\n"
	"alias CNAME ns\nd DNSKEY 256 3 13 AAAA\ndname DNAME other.\n@ ZONEMD 7 1 1 00\nx "
	"TYPE65280 \\# 0\n"
	"many A 192.0.2.9\nmany A 192.0.2.8\nmany 300 A 192.0.2.7\nmany TXT a\nmany TXT b\n";

static void tools_agree(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * LAB_N_DENIALS; i++) {
		struct sign_options options = lab_options(i % LAB_N_DENIALS);
		struct zone *from = zone_of("z", content), *z;
		struct sign_keys keys;

		lab_keys(&keys, "z", i >= LAB_N_DENIALS);
		z = lab_sign(from, NULL, &keys, &options, lab_now());
		lab_judge(z, lab_now());
		zone_free(z);
		zone_free(from);
		sign_keys_fini(&keys);
	}
}

/* RFC 4034 section 3.1.3. The verifiers take the label count from the name and would not see a
 * fault. */
static void wildcard_has_a_label_less(void **state)
{
	struct zone *from = zone_of("z", content), *z;
	struct sign_options options = lab_options(LAB_NSEC);
	struct sign_keys keys;
	struct zone_rrsigs it;
	struct zone_rdata rd = { 0 };
	uint8_t name[256];

	(void)state;
	lab_keys(&keys, "z", false);
	z = lab_sign(from, NULL, &keys, &options, lab_now());
	wire_of(name, "*.wild.z");
	it = zone_rrsigs(z, zone_node_of(z, name), DNS_TYPE_MX);
	assert_true(zone_rrsigs_next(&it, &rd));
	assert_int_equal(rd.bytes[3], 2);
	zone_free(z);
	zone_free(from);
	sign_keys_fini(&keys);
}

/* Ed25519 always gives the same signature for the same data. So several batches, by many threads or
 * by one, must be equal. */
static void threads_make_no_difference(void **state)
{
	struct sign_keys keys = { .apex = "\1z" };
	size_t cap = 1u << 20, n;
	char *text = malloc(cap);

	(void)state;
	n = (size_t)snprintf(text, cap, "%s", content);
	for (unsigned int i = 0; i < 6000; i++)
		n += (size_t)snprintf(text + n, cap - n, "n%u.sub A 192.0.2.1\n", i);
	n += (size_t)snprintf(text + n, cap - n, "big TXT");
	for (unsigned int i = 0; i < 200; i++)
		n += (size_t)snprintf(text + n, cap - n, " %0255u", i);
	snprintf(text + n, cap - n, "\n");
	lab_key(&keys, SIGN_KSK, SIGN_ED25519);
	lab_key(&keys, SIGN_ZSK, SIGN_ED25519);
	for (unsigned int i = 0; i < LAB_N_DENIALS; i++) {
		struct sign_options options = lab_options((enum lab_denial)i);
		struct zone *from = zone_of("z", text), *one, *many;
		uint8_t digest[ZONE_DIGEST_LEN], wanted[ZONE_DIGEST_LEN];

		one = lab_sign_by(1, from, NULL, &keys, &options, lab_now());
		many = lab_sign_by(7, from, NULL, &keys, &options, lab_now());
		zone_digest(one, wanted);
		zone_digest(many, digest);
		assert_memory_equal(digest, wanted, sizeof(digest));
		assert_int_equal(zone_n_records(one), zone_n_records(many));
		zone_free(many);
		zone_free(one);
		zone_free(from);
	}
	sign_keys_fini(&keys);
	free(text);
}

/* Signing and stripping gives the content again, with another serial number. */
static void stripped_is_the_content(void **state)
{
	uint8_t digest[ZONE_DIGEST_LEN], wanted[ZONE_DIGEST_LEN];

	(void)state;
	for (unsigned int i = 0; i < 2 * LAB_N_DENIALS; i++) {
		struct sign_options options = lab_options(i % LAB_N_DENIALS);
		struct zone *from = zone_of("z", content), *z, *stripped, *plain;
		struct zone_error err;
		struct sign_keys keys;

		lab_keys(&keys, "z", i >= LAB_N_DENIALS);
		z = lab_sign(from, NULL, &keys, &options, lab_now());
		assert_true(zone_is_signed(z));
		assert_int_equal(sign_strip(z, 8, NULL, &stripped, &err), 0);
		assert_false(zone_is_signed(stripped));
		assert_int_equal(zone_serial(stripped), 8);
		assert_int_equal(sign_strip(from, 8, NULL, &plain, &err), 0);
		zone_digest(stripped, digest);
		zone_digest(plain, wanted);
		assert_memory_equal(digest, wanted, sizeof(digest));
		/* The content without its DNSKEY and its ZONEMD, which are the signer's. */
		assert_int_equal(zone_n_records(stripped), zone_n_records(from) - 2);
		zone_free(plain);
		zone_free(stripped);
		zone_free(z);
		zone_free(from);
		sign_keys_fini(&keys);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tools_agree),
		cmocka_unit_test(threads_make_no_difference),
		cmocka_unit_test(stripped_is_the_content),
		cmocka_unit_test(wildcard_has_a_label_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
